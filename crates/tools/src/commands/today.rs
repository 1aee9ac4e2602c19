//! `today`: the note of the day.

use super::{Command, Entry, Move, Scene, reply};
use crate::candidates::{self, Candidates};
use crate::daily::DAILY;

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
        let Some(done) = scene.done.first() else { return reply::show(DAILY, scene) };
        if let Some(shown) = reply::after_showing(done) {
            return shown;
        }
        match candidates::read(done.output) {
            Some(Candidates::Near(_)) => Move::Say(format!(
                "There is no note for {today} yet. Type `append TEXT to daily` to begin it."
            )),
            _ => reply::trouble(done.output, &today.to_string()),
        }
    }
}
