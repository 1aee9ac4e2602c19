//! `delete NOTE`: puts a note into the trash.

use serde_json::json;

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};

pub(super) const ENTRY: Entry = Entry {
    word: "delete",
    form: "delete NOTE",
    does: "puts a note into the trash",
    tool: Some("delete_file"),
    parse: |rest| {
        let note = unquoted(rest).to_owned();
        (!note.is_empty()).then(|| Box::new(Delete { note }) as Box<dyn Command>)
    },
};

struct Delete {
    note: String,
}

impl Command for Delete {
    fn next(&self, scene: &Scene<'_>) -> Move {
        match scene.done.first() {
            None => Move::call("delete_file", json!({ "path": self.note })),
            Some(done) if done.is_error => reply::trouble(done.output, &self.note),
            Some(done) => {
                let sentence = format!("Put {} into the trash.", reply::title(&self.note));
                reply::changed(done.output, &self.note, &sentence)
            }
        }
    }

    fn choose(&mut self, note: String) {
        self.note = note;
    }
}
