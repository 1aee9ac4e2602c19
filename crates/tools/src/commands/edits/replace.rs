//! `replace OLD with NEW in NOTE`: one text for another, where it occurs once.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::{split_at_first, split_at_last, strip_quotes};
use crate::commands::dialog::replies;
use crate::text::suggestions;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "replace",
    usage: "replace OLD with NEW in NOTE",
    description: "replaces a text that occurs once in the note",
    tool: Some("edit_file"),
    parse: |rest| {
        let (texts, note) = split_at_last(rest, " in ")?;
        let (old, new) = split_at_first(texts, " with ")?;
        let [old, new, note] = [old, new, note].map(|part| strip_quotes(part).to_owned());
        let is_whole = !old.is_empty() && !note.is_empty();
        is_whole.then(|| Box::new(ReplaceCommand { old, new, note }) as Box<dyn TypedCommand>)
    },
};

struct ReplaceCommand {
    old: String,
    new: String,
    note: String,
}

impl TypedCommand for ReplaceCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        match context.calls.first() {
            None => NextStep::call(
                "edit_file",
                json!({ "path": self.note, "old_text": self.old, "new_text": self.new }),
            ),
            Some(done) if done.is_error => self.explain_failure(done.output),
            Some(done) => {
                let (old, new, note) = (&self.old, &self.new, replies::title(&self.note));
                let sentence = format!("Replaced “{old}” with “{new}” in {note}.");
                replies::change_reply(done.output, &self.note, &sentence)
            }
        }
    }

    fn choose_note(&mut self, note: String) {
        self.note = note;
    }
}

impl ReplaceCommand {
    /// The failure in terms of the user's command, with the lines it names.
    fn explain_failure(&self, output: &str) -> NextStep {
        if suggestions::parse(output).is_some() {
            return replies::failure_reply(output, &self.note);
        }
        let what = replies::first_line(output)
            .replace("old_text", &format!("“{}”", self.old))
            .replace("new_text", &format!("“{}”", self.new));
        let lines: Vec<String> = output
            .lines()
            .filter_map(|line| {
                let (number, text) = line.split_once("| ")?;
                Some(format!("- line {}: {text}", number.parse::<usize>().ok()?))
            })
            .collect();
        if lines.is_empty() {
            return NextStep::Say(what);
        }
        NextStep::Say(format!(
            "{what} Quote more of the text around it. Near it are:\n\n{}",
            lines.join("\n")
        ))
    }
}
