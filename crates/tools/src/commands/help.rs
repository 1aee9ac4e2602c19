//! `help`: what can be typed.

use super::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use super::table::COMMANDS;

pub(super) const ENTRY: CommandEntry = CommandEntry {
    word: "help",
    usage: "help",
    description: "shows this list",
    tool: None,
    parse: |rest| rest.is_empty().then(|| Box::new(HelpCommand) as Box<dyn TypedCommand>),
};

struct HelpCommand;

impl TypedCommand for HelpCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        let possible =
            |entry: &&CommandEntry| entry.tool.is_none_or(|tool| context.tools.contains(&tool));
        let rows: Vec<String> = COMMANDS
            .iter()
            .filter(possible)
            .map(|entry| format!("- `{}` {}", entry.usage, entry.description))
            .collect();
        NextStep::Say(format!(
            "{} These commands work without a model:\n\n{}\n\nAnything else searches your notes. \
             Put text that contains “to”, “with”, or “in” in quotes.",
            context.no_model.sentence(),
            rows.join("\n")
        ))
    }
}
