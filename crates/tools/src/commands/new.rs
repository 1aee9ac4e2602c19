//! `new NOTE[: TEXT]`: begins a note.

use serde_json::json;

use super::words::{at_first, unquoted};
use super::{Command, Entry, Move, Scene, reply};

pub(super) const ENTRY: Entry = Entry {
    word: "new",
    form: "new NOTE: TEXT",
    does: "begins a note; the text may be left out",
    tool: Some("write_file"),
    parse: |rest| {
        // No note's name holds a colon, so the first one ends it.
        let (note, text) = at_first(rest, ":").unwrap_or((rest.trim_end_matches(':'), ""));
        let new = New { note: unquoted(note).to_owned(), text: unquoted(text).to_owned() };
        (!new.note.is_empty()).then(|| Box::new(new) as Box<dyn Command>)
    },
};

struct New {
    note: String,
    text: String,
}

impl Command for New {
    fn next(&self, scene: &Scene<'_>) -> Move {
        let Some(done) = scene.done.first() else {
            let end = if self.text.is_empty() { "" } else { "\n" };
            let content = format!("{}{end}", self.text);
            return Move::call("write_file", json!({ "path": self.note, "content": content }));
        };
        if done.is_error {
            return Move::Say(reply::first_line(done.output).to_owned());
        }
        reply::changed(done.output, &self.note, &format!("Created {}.", reply::title(&self.note)))
    }
}
