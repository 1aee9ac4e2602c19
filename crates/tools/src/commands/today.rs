//! `today`: the note of the day.

use serde_json::json;

use super::{Command, Entry, Move, Scene, reply};
use crate::candidates::{self, Candidates};
use crate::daily::DAILY;
use crate::page;

pub(super) const ENTRY: Entry = Entry {
    word: "today",
    form: "today",
    does: "shows the note of the day",
    tool: Some("read_file"),
    parse: |rest| rest.is_empty().then(|| Box::new(Today) as Box<dyn Command>),
};

struct Today;

impl Command for Today {
    fn next(&self, scene: &Scene<'_>) -> Move {
        let today = scene.today;
        let Some(done) = scene.done.first() else {
            return Move::call("read_file", json!({ "path": DAILY }));
        };
        if let Some(note) = page::read(done.output).filter(|_| !done.is_error) {
            return reply::shown(&note);
        }
        match candidates::read(done.output) {
            Some(Candidates::Near(_)) => Move::Say(format!(
                "There is no note for {today} yet. Type `append TEXT to daily` to begin it."
            )),
            _ => reply::trouble(done.output, &today.to_string()),
        }
    }
}
