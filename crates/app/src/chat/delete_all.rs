//! Deletes all conversations at once, and restores them while that is possible.

use protocol::chat::conversation_list::{ConversationCounts, ConversationPage};
use protocol::{Timestamp, UserError};

use crate::App;
use crate::chat::conversations::RESTORE_WINDOW_MS;
use crate::events::domain_event::DomainEvent;
use crate::support::clock::now;
use crate::vault_session::VaultSession;

impl App {
    /// How many conversations there are, and how many deleted ones can be restored.
    pub async fn conversation_counts(&self) -> Result<ConversationCounts, UserError> {
        self.session().await?.conversation_counts().await
    }

    /// Deletes all conversations but the running ones, and returns the remaining counts. For ten
    /// minutes they can be restored. Their changes in notes stay and can still be undone.
    pub async fn delete_conversations(&self) -> Result<ConversationCounts, UserError> {
        let open = self.session().await?;
        // A decision that is being carried out belongs to a conversation.
        let _alone = open.change_lock.lock().await;
        let deleted = open.store.delete_all(now()).await?;
        deleted.into_iter().for_each(|id| open.emit(DomainEvent::Row(id)));
        open.conversation_counts().await
    }

    /// Restores all deleted conversations that are still there; their queued messages run. Returns
    /// the first page of the list.
    pub async fn restore_conversations(&self) -> Result<ConversationPage, UserError> {
        let open = self.session().await?;
        open.store.restore_all().await?;
        let page = open.first_page().await?;
        for row in &page.conversations {
            open.emit(DomainEvent::Row(row.id.clone()));
        }
        for turn in open.store.open_turns().await? {
            open.service.wake(&turn.conversation);
        }
        Ok(page)
    }
}

impl VaultSession {
    async fn conversation_counts(&self) -> Result<ConversationCounts, UserError> {
        let (kept, deleted, first) = self.store.conversation_counts().await?;
        let until = first.map(|first| Timestamp(first.0.saturating_add(RESTORE_WINDOW_MS)));
        Ok(ConversationCounts { kept, deleted, until })
    }
}
