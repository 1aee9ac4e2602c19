//! The list of conversations: pages, search, names, archive, end, deletion of one or all.
//!
//! Once a minute idle hub conversations end, and conversations whose time for restoring has passed are removed.

use std::sync::Arc;
use std::time::Duration;

use protocol::chat::conversation::ConversationView;
use protocol::chat::conversation_list::{
    ArchiveState, ConversationCounts, ConversationHits, ConversationPage, ListConversations,
};
use protocol::{ConversationId, ConversationState, Timestamp, TurnId, UserError};
use store::{Store, StoreError};

use crate::App;
use crate::chat::Chats;
use crate::events::domain_event::DomainEvent;
use crate::support::clock::now;
use crate::user_texts;

/// Rows on a page of the list.
const PAGE_SIZE: u32 = 200;
/// Passages that a search shows.
const MAX_SEARCH_HITS: u32 = 50;
/// The longest name, in characters.
const MAX_TITLE_CHARS: usize = 200;

const MINUTE: i64 = 60 * 1000;
/// The time for which a deleted conversation can be restored; then nothing is left of it.
const RESTORE_WINDOW_MS: i64 = 10 * MINUTE;
/// The time without an event after which a conversation of the hub ends, and after which a model is
/// asked what others were about.
pub(crate) const IDLE_AFTER_MS: i64 = 30 * MINUTE;
/// How often that is looked after.
pub(crate) const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60);

impl App {
    /// A page of the list.
    pub async fn list_conversations(
        &self,
        request: &ListConversations,
    ) -> Result<ConversationPage, UserError> {
        let open = self.session().await?;
        let page =
            open.store.conversations(request.archive_state, request.before.as_ref(), PAGE_SIZE);
        Ok(page.await?)
    }

    /// Finds conversations and changes by words, including those of private notes: the user sees
    /// everything.
    pub async fn search_conversations(&self, query: &str) -> Result<ConversationHits, UserError> {
        Ok(self.session().await?.store.search_conversations(query, MAX_SEARCH_HITS).await?)
    }

    /// Everything the chat shows of a conversation, in the branch in which a turn stands. Another
    /// branch than the one that is shown is refused while the conversation is being answered or has
    /// queued messages.
    pub async fn conversation_at(
        &self,
        id: &ConversationId,
        turn: &TurnId,
    ) -> Result<ConversationView, UserError> {
        let open = self.session().await?;
        open.store.show_turn(id, turn).await.map_err(|error| match error {
            StoreError::Working => UserError::other(user_texts::search_result_in_busy_version()),
            other => other.into(),
        })?;
        open.chats.conversation_view(id).await
    }

    /// Gives a conversation a name, which is never replaced by one that was made.
    pub async fn rename_conversation(
        &self,
        id: &ConversationId,
        name: &str,
    ) -> Result<(), UserError> {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        if name.is_empty() {
            return Err(UserError::other(user_texts::conversation_needs_name()));
        }
        let name: String = name.chars().take(MAX_TITLE_CHARS).collect();
        let open = self.session().await?;
        open.store.rename(id, &name).await.map_err(not_found_error)?;
        open.chats.emit(DomainEvent::Row(id.clone()));
        Ok(())
    }

    /// Archives or unarchives a conversation.
    pub async fn set_archive_state(
        &self,
        id: &ConversationId,
        archive_state: ArchiveState,
    ) -> Result<(), UserError> {
        let open = self.session().await?;
        open.store.set_archive_state(archive_state, id).await.map_err(not_found_error)?;
        open.chats.emit(DomainEvent::Row(id.clone()));
        Ok(())
    }

    /// Ends a conversation: it is then one of those that a model can look up. Writing in it
    /// reopens it.
    pub async fn end_conversation(&self, id: &ConversationId) -> Result<(), UserError> {
        let open = self.session().await?;
        if open.chats.service.is_working(id) {
            return Err(StoreError::Working.into());
        }
        open.store.set_state(id, ConversationState::Ended).await.map_err(not_found_error)?;
        open.chats.emit(DomainEvent::Row(id.clone()));
        open.chats.titles_due.notify_one();
        Ok(())
    }

    /// Deletes a conversation. For ten minutes it can be restored as it was; then its messages are
    /// gone. Its changes in notes can still be undone.
    pub async fn delete_conversation(&self, id: &ConversationId) -> Result<(), UserError> {
        let open = self.session().await?;
        // A decision that is being carried out belongs to a conversation.
        let _alone = open.changes.change_lock.lock().await;
        open.store.delete(id, now()).await.map_err(not_found_error)?;
        open.chats.emit(DomainEvent::Row(id.clone()));
        Ok(())
    }

    /// Brings a deleted conversation back as it was; what was queued in it goes on.
    pub async fn restore_conversation(&self, id: &ConversationId) -> Result<(), UserError> {
        let open = self.session().await?;
        open.store.restore(id).await.map_err(not_found_error)?;
        open.chats.emit(DomainEvent::Row(id.clone()));
        open.chats.service.wake(id);
        Ok(())
    }

