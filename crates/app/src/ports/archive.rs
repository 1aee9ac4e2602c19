//! `tools`' archive: ended conversations, kept in the store.

use async_trait::async_trait;
use protocol::{Conversation, ConversationId, ConversationState, Message, TurnId};
use store::{Store, StoreError};
use tools::archive::{Archive, ArchiveError, Ended, Said};

/// The ended conversations of one vault.
pub(crate) struct StoreArchive(pub(crate) Store);

#[async_trait]
impl Archive for StoreArchive {
    async fn recent(&self, limit: u32) -> Result<Vec<Ended>, ArchiveError> {
        self.ended(limit, None).await
    }

    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Ended>, ArchiveError> {
        self.ended(limit, Some(query)).await
    }

    async fn whole(&self, id: &ConversationId) -> Result<Option<Vec<Said>>, ArchiveError> {
        let found = self.0.conversation(id).await.map_err(told)?;
        if found.is_none_or(|conversation| conversation.state != ConversationState::Ended) {
            return Ok(None);
        }
        let last: Option<TurnId> = self.0.last_turn(id).await.map_err(told)?;
        let Some(last) = last else { return Ok(Some(Vec::new())) };
        let history = self.0.history(id, &last).await.map_err(told)?;
        Ok(Some(history.iter().filter_map(said).collect()))
    }
}

impl StoreArchive {
    async fn ended(&self, limit: u32, query: Option<&str>) -> Result<Vec<Ended>, ArchiveError> {
        let rows = self.0.ended_conversations(limit, query).await.map_err(told)?;
        Ok(rows.into_iter().map(ended).collect())
    }
}

fn ended((conversation, gist): (Conversation, String)) -> Ended {
    Ended {
        id: conversation.id,
        title: conversation.title,
        ended_at: conversation.updated_at,
        gist,
    }
}

fn said(message: &Message) -> Option<Said> {
    let text = message.text();
    (!text.trim().is_empty()).then_some(Said { by: message.role, text })
}

fn told(error: StoreError) -> ArchiveError {
    ArchiveError(error.to_string())
}
