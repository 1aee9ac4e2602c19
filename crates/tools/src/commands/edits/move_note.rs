//! `move NOTE to PLACE`: another path for a note or a folder.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::{split_at_last, strip_quotes};
use crate::commands::dialog::replies;
use crate::notes::path_conflict;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "move",
    usage: "move NOTE to PLACE",
    description: "moves a note into a folder or renames it; links to it still lead there",
    tool: Some("move_file"),
    parse: |rest| {
        let (note, place) = split_at_last(rest, " to ")?;
        let moved = MoveCommand {
            note: strip_quotes(note).to_owned(),
            place: strip_quotes(place).to_owned(),
        };
        let is_whole = !moved.note.is_empty() && !moved.place.is_empty();
        is_whole.then(|| Box::new(moved) as Box<dyn TypedCommand>)
    },
};

struct MoveCommand {
    note: String,
    place: String,
}

impl MoveCommand {
    fn move_to(&self, destination: &str) -> NextStep {
        NextStep::call("move_file", json!({ "source": self.note, "destination": destination }))
    }
}

impl TypedCommand for MoveCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        let Some(done) = context.calls.last() else { return self.move_to(&self.place) };
        if !done.is_error {
            let (note, place) = (replies::title(&self.note), self.place.trim_end_matches('/'));
            return replies::change_reply(
                done.output,
                &self.note,
                &format!("Moved {note} to {place}."),
            );
        }
        // The name of a folder means a place in it.
        if context.calls.len() == 1 && path_conflict::is_folder(done.output) {
            return self.move_to(&format!("{}/", self.place));
        }
        replies::failure_reply(done.output, &self.note)
    }

    fn choose_note(&mut self, note: String) {
        self.note = note;
    }
}
