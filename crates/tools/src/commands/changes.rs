//! `changes`: shows what was changed in the notes.

use serde_json::json;

use super::{Command, Entry, Move, Scene, reply};

const TOOL: &str = "show_changes";

pub(super) const ENTRY: Entry = Entry {
    word: "changes",
    form: "changes",
    does: "shows what was changed, to undo it",
    tool: Some(TOOL),
    parse: |rest| rest.is_empty().then(|| Box::new(Changes) as Box<dyn Command>),
};

struct Changes;

impl Command for Changes {
    fn next(&self, scene: &Scene<'_>) -> Move {
        match scene.done.first() {
            None => Move::call(TOOL, json!({ "all": true })),
            Some(done) if done.is_error => Move::Say(reply::first_line(done.output).to_owned()),
            Some(_) => Move::Say("Opened the list of changes.".to_owned()),
        }
    }
}
