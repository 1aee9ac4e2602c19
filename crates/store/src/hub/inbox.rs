//! The table `inbox`: hub messages, stored before they are acknowledged, until they are done.

use protocol::{ContentHash, ConversationId, Origin, Timestamp, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::{RowExt, enum_text};
use crate::db::transaction::{commit, read};
use crate::error::Failure;
use crate::hub::approvals;
use crate::hub::outbox::{self, OutboxPush};
use crate::{Store, StoreError};

/// Hubs were not told apart before: their rows have this name until they get that of their hub.
const UNNAMED_HUB: &str = "hub";

/// The time after which another text under a known id is another message. A hub delivers nothing
/// twice; it waits 30 s for the first response to an id, and keeps its ids in memory only. One that
/// has restarted may count from the beginning again.
const ID_REUSE_MS: i64 = 60_000;

/// The time after which the same text under the id of a finished message may be another message. A hub that
/// repeats one repeats the time that it was sent at, so a repeat is recognized after that too.
const REPEAT_MS: i64 = 24 * 60 * 60 * 1_000;

/// Between the id of a hub and our number for a later message under it. No id of a hub has a control
/// character.
const REUSE_SEPARATOR: char = '\n';

/// The beginning of what stands for a purged text. No text of a hub has this character.
const PURGED_MARK: char = '\u{1}';

/// The id by which the hub knows the message that is kept under `id`.
#[must_use]
pub fn id_at_hub(id: &str) -> &str {
    id.split(REUSE_SEPARATOR).next().unwrap_or(id)
}

/// A hub message and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxRow {
    /// The hub it came from.
    pub hub: String,
    /// Its id, no other of this hub has it; [`id_at_hub`] is the hub's own.
    pub id: String,
    /// The words of the message.
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

/// A message as a hub delivers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredMessage {
    /// The hub it comes from.
    pub hub: String,
    /// The hub's id for it.
    pub id: String,
    /// The words of the message.
    pub text: String,
    /// Spoken or typed.
    pub origin: Origin,
    /// When the hub says it was sent; `None` where it gives no time that can be read.
    pub sent_at: Option<Timestamp>,
}

/// The result of storing an incoming message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It is stored.
    New,
    /// It was already, and nothing has changed.
    Known,
    /// A message with this id came just before, with a different text, which stays.
    Differs,
    /// Another message with this id is still worked on, and this one is not stored.
    IdInUse,
    /// Too many are open, and it is not.
    Full,
}

impl Store {
    /// Stores messages as they came, in one commit, as long as not more than `most` of all hubs are
    /// neither done nor parked. Says of each what became of it. A different text under the id of a
    /// finished message, more than a minute later, is stored as a message of its own; so is the same
    /// text that comes, and was sent, at least a day later.
    pub async fn inbox_insert(
        &self,
        messages: &[DeliveredMessage],
        most: u32,
        at: Timestamp,
    ) -> Result<Vec<DeliveryOutcome>, StoreError> {
        commit!(self, "inbox_insert", "store hub messages", |db| insert(db, messages, most, at))
    }

    /// Assigns all that was stored before hubs were told apart to `hub`.
    pub async fn name_unnamed_hub(&self, hub: &str) -> Result<(), StoreError> {
        let is_any: bool = read!(self, "read the inbox", |db| has_unnamed_hub(db))?;
        if !is_any {
            return Ok(());
        }
        commit!(self, "name_unnamed_hub", "name the hub of stored messages", |db| name_hub(db, hub))
    }

    /// The oldest message that is neither done nor parked and has no turn.
    pub async fn inbox_next(&self) -> Result<Option<InboxRow>, StoreError> {
        read!(self, "read the inbox", |db| next(db))
    }

    /// Messages that are neither done nor parked, in the order they came.
    pub async fn inbox_unfinished(&self) -> Result<Vec<InboxRow>, StoreError> {
        read!(self, "read the inbox", |db| unfinished(db))
    }

    /// The message that opened, or shall open, a turn.
    pub async fn inbox_of_turn(&self, turn: &TurnId) -> Result<Option<InboxRow>, StoreError> {
        read!(self, "find the turn's hub message", |db| of_turn(db, turn))
    }

    /// The same, unless it is done or parked.
    pub async fn inbox_unfinished_of_turn(
        &self,
        turn: &TurnId,
    ) -> Result<Option<InboxRow>, StoreError> {
        read!(self, "find the turn's hub message", |db| unfinished_of_turn(db, turn))
    }

