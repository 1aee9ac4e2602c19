//! The table `branch`: a conversation that goes on in another way from one of the user's messages.
//!
//! A branch holds the turns that were stored in it, and before them those of its parent that ran
//! before the turn it stands in for. The first branch of a conversation is 0 and has no row.

use std::collections::BTreeSet;

use protocol::chat::conversation::MessageVariant;
use protocol::{ConversationId, MessageId, QuestionId, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read};
use crate::error::Failure;
use crate::{Store, StoreError};

impl Store {
    /// Shows a conversation as it goes on from another version of one of its messages, counted from
    /// 1. A message or version that does not exist is refused with [`StoreError::NotFound`].
    pub async fn show_variant(
        &self,
        message: &MessageId,
        number: u32,
    ) -> Result<ShownVersion, StoreError> {
        commit!(self, "show_variant", "show another version", |db| show(db, message, number))
    }

    /// The messages of the shown branch that have several versions, in order.
    pub async fn variants(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<MessageVariant>, StoreError> {
        read!(self, "read the versions", |db| all_variants(db, conversation))
    }

    /// Whether a turn begins one of several versions: its message was sent again or edited, or another turn was begun in
    /// its place.
    pub async fn begins_version(&self, turn: &TurnId) -> Result<bool, StoreError> {
        read!(self, "look for versions of a turn", |db| has_versions(db, turn))
    }

    /// The turn that a message of the user opened, and whether anything ran after it in the branch
    /// that is shown; `None` for a message that opened none, or whose turn has not begun.
    pub async fn turn_opened_by(
        &self,
        message: &MessageId,
    ) -> Result<Option<OpenedTurn>, StoreError> {
        read!(self, "look for the turn of a message", |db| opened_turn(db, message))
    }

    /// The turns of the shown branch that a fork at `turn` leaves behind, itself among them.
    pub async fn turns_from(&self, turn: &TurnId) -> Result<Vec<TurnId>, StoreError> {
        read!(self, "read the turns since", |db| turns_since(db, turn))
    }

    /// The turns that a turn at this place hears of, all of which have begun.
    pub async fn turns_before(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
    ) -> Result<BTreeSet<TurnId>, StoreError> {
        read!(self, "read the turns before", |db| before(db, conversation, place))
    }
}

/// Where a turn will stand that is about to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnPlace<'a> {
    /// At the end of the branch that is shown.
    End,
    /// At the end of the branch in which this question was asked.
    Answer(&'a QuestionId),
    /// In a branch of its own that stands in for this turn, as [`Store::submit_fork`] stores it.
    InsteadOf(&'a TurnId),
}

/// The end of a branch, or a point in it: the turns that ran before `until`, a number in the order
/// of turns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchPoint {
    pub(crate) branch: i64,
    pub(crate) until: i64,
}

impl BranchPoint {
    const fn end_of(branch: i64) -> Self {
        Self { branch, until: i64::MAX }
    }
}

/// A turn by the message that opened it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedTurn {
    /// The conversation that the message belongs to.
    pub conversation: ConversationId,
    /// The turn that the message opened.
    pub turn: TurnId,
    /// Whether it is the last one that ran in its branch.
    pub is_last: bool,
}

/// A version of a message that is shown now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownVersion {
    /// The conversation that the version belongs to.
    pub conversation: ConversationId,
    /// The message of this version: it and all behind it are shown in place of another version.
    pub message: MessageId,
}

/// The branches from which a model hears in branch `?2` of conversation `?1`, and the number in the
/// order of turns before which it hears of each.
macro_rules! ancestry {
    () => {
        $crate::conversations::branch::ancestry!("?2")
    };
    ($from:literal) => {
        concat!(
            "WITH RECURSIVE line (branch, until) AS (
             SELECT ",
            $from,
            ", 9223372036854775807
             UNION ALL
             SELECT b.parent, min(line.until, b.fork)
             FROM line JOIN branch b ON b.conversation = ?1 AND b.number = line.branch
         ) "
        )
    };
}
pub(crate) use ancestry;

