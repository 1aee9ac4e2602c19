//! The state of a turn and its cost.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    CallId, ContentHash, ConversationId, Message, MessageId, NotePath, Origin, Question,
    QuestionId, Source, Speech, Timestamp, ToolEvent, TurnId, UserError,
};

/// Where a turn stands. Everything after `Running` is terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// Stored, not begun.
    Queued,
    /// Under way.
    Running,
    /// Answered.
    Done,
    /// Ended by asking the user.
    Asked,
    /// Stopped at the limit of round trips or calls; the user may continue.
    Limit,
    /// Stopped by the user.
    Cancelled,
    /// Ended by an error that `UserError` describes.
    Failed,
    /// The process ended while it ran.
    Interrupted,
}

impl TurnStatus {
    /// Whether nothing more happens in this turn.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// Tokens, as the provider reported them; zero where it did not. Of an answer that was stopped or broke
/// off, those that are not reported are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens of the prompt that were not cached.
    pub input: u32,
    /// Tokens of the answer.
    pub output: u32,
    /// Tokens of the prompt read from the cache.
    pub cache_read: u32,
    /// Tokens of the prompt written to the cache.
    pub cache_write: u32,
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// A user message and the turn it opens: one durable commit.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTurn {
    /// The id of the new turn.
    pub turn: TurnId,
    /// The message, its context block included.
    pub message: Message,
    /// The channel it came through.
    pub origin: Origin,
    /// The question it answers, if it does.
    pub answers: Option<QuestionId>,
    /// The sources of text that is sent with it and does not come from its channel.
    pub shown: Vec<Source>,
}

/// A turn that has not reached a terminal status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    /// The id that the stored rows have.
    pub turn: TurnId,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// The user message that opened it.
    pub message: MessageId,
    /// The channel that message came through.
    pub origin: Origin,
    /// Queued or running.
    pub status: TurnStatus,
    /// When it was stored.
    pub at: Timestamp,
    /// How often it was taken up again after it had been cut; then it has rows of its own already.
    pub resumed: u32,
}

/// One answer of the model that calls tools, stored before any of them runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnStep {
    /// The assistant's message: text and calls, in order.
    pub message: Message,
    /// The tokens of the request, as the provider reported them.
    pub usage: TokenUsage,
}

/// The result of a tool call; each call gets exactly one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// The call that it answers.
    pub call: CallId,
    /// Text for the model.
    pub output: String,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// The words for the user, if the call talked and did not fail.
    pub speech: Option<Speech>,
    /// The events for the window.
    pub reactions: Vec<ToolEvent>,
    /// Contents that the conversation has now read, by note.
    pub seen: Vec<(NotePath, ContentHash)>,
    /// Where what it tells comes from.
    pub sources: Vec<Source>,
    /// All of it, when `output` is only its beginning.
    pub whole: Option<FullResult>,
}

/// A result that was too long to be told at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullResult {
    /// The name by which a model refers to it.
    pub handle: String,
    /// The whole result, without a limit of length.
    pub text: String,
}

/// How a turn ends: one durable commit.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnding {
    /// The terminal status.
    pub status: TurnStatus,
    /// Results of calls that had none yet.
    pub results: Vec<CallResult>,
    /// The assistant's last words, if there are any.
    pub message: Option<Message>,
    /// Whether those words were cut off.
    pub cut: bool,
    /// The question it ended with.
    pub question: Option<Question>,
    /// Whether the conversation ended with it.
    pub ends_conversation: bool,
    /// The error of a turn that failed.
    pub error: Option<UserError>,
    /// The token usage of the last answer.
    pub usage: TokenUsage,
    /// The time it is stored with.
    pub at: Timestamp,
}
