//! Conversations that have ended, as `get_conversation` looks them up.

use std::collections::BTreeSet;

use async_trait::async_trait;
use protocol::{CallId, ConversationId, Role, Source, Timestamp, TurnId};
use thiserror::Error;

/// The archive could not be read; the sentence says what failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ArchiveError(pub String);

/// An ended conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedConversation {
    /// The id by which it can be read.
    pub id: ConversationId,
    /// Its name.
    pub title: String,
    /// When something last happened in it.
    pub ended_at: Timestamp,
    /// Its topic and outcome, in a few sentences at most.
    pub summary: String,
    /// Where what was told in it comes from.
    pub sources: BTreeSet<Source>,
}

/// The result of a search in ended conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchiveSearch {
    /// The conversations, newest first.
    pub found: Vec<ArchivedConversation>,
    /// Where older conversations were not searched: the number of the newest ones that were.
    pub searched_newest: Option<u32>,
}

/// The messages of an ended conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchivedTranscript {
    /// The messages, oldest first.
    pub messages: Vec<ArchivedMessage>,
    /// Where what was told in it comes from.
    pub sources: BTreeSet<Source>,
}

/// All of a result that stands shortened in its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedResult {
    /// The result.
    pub text: String,
    /// Where what the turn was told comes from that made the call.
    pub sources: BTreeSet<Source>,
}

/// One message, without tool calls and their results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedMessage {
    /// The author.
    pub role: Role,
    /// The words of the message, Markdown.
    pub text: String,
}

/// Looks up ended conversations (one that goes on is never among them), and of the one that goes on its long
/// results and what was told in it.
///
/// Implemented over SQLite by the application and in memory by the tests.
#[async_trait]
pub trait ConversationArchive: Send + Sync {
    /// The latest, newest first, at most `limit`.
    async fn recent(&self, limit: u32) -> Result<Vec<ArchivedConversation>, ArchiveError>;

    /// Conversations whose messages contain the words of `query`, newest first, at most `limit`.
    async fn search(&self, query: &str, limit: u32) -> Result<ArchiveSearch, ArchiveError>;

    /// All of a result that was shortened in this conversation, without what is private now;
    /// `None` when it has none with this handle.
    async fn full_result(
        &self,
        conversation: &ConversationId,
        handle: &str,
    ) -> Result<Option<ArchivedResult>, ArchiveError>;

    /// All that a model in `turn` was told or said until it made this call: messages, results as they were told,
    /// and the texts in calls, those of the same answer included. Their results are not: the model wrote the
    /// answer before it saw them. `None` where no conversation is stored.
    async fn told_texts(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
        call: &CallId,
    ) -> Result<Option<Vec<String>>, ArchiveError>;

    /// One in full; `None` when there is none with this id or it goes on.
    async fn transcript(
        &self,
        id: &ConversationId,
    ) -> Result<Option<ArchivedTranscript>, ArchiveError>;
}
