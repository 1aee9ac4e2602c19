//! `move NOTE to PLACE`: another path for a note or a folder.

use serde_json::json;

use super::words::{at_last, unquoted};
use super::{Command, Entry, Move, Scene, reply};
use crate::in_the_way;

pub(super) const ENTRY: Entry = Entry {
    word: "move",
    form: "move NOTE to PLACE",
    does: "moves a note into a folder or renames it; links to it still lead there",
    tool: Some("move_file"),
    parse: |rest| {
        let (note, place) = at_last(rest, " to ")?;
        let moved = MoveNote { note: unquoted(note).to_owned(), place: unquoted(place).to_owned() };
        let is_whole = !moved.note.is_empty() && !moved.place.is_empty();
        is_whole.then(|| Box::new(moved) as Box<dyn Command>)
    },
};

struct MoveNote {
    note: String,
    place: String,
}

impl MoveNote {
    fn to(&self, destination: &str) -> Move {
        Move::call("move_file", json!({ "source": self.note, "destination": destination }))
    }
}

impl Command for MoveNote {
    fn next(&self, scene: &Scene<'_>) -> Move {
        let Some(done) = scene.done.last() else { return self.to(&self.place) };
        if !done.is_error {
            let (note, place) = (reply::title(&self.note), self.place.trim_end_matches('/'));
            return reply::changed(done.output, &self.note, &format!("Moved {note} to {place}."));
        }
        // Whoever names a folder means a place in it.
        if scene.done.len() == 1 && in_the_way::is_folder(done.output) {
            return self.to(&format!("{}/", self.place));
        }
        reply::trouble(done.output, &self.note)
    }

    fn choose(&mut self, note: String) {
        self.note = note;
    }
}
