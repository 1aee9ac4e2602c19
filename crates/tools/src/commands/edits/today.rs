//! `today`: the daily note.

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::replies;
use crate::notes::daily_note::DAILY_NAME;
use crate::text::suggestions::{self, NameSuggestions};

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "today",
    usage: "today",
    description: "shows the daily note",
    tool: Some("read_file"),
    parse: |rest| rest.is_empty().then(|| Box::new(TodayCommand) as Box<dyn TypedCommand>),
};

struct TodayCommand;

impl TypedCommand for TodayCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        let today = context.today;
        let Some(done) = context.calls.first() else { return replies::show(DAILY_NAME, context) };
        if let Some(shown) = replies::shown_reply(done) {
            return shown;
        }
        match suggestions::parse(done.output) {
            Some(NameSuggestions::Near(_)) => NextStep::Say(format!(
                "There is no note for {today} yet. Type `append TEXT to daily` to begin it."
            )),
            _ => replies::failure_reply(done.output, &today.to_string()),
        }
    }
}
