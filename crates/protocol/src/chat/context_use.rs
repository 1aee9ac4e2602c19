//! How full the context window is with a conversation.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How much of the context window a conversation takes: the estimate by which requests are kept within it,
/// corrected by what the model reported for its last request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextUse {
    /// Tokens of a request that holds all of it, the sum of `parts`. More than `window` when it no
    /// longer fits: then the oldest messages are omitted.
    pub used: u32,
    /// Tokens that a request may hold: the model's context window without the room that is kept free for
    /// the answer, so less than the model's maker tells. Never 0.
    pub window: u32,
    /// Tokens by kind, in the order in which they are sent; kinds without tokens are omitted.
    pub parts: Vec<ContextPart>,
    /// Whether there are earlier messages to summarize: the last six exchanges always stay as they are.
    pub can_summarize: bool,
}

/// Tokens of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ContextPart {
    /// The content that they hold.
    pub kind: ContextKind,
    /// An estimate, corrected by what the provider last counted.
    pub tokens: u32,
}

/// A kind of content that a model is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// The system prompt and the descriptions of the tools.
    Instructions,
    /// The summary of earlier messages.
    Summary,
    /// Messages and answers, with the calls of tools.
    Messages,
    /// Results that tools returned in earlier turns.
    ToolResults,
    /// All of the turn that is running: its message, calls and results.
    OpenTurn,
}
