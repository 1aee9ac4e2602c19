//! Where the turn keeps what must not be lost. Implemented over SQLite by the application and in
//! memory by the tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{
    CallId, CallResult, Compaction, ConversationId, Message, NewTurn, OpenTurn, QuestionId,
    TurnEnding, TurnId, TurnStep, UserError, UtilityRequest,
};

/// The history of a turn, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// Stands in for the turns before `rows`.
    pub compaction: Option<Compaction>,
    /// The messages, results as messages of the user; shared, for each request of a turn hears the
    /// same of the turns before it.
    pub rows: Vec<Arc<Message>>,
}

impl History {
    /// Just these messages.
    #[must_use]
    pub fn of(rows: Vec<Message>) -> Self {
        Self { compaction: None, rows: rows.into_iter().map(Arc::new).collect() }
    }
}

/// All messages up to a turn, as they may be sent, whether or not a compaction covers some.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FullHistory {
    /// Stands in for the first of `rows`.
    pub compaction: Option<Compaction>,
    /// The messages, results as messages of the user.
    pub rows: Vec<Message>,
    /// Which calls asked the user, and the ids of their questions.
    pub questions: BTreeMap<(TurnId, CallId), QuestionId>,
    /// Says what was hidden: it goes with what is made of them.
    pub privacy_view: String,
}

/// Each method that stores is one commit and durable when it returns. An error leaves nothing of it
/// behind.
#[async_trait]
pub trait Transcript: Send + Sync {
    /// Stores a user message and its queued turn. With `answers`, also marks the question as
    /// answered; an answered or withdrawn one is refused with `ErrorCode::Answered`.
    async fn submit(&self, new: &NewTurn) -> Result<(), UserError>;

    /// Marks the conversation's oldest queued turn as running; `None` when none is queued.
    async fn begin(&self, conversation: &ConversationId) -> Result<Option<OpenTurn>, UserError>;

    /// Whether [`begin`](Self::begin) would mark a turn.
    async fn has_queued(&self, conversation: &ConversationId) -> Result<bool, UserError>;

    /// The history that is sent in `turn`: its own messages, and those before it. Messages of turns
    /// queued behind it are not among them. The compaction covers turns that ran before it in its
    /// own branch.
    async fn history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<History, UserError>;

    /// The same, with the messages that something stands in for.
    async fn full_history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<FullHistory, UserError>;

    /// The messages of `turn` itself.
    async fn messages_of_turn(&self, turn: &TurnId) -> Result<Vec<Message>, UserError>;

    /// Stores an answer that calls tools, before any of them runs.
    async fn step(&self, turn: &TurnId, step: &TurnStep) -> Result<(), UserError>;

    /// Stores results, in call order.
    async fn results(&self, turn: &TurnId, results: &[CallResult]) -> Result<(), UserError>;

    /// Ends the turn.
    async fn finish(&self, turn: &TurnId, ending: &TurnEnding) -> Result<(), UserError>;

    /// Stores what stands in for earlier turns from now on, made of what was heard in `turn` under
    /// this mark, and counts for that turn what asking for it took.
    async fn compact(
        &self,
        turn: &OpenTurn,
        new: &Compaction,
        mark: &str,
        asked: Option<&UtilityRequest>,
    ) -> Result<(), UserError>;

    /// Counts a request that belongs to no answer for `turn`.
    async fn record_usage(&self, turn: &TurnId, asked: &UtilityRequest) -> Result<(), UserError>;
}
