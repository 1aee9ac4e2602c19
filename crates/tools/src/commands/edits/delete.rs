//! `delete NOTE`: puts a note into the trash.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::strip_quotes;
use crate::commands::dialog::replies;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "delete",
    usage: "delete NOTE",
    description: "puts a note into the trash",
    tool: Some("delete_file"),
    parse: |rest| {
        let note = strip_quotes(rest).to_owned();
        (!note.is_empty()).then(|| Box::new(DeleteCommand { note }) as Box<dyn TypedCommand>)
    },
};

struct DeleteCommand {
    note: String,
}

impl TypedCommand for DeleteCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        match context.calls.first() {
            None => NextStep::call("delete_file", json!({ "path": self.note })),
            Some(done) if done.is_error => replies::failure_reply(done.output, &self.note),
            Some(done) => {
                let note = replies::title(&self.note);
                let sentence = format!("Put {note} into the trash.");
                replies::change_reply(done.output, &self.note, &sentence)
            }
        }
    }

    fn choose_note(&mut self, note: String) {
        self.note = note;
    }
}
