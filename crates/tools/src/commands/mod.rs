//! Answers without a model: typed commands, and passages of the notes for everything else.
//!
//! It is not a model and never poses as one. It implements the same [`Provider`] trait, so its calls run through the same
//! loop, tools, change sets and questions. `dialog::history` reads the request, `dialog::parse` the typed line, and each
//! command decides its next step from the results so far. Nothing is kept between requests: the same request gives the
//! same answer.

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use llm::model::{ModelError, ModelEvent, ModelRequest, StopReason, ToolCall};
use llm::provider::{ModelStream, Provider};
use protocol::{CallId, TokenUsage};
use serde_json::{Value, json};

mod changes;
mod help;

/// The provider for those who have no model connected.
pub struct CommandProvider {
    now: fn() -> jiff::Zoned,
}

impl CommandProvider {
    /// Needs nothing but the date: the notes are reached through the tools.
    #[must_use]
    pub fn new(now: fn() -> jiff::Zoned) -> Self {
        Self { now }
    }

    fn decide(&self, request: &ModelRequest) -> (NextStep, usize) {
        let Some(story) = dialog::history::read_history(&request.messages) else {
            return (NextStep::Say("Type a command or a few words.".to_owned()), 0);
        };
        let scene = CommandContext {
            calls: story.completed,
            tools: request.tools.iter().map(|tool| tool.name.as_str()).collect(),
            today: (self.now)().date(),
        };
        let mut command = dialog::parse::parse_line(&story.line);
        if let Some(note) = story.answer {
            command.choose_note(note);
        }
        (command.next(&scene).if_offered(&scene), story.calls)
    }
}

#[async_trait]
impl Provider for CommandProvider {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let (decided, calls_before) = self.decide(&request);
        let id = CallId::from(format!("cmd-{}", calls_before + 1));
        let (event, reason) = match decided {
            NextStep::Say(text) => (ModelEvent::Text(text), StopReason::EndTurn),
            NextStep::Call { tool, arguments } => {
                let call = ToolCall { id, tool: tool.to_owned(), arguments };
                (ModelEvent::Call(call), StopReason::ToolUse)
            }
        };
        let stopped = ModelEvent::Stopped { reason, usage: TokenUsage::default() };
        Ok(stream::iter([Ok(event), Ok(stopped)]).boxed())
    }
}

/// A command that was understood.
trait TypedCommand {
    /// The next step, from the calls since the command (or the answer) was typed.
    fn next(&self, context: &CommandContext<'_>) -> NextStep;

    /// Takes the note that the user chose when several had the name.
    fn choose_note(&mut self, _note: String) {}
}

/// A row of the table of commands.
struct CommandEntry {
    /// The word it begins with.
    word: &'static str,
    /// How it is typed.
    usage: &'static str,
    /// The description for the user.
    description: &'static str,
    /// The tool it needs; a command exists because its tool exists.
    tool: Option<&'static str>,
    /// Reads what follows the word; `None` when that is not its form.
    parse: fn(&str) -> Option<Box<dyn TypedCommand>>,
}

/// All commands, in the order that `help` shows them.
const COMMANDS: [CommandEntry; 14] = [
    queries::find::ENTRY,
    queries::open::ENTRY,
    queries::list::ENTRY,
    edits::new::ENTRY,
    edits::append::ENTRY,
    edits::replace::ENTRY,
    edits::move_note::ENTRY,
    edits::delete::ENTRY,
    queries::tags::ENTRY,
    queries::links::ENTRY,
    queries::tasks::ENTRY,
    edits::today::ENTRY,
    changes::ENTRY,
    help::ENTRY,
];

/// The view of a command on its dialog.
struct CommandContext<'a> {
    /// Calls of this command that have results, in order.
    calls: Vec<CompletedCall<'a>>,
    /// The tools on offer.
    tools: Vec<&'a str>,
    /// The date here.
    today: jiff::civil::Date,
}

/// A call and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CompletedCall<'a> {
    tool: &'a str,
    output: &'a str,
    is_error: bool,
}

/// The next step of a command.
#[derive(Debug, PartialEq)]
enum NextStep {
    /// Text, and the turn is over.
    Say(String),
    /// A call, as if a model had made it.
    Call { tool: &'static str, arguments: Value },
}

impl NextStep {
    fn call(tool: &'static str, arguments: Value) -> Self {
        Self::Call { tool, arguments }
    }

    fn ask(message: &str, options: &[String]) -> Self {
        let arguments = json!({ "message": message, "is_question": true, "options": options });
        Self::call("send_message", arguments)
    }

    /// A call of a tool that is not on offer here becomes text.
    fn if_offered(self, context: &CommandContext<'_>) -> Self {
        match self {
            Self::Call { tool, .. } if !context.tools.contains(&tool) => {
                Self::Say(format!("This isn’t possible here: `{tool}` isn’t allowed."))
            }
            offered => offered,
        }
    }
}

pub(crate) mod dialog;
pub(crate) mod edits;
pub(crate) mod queries;
#[cfg(test)]
mod tests;
