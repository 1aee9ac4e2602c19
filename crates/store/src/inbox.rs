//! The table `inbox`: hub messages, stored before they are acknowledged, until they are done.

use protocol::{ConversationId, Origin, Timestamp, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::{Columns, word};
use crate::commit::{commit, read};
use crate::error::Failure;
use crate::outbox::{self, OutboxPush};
use crate::{Store, StoreError};

/// A hub message and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxRow {
    /// The hub it came from.
    pub hub: String,
    /// The hub's id for it.
    pub id: String,
    /// The words.
    pub text: String,
    /// Spoken or typed.
    pub origin: Origin,
    /// When it came.
    pub received_at: Timestamp,
    /// The conversation it was assigned to.
    pub conversation: Option<ConversationId>,
    /// The turn it was assigned to; that turn may not be stored yet.
    pub turn: Option<TurnId>,
    /// How often it has failed.
    pub attempts: u32,
}

impl Store {
    /// Stores a message as it came. Returns whether it is new: one that is known changes nothing.
    pub async fn inbox_insert(
        &self,
        hub: &str,
        id: &str,
        text: &str,
        origin: Origin,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        commit!(self, "inbox_insert", "store a hub message", |db| insert(
            db, hub, id, text, origin, at
        ))
    }

    /// Messages that are neither done nor parked, in the order they came.
    pub async fn inbox_unfinished(&self) -> Result<Vec<InboxRow>, StoreError> {
        read!(self, "read the inbox", |db| unfinished(db))
    }

    /// How many messages are neither done nor parked.
    pub async fn inbox_count_open(&self) -> Result<u32, StoreError> {
        read!(self, "count the inbox", |db| count_open(db))
    }

    /// The message that opened, or shall open, a turn.
    pub async fn inbox_of_turn(&self, turn: &TurnId) -> Result<Option<InboxRow>, StoreError> {
        read!(self, "find the turn's hub message", |db| of_turn(db, turn))
    }

    /// Names the turn that will work on a message. To be called before that turn is submitted: a
    /// start after a crash in between submits it under this id instead of making a second one.
    pub async fn inbox_assign(
        &self,
        hub: &str,
        id: &str,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        commit!(self, "inbox_assign", "assign a hub message", |db| assign(
            db,
            hub,
            id,
            conversation,
            turn
        ))
    }

    /// The message that `said` answers needs nothing more; `said` goes out. One commit.
    pub async fn inbox_done(&self, said: &OutboxPush) -> Result<(), StoreError> {
        commit!(self, "inbox_done", "finish a hub message", |db| close(db, said, "done"))
    }

    /// The message that `said` answers is put aside, with its error, until the user says; `said`
    /// goes out. One commit.
    pub async fn inbox_park(&self, said: &OutboxPush) -> Result<(), StoreError> {
        commit!(self, "inbox_park", "put a hub message aside", |db| close(db, said, "parked"))
    }

    /// Counts a failure, keeps its words, and returns how often the message has now failed.
    pub async fn inbox_attempt_failed(
        &self,
        hub: &str,
        id: &str,
        error: &str,
    ) -> Result<u32, StoreError> {
        commit!(self, "inbox_attempt_failed", "count a failed attempt", |db| count_failure(
            db, hub, id, error
        ))
    }
}

async fn insert(
    db: &mut SqliteConnection,
    hub: &str,
    id: &str,
    text: &str,
    origin: Origin,
    at: Timestamp,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query(
        "INSERT INTO inbox (hub, id, text, origin, received_at, attempts, state)
         VALUES (?, ?, ?, ?, ?, 0, 'open')
         ON CONFLICT (hub, id) DO NOTHING",
    )
    .bind(hub)
    .bind(id)
    .bind(text)
    .bind(word(&origin)?)
    .bind(at.0)
    .execute(db)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

async fn unfinished(db: &mut SqliteConnection) -> Result<Vec<InboxRow>, sqlx::Error> {
    sqlx::query(
        "SELECT hub, id, text, origin, received_at, conversation, turn, attempts
         FROM inbox WHERE state = 'open' ORDER BY number",
    )
    .try_map(|row| from_row(&row))
    .fetch_all(db)
    .await
}

async fn count_open(db: &mut SqliteConnection) -> Result<u32, sqlx::Error> {
    sqlx::query_scalar("SELECT count(*) FROM inbox WHERE state = 'open'").fetch_one(db).await
}

async fn of_turn(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<InboxRow>, sqlx::Error> {
    sqlx::query(
        "SELECT hub, id, text, origin, received_at, conversation, turn, attempts
         FROM inbox WHERE turn = ?",
    )
    .bind(turn.as_str())
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

async fn assign(
    db: &mut SqliteConnection,
    hub: &str,
    id: &str,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<(), Failure> {
    let assigned =
        sqlx::query("UPDATE inbox SET conversation = ?3, turn = ?4 WHERE hub = ?1 AND id = ?2")
            .bind(hub)
            .bind(id)
            .bind(conversation.as_str())
            .bind(turn.as_str())
            .execute(db)
            .await?;
    found(assigned.rows_affected(), id)
}

async fn close(
    db: &mut SqliteConnection,
    said: &OutboxPush,
    state: &'static str,
) -> Result<(), Failure> {
    let closed = sqlx::query("UPDATE inbox SET state = ?3 WHERE hub = ?1 AND id = ?2")
        .bind(&said.hub)
        .bind(&said.message_id)
        .bind(state)
        .execute(&mut *db)
        .await?;
    found(closed.rows_affected(), &said.message_id)?;
    Ok(outbox::insert(db, said).await?)
}

/// The message of a turn, if it has one, is done.
pub(crate) async fn close_of_turn(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE inbox SET state = 'done' WHERE turn = ?")
        .bind(turn.as_str())
        .execute(db)
        .await?;
    Ok(())
}

async fn count_failure(
    db: &mut SqliteConnection,
    hub: &str,
    id: &str,
    error: &str,
) -> Result<u32, Failure> {
    sqlx::query_scalar(
        "UPDATE inbox SET attempts = attempts + 1, error = ?3 WHERE hub = ?1 AND id = ?2
         RETURNING attempts",
    )
    .bind(hub)
    .bind(id)
    .bind(error)
    .fetch_optional(db)
    .await?
    .ok_or_else(|| Failure::not_found("hub message", id))
}

fn found(rows: u64, id: &str) -> Result<(), Failure> {
    if rows == 0 { Err(Failure::not_found("hub message", id)) } else { Ok(()) }
}

fn from_row(row: &SqliteRow) -> Result<InboxRow, sqlx::Error> {
    Ok(InboxRow {
        hub: row.text("hub")?,
        id: row.text("id")?,
        text: row.text("text")?,
        origin: row.word("origin")?,
        received_at: row.at("received_at")?,
        conversation: row.maybe_text("conversation")?,
        turn: row.maybe_text("turn")?,
        attempts: row.try_get("attempts")?,
    })
}