/// Whether a turn is heard at the end of the branch that is shown of its conversation; both are
/// expressions of SQL.
macro_rules! is_shown {
    ($conversation:literal, $turn:literal) => {
        concat!(
            "EXISTS (
             WITH RECURSIVE line (branch, until) AS (
                 SELECT s.branch, 9223372036854775807 FROM conversation s WHERE s.id = ",
            $conversation,
            "
                 UNION ALL
                 SELECT b.parent, min(line.until, b.fork)
                 FROM line JOIN branch b ON b.conversation = ",
            $conversation,
            " AND b.number = line.branch
             )
             SELECT 1 FROM line JOIN turn shown ON shown.branch = line.branch
                 AND shown.ran < line.until
             WHERE shown.id = ",
            $turn,
            ")"
        )
    };
}
pub(crate) use is_shown;

/// The branch that is shown.
pub(crate) async fn shown(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT coalesce((SELECT branch FROM conversation WHERE id = ?), 0)")
        .bind(conversation.as_str())
        .fetch_one(db)
        .await
}

/// The branch that a turn was stored in.
pub(crate) async fn of_turn(db: &mut SqliteConnection, turn: &TurnId) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT coalesce((SELECT branch FROM turn WHERE id = ?), 0)")
        .bind(turn.as_str())
        .fetch_one(db)
        .await
}

/// The point of a branch at which a turn will stand.
pub(crate) async fn point_of(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    place: TurnPlace<'_>,
) -> Result<BranchPoint, Failure> {
    Ok(match place {
        TurnPlace::End => BranchPoint::end_of(shown(db, conversation).await?),
        TurnPlace::Answer(question) => {
            let asked: Option<i64> = sqlx::query_scalar(
                "SELECT t.branch FROM question q JOIN turn t ON t.id = q.turn
                 WHERE q.id = ? AND q.conversation = ?",
            )
            .bind(question.as_str())
            .bind(conversation.as_str())
            .fetch_optional(&mut *db)
            .await?;
            BranchPoint::end_of(match asked {
                Some(branch) => branch,
                None => shown(db, conversation).await?,
            })
        }
        TurnPlace::InsteadOf(turn) => {
            let place = fork_point_of(db, turn).await?;
            let place = place.ok_or_else(|| Failure::not_found("This answer", turn))?;
            BranchPoint { branch: place.parent, until: place.fork }
        }
    })
}

/// The turns that a turn at this place hears of.
pub(crate) async fn before(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    place: TurnPlace<'_>,
) -> Result<BTreeSet<TurnId>, Failure> {
    let point = point_of(db, conversation, place).await?;
    let turns: Vec<TurnId> = sqlx::query(concat!(
        ancestry!(),
        "SELECT t.id
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
             AND t.ran < min(line.until, ?3)"
    ))
    .bind(conversation.as_str())
    .bind(point.branch)
    .bind(point.until)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_all(db)
    .await?;
    Ok(turns.into_iter().collect())
}

/// Whether a turn hears of another one.
pub(crate) async fn hears_of(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
    other: &TurnId,
) -> Result<bool, sqlx::Error> {
    let branch = of_turn(db, turn).await?;
    sqlx::query_scalar(concat!(
        ancestry!(),
        "SELECT EXISTS (
             SELECT 1 FROM line JOIN turn t ON t.branch = line.branch AND t.ran < line.until
             WHERE t.id = ?3 AND t.conversation = ?1
         )"
    ))
    .bind(conversation.as_str())
    .bind(branch)
    .bind(other.as_str())
    .fetch_one(db)
    .await
}

