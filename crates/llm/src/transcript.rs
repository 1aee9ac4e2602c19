//! Where the turn keeps what must not be lost. Implemented over SQLite by the application and in
//! memory by the tests.

use async_trait::async_trait;
use protocol::{
    CallResult, ConversationId, Ending, Message, NewTurn, OpenTurn, Step, TurnId, UserError,
};

/// Each method is one commit and durable when it returns. An error leaves nothing of it behind.
#[async_trait]
pub trait Transcript: Send + Sync {
    /// Stores a user message and its queued turn. With `answers`, also marks the question as
    /// answered; an answered or withdrawn one is refused with `ErrorCode::Answered`.
    async fn submit(&self, new: &NewTurn) -> Result<(), UserError>;

    /// Marks the conversation's oldest queued turn as running; `None` when none is queued.
    async fn begin(&self, conversation: &ConversationId) -> Result<Option<OpenTurn>, UserError>;

    /// All messages of the conversation up to and with `turn`, oldest first, results as messages
    /// of the user; messages of turns queued behind it are not among them.
    async fn history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Vec<Message>, UserError>;

    /// Stores an answer that calls tools, before any of them runs.
    async fn step(&self, turn: &TurnId, step: &Step) -> Result<(), UserError>;

    /// Stores results, in call order.
    async fn results(&self, turn: &TurnId, results: &[CallResult]) -> Result<(), UserError>;

    /// Ends the turn.
    async fn finish(&self, turn: &TurnId, ending: &Ending) -> Result<(), UserError>;
}
