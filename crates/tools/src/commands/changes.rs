//! `changes`: shows what was changed in the notes.

use serde_json::json;

use super::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::replies;

const TOOL: &str = "show_changes";

pub(super) const ENTRY: CommandEntry = CommandEntry {
    word: "changes",
    usage: "changes",
    description: "shows what was changed, to undo it",
    tool: Some(TOOL),
    parse: |rest| rest.is_empty().then(|| Box::new(Changes) as Box<dyn TypedCommand>),
};

struct Changes;

impl TypedCommand for Changes {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        match context.calls.first() {
            None => NextStep::call(TOOL, json!({ "all": true })),
            Some(done) if done.is_error => {
                NextStep::Say(replies::first_line(done.output).to_owned())
            }
            Some(_) => NextStep::Say("Opened the list of changes.".to_owned()),
        }
    }
}
