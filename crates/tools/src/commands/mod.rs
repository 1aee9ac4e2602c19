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

use command::{CommandContext, NextStep};
pub use no_model::NoModelReason;

mod changes;
mod command;
mod help;
mod no_model;
mod table;

/// The provider for those for whom no model is asked.
pub struct CommandProvider {
    now: fn() -> jiff::Zoned,
    reason: NoModelReason,
}

impl CommandProvider {
    /// Needs nothing but the date: the notes are reached through the tools.
    #[must_use]
    pub fn new(now: fn() -> jiff::Zoned, reason: NoModelReason) -> Self {
        Self { now, reason }
    }

    fn decide(&self, request: &ModelRequest) -> (NextStep, usize) {
        let Some(story) = dialog::history::read_history(&request.messages) else {
            return (NextStep::Say("Type a command or a few words.".to_owned()), 0);
        };
        let scene = CommandContext {
            calls: story.completed,
            tools: request.tools.iter().map(|tool| tool.name.as_str()).collect(),
            today: (self.now)().date(),
            no_model: self.reason,
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

pub(crate) mod dialog;
pub(crate) mod edits;
pub(crate) mod queries;
#[cfg(test)]
mod tests;
