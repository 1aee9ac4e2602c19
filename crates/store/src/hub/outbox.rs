//! The table `outbox`: what a hub shall hear, in order, kept over a disconnect.

use protocol::{ConversationId, Timestamp, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read};
use crate::error::Failure;
use crate::hub::approvals;
use crate::{Store, StoreError};

/// A notification to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxPush {
    /// The hub; no other is sent it.
    pub hub: String,
    /// The message of the inbox that it answers.
    pub message_id: String,
    /// Its title; may be absent.
    pub title: Option<String>,
    /// Its words.
    pub body: String,
    /// "low", "normal" or "high".
    pub priority: String,
    /// The time of the text. Words of a turn that nobody approved have the time at which the turn
    /// ended, and no other notification about its message has: so they are told apart.
    pub at: Timestamp,
}

/// A stored notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its number; later ones are higher.
    pub id: i64,
    /// The notification to send.
    pub push: OutboxPush,
    /// How many messages of the hub were taken after the one that it answers.
    pub newer: i64,
    /// The turn whose words it is, if nobody approved them.
    pub unapproved_turn: Option<TurnId>,
}

/// Notifications that answer messages which a hub may have dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExpiredReplies {
    /// How many there are.
    pub count: i64,
    /// The number of the last; 0 where there is none.
    pub last: i64,
}

/// A notification that was never sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredNotification {
    /// The notification as it was queued.
    pub push: OutboxPush,
    /// The conversation in which it needs approval now; `None` when that is not kept.
    pub conversation: Option<ConversationId>,
}

impl Store {
    /// Adds a notification at the end.
    pub async fn outbox_push(&self, push: &OutboxPush) -> Result<(), StoreError> {
        commit!(self, "outbox_push", "store a notification", |db| insert(db, push))
    }

    /// The notification to send to `hub` next: the one that is `under_way`, if it is not known whether the
    /// hub has read it; else the oldest queued one. Where that answers a message more than half of
    /// the hub's `memory` back, a hub that remembers no more deliveries is about to drop it: then
    /// the newest go first, and those that it has dropped last. Answers to one message keep their
    /// order.
    pub async fn outbox_next(
        &self,
        hub: &str,
        under_way: Option<i64>,
        memory: i64,
    ) -> Result<Option<OutboxRow>, StoreError> {
        read!(self, "read the outbox", |db| next(db, hub, under_way, memory))
    }

    /// The notifications queued for `hub` above the number `after` that answer one of the messages which a
    /// hub with so large a `memory` has dropped.
    pub async fn outbox_expired_replies(
        &self,
        hub: &str,
        after: i64,
        memory: i64,
    ) -> Result<ExpiredReplies, StoreError> {
        read!(self, "read the outbox", |db| expired(db, hub, after, memory))
    }

    /// The notification was handed to the hub.
    pub async fn outbox_sent(&self, id: i64) -> Result<(), StoreError> {
        commit!(self, "outbox_sent", "note a sent notification", |db| mark_sent(db, id))
    }

    /// Has all queued words of a turn that nobody approved wait for an approval, and queues `notice` in
    /// their place. Returns the conversation in which they wait; `None` where there are none, and then
    /// nothing is queued. One commit.
    pub async fn outbox_hold(
        &self,
        turn: &TurnId,
        notice: &OutboxPush,
    ) -> Result<Option<ConversationId>, StoreError> {
        commit!(self, "outbox_hold", "hold an answer for approval", |db| hold(db, turn, notice))
    }

