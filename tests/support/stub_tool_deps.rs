//! Stub dependencies for tools that need only notes: no conversation has ended, no note is open, no
//! question is open.

use ::tools::ports::conversation_archive::{
    ArchiveError, ArchiveSearch, ArchivedConversation, ArchivedResult, ArchivedTranscript,
    ConversationArchive,
};
use ::tools::ports::environment::{Environment, SentNote};
use ::tools::ports::question_resolver::{QuestionResolution, QuestionResolver, UnresolvedQuestion};
use async_trait::async_trait;
use jiff::Zoned;
use protocol::{CallId, ConversationId, QuestionId, TurnId};

/// An environment without an open note, an empty archive and nothing to answer.
pub(crate) struct StubToolDeps;

#[async_trait]
impl Environment for StubToolDeps {
    async fn sent_note(&self, _: &TurnId) -> SentNote {
        SentNote::NoneOpen
    }

    fn now(&self) -> Zoned {
        Zoned::now()
    }
}

#[async_trait]
impl ConversationArchive for StubToolDeps {
    async fn full_result(
        &self,
        _: &ConversationId,
        _: &str,
    ) -> Result<Option<ArchivedResult>, ArchiveError> {
        Ok(None)
    }

    async fn told_texts(
        &self,
        _: &ConversationId,
        _: &TurnId,
        _: &CallId,
    ) -> Result<Option<Vec<String>>, ArchiveError> {
        Ok(None)
    }

    async fn recent(&self, _: u32) -> Result<Vec<ArchivedConversation>, ArchiveError> {
        Ok(Vec::new())
    }

    async fn search(&self, _: &str, _: u32) -> Result<ArchiveSearch, ArchiveError> {
        Ok(ArchiveSearch::default())
    }

    async fn transcript(
        &self,
        _: &ConversationId,
    ) -> Result<Option<ArchivedTranscript>, ArchiveError> {
        Ok(None)
    }
}

#[async_trait]
impl QuestionResolver for StubToolDeps {
    async fn resolve(
        &self,
        _: &TurnId,
        _: &QuestionId,
        _: QuestionResolution,
    ) -> Result<(), UnresolvedQuestion> {
        Err(UnresolvedQuestion("No question is open.".to_owned()))
    }
}
