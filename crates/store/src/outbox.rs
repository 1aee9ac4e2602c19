//! The table `outbox`: what a hub shall hear, in order, kept over a disconnect.

use protocol::{ConversationId, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::Columns;
use crate::commit::{commit, read};
use crate::error::Failure;
use crate::{Store, StoreError, held};

/// A notification to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxPush {
    /// The hub.
    pub hub: String,
    /// The hub message it answers.
    pub message_id: String,
    /// Its title; may be absent.
    pub title: Option<String>,
    /// Its words.
    pub body: String,
    /// "low", "normal" or "high".
    pub priority: String,
    /// When it was said.
    pub at: Timestamp,
}

/// A stored notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its number; later ones are higher.
    pub id: i64,
    /// What to send.
    pub push: OutboxPush,
}

/// A notification that was never sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unheard {
    /// It.
    pub push: OutboxPush,
    /// The conversation in which it waits for the user now; `None` when that is not kept.
    pub conversation: Option<ConversationId>,
}

impl Store {
    /// Adds a notification at the end.
    pub async fn outbox_push(&self, push: &OutboxPush) -> Result<(), StoreError> {
        commit!(self, "outbox_push", "store a notification", |db| insert(db, push))
    }

    /// The oldest notification that waits; the same one until it is sent or dropped.
    pub async fn outbox_next(&self) -> Result<Option<OutboxRow>, StoreError> {
        read!(self, "read the outbox", |db| next(db))
    }

    /// The notification was handed to the hub.
    pub async fn outbox_sent(&self, id: i64) -> Result<(), StoreError> {
        commit!(self, "outbox_sent", "note a sent notification", |db| mark_sent(db, id))
    }

    /// Drops what has waited since before `at` and returns it, oldest first. It waits for the user
    /// among what is held, in the conversation that it comes from.
    pub async fn outbox_drop_older(&self, at: Timestamp) -> Result<Vec<Unheard>, StoreError> {
        commit!(self, "outbox_drop_older", "drop old notifications", |db| drop_older(db, at))
    }
}

pub(crate) async fn insert(
    db: &mut SqliteConnection,
    push: &OutboxPush,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO outbox (hub, message_id, title, body, priority, at, state)
         VALUES (?, ?, ?, ?, ?, ?, 'waiting')",
    )
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

async fn next(db: &mut SqliteConnection) -> Result<Option<OutboxRow>, sqlx::Error> {
    sqlx::query(
        "SELECT number, hub, message_id, title, body, priority, at
         FROM outbox WHERE state = 'waiting' ORDER BY number LIMIT 1",
    )
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

async fn mark_sent(db: &mut SqliteConnection, id: i64) -> Result<(), Failure> {
    let sent = sqlx::query("UPDATE outbox SET state = 'sent' WHERE number = ?")
        .bind(id)
        .execute(db)
        .await?;
    if sent.rows_affected() == 0 { Err(Failure::not_found("notification", id)) } else { Ok(()) }
}

async fn drop_older(db: &mut SqliteConnection, at: Timestamp) -> Result<Vec<Unheard>, sqlx::Error> {
    let mut dropped = sqlx::query(
        "UPDATE outbox SET state = 'dropped' WHERE state = 'waiting' AND at < ?
         RETURNING number, hub, message_id, title, body, priority, at",
    )
    .bind(at.0)
    .try_map(|row| from_row(&row))
    .fetch_all(&mut *db)
    .await?;
    dropped.sort_by_key(|row| row.id);
    let mut unheard = Vec::with_capacity(dropped.len());
    for row in dropped {
        let conversation = held::keep_unheard(db, row.id).await?;
        unheard.push(Unheard { push: row.push, conversation });
    }
    Ok(unheard)
}

fn from_row(row: &SqliteRow) -> Result<OutboxRow, sqlx::Error> {
    let push = OutboxPush {
        hub: row.text("hub")?,
        message_id: row.text("message_id")?,
        title: row.maybe_text("title")?,
        body: row.text("body")?,
        priority: row.text("priority")?,
        at: row.at("at")?,
    };
    Ok(OutboxRow { id: row.try_get("number")?, push })
}
