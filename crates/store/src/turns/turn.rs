//! The table `turn`: what is queued, what runs, how it ended.

use std::collections::HashMap;

use protocol::chat::conversation::Interruption;
use protocol::chat::model::Price;
use protocol::{
    ConversationId, MessageId, NewTurn, NotePath, OpenTurn, Origin, Privacy, Timestamp, TurnEnding,
    TurnId, TurnStatus, UserError,
};
use serde::Deserialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::{RowExt, enum_text, to_json};
use crate::db::transaction::{commit_relaxed, read, read_one};
use crate::error::Failure;
use crate::{Store, StoreError};

impl Store {
    /// Turns that are queued or running, oldest first: at start, what the last run left. Those of a
    /// deleted conversation are left out: they wait until it is restored.
    pub async fn open_turns(&self) -> Result<Vec<OpenTurn>, StoreError> {
        read!(self, "look for open turns", |db| open(db))
    }

    /// The turn of a conversation that counts as running; `None` for a deleted conversation, in which
    /// nothing can end.
    pub async fn running_turn(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<OpenTurn>, StoreError> {
        read!(self, "look for the turn that runs", |db| running(db, conversation))
    }

    /// Whether [`Store::begin_turn`] would begin a turn of the conversation.
    pub async fn has_queued_turn(&self, conversation: &ConversationId) -> Result<bool, StoreError> {
        read_one!(self, "look for queued turns", |db| has_next(db, conversation))
    }

    /// Where a turn stands; `None` when it was never stored.
    pub async fn turn_status(&self, turn: &TurnId) -> Result<Option<TurnStatus>, StoreError> {
        read!(self, "read the turn", |db| status(db, turn))
    }

    /// Notes the model that answers the turn, which may see notes that are at most so private: what
    /// its steps cost is counted for it, at `price`.
    pub async fn set_model(
        &self,
        turn: &TurnId,
        model: &str,
        price: Option<Price>,
        max_privacy: Privacy,
    ) -> Result<(), StoreError> {
        commit_relaxed!(self, "set_model", "note the turn's model", |db| store_model(
            db,
            turn,
            model,
            price,
            max_privacy
        ))
    }

    /// How private the notes are at most that the model of each of these turns might see, of several
    /// models the most. Turns of which that is not known are left out.
    pub async fn max_privacy_of_turns(
        &self,
        turns: &[&TurnId],
    ) -> Result<HashMap<TurnId, Privacy>, StoreError> {
        read!(self, "read what the turns might see", |db| max_privacy(db, turns))
    }

    /// The notes of the changes that the turn led to.
    pub async fn turn_changes(&self, turn: &TurnId) -> Result<TurnChanges, StoreError> {
        read!(self, "read the turn's changes", |db| select_changes(db, turn))
    }
}

/// The notes that a turn was about to change, by how certain their changes are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnChanges {
    /// Notes that it changed, is changing or plans to change, each once.
    pub changed: Vec<NotePath>,
    /// Notes of which nobody can tell whether it changed them, because their intents were parked.
    pub uncertain: Vec<NotePath>,
}

/// The columns of a turn that the chat shows.
#[derive(Debug)]
pub(crate) struct TurnRow {
    pub(crate) turn: OpenTurn,
    pub(crate) error: Option<UserError>,
    pub(crate) offer: Option<Interruption>,
}

pub(crate) async fn insert(db: &mut SqliteConnection, new: &NewTurn) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO turn (id, conversation, origin, status, answers, at, branch)
         VALUES (?1, ?2, ?3, 'queued', ?4, ?5, (SELECT branch FROM conversation WHERE id = ?2))",
    )
    .bind(new.turn.as_str())
    .bind(new.message.conversation.as_str())
    .bind(enum_text(&new.origin)?)
    .bind(new.answers.as_ref().map(protocol::QuestionId::as_str))
    .bind(new.message.at.0)
    .execute(db)
    .await?;
    Ok(())
}

/// The number of the turn of conversation `?1` that begins next; no row when none may begin.
///
/// A resumed turn goes first, then answers. A message that was typed before a question was asked is
/// never its answer, so it is held while the question is open; it is held too while the user is
/// asked whether to continue an interrupted turn.
macro_rules! next_turn {
    () => {
        "SELECT t.number FROM turn t
         WHERE t.conversation = ?1 AND t.status = 'queued'
             AND (t.origin <> 'window' OR t.ran IS NOT NULL OR NOT EXISTS (
                 SELECT 1 FROM question q WHERE q.conversation = ?1 AND q.state = 'open'
                 UNION ALL
                 SELECT 1 FROM turn o WHERE o.conversation = ?1 AND o.offered))
             AND NOT EXISTS (
                 SELECT 1 FROM turn r WHERE r.conversation = ?1 AND r.status = 'running')
             AND EXISTS (
                 SELECT 1 FROM conversation c WHERE c.id = ?1 AND c.deleted_at IS NULL)
         ORDER BY t.ran IS NULL, t.answers IS NULL, t.number LIMIT 1"
    };
}

