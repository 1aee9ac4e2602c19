//! `append TEXT to NOTE`: adds a line, written as the note's own list writes its items.

use serde_json::json;

use super::list_form::next_item;
use super::words::{at_last, unquoted};
use super::{Command, Entry, Move, Scene, reply};
use crate::candidates::{self, Candidates};
use crate::daily::DAILY;
use crate::page;

/// Lines at the end of a long note in which its last list is looked for.
const TAIL: usize = 200;

pub(super) const ENTRY: Entry = Entry {
    word: "append",
    form: "append TEXT to NOTE",
    does: "adds a line at the end; `daily` is the note of the day",
    tool: Some("append_file"),
    parse: |rest| {
        let (text, note) = at_last(rest, " to ")?;
        let append = Append { text: unquoted(text).to_owned(), note: unquoted(note).to_owned() };
        let is_whole = !append.text.is_empty() && !append.note.is_empty();
        is_whole.then(|| Box::new(append) as Box<dyn Command>)
    },
};

struct Append {
    text: String,
    note: String,
}

impl Append {
    fn is_daily(&self) -> bool {
        self.note.eq_ignore_ascii_case(DAILY) || self.note.eq_ignore_ascii_case("today")
    }

    /// Reads the note, and of a long one then its end.
    fn after_reading(&self, output: &str) -> Move {
        let Some(note) = page::read(output) else {
            return Move::Say(reply::first_line(output).to_owned());
        };
        if note.last < note.total {
            let start = note.total.saturating_sub(TAIL).max(note.last + 1);
            return Move::call("read_file", json!({ "path": note.path, "start_line": start }));
        }
        let content = next_item(&note.lines, &self.text);
        Move::call("append_file", json!({ "path": note.path, "content": content }))
    }

    fn without_note(&self, output: &str) -> Move {
        match candidates::read(output) {
            Some(Candidates::Near(_)) if self.is_daily() => {
                Move::call("append_file", json!({ "path": DAILY, "content": self.text }))
            }
            Some(Candidates::Near(paths)) => Move::Say(self.to_begin(&paths)),
            _ => reply::trouble(output, &self.note),
        }
    }

    fn to_begin(&self, nearest: &[String]) -> String {
        let Self { text, note } = self;
        match reply::quoted(nearest) {
            None => format!("There is no note “{note}”. To begin it, type `new {note}: {text}`."),
            Some(near) => format!(
                "There is no note “{note}”. The nearest: {near}. To begin it, type `new {note}: \
                 {text}`."
            ),
        }
    }
}

impl Command for Append {
    fn next(&self, scene: &Scene<'_>) -> Move {
        let Some(done) = scene.done.last() else {
            let path = if self.is_daily() { DAILY } else { &self.note };
            return Move::call("read_file", json!({ "path": path }));
        };
        match (done.tool, done.is_error) {
            ("read_file", false) => self.after_reading(done.output),
            ("read_file", true) => self.without_note(done.output),
            (_, true) => reply::trouble(done.output, &self.note),
            (_, false) => {
                let read = scene.done.first().filter(|read| !read.is_error);
                let path = read.and_then(|read| Some(page::read(read.output)?.path));
                let today = scene.today.to_string();
                let path = path.unwrap_or(&today);
                let note = reply::title(path);
                let sentence = match self.text.lines().count() {
                    1 => format!("Added 1 line to {note}."),
                    lines => format!("Added {lines} lines to {note}."),
                };
                reply::changed(done.output, path, &sentence)
            }
        }
    }

    fn choose(&mut self, note: String) {
        self.note = note;
    }
}