    /// Drops notifications for any hub that have been queued since before `at` and returns them, oldest first.
    /// Each needs approval in the conversation that it comes from.
    pub async fn outbox_expire(
        &self,
        at: Timestamp,
    ) -> Result<Vec<ExpiredNotification>, StoreError> {
        commit!(self, "outbox_drop_older", "drop old notifications", |db| expire(db, at))
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

/// A query over the notifications that wait for the hub `?1`, of each of which `newer` is how many
/// messages of this hub came after the one that it answers, and `unapproved_turn` the turn whose words it is.
macro_rules! over_waiting {
    ($query:literal) => {
        concat!(
            "WITH waiting AS (
                 SELECT o.number, o.hub, o.message_id, o.title, o.body, o.priority, o.at,
                     (SELECT count(*) FROM inbox n
                         WHERE n.number > i.number AND +n.hub = o.hub) AS newer,
                     (SELECT t.id FROM turn t
                         WHERE t.id = i.turn AND t.ended_at = o.at) AS unapproved_turn
                 FROM outbox o LEFT JOIN inbox i ON i.hub = o.hub AND i.id = o.message_id
                 WHERE o.state = 'waiting' AND o.hub = ?1) ",
            $query
        )
    };
}

async fn next(
    db: &mut SqliteConnection,
    hub: &str,
    under_way: Option<i64>,
    memory: i64,
) -> Result<Option<OutboxRow>, sqlx::Error> {
    sqlx::query(over_waiting!(
        "SELECT w.number, w.hub, w.message_id, w.title, w.body, w.priority, w.at, w.newer,
             w.unapproved_turn
         FROM waiting w, (SELECT 2 * max(newer) > ?3 AS is_late FROM waiting) newest
         ORDER BY w.number IS NOT ?2,
             CASE WHEN is_late THEN w.newer >= ?3 END,
             CASE WHEN is_late THEN w.newer END,
             w.number
         LIMIT 1"
    ))
    .bind(hub)
    .bind(under_way)
    .bind(memory)
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

async fn expired(
    db: &mut SqliteConnection,
    hub: &str,
    after: i64,
    memory: i64,
) -> Result<ExpiredReplies, sqlx::Error> {
    sqlx::query(over_waiting!(
        "SELECT count(*) AS count, coalesce(max(number), 0) AS last
         FROM waiting WHERE newer >= ?2 AND number > ?3"
    ))
    .bind(hub)
    .bind(memory)
    .bind(after)
    .try_map(|row: SqliteRow| {
        Ok(ExpiredReplies { count: row.try_get("count")?, last: row.try_get("last")? })
    })
    .fetch_one(db)
    .await
}

async fn mark_sent(db: &mut SqliteConnection, id: i64) -> Result<(), Failure> {
    let sent = sqlx::query("UPDATE outbox SET state = 'sent' WHERE number = ?")
        .bind(id)
        .execute(db)
        .await?;
    if sent.rows_affected() == 0 {
        Err(Failure::not_found("This notification", id))
    } else {
        Ok(())
    }
}

async fn hold(
    db: &mut SqliteConnection,
    turn: &TurnId,
    notice: &OutboxPush,
) -> Result<Option<ConversationId>, sqlx::Error> {
    let held = approvals::hold_unapproved(db, turn).await?;
    if held.is_some() {
        insert(db, notice).await?;
    }
    Ok(held)
}

async fn expire(
    db: &mut SqliteConnection,
    at: Timestamp,
) -> Result<Vec<ExpiredNotification>, sqlx::Error> {
    let mut dropped = sqlx::query(
        "UPDATE outbox SET state = 'dropped' WHERE state = 'waiting' AND at < ?
         RETURNING number, hub, message_id, title, body, priority, at, 0 AS newer,
             NULL AS unapproved_turn",
    )
    .bind(at.0)
    .try_map(|row| from_row(&row))
    .fetch_all(&mut *db)
    .await?;
    dropped.sort_by_key(|row| row.id);
    let mut unheard = Vec::with_capacity(dropped.len());
    for row in dropped {
        let conversation = approvals::hold_expired(db, row.id).await?;
        unheard.push(ExpiredNotification { push: row.push, conversation });
    }
    Ok(unheard)
}

fn from_row(row: &SqliteRow) -> Result<OutboxRow, sqlx::Error> {
    let push = OutboxPush {
        hub: row.text("hub")?,
        message_id: row.text("message_id")?,
        title: row.optional_text("title")?,
        body: row.text("body")?,
        priority: row.text("priority")?,
        at: row.timestamp("at")?,
    };
    Ok(OutboxRow {
        id: row.try_get("number")?,
        push,
        newer: row.try_get("newer")?,
        unapproved_turn: row.optional_text("unapproved_turn")?,
    })
}
