//! Open questions, as `resolve_question` settles them.

use async_trait::async_trait;
use protocol::{QuestionId, TurnId};
use thiserror::Error;

/// How the user's message relates to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionResolution {
    /// The message answers the question.
    Answer,
    /// A request of its own.
    NoAnswer,
}

/// Why a question was not settled; the sentence says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UnresolvedQuestion(pub String);

/// Settles questions. Implemented over SQLite by the application and in memory by the tests.
#[async_trait]
pub trait QuestionResolver: Send + Sync {
    /// Takes note of what the message of `turn` is to the question that it may answer; any other is
    /// refused. Durable when it returns, and the same again says the same.
    async fn resolve(
        &self,
        turn: &TurnId,
        question: &QuestionId,
        resolution: QuestionResolution,
    ) -> Result<(), UnresolvedQuestion>;
}
