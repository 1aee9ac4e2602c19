//! `find WORDS`, and the reply to text that is no command.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::strip_quotes;
use crate::commands::dialog::replies;
use crate::read_tools::find_notes;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "find",
    usage: "find WORDS",
    description: "shows the passages that match best",
    tool: Some("find_notes"),
    parse: |rest| {
        let find = FindCommand { words: rest.to_owned(), is_command: true, hint: None };
        (!rest.is_empty()).then(|| Box::new(find) as Box<dyn TypedCommand>)
    },
};

/// Looks for words.
pub(in crate::commands) struct FindCommand {
    words: String,
    /// Whether the user typed the command; the reply to other text begins with why no model is asked.
    is_command: bool,
    /// The form of the command that was perhaps meant.
    hint: Option<&'static str>,
}

impl FindCommand {
    /// For text that is no command.
    pub(in crate::commands) fn for_text(words: &str, hint: Option<&'static str>) -> Self {
        Self { words: words.trim().to_owned(), is_command: false, hint }
    }

    /// Precedes the number of passages.
    fn opening(&self, context: &CommandContext<'_>) -> String {
        match self.is_command {
            true => String::new(),
            false => format!("{} ", context.no_model.sentence()),
        }
    }

    fn result_text(&self, output: &str) -> String {
        let found = match find_notes::parse_result(output) {
            Some(matching) => matching.to_owned(),
            None => format!("No note mentions {}.", any_of_words(&self.words)),
        };
        let hint = self.hint.map(|form| format!("\n\nThe command is typed `{form}`."));
        format!("{found}{}", hint.unwrap_or_default())
    }
}

impl TypedCommand for FindCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        match context.calls.first() {
            None => NextStep::call("find_notes", json!({ "query": self.words })),
            Some(done) if done.is_error => {
                let why = replies::first_line(done.output);
                NextStep::Say(format!("{}{why}", self.opening(context)))
            }
            Some(done) => {
                let found = self.result_text(done.output);
                NextStep::Say(format!("{}{found}", self.opening(context)))
            }
        }
    }
}

/// “a”, “b” or “c”: a search that finds nothing has found none of its words.
fn any_of_words(words: &str) -> String {
    let mut looked_for: Vec<&str> = match strip_quotes(words) {
        phrase if phrase != words => vec![phrase],
        words => words.split_whitespace().collect(),
    };
    match looked_for.pop() {
        Some(last) if looked_for.is_empty() => format!("“{last}”"),
        Some(last) => format!("“{}” or “{last}”", looked_for.join("”, “")),
        None => "it".to_owned(),
    }
}
