//! `open NOTE`: shows a note.

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};

pub(super) const ENTRY: Entry = Entry {
    word: "open",
    form: "open NOTE",
    does: "shows a note",
    tool: Some("read_file"),
    parse: |rest| {
        let note = unquoted(rest).to_owned();
        (!note.is_empty()).then(|| Box::new(Open { note }) as Box<dyn Command>)
    },
};

struct Open {
    note: String,
}

impl Command for Open {
    fn next(&self, scene: &Scene<'_>) -> Move {
        let Some(done) = scene.done.last() else { return reply::show(&self.note, scene) };
        if let Some(shown) = reply::after_showing(done) {
            return shown;
        }
        // To look at a note whose name was half remembered does no harm.
        let likely = reply::likely(done.output, &self.note);
        match (likely.as_slice(), scene.done.len()) {
            ([one], 1) => reply::show(one, scene),
            ([_, _, ..], 1) => {
                let question =
                    format!("Several notes have “{}” in their names. Which one?", self.note);
                Move::ask(&question, &likely)
            }
            _ => reply::trouble(done.output, &self.note),
        }
    }

    fn choose(&mut self, note: String) {
        self.note = note;
    }
}
