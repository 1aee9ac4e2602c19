//! `tasks [TEXT]`: what is still to be done.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::strip_quotes;
use crate::commands::dialog::replies;
use crate::read_tools::search_files::{self, ParsedMatches};

/// Tasks listed at most, also when one note has them all.
const MAX_TASKS: u16 = 50;

/// How the line of an open task begins.
const OPEN_TASK_PATTERN: &str = r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+";

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "tasks",
    usage: "tasks [TEXT]",
    description: "lists open tasks",
    tool: Some("search_files"),
    parse: |rest| Some(Box::new(TasksCommand { part: strip_quotes(rest).to_owned() })),
};

struct TasksCommand {
    /// A part of their text; empty for all.
    part: String,
}

impl TypedCommand for TasksCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        match context.calls.first() {
            None => {
                let pattern = format!("{OPEN_TASK_PATTERN}.*{}", index::escape_literal(&self.part));
                let arguments = json!({
                    "pattern": pattern,
                    "context_lines": 0,
                    "max_results": MAX_TASKS,
                    "max_per_note": MAX_TASKS,
                });
                NextStep::call("search_files", arguments)
            }
            Some(done) if done.is_error => {
                NextStep::Say(replies::first_line(done.output).to_owned())
            }
            Some(done) => NextStep::Say(self.result_text(done.output)),
        }
    }
}

impl TasksCommand {
    fn result_text(&self, output: &str) -> String {
        let Some(ParsedMatches { total, notes }) = search_files::parse_result(output) else {
            return match self.part.as_str() {
                "" => "There are no open tasks.".to_owned(),
                part => format!("No open task has “{part}” in it."),
            };
        };
        let shown: usize = notes.iter().map(|(_, lines)| lines.len()).sum();
        let notes: Vec<String> = notes
            .iter()
            .map(|(path, lines)| {
                let lines: Vec<&str> = lines.iter().map(|line| line.trim_start()).collect();
                format!("{}\n\n{}", replies::link(path), lines.join("\n"))
            })
            .collect();
        let text = notes.join("\n\n");
        if shown < total {
            return format!("The first {shown} of {total} open tasks:\n\n{text}");
        }
        format!("Open tasks:\n\n{text}")
    }
}
