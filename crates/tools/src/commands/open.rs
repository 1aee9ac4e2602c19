//! `open NOTE`: shows a note.

use serde_json::json;

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};
use crate::page;

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
        match scene.done.first() {
            None => Move::call("read_file", json!({ "path": self.note })),
            Some(done) => match page::read(done.output) {
                Some(note) if !done.is_error => reply::shown(&note),
                _ => reply::trouble(done.output, &self.note),
            },
        }
    }

    fn choose(&mut self, note: String) {
        self.note = note;
    }
}
