//! The table `held`: messages for or from a hub that need approval.

use protocol::hub::approval::{ApprovalReason, PendingApproval};
use protocol::{ConversationId, Timestamp, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read};
use crate::error::Failure;
use crate::hub::outbox::OutboxPush;
use crate::{Store, StoreError};

/// The outcome for a text that the user approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalOutcome {
    /// It is sent or processed again; it waited in this conversation.
    Approved(ConversationId),
    /// The answer is for this hub, not for the linked one, and still waits.
    ForHub(String),
    /// It does not wait any more.
    Gone,
}

impl Store {
    /// Approvals of a conversation, oldest first: messages to send, to process again or to discard.
    pub async fn hub_approvals(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<PendingApproval>, StoreError> {
        read!(self, "read the approvals for the hub", |db| of_conversation(db, conversation))
    }

    /// Puts an answer into the outbox, as said at `at`, and opens a message again, without a turn and
    /// as if it had never failed. While another hub than that of the answer is `linked`, the answer
    /// goes on waiting.
    pub async fn approve_for_hub(
        &self,
        number: u32,
        linked: Option<&str>,
        at: Timestamp,
    ) -> Result<ApprovalOutcome, StoreError> {
        commit!(self, "send_held", "send the approved message to the hub", |db| send(
            db, number, linked, at
        ))
    }

    /// Drops it; `None` when it does not wait any more.
    pub async fn discard_hub_approval(
        &self,
        number: u32,
    ) -> Result<Option<ConversationId>, StoreError> {
        commit!(self, "discard_held", "discard the message to the hub", |db| remove(db, number))
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

/// The hub never heard it: it waits where its message was worked on, if that is still kept.
pub(crate) async fn hold_expired(
    db: &mut SqliteConnection,
    outbox: i64,
) -> Result<Option<ConversationId>, sqlx::Error> {
    sqlx::query(
        "INSERT INTO held (conversation, hub, message_id, title, body, priority, at, why)
         SELECT c.id, o.hub, o.message_id, o.title, o.body, o.priority, o.at, 'unheard'
         FROM outbox o
         JOIN inbox i ON i.hub = o.hub AND i.id = o.message_id
         JOIN conversation c ON c.id = i.conversation AND c.deleted_at IS NULL
         WHERE o.number = ?
         RETURNING conversation",
    )
    .bind(outbox)
    .try_map(|row: SqliteRow| row.text("conversation"))
    .fetch_optional(db)
    .await
}

/// Queued words of the turn that nobody approved are not sent: they wait where they were said. `None`
/// where there are none, or where the conversation is deleted: then they are dropped.
pub(crate) async fn hold_unapproved(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<ConversationId>, sqlx::Error> {
    let held = sqlx::query(
        "INSERT INTO held (conversation, hub, message_id, title, body, priority, at)
         SELECT t.conversation, o.hub, o.message_id, o.title, o.body, o.priority, o.at
         FROM turn t
         JOIN inbox i ON i.turn = t.id
         JOIN outbox o ON o.hub = i.hub AND o.message_id = i.id AND o.at = t.ended_at
         JOIN conversation c ON c.id = t.conversation AND c.deleted_at IS NULL
         WHERE t.id = ? AND o.state = 'waiting'
         ORDER BY o.number
         RETURNING conversation",
    )
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| row.text("conversation"))
    .fetch_all(&mut *db)
    .await?;
    sqlx::query(
        "UPDATE outbox SET state = 'dropped'
         FROM turn t JOIN inbox i ON i.turn = t.id
         WHERE t.id = ? AND outbox.state = 'waiting' AND outbox.at = t.ended_at
             AND outbox.hub = i.hub AND outbox.message_id = i.id",
    )
    .bind(turn.as_str())
    .execute(db)
    .await?;
    Ok(held.into_iter().next())
}

/// The message could not be worked on: it waits, with its error, where that was tried.
pub(crate) async fn hold_failed(
    db: &mut SqliteConnection,
    hub: &str,
    id: &str,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO held (conversation, hub, message_id, body, priority, at, why, error)
         SELECT c.id, i.hub, i.id, i.text, 'high', ?3, 'failed', i.error
         FROM inbox i JOIN conversation c ON c.id = i.conversation
         WHERE i.hub = ?1 AND i.id = ?2",
    )
    .bind(hub)
    .bind(id)
    .bind(at.0)
    .execute(db)
    .await?;
    Ok(())
}

pub(crate) async fn of_conversation(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<PendingApproval>, sqlx::Error> {
    sqlx::query("SELECT number, body, why, error FROM held WHERE conversation = ? ORDER BY number")
        .bind(conversation.as_str())
        .try_map(|row: SqliteRow| {
            let why = match row.text::<String>("why")?.as_str() {
                "unheard" => ApprovalReason::Unheard,
                "failed" => ApprovalReason::Failed {
                    error: row.optional_text("error")?.unwrap_or_default(),
                },
                _ => ApprovalReason::Outside,
            };
            Ok(PendingApproval { number: row.try_get("number")?, text: row.text("body")?, why })
        })
        .fetch_all(db)
        .await
}

async fn send(
    db: &mut SqliteConnection,
    number: u32,
    linked: Option<&str>,
    at: Timestamp,
) -> Result<ApprovalOutcome, Failure> {
    let other: Option<String> = sqlx::query_scalar(
        "SELECT hub FROM held WHERE number = ? AND why <> 'failed' AND hub <> ?",
    )
    .bind(number)
    .bind(linked)
    .fetch_optional(&mut *db)
    .await?;
    if let Some(hub) = other {
        return Ok(ApprovalOutcome::ForHub(hub));
    }
    sqlx::query(
        "INSERT INTO outbox (hub, message_id, title, body, priority, at, state)
         SELECT hub, message_id, title, body, priority, ?2, 'waiting' FROM held
         WHERE number = ?1 AND why <> 'failed'",
    )
    .bind(number)
    .bind(at.0)
    .execute(&mut *db)
    .await?;
    sqlx::query(
        "UPDATE inbox SET state = 'open', attempts = 0, turn = NULL, error = NULL
         FROM held
         WHERE held.number = ? AND held.why = 'failed'
             AND inbox.hub = held.hub AND inbox.id = held.message_id",
    )
    .bind(number)
    .execute(&mut *db)
    .await?;
    let conversation = remove(db, number).await?;
    Ok(conversation.map_or(ApprovalOutcome::Gone, ApprovalOutcome::Approved))
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
