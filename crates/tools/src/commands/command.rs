//! A typed command: its row in the table of commands, what it sees, and its next step.

use serde_json::{Value, json};

use super::no_model::NoModelReason;

/// A command that was understood.
pub(super) trait TypedCommand {
    /// The next step, from the calls since the command (or the answer) was typed.
    fn next(&self, context: &CommandContext<'_>) -> NextStep;

    /// Takes the note that the user chose when several had the name.
    fn choose_note(&mut self, _note: String) {}
}

/// A row of the table of commands.
pub(super) struct CommandEntry {
    /// The word it begins with.
    pub(super) word: &'static str,
    /// How it is typed.
    pub(super) usage: &'static str,
    /// The description for the user.
    pub(super) description: &'static str,
    /// The tool it needs; a command exists because its tool exists.
    pub(super) tool: Option<&'static str>,
    /// Reads what follows the word; `None` when that is not its form.
    pub(super) parse: fn(&str) -> Option<Box<dyn TypedCommand>>,
}

/// The view of a command on its dialog.
pub(super) struct CommandContext<'a> {
    /// Calls of this command that have results, in order.
    pub(super) calls: Vec<CompletedCall<'a>>,
    /// The tools on offer.
    pub(super) tools: Vec<&'a str>,
    /// The date here.
    pub(super) today: jiff::civil::Date,
    /// Why no model is asked.
    pub(super) no_model: NoModelReason,
}

/// A call and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CompletedCall<'a> {
    pub(super) tool: &'a str,
    pub(super) output: &'a str,
    pub(super) is_error: bool,
}

/// The next step of a command.
#[derive(Debug, PartialEq)]
pub(super) enum NextStep {
    /// Text, and the turn is over.
    Say(String),
    /// A call, as if a model had made it.
    Call { tool: &'static str, arguments: Value },
}

impl NextStep {
    pub(super) fn call(tool: &'static str, arguments: Value) -> Self {
        Self::Call { tool, arguments }
    }

    pub(super) fn ask(message: &str, options: &[String]) -> Self {
        let arguments = json!({ "message": message, "is_question": true, "options": options });
        Self::call("send_message", arguments)
    }

    /// A call of a tool that is not on offer here becomes text.
    pub(super) fn if_offered(self, context: &CommandContext<'_>) -> Self {
        match self {
            Self::Call { tool, .. } if !context.tools.contains(&tool) => {
                Self::Say(format!("This isn’t possible here: `{tool}` isn’t allowed."))
            }
            offered => offered,
        }
    }
}
