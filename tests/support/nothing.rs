//! What lies around tools that need nothing but notes: no conversation has ended, no note is open,
//! no question waits.

use ::tools::archive::{Archive, ArchiveError, Ended, Heard, Whole};
use ::tools::desk::{Desk, SentNote};
use ::tools::questions::{Questions, Unsettled, Verdict};
use async_trait::async_trait;
use jiff::Zoned;
use protocol::{ConversationId, QuestionId, TurnId};

/// An empty desk, an empty archive and nothing to answer.
pub(crate) struct Nothing;

#[async_trait]
impl Desk for Nothing {
    async fn sent_note(&self, _: &TurnId) -> SentNote {
        SentNote::NoneOpen
    }

    fn now(&self) -> Zoned {
        Zoned::now()
    }
}

#[async_trait]
impl Archive for Nothing {
    async fn result(&self, _: &ConversationId, _: &str) -> Result<Option<Whole>, ArchiveError> {
        Ok(None)
    }

    async fn recent(&self, _: u32) -> Result<Vec<Ended>, ArchiveError> {
        Ok(Vec::new())
    }

    async fn search(&self, _: &str, _: u32) -> Result<Vec<Ended>, ArchiveError> {
        Ok(Vec::new())
    }

    async fn whole(&self, _: &ConversationId) -> Result<Option<Heard>, ArchiveError> {
        Ok(None)
    }
}

#[async_trait]
impl Questions for Nothing {
    async fn settle(&self, _: &TurnId, _: &QuestionId, _: Verdict) -> Result<(), Unsettled> {
        Err(Unsettled("No question waits.".to_owned()))
    }
}