    /// How many conversations there are, and how many deleted ones can be restored.
    pub async fn conversation_counts(&self) -> Result<ConversationCounts, UserError> {
        self.session().await?.chats.conversation_counts().await
    }

    /// Deletes all conversations but the running ones, and returns the remaining counts. For ten
    /// minutes they can be restored. Their changes in notes stay and can still be undone.
    pub async fn delete_conversations(&self) -> Result<ConversationCounts, UserError> {
        let open = self.session().await?;
        // A decision that is being carried out belongs to a conversation.
        let _alone = open.changes.change_lock.lock().await;
        let deleted = open.store.delete_all(now()).await?;
        deleted.into_iter().for_each(|id| open.chats.emit(DomainEvent::Row(id)));
        open.chats.conversation_counts().await
    }

    /// Restores all deleted conversations that are still there; their queued messages run. Returns
    /// the first page of the list.
    pub async fn restore_conversations(&self) -> Result<ConversationPage, UserError> {
        let open = self.session().await?;
        open.store.restore_all().await?;
        let page = open.chats.first_page().await?;
        for row in &page.conversations {
            open.chats.emit(DomainEvent::Row(row.id.clone()));
        }
        for turn in open.store.open_turns().await? {
            open.chats.service.wake(&turn.conversation);
        }
        Ok(page)
    }
}

impl Chats {
    async fn conversation_counts(&self) -> Result<ConversationCounts, UserError> {
        let (kept, deleted, first) = self.store.conversation_counts().await?;
        let until = first.map(|first| Timestamp(first.0.saturating_add(RESTORE_WINDOW_MS)));
        Ok(ConversationCounts { kept, deleted, until })
    }

    /// The first page of the list, which includes all conversations that need attention.
    pub(crate) async fn first_page(&self) -> Result<ConversationPage, UserError> {
        let page = self.store.conversations(ArchiveState::Open, None, PAGE_SIZE).await?;
        let ConversationPage { conversations: mut rows, behind } = page;
        for row in self.store.conversations_needing_you().await? {
            if !rows.iter().any(|listed| listed.id == row.id) {
                rows.push(row);
            }
        }
        rows.sort_by(|a, b| (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id)));
        Ok(ConversationPage { conversations: rows, behind })
    }

    /// Ends what is idle and removes what was deleted, now and once in a while, until the vault is
    /// closed.
    pub(crate) async fn run_conversations_loop(self: Arc<Self>) {
        loop {
            match maintain(&self.store, now()).await {
                Ok(changed) => changed.into_iter().for_each(|id| self.emit(DomainEvent::Row(id))),
                Err(error) => tracing::warn!(%error, "conversations could not be looked after"),
            }
            tokio::time::sleep(MAINTENANCE_INTERVAL).await;
        }
    }
}

/// Does the work that is due at a time, and returns the conversations whose state changed.
async fn maintain(store: &Store, at: Timestamp) -> Result<Vec<ConversationId>, StoreError> {
    for id in store.deleted_until(Timestamp(at.0.saturating_sub(RESTORE_WINDOW_MS))).await? {
        store.purge_conversation(&id).await?;
    }
    store.end_idle_hub_conversations(Timestamp(at.0.saturating_sub(IDLE_AFTER_MS))).await
}

/// A refusal that names no conversation by its id.
fn not_found_error(error: StoreError) -> UserError {
    match error {
        StoreError::NotFound { .. } => UserError::other(user_texts::conversation_gone()),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_deleted_conversation_can_be_restored_for_ten_minutes() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
        let id = ConversationId::from("c");
        store.create_conversation(&id, "c", None, Timestamp(0)).await.expect("begun");
        for (deleted_at, is_there) in [(0, true), (1, false)] {
            store.delete(&id, Timestamp(1 - deleted_at)).await.expect("deleted");
            let ended = maintain(&store, Timestamp(RESTORE_WINDOW_MS)).await.expect("tended");
            assert_eq!(ended, []);
            assert_eq!(store.restore(&id).await.is_ok(), is_there);
        }
    }

    #[tokio::test]
    async fn a_conversation_of_the_hub_ends_after_half_an_hour_and_one_of_the_window_never() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
        let (hub, window) = (ConversationId::from("h"), ConversationId::from("w"));
        store.create_conversation(&hub, "h", Some("day"), Timestamp(0)).await.expect("begun");
        store.create_conversation(&window, "w", None, Timestamp(0)).await.expect("begun");
        assert_eq!(maintain(&store, Timestamp(IDLE_AFTER_MS - 1)).await.expect("tended"), []);
        assert_eq!(maintain(&store, Timestamp(IDLE_AFTER_MS)).await.expect("tended"), [hub]);
        assert_eq!(maintain(&store, Timestamp(i64::MAX)).await.expect("tended"), []);
    }
}