async fn has_next(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(concat!("SELECT EXISTS (", next_turn!(), ")"))
        .bind(conversation.as_str())
        .fetch_one(db)
        .await
}

pub(crate) async fn begin(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<OpenTurn>, sqlx::Error> {
    let begun: Option<i64> = sqlx::query_scalar(concat!(
        "UPDATE turn
         SET status = 'running',
             ran = coalesce(ran, (SELECT coalesce(max(ran), 0) + 1 FROM turn))
         WHERE number = (",
        next_turn!(),
        ")
         RETURNING number"
    ))
    .bind(conversation.as_str())
    .fetch_optional(&mut *db)
    .await?;
    let Some(number) = begun else { return Ok(None) };
    sqlx::query(
        "SELECT t.id, t.conversation, m.id AS message, t.origin, t.status, t.at, t.resumed
         FROM turn t JOIN message m ON m.turn = t.id AND m.position = 0
         WHERE t.number = ?",
    )
    .bind(number)
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

/// Ends an open turn and says where it was; a turn ends once. One that never ran takes its place in
/// the order now.
pub(crate) async fn end(
    db: &mut SqliteConnection,
    turn: &TurnId,
    ending: &TurnEnding,
) -> Result<ConversationId, Failure> {
    let error = ending.error.as_ref().map(to_json).transpose()?;
    sqlx::query(
        "UPDATE turn SET status = ?2, error = ?3, ended_at = ?4,
             ran = coalesce(ran, (SELECT coalesce(max(ran), 0) + 1 FROM turn))
         WHERE id = ?1 AND status IN ('queued', 'running')
         RETURNING conversation",
    )
    .bind(turn.as_str())
    .bind(enum_text(&ending.status)?)
    .bind(error)
    .bind(ending.at.0)
    .try_map(|row: SqliteRow| row.text("conversation"))
    .fetch_optional(db)
    .await?
    .ok_or_else(|| Failure::not_found("This answer", turn))
}

async fn open(db: &mut SqliteConnection) -> Result<Vec<OpenTurn>, sqlx::Error> {
    sqlx::query(
        "SELECT t.id, t.conversation, m.id AS message, t.origin, t.status, t.at, t.resumed
         FROM turn t JOIN message m ON m.turn = t.id AND m.position = 0
         WHERE t.status IN ('queued', 'running') AND EXISTS (
             SELECT 1 FROM conversation c WHERE c.id = t.conversation AND c.deleted_at IS NULL
         )
         ORDER BY t.number",
    )
    .try_map(|row| from_row(&row))
    .fetch_all(db)
    .await
}

/// Whether a turn of the conversation is queued or running.
pub(crate) async fn has_open(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (
             SELECT 1 FROM turn WHERE conversation = ? AND status IN ('queued', 'running')
         )",
    )
    .bind(conversation.as_str())
    .fetch_one(db)
    .await
}

async fn running(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<OpenTurn>, sqlx::Error> {
    sqlx::query(
        "SELECT t.id, t.conversation, m.id AS message, t.origin, t.status, t.at, t.resumed
         FROM turn t JOIN message m ON m.turn = t.id AND m.position = 0
         WHERE t.conversation = ? AND t.status = 'running' AND EXISTS (
             SELECT 1 FROM conversation c WHERE c.id = t.conversation AND c.deleted_at IS NULL
         )",
    )
    .bind(conversation.as_str())
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

pub(crate) async fn status(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<TurnStatus>, sqlx::Error> {
    sqlx::query("SELECT status FROM turn WHERE id = ?")
        .bind(turn.as_str())
        .try_map(|row: SqliteRow| row.enum_value("status"))
        .fetch_optional(db)
        .await
}

/// The place of a turn in the order in which turns ran; `None` before it began.
pub(crate) async fn run_order(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT ran FROM turn WHERE id = ?").bind(turn.as_str()).fetch_one(db).await
}

async fn store_model(
    db: &mut SqliteConnection,
    turn: &TurnId,
    model: &str,
    price: Option<Price>,
    max_privacy: Privacy,
) -> Result<(), Failure> {
    let stored = sqlx::query(
        "UPDATE turn SET model = ?2, price = ?3, max_privacy = max(coalesce(max_privacy, 0), ?4)
         WHERE id = ?1",
    )
    .bind(turn.as_str())
    .bind(model)
    .bind(price.as_ref().map(to_json).transpose()?)
    .bind(match max_privacy {
        Privacy::Open => 0,
        Privacy::Local => 1,
        Privacy::Never => 2,
    })
    .execute(db)
    .await?;
    if stored.rows_affected() == 0 { Err(Failure::not_found("This answer", turn)) } else { Ok(()) }
}

async fn max_privacy(
    db: &mut SqliteConnection,
    turns: &[&TurnId],
) -> Result<HashMap<TurnId, Privacy>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT id, max_privacy FROM turn
         WHERE id IN (SELECT value FROM json_each(?)) AND max_privacy IS NOT NULL",
    )
    .bind(to_json(turns)?)
    .try_map(|row: SqliteRow| {
        let max_privacy = match row.try_get("max_privacy")? {
            0 => Privacy::Open,
            1 => Privacy::Local,
            _ => Privacy::Never,
        };
        Ok((row.text("id")?, max_privacy))
    })
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().collect())
}

async fn select_changes(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<TurnChanges, sqlx::Error> {
    let rows: Vec<(NotePath, bool)> = sqlx::query(
        "SELECT path, state = 'parked' AS is_uncertain
         FROM effect WHERE turn = ?1 AND state IN ('open', 'done', 'parked')
         UNION ALL
         SELECT path, 0 FROM planned_change WHERE turn = ?1 AND state = 'waiting'",
    )
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| Ok((row.path("path")?, row.try_get("is_uncertain")?)))
    .fetch_all(db)
    .await?;
    let among = |wanted: bool| {
        let found = rows.iter().filter(|(_, is_uncertain)| *is_uncertain == wanted);
        let mut paths: Vec<NotePath> = found.map(|(path, _)| path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    };
    Ok(TurnChanges { changed: among(false), uncertain: among(true) })
}

/// All turns of the branch that is shown as the model hears of them; the queued ones last.
pub(crate) async fn of_conversation(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<TurnRow>, sqlx::Error> {
    sqlx::query(concat!("SELECT (", packed!(), ") AS turns"))
        .bind(conversation.as_str())
        .try_map(|row| unpacked(&row, conversation))
        .fetch_one(db)
        .await
}

/// All turns of conversation `?1` in the branch that is shown, as one value: handing over each row
/// alone costs more than reading it. [`unpacked`] reads it.
macro_rules! packed {
    () => {
        concat!(
            $crate::conversations::branch::ancestry!("coalesce((SELECT branch FROM conversation WHERE id = ?1), 0)"),
            "SELECT json_group_array(json_object(
                 'id', t.id, 'message', m.id, 'origin', t.origin, 'status', t.status, 'at', t.at,
                 'resumed', t.resumed, 'error', json(t.error), 'offered', t.offered,
                 'changed', iif(t.offered, (
                     SELECT count(DISTINCT e.path) FROM effect e
                     WHERE e.turn = t.id AND e.state = 'done'
                         AND e.change_set NOT IN (SELECT change_set FROM own_set)
                         AND NOT EXISTS (
                             SELECT 1 FROM undoing u JOIN effect b ON ",
            $crate::changes::reverts::is_revert!(),
            "
                             WHERE u.effect = e.id AND u.hunks IS NULL
                         )
                 ), 0),
                 'waiting', iif(t.offered, (
                     SELECT count(DISTINCT p.path) FROM planned_change p
                     WHERE p.turn = t.id AND p.state = 'waiting'
                 ), 0)
             ) ORDER BY t.ran IS NULL, t.ran, t.number)
             FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                     AND coalesce(t.ran, 9223372036854775806) < line.until
                 JOIN message m ON m.turn = t.id AND m.position = 0"
        )
    };
}
pub(crate) use packed;

/// The turns of a row that has them packed as `turns`.
pub(crate) fn unpacked(
    row: &SqliteRow,
    conversation: &ConversationId,
) -> Result<Vec<TurnRow>, sqlx::Error> {
    let all: Vec<PackedTurn> = row.json("turns")?;
    Ok(all.into_iter().map(|packed| packed.into_row(conversation)).collect())
}

/// A turn as SQLite packs it.
#[derive(Deserialize)]
struct PackedTurn {
    id: TurnId,
    message: MessageId,
    origin: Origin,
    status: TurnStatus,
    at: Timestamp,
    resumed: u32,
    error: Option<UserError>,
    offered: u8,
    changed: u32,
    waiting: u32,
}

impl PackedTurn {
    fn into_row(self, conversation: &ConversationId) -> TurnRow {
        let Self { id, message, origin, status, at, resumed, .. } = self;
        let done = Interruption { changed: self.changed, waiting: self.waiting };
        let conversation = conversation.clone();
        let turn = OpenTurn { turn: id, conversation, message, origin, status, at, resumed };
        TurnRow { turn, error: self.error, offer: (self.offered != 0).then_some(done) }
    }
}

pub(crate) fn from_row(row: &SqliteRow) -> Result<OpenTurn, sqlx::Error> {
    Ok(OpenTurn {
        turn: row.text("id")?,
        conversation: row.text("conversation")?,
        message: row.text("message")?,
        origin: row.enum_value("origin")?,
        status: row.enum_value("status")?,
        at: row.timestamp("at")?,
        resumed: row.try_get("resumed")?,
    })
}
