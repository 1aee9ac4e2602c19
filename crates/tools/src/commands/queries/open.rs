//! `open NOTE`: shows a note.

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::strip_quotes;
use crate::commands::dialog::replies;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "open",
    usage: "open NOTE",
    description: "shows a note",
    tool: Some("read_file"),
    parse: |rest| {
        let note = strip_quotes(rest).to_owned();
        (!note.is_empty()).then(|| Box::new(OpenCommand { note }) as Box<dyn TypedCommand>)
    },
};

struct OpenCommand {
    note: String,
}

impl TypedCommand for OpenCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        let Some(done) = context.calls.last() else { return replies::show(&self.note, context) };
        if let Some(shown) = replies::shown_reply(done) {
            return shown;
        }
        // To look at a note whose name was half remembered does no harm.
        let likely = replies::likely_notes(done.output, &self.note);
        match (likely.as_slice(), context.calls.len()) {
            ([one], 1) => replies::show(one, context),
            ([_, _, ..], 1) => {
                let question =
                    format!("Several notes have “{}” in their names. Which one?", self.note);
                NextStep::ask(&question, &likely)
            }
            _ => replies::failure_reply(done.output, &self.note),
        }
    }

    fn choose_note(&mut self, note: String) {
        self.note = note;
    }
}
