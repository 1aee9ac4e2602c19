//! `replace OLD with NEW in NOTE`: one text for another, where it occurs once.

use serde_json::json;

use super::words::{at_first, at_last, unquoted};
use super::{Command, Entry, Move, Scene, reply};
use crate::candidates;

pub(super) const ENTRY: Entry = Entry {
    word: "replace",
    form: "replace OLD with NEW in NOTE",
    does: "exchanges a text that occurs once in the note",
    tool: Some("edit_file"),
    parse: |rest| {
        let (texts, note) = at_last(rest, " in ")?;
        let (old, new) = at_first(texts, " with ")?;
        let [old, new, note] = [old, new, note].map(|part| unquoted(part).to_owned());
        let is_whole = !old.is_empty() && !note.is_empty();
        is_whole.then(|| Box::new(Replace { old, new, note }) as Box<dyn Command>)
    },
};

struct Replace {
    old: String,
    new: String,
    note: String,
}

impl Command for Replace {
    fn next(&self, scene: &Scene<'_>) -> Move {
        match scene.done.first() {
            None => Move::call(
                "edit_file",
                json!({ "path": self.note, "old_text": self.old, "new_text": self.new }),
            ),
            Some(done) if done.is_error => self.trouble(done.output),
            Some(done) => {
                let (old, new, note) = (&self.old, &self.new, reply::title(&self.note));
                let sentence = format!("Replaced “{old}” with “{new}” in {note}.");
                reply::changed(done.output, &self.note, &sentence)
            }
        }
    }

    fn choose(&mut self, note: String) {
        self.note = note;
    }
}

impl Replace {
    /// The failure in the user's own words, with the lines it names.
    fn trouble(&self, output: &str) -> Move {
        if candidates::read(output).is_some() {
            return reply::trouble(output, &self.note);
        }
        let what = reply::first_line(output)
            .replace("old_text", &format!("“{}”", self.old))
            .replace("new_text", &format!("“{}”", self.new));
        let lines: Vec<String> = output
            .lines()
            .filter_map(|line| {
                let (number, text) = line.split_once("| ")?;
                Some(format!("- line {}: {text}", number.parse::<usize>().ok()?))
            })
            .collect();
        if lines.is_empty() {
            return Move::Say(what);
        }
        Move::Say(format!(
            "{what} Quote more of the text around it. Near it are:\n\n{}",
            lines.join("\n")
        ))
    }
}