    /// Names the turn that will work on a message. To be called before that turn is submitted: a
    /// start after a crash in between submits it under this id instead of making a second one.
    pub async fn inbox_assign_turn(
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

    /// Sets the message that `said` answers aside, with its error, until the user decides; `said`
    /// is sent. One commit.
    pub async fn inbox_park(&self, said: &OutboxPush) -> Result<(), StoreError> {
        commit!(self, "inbox_park", "set a hub message aside for approval", |db| park(db, said))
    }

    /// Counts a failure, keeps its words, and returns how often the message has now failed: at
    /// least `at_least`.
    pub async fn inbox_attempt_failed(
        &self,
        hub: &str,
        id: &str,
        error: &str,
        at_least: u32,
    ) -> Result<u32, StoreError> {
        commit!(self, "inbox_attempt_failed", "count a failed attempt", |db| count_failure(
            db, hub, id, error, at_least
        ))
    }
}

async fn insert(
    db: &mut SqliteConnection,
    messages: &[DeliveredMessage],
    most: u32,
    at: Timestamp,
) -> Result<Vec<DeliveryOutcome>, sqlx::Error> {
    let mut open = count_open(db).await?;
    let mut taken = Vec::with_capacity(messages.len());
    for message in messages {
        let id = match earlier(db, message).await? {
            None => Ok(message.id.clone()),
            Some(known) => known.id_for(message, at),
        };
        taken.push(match id {
            Err(outcome) => outcome,
            Ok(_) if open >= most => DeliveryOutcome::Full,
            Ok(id) => {
                insert_one(db, &id, message, at).await?;
                open += 1;
                DeliveryOutcome::New
            }
        });
    }
    Ok(taken)
}

/// A message that came earlier under the same id, and what is known of all of them.
struct EarlierMessage {
    is_same_text: bool,
    is_open: bool,
    received_at: i64,
    /// Whether any of them is open.
    is_any_open: bool,
    /// When the last of them came.
    last_received_at: i64,
}

impl EarlierMessage {
    /// The id under which `message` is stored beside it; `Err` where it is not stored.
    fn id_for(&self, message: &DeliveredMessage, at: Timestamp) -> Result<String, DeliveryOutcome> {
        // The clock of a hub may be ahead of ours.
        let sent_at = message.sent_at.map_or(at, |sent_at| sent_at.min(at));
        let is_recent = sent_at.0.saturating_sub(self.received_at) < REPEAT_MS;
        if self.is_same_text && (self.is_open || is_recent) {
            return Err(DeliveryOutcome::Known);
        }
        if at.0.saturating_sub(self.last_received_at) < ID_REUSE_MS {
            return Err(DeliveryOutcome::Differs);
        }
        if self.is_any_open {
            return Err(DeliveryOutcome::IdInUse);
        }
        // Unique: it is later than all before it.
        Ok(format!("{}{REUSE_SEPARATOR}{}", message.id, at.0))
    }
}

/// The last message with the same id and text, or else the last with the same id. An empty text was purged by an
/// earlier version: it may have been any.
async fn earlier(
    db: &mut SqliteConnection,
    message: &DeliveredMessage,
) -> Result<Option<EarlierMessage>, sqlx::Error> {
    sqlx::query(
        "SELECT text IN (?5, ?6, '') AS same, state = 'open' AS open, received_at,
             max(state = 'open') OVER () AS any_open, max(received_at) OVER () AS last_received_at
         FROM inbox
         WHERE hub = ?1 AND (id = ?2 OR id > ?3 AND id < ?4)
         ORDER BY same DESC, number DESC LIMIT 1",
    )
    .bind(&message.hub)
    .bind(&message.id)
    .bind(format!("{}{REUSE_SEPARATOR}", message.id))
    .bind(format!("{}{REUSE_SEPARATOR}:", message.id))
    .bind(&message.text)
    .bind(purged_text(&message.text))
    .try_map(|row: SqliteRow| {
        Ok(EarlierMessage {
            is_same_text: row.try_get("same")?,
            is_open: row.try_get("open")?,
            received_at: row.try_get("received_at")?,
            is_any_open: row.try_get("any_open")?,
            last_received_at: row.try_get("last_received_at")?,
        })
    })
    .fetch_optional(db)
    .await
}

/// Stands for a text that was purged: it tells a repeat from another message, and is too short for the text to be
/// guessed by it.
fn purged_text(text: &str) -> String {
    let hash = ContentHash::of(text.as_bytes());
    let short: String = hash.as_str().chars().take(4).collect();
    format!("{PURGED_MARK}{short}")
}

/// Removes the texts of the messages that the turns of a conversation worked on. They stay known, so that none is
/// taken for a new one, and nothing more is done about them.
pub(crate) async fn purge_texts(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<(), sqlx::Error> {
    let texts: Vec<(i64, String)> = sqlx::query_as(
        "SELECT number, text FROM inbox
         WHERE turn IN (SELECT id FROM turn WHERE conversation = ?)",
    )
    .bind(conversation.as_str())
    .fetch_all(&mut *db)
    .await?;
    for (number, text) in texts {
        sqlx::query(
            "UPDATE inbox SET text = ?2, error = NULL,
                 state = CASE state WHEN 'open' THEN 'done' ELSE state END
             WHERE number = ?1",
        )
        .bind(number)
        .bind(purged_text(&text))
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

async fn has_unnamed_hub(db: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM inbox WHERE hub = ?)")
        .bind(UNNAMED_HUB)
        .fetch_one(db)
        .await
}

async fn name_hub(db: &mut SqliteConnection, hub: &str) -> Result<(), sqlx::Error> {
    for statement in [
        "UPDATE OR IGNORE inbox SET hub = ?2 WHERE hub = ?1",
        "UPDATE outbox SET hub = ?2 WHERE hub = ?1",
        "UPDATE held SET hub = ?2 WHERE hub = ?1",
    ] {
        sqlx::query(statement).bind(UNNAMED_HUB).bind(hub).execute(&mut *db).await?;
    }
    Ok(())
}

async fn insert_one(
    db: &mut SqliteConnection,
    id: &str,
    message: &DeliveredMessage,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO inbox (hub, id, text, origin, received_at, attempts, state)
         VALUES (?, ?, ?, ?, ?, 0, 'open')",
    )
    .bind(&message.hub)
    .bind(id)
    .bind(&message.text)
    .bind(enum_text(&message.origin)?)
    .bind(at.0)
    .execute(db)
    .await?;
    Ok(())
}

async fn next(db: &mut SqliteConnection) -> Result<Option<InboxRow>, sqlx::Error> {
    sqlx::query(
        "SELECT hub, id, text, origin, received_at, conversation, turn, attempts
         FROM inbox WHERE state = 'open' AND turn IS NULL ORDER BY number LIMIT 1",
    )
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
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

async fn unfinished_of_turn(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<InboxRow>, sqlx::Error> {
    sqlx::query(
        "SELECT hub, id, text, origin, received_at, conversation, turn, attempts
         FROM inbox WHERE turn = ? AND state = 'open'",
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
    require_found(assigned.rows_affected(), id)
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
    require_found(closed.rows_affected(), &said.message_id)?;
    Ok(outbox::insert(db, said).await?)
}

async fn park(db: &mut SqliteConnection, said: &OutboxPush) -> Result<(), Failure> {
    close(db, said, "parked").await?;
    Ok(approvals::hold_failed(db, &said.hub, &said.message_id, said.at).await?)
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
    at_least: u32,
) -> Result<u32, Failure> {
    sqlx::query_scalar(
        "UPDATE inbox SET attempts = max(attempts + 1, ?4), error = ?3 WHERE hub = ?1 AND id = ?2
         RETURNING attempts",
    )
    .bind(hub)
    .bind(id)
    .bind(error)
    .bind(at_least)
    .fetch_optional(db)
    .await?
    .ok_or_else(|| Failure::not_found("This hub message", id))
}

fn require_found(rows: u64, id: &str) -> Result<(), Failure> {
    if rows == 0 { Err(Failure::not_found("This hub message", id)) } else { Ok(()) }
}

fn from_row(row: &SqliteRow) -> Result<InboxRow, sqlx::Error> {
    Ok(InboxRow {
        hub: row.text("hub")?,
        id: row.text("id")?,
        text: row.text("text")?,
        origin: row.enum_value("origin")?,
        received_at: row.timestamp("received_at")?,
        conversation: row.optional_text("conversation")?,
        turn: row.optional_text("turn")?,
        attempts: row.try_get("attempts")?,
    })
}
