//! `new NOTE[: TEXT]`: begins a note.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::{split_at_first, strip_quotes};
use crate::commands::dialog::replies;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "new",
    usage: "new NOTE: TEXT",
    description: "creates a note; the text is optional",
    tool: Some("write_file"),
    parse: |rest| {
        // No note's name holds a colon, so the first one ends it.
        let (note, text) = split_at_first(rest, ":").unwrap_or((rest.trim_end_matches(':'), ""));
        let new =
            NewCommand { note: strip_quotes(note).to_owned(), text: strip_quotes(text).to_owned() };
        (!new.note.is_empty()).then(|| Box::new(new) as Box<dyn TypedCommand>)
    },
};

struct NewCommand {
    note: String,
    text: String,
}

impl TypedCommand for NewCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        let Some(done) = context.calls.first() else {
            let end = if self.text.is_empty() { "" } else { "\n" };
            let content = format!("{}{end}", self.text);
            return NextStep::call("write_file", json!({ "path": self.note, "content": content }));
        };
        if done.is_error {
            return NextStep::Say(replies::first_line(done.output).to_owned());
        }
        let note = replies::title(&self.note);
        replies::change_reply(done.output, &self.note, &format!("Created {note}."))
    }
}
