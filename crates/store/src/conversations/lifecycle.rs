//! Archives, deletes and restores conversations.
//!
//! A deleted conversation is marked, and removed from the file when it cannot be restored any more. The ledger of its
//! changes and its costs stay.

use protocol::chat::conversation_list::ArchiveState;
use protocol::{ConversationId, Timestamp, fault_injection};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row, SqliteConnection};

use crate::conversations::conversation::require_found;
use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read};
use crate::error::{Failure, FailureContext};
use crate::hub::inbox;
use crate::{Store, StoreError};

impl Store {
    /// Archives or unarchives a conversation. Nothing else changes in it.
    pub async fn set_archive_state(
        &self,
        archive_state: ArchiveState,
        id: &ConversationId,
    ) -> Result<(), StoreError> {
        commit!(self, "put_on", "archive or unarchive the conversation", |db| set_archived(
            db,
            id,
            archive_state == ArchiveState::Archived
        ))
    }

    /// Takes a conversation out of every list and search; [`Store::restore`] restores it as it was.
    /// Refused with [`StoreError::Working`] while it is being answered, or has queued messages.
    pub async fn delete(&self, id: &ConversationId, at: Timestamp) -> Result<(), StoreError> {
        commit!(self, "delete", "delete the conversation", |db| mark_deleted(db, id, at))
    }

    /// Deletes all conversations in the list and in the archive, as [`Store::delete`] deletes one,
    /// and returns their ids. Those that are being answered, or have queued messages, stay.
    pub async fn delete_all(&self, at: Timestamp) -> Result<Vec<ConversationId>, StoreError> {
        commit!(self, "delete_all", "delete the conversations", |db| mark_all_deleted(db, at))
    }

    /// Brings all deleted conversations back that are still there, and says how many.
    pub async fn restore_all(&self) -> Result<u64, StoreError> {
        commit!(self, "restore_all", "restore the conversations", |db| restore_each_deleted(db))
    }

    /// How many conversations are kept, how many are deleted, and when the first of these was.
    pub async fn conversation_counts(&self) -> Result<(u32, u32, Option<Timestamp>), StoreError> {
        read!(self, "count the conversations", |db| count_conversations(db))
    }

    /// Brings a deleted conversation back; refused with [`StoreError::NotFound`] when it is gone.
    pub async fn restore(&self, id: &ConversationId) -> Result<(), StoreError> {
        commit!(self, "restore", "restore the conversation", |db| clear_deleted(db, id))
    }

    /// Conversations that were deleted until `at`.
    pub async fn deleted_until(&self, at: Timestamp) -> Result<Vec<ConversationId>, StoreError> {
        read!(self, "look for deleted conversations", |db| deleted(db, at))
    }

    /// Removes all data of a deleted conversation in one durable commit, its text out of the file
    /// as well. The ledger of its changes and its cost stay, and of each hub message its id and four
    /// digits of a hash. One that is not deleted is left as it is.
    pub async fn purge_conversation(&self, id: &ConversationId) -> Result<(), StoreError> {
        self.purge_rows(id).await.doing(self, "remove the deleted conversation")
    }

    async fn purge_rows(&self, id: &ConversationId) -> Result<(), Failure> {
        let mut lent = self.writer.acquire().await?;
        let mut transaction = lent.secure_delete().await?.begin_with("BEGIN IMMEDIATE").await?;
        if is_deleted(&mut transaction, id).await? {
            remove_rows(&mut transaction, id).await?;
        }
        fault_injection::point("store.purge.before");
        transaction.commit().await?;
        fault_injection::point("store.purge.after");
        lent.release();
        Ok(())
    }

    /// Ends the conversations of the hub in which nothing happened since `since`, but for those
    /// that need attention or are worked on, and returns their ids.
    pub async fn end_idle_hub_conversations(
        &self,
        since: Timestamp,
    ) -> Result<Vec<ConversationId>, StoreError> {
        commit!(self, "end_idle", "end idle conversations", |db| end_idle(db, since))
    }
}

async fn set_archived(
    db: &mut SqliteConnection,
    id: &ConversationId,
    archived: bool,
) -> Result<(), Failure> {
    let put =
        sqlx::query("UPDATE conversation SET archived = ?2 WHERE id = ?1 AND deleted_at IS NULL")
            .bind(id.as_str())
            .bind(archived)
            .execute(db)
            .await?;
    require_found(put.rows_affected(), id)
}

async fn mark_deleted(
    db: &mut SqliteConnection,
    id: &ConversationId,
    at: Timestamp,
) -> Result<(), Failure> {
    let working: bool = sqlx::query_scalar(
        "SELECT EXISTS (
             SELECT 1 FROM turn WHERE conversation = ?1
                 AND (status = 'running' OR (status = 'queued' AND origin <> 'window'))
         )",
    )
    .bind(id.as_str())
    .fetch_one(&mut *db)
    .await?;
    if working {
        return Err(Failure::Refused(StoreError::Working));
    }
    let deleted = sqlx::query(
        "UPDATE conversation SET deleted_at = ?2, hub_day = hub_day || ' ' || id
         WHERE id = ?1 AND listed AND deleted_at IS NULL",
    )
    .bind(id.as_str())
    .bind(at.0)
    .execute(db)
    .await?;
    require_found(deleted.rows_affected(), id)
}

