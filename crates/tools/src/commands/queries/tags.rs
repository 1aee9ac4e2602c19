//! `tags [TEXT]`: which tags there are.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::strip_quotes;
use crate::commands::dialog::replies;
use crate::read_tools::list_tags;

/// Tags listed at most.
const MAX_TAGS: u16 = 50;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "tags",
    usage: "tags [TEXT]",
    description: "lists tags with how many notes have each",
    tool: Some("list_tags"),
    parse: |rest| {
        Some(Box::new(TagsCommand { part: strip_quotes(rest).trim_start_matches('#').to_owned() }))
    },
};

struct TagsCommand {
    /// A part of their names; empty for all.
    part: String,
}

impl TypedCommand for TagsCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        match context.calls.first() {
            None => {
                let part = (!self.part.is_empty()).then_some(&self.part);
                NextStep::call("list_tags", json!({ "pattern": part, "limit": MAX_TAGS }))
            }
            Some(done) if done.is_error => {
                NextStep::Say(replies::first_line(done.output).to_owned())
            }
            Some(done) => NextStep::Say(self.result_text(done.output)),
        }
    }
}

impl TagsCommand {
    fn result_text(&self, output: &str) -> String {
        let Some((total, tags)) = list_tags::parse_result(output) else {
            return match self.part.as_str() {
                "" => "No note has a tag.".to_owned(),
                part => format!("No tag has “{part}” in its name."),
            };
        };
        let lines: Vec<String> =
            tags.iter().map(|(tag, notes)| format!("- #{tag} ({notes})")).collect();
        let text = lines.join("\n");
        if tags.len() < total {
            return format!("The {} most used of {total} tags:\n\n{text}", tags.len());
        }
        format!("Tags, most used first:\n\n{text}")
    }
}