/// Begins a branch that stands in for `turn` and shows it.
pub(crate) async fn fork(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<(), Failure> {
    let place =
        fork_point_of(db, turn).await?.ok_or_else(|| Failure::not_found("This answer", turn))?;
    let number: i64 = sqlx::query_scalar(
        "SELECT coalesce(max(number), 0) + 1 FROM branch WHERE conversation = ?",
    )
    .bind(conversation.as_str())
    .fetch_one(&mut *db)
    .await?;
    sqlx::query("INSERT INTO branch (conversation, number, parent, fork) VALUES (?, ?, ?, ?)")
        .bind(conversation.as_str())
        .bind(number)
        .bind(place.parent)
        .bind(place.fork)
        .execute(&mut *db)
        .await?;
    set_shown(db, conversation, number).await
}

/// Removes a branch in which no turn is left. Where it was shown, its parent is shown in its place,
/// and the first message that is shown again is returned. The first branch of a conversation stays.
pub(crate) async fn remove_if_empty(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    branch: i64,
) -> Result<Option<MessageId>, sqlx::Error> {
    let removed: Option<(i64, i64)> = sqlx::query_as(
        "DELETE FROM branch
         WHERE conversation = ?1 AND number = ?2 AND NOT EXISTS (
             SELECT 1 FROM turn t WHERE t.conversation = ?1 AND t.branch = ?2
         )
         RETURNING parent, fork",
    )
    .bind(conversation.as_str())
    .bind(branch)
    .fetch_optional(&mut *db)
    .await?;
    let Some((parent, fork)) = removed else { return Ok(None) };
    let moved = sqlx::query("UPDATE conversation SET branch = ?3 WHERE id = ?1 AND branch = ?2")
        .bind(conversation.as_str())
        .bind(branch)
        .bind(parent)
        .execute(&mut *db)
        .await?;
    if moved.rows_affected() == 0 {
        return Ok(None);
    }
    first_message_since(db, conversation, parent, fork).await
}

/// The message of a branch's own first turn that ran at `fork` or later.
async fn first_message_since(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    branch: i64,
    fork: i64,
) -> Result<Option<MessageId>, sqlx::Error> {
    sqlx::query(
        "SELECT m.id FROM turn t JOIN message m ON m.turn = t.id AND m.position = 0
         WHERE t.conversation = ?1 AND t.branch = ?2 AND coalesce(t.ran, ?3) >= ?3
         ORDER BY t.ran IS NULL, t.ran, t.number LIMIT 1",
    )
    .bind(conversation.as_str())
    .bind(branch)
    .bind(fork)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_optional(db)
    .await
}

/// The place where versions of a turn begin.
struct ForkPoint {
    conversation: ConversationId,
    parent: i64,
    fork: i64,
}

/// The place of a turn: the first one of a branch stands where the branch began.
async fn fork_point_of(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<ForkPoint>, sqlx::Error> {
    sqlx::query(
        "SELECT t.conversation, coalesce(b.parent, t.branch) AS parent,
             coalesce(b.fork, t.ran) AS fork
         FROM turn t LEFT JOIN branch b
             ON b.conversation = t.conversation AND b.number = t.branch AND NOT EXISTS (
                 SELECT 1 FROM turn e
                 WHERE e.conversation = t.conversation AND e.branch = t.branch AND e.ran < t.ran
             )
         WHERE t.id = ? AND t.ran IS NOT NULL",
    )
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| {
        Ok(ForkPoint {
            conversation: row.text("conversation")?,
            parent: row.try_get("parent")?,
            fork: row.try_get("fork")?,
        })
    })
    .fetch_optional(db)
    .await
}

/// The branches that begin at a place, the parent first.
async fn variants(db: &mut SqliteConnection, place: &ForkPoint) -> Result<Vec<i64>, sqlx::Error> {
    let others: Vec<i64> = sqlx::query_scalar(
        "SELECT number FROM branch WHERE conversation = ? AND parent = ? AND fork = ?
         ORDER BY number",
    )
    .bind(place.conversation.as_str())
    .bind(place.parent)
    .bind(place.fork)
    .fetch_all(db)
    .await?;
    Ok(std::iter::once(place.parent).chain(others).collect())
}

async fn has_versions(db: &mut SqliteConnection, turn: &TurnId) -> Result<bool, sqlx::Error> {
    let Some(place) = fork_point_of(db, turn).await? else { return Ok(false) };
    Ok(variants(db, &place).await?.len() > 1)
}

/// The messages of the shown branch that have versions, and which of them each is.
pub(crate) async fn all_variants(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<MessageVariant>, sqlx::Error> {
    let turns: Vec<(TurnId, MessageId, i64)> = sqlx::query(concat!(
        ancestry!("coalesce((SELECT branch FROM conversation WHERE id = ?1), 0)"),
        "SELECT t.id, m.id AS message, t.branch
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < line.until
             JOIN message m ON m.turn = t.id AND m.position = 0
         WHERE EXISTS (SELECT 1 FROM branch WHERE conversation = ?1)
         ORDER BY t.ran"
    ))
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| Ok((row.text("id")?, row.text("message")?, row.try_get("branch")?)))
    .fetch_all(&mut *db)
    .await?;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut found = Vec::new();
    for (turn, message, branch) in turns {
        let Some(place) = fork_point_of(db, &turn).await? else { continue };
        let siblings = variants(db, &place).await?;
        if let Some(at) = siblings.iter().position(|number| *number == branch)
            && siblings.len() > 1
        {
            found.push(MessageVariant {
                message,
                number: count(at + 1),
                count: count(siblings.len()),
            });
        }
    }
    Ok(found)
}

async fn show(
    db: &mut SqliteConnection,
    message: &MessageId,
    number: u32,
) -> Result<ShownVersion, Failure> {
    let missing = || Failure::not_found("This version", message);
    let found = opened_turn(db, message).await?.ok_or_else(missing)?;
    let place = fork_point_of(db, &found.turn).await?.ok_or_else(missing)?;
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let branch = variants(db, &place).await?;
    let branch = at.and_then(|at| branch.get(at)).ok_or_else(missing)?;
    set_shown(db, &found.conversation, *branch).await?;
    let first = first_message_since(db, &found.conversation, *branch, place.fork).await?;
    Ok(ShownVersion { conversation: found.conversation, message: first.ok_or_else(missing)? })
}

pub(super) async fn set_shown(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    branch: i64,
) -> Result<(), Failure> {
    sqlx::query("UPDATE conversation SET branch = ?2 WHERE id = ?1")
        .bind(conversation.as_str())
        .bind(branch)
        .execute(db)
        .await?;
    Ok(())
}

async fn opened_turn(
    db: &mut SqliteConnection,
    message: &MessageId,
) -> Result<Option<OpenedTurn>, sqlx::Error> {
    sqlx::query(
        "SELECT t.conversation, t.id, NOT EXISTS (
             SELECT 1 FROM turn e
             WHERE e.conversation = t.conversation AND e.branch = t.branch AND e.ran > t.ran
         ) AS is_last
         FROM message m JOIN turn t ON t.id = m.turn
         WHERE m.id = ? AND m.position = 0 AND t.ran IS NOT NULL",
    )
    .bind(message.as_str())
    .try_map(|row: SqliteRow| {
        Ok(OpenedTurn {
            conversation: row.text("conversation")?,
            turn: row.text("id")?,
            is_last: row.try_get("is_last")?,
        })
    })
    .fetch_optional(db)
    .await
}

async fn turns_since(db: &mut SqliteConnection, turn: &TurnId) -> Result<Vec<TurnId>, Failure> {
    let place =
        fork_point_of(db, turn).await?.ok_or_else(|| Failure::not_found("This answer", turn))?;
    let branch = shown(db, &place.conversation).await?;
    let turns = sqlx::query(concat!(
        ancestry!(),
        "SELECT t.id
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
             AND t.ran < line.until
         WHERE t.ran >= (SELECT ran FROM turn WHERE id = ?3)
         ORDER BY t.ran"
    ))
    .bind(place.conversation.as_str())
    .bind(branch)
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_all(db)
    .await?;
    Ok(turns)
}
