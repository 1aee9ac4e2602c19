//! What a conversation is called and was about, as a model tells it.

use crate::OpenTurn;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleRequest {
    /// What to call it.
    Title,
    /// That, and what it was about.
    TitleAndSummary,
}

/// A model's words for a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedTitle {
    /// One line to call it by.
    pub title: String,
    /// Two or three sentences on what it was about, when they were asked for.
    pub summary: Option<String>,
}

/// A conversation of which more is known than its title and summary tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleTask {
    /// The last turn that ended with an answer.
    pub turn: OpenTurn,
    /// What is wanted.
    pub wanted: TitleRequest,
}
