//! `list [FOLDER or PATTERN]`: which notes there are.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::strip_quotes;
use crate::commands::dialog::replies;
use crate::read_tools::list_files;

/// Notes listed at most.
const MAX_NOTES: u32 = 30;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "list",
    usage: "list [FOLDER or PATTERN]",
    description: "lists notes, newest first; a pattern is like `**/*garden*`",
    tool: Some("list_files"),
    parse: |rest| Some(Box::new(ListCommand { what: strip_quotes(rest).to_owned() })),
};

struct ListCommand {
    what: String,
}

impl TypedCommand for ListCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        let is_pattern = self.what.contains(['*', '?', '[', '{']);
        match context.calls.first() {
            None if is_pattern => NextStep::call(
                "list_files",
                json!({ "pattern": self.what, "max_results": MAX_NOTES }),
            ),
            None => {
                let folder = (!self.what.is_empty()).then_some(&self.what);
                let notes =
                    json!({ "pattern": "**/*.md", "path": folder, "max_results": MAX_NOTES });
                NextStep::call("list_files", notes)
            }
            Some(done) if done.is_error => {
                NextStep::Say(replies::first_line(done.output).to_owned())
            }
            Some(done) => NextStep::Say(self.result_text(done.output)),
        }
    }
}

impl ListCommand {
    fn result_text(&self, output: &str) -> String {
        let Some((total, paths)) = list_files::parse_result(output) else {
            return match self.what.as_str() {
                "" => "There are no notes yet. Type `new NOTE: TEXT` to write one.".to_owned(),
                what => format!("There is nothing in “{what}”."),
            };
        };
        let lines: Vec<String> = paths
            .iter()
            .map(|path| format!("- {}", path.strip_suffix(".md").unwrap_or(path)))
            .collect();
        let text = lines.join("\n");
        match total.checked_sub(paths.len()) {
            Some(more) if more > 0 => format!("The {} newest of {total}:\n\n{text}", paths.len()),
            _ => format!("{total}, newest first:\n\n{text}"),
        }
    }
}
