//! All conversations are deleted at once, and brought back for as long as one can be.

use protocol::shelf::{ConversationPage, KeptConversations};
use protocol::{Timestamp, UserError};

use crate::App;
use crate::announce::News;
use crate::clock::now;
use crate::open_vault::OpenVault;
use crate::shelf::UNDO_STANDS;
use crate::trouble::user_error;

impl App {
    /// How many conversations there are, and how many that were deleted can be brought back.
    pub async fn kept_conversations(&self) -> Result<KeptConversations, UserError> {
        self.open().await?.kept_conversations().await
    }

    /// Deletes all conversations but those that are being worked on, and says what is left. For ten
    /// minutes they can be brought back; what they changed in notes stays, and can be taken back.
    pub async fn delete_conversations(&self) -> Result<KeptConversations, UserError> {
        let open = self.open().await?;
        // A verdict that is carried out belongs to a conversation.
        let _alone = open.deciding.lock().await;
        let deleted = open.store.delete_all(now()).await.map_err(user_error)?;
        deleted.into_iter().for_each(|id| open.announce(News::Row(id)));
        open.kept_conversations().await
    }

    /// Brings back all deleted conversations that are still there; what was queued in them goes on.
    /// Returns the list as it begins then.
    pub async fn restore_conversations(&self) -> Result<ConversationPage, UserError> {
        let open = self.open().await?;
        open.store.restore_all().await.map_err(user_error)?;
        let page = open.first_conversations().await?;
        for row in &page.conversations {
            open.announce(News::Row(row.id.clone()));
        }
        for turn in open.store.open_turns().await.map_err(user_error)? {
            open.service.wake(&turn.conversation);
        }
        Ok(page)
    }
}

impl OpenVault {
    async fn kept_conversations(&self) -> Result<KeptConversations, UserError> {
        let (kept, deleted, first) = self.store.kept_conversations().await.map_err(user_error)?;
        let until = first.map(|first| Timestamp(first.0.saturating_add(UNDO_STANDS)));
        Ok(KeptConversations { kept, deleted, until })
    }
}
