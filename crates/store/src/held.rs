//! The table `held`: what a hub is not told before the user has said so.

use protocol::held::HeldNotice;
use protocol::{ConversationId, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::Columns;
use crate::commit::{commit, read};
use crate::error::Failure;
use crate::outbox::OutboxPush;
use crate::{Store, StoreError};

impl Store {
    /// What waits in a conversation to be sent to the hub or discarded, oldest first.
    pub async fn held_in(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<HeldNotice>, StoreError> {
        read!(self, "read what waits for the hub", |db| of_conversation(db, conversation))
    }

    /// Puts it into the outbox, as said at `at`; `None` when it does not wait any more.
    pub async fn send_held(
        &self,
        number: u32,
        at: Timestamp,
    ) -> Result<Option<ConversationId>, StoreError> {
        commit!(self, "send_held", "send what waited for the hub", |db| send(db, number, at))
    }

    /// Drops it; `None` when it does not wait any more.
    pub async fn discard_held(&self, number: u32) -> Result<Option<ConversationId>, StoreError> {
        commit!(self, "discard_held", "discard what waited for the hub", |db| remove(db, number))
    }
}

pub(crate) async fn insert(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    push: &OutboxPush,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO held (conversation, hub, message_id, title, body, priority, at)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(conversation.as_str())
    .bind(&push.hub)
    .bind(&push.message_id)
    .bind(&push.title)
    .bind(&push.body)
    .bind(&push.priority)
    .bind(push.at.0)
    .execute(db)
    .await?;
    Ok(())
}

async fn of_conversation(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<HeldNotice>, sqlx::Error> {
    sqlx::query("SELECT number, body FROM held WHERE conversation = ? ORDER BY number")
        .bind(conversation.as_str())
        .try_map(|row: SqliteRow| {
            Ok(HeldNotice { number: row.try_get("number")?, text: row.text("body")? })
        })
        .fetch_all(db)
        .await
}

async fn send(
    db: &mut SqliteConnection,
    number: u32,
    at: Timestamp,
) -> Result<Option<ConversationId>, Failure> {
    sqlx::query(
        "INSERT INTO outbox (hub, message_id, title, body, priority, at, state)
         SELECT hub, message_id, title, body, priority, ?2, 'waiting' FROM held WHERE number = ?1",
    )
    .bind(number)
    .bind(at.0)
    .execute(&mut *db)
    .await?;
    Ok(remove(db, number).await?)
}

async fn remove(
    db: &mut SqliteConnection,
    number: u32,
) -> Result<Option<ConversationId>, sqlx::Error> {
    sqlx::query("DELETE FROM held WHERE number = ? RETURNING conversation")
        .bind(number)
        .try_map(|row: SqliteRow| row.text("conversation"))
        .fetch_optional(db)
        .await
}
