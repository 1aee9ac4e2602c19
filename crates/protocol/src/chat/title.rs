//! The title and summary of a conversation by a model.

use crate::OpenTurn;

/// The parts of a conversation's row that a model is to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleRequest {
    /// The title only.
    Title,
    /// Both, in one request.
    TitleAndSummary,
}

/// A model's title and summary for a conversation.
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
    /// The requested parts.
    pub wanted: TitleRequest,
}