async fn mark_all_deleted(
    db: &mut SqliteConnection,
    at: Timestamp,
) -> Result<Vec<ConversationId>, sqlx::Error> {
    sqlx::query(
        "UPDATE conversation SET deleted_at = ?1, hub_day = hub_day || ' ' || id
         WHERE listed AND deleted_at IS NULL AND NOT EXISTS (
             SELECT 1 FROM turn t WHERE t.conversation = conversation.id
                 AND (t.status = 'running' OR (t.status = 'queued' AND t.origin <> 'window'))
         )
         RETURNING id",
    )
    .bind(at.0)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_all(db)
    .await
}

/// One after the other: of several that were of one day of the hub, one has it again.
async fn restore_each_deleted(db: &mut SqliteConnection) -> Result<u64, Failure> {
    let all = deleted(db, Timestamp(i64::MAX)).await?;
    for id in &all {
        clear_deleted(db, id).await?;
    }
    Ok(all.len() as u64)
}

async fn count_conversations(
    db: &mut SqliteConnection,
) -> Result<(u32, u32, Option<Timestamp>), sqlx::Error> {
    sqlx::query(
        "SELECT count(*) - count(deleted_at) AS kept, count(deleted_at) AS deleted,
             min(deleted_at) AS first
         FROM conversation WHERE listed",
    )
    .try_map(|row: SqliteRow| {
        let first: Option<i64> = row.try_get("first")?;
        Ok((row.try_get("kept")?, row.try_get("deleted")?, first.map(Timestamp)))
    })
    .fetch_one(db)
    .await
}

/// The day of a hub may have begun another conversation meanwhile; then it stays with that.
async fn clear_deleted(db: &mut SqliteConnection, id: &ConversationId) -> Result<(), Failure> {
    let restored = sqlx::query(
        "UPDATE conversation SET deleted_at = NULL, hub_day = CASE
             WHEN EXISTS (
                 SELECT 1 FROM conversation o WHERE o.hub_day = replace(conversation.hub_day, ' ' || ?1, '')
             ) THEN hub_day
             ELSE replace(hub_day, ' ' || ?1, '')
         END
         WHERE id = ?1 AND deleted_at IS NOT NULL",
    )
    .bind(id.as_str())
    .execute(db)
    .await?;
    require_found(restored.rows_affected(), id)
}

async fn deleted(
    db: &mut SqliteConnection,
    at: Timestamp,
) -> Result<Vec<ConversationId>, sqlx::Error> {
    sqlx::query("SELECT id FROM conversation WHERE deleted_at <= ? ORDER BY deleted_at")
        .bind(at.0)
        .try_map(|row: SqliteRow| row.text("id"))
        .fetch_all(db)
        .await
}

async fn is_deleted(db: &mut SqliteConnection, id: &ConversationId) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM conversation WHERE id = ? AND deleted_at IS NOT NULL)",
    )
    .bind(id.as_str())
    .fetch_one(db)
    .await
}

/// These statements enforce the foreign keys: this connection does not check them.
const PURGE_STATEMENTS: [&str; 17] = [
    "INSERT INTO usage_apart (model, input, output, cache_read, cache_write, at, cost)
     SELECT model, input, output, cache_read, cache_write, at, cost FROM usage
     WHERE turn IN (SELECT id FROM turn WHERE conversation = ?1)",
    "DELETE FROM usage WHERE turn IN (SELECT id FROM turn WHERE conversation = ?1)",
    "DELETE FROM outbox WHERE (hub, message_id) IN (
         SELECT i.hub, i.id FROM inbox i JOIN turn t ON t.id = i.turn WHERE t.conversation = ?1
     )",
    "DELETE FROM compaction WHERE conversation = ?1",
    "DELETE FROM whole_result WHERE turn IN (SELECT id FROM turn WHERE conversation = ?1)",
    "DELETE FROM tool_call WHERE turn IN (SELECT id FROM turn WHERE conversation = ?1)",
    "DELETE FROM planned_change
     WHERE change_set IN (SELECT id FROM change_set WHERE conversation = ?1)",
    "DELETE FROM change_set WHERE conversation = ?1",
    "DELETE FROM question WHERE conversation = ?1",
    "DELETE FROM branch WHERE conversation = ?1",
    "DELETE FROM held WHERE conversation = ?1",
    "DELETE FROM untold WHERE conversation = ?1",
    "DELETE FROM message WHERE conversation = ?1",
    "DELETE FROM passage WHERE conversation = ?1",
    // The ledger goes on naming the sources of its turns.
    "DELETE FROM source WHERE turn IN (SELECT id FROM turn WHERE conversation = ?1)
         AND turn NOT IN (SELECT turn FROM effect)",
    "DELETE FROM turn WHERE conversation = ?1",
    "DELETE FROM conversation WHERE id = ?1",
];

async fn remove_rows(db: &mut SqliteConnection, id: &ConversationId) -> Result<(), sqlx::Error> {
    inbox::purge_texts(db, id).await?;
    for query in PURGE_STATEMENTS {
        sqlx::query(query).bind(id.as_str()).execute(&mut *db).await?;
    }
    Ok(())
}

async fn end_idle(
    db: &mut SqliteConnection,
    since: Timestamp,
) -> Result<Vec<ConversationId>, sqlx::Error> {
    sqlx::query(
        "UPDATE conversation SET state = 'ended'
         WHERE hub_day IS NOT NULL AND state = 'active' AND deleted_at IS NULL
             AND updated_at <= ? AND id NOT IN (SELECT id FROM awaited) AND NOT EXISTS (
                 SELECT 1 FROM turn t
                 WHERE t.conversation = conversation.id AND t.status IN ('queued', 'running')
             )
         RETURNING id",
    )
    .bind(since.0)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_all(db)
    .await
}
