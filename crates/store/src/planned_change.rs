//! The table `planned_change`: one planned change of one note, until the user has decided.

use protocol::{
    CallId, Change, ChangeSetId, ContentHash, ConversationId, NotePath, Timestamp, TurnId,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::Columns;
use crate::error::Failure;
use crate::image;

/// A change that waits for a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRow {
    /// The change, contents included.
    pub change: Change,
    /// The turn that planned it last.
    pub turn: TurnId,
    /// The call that planned it last.
    pub call: CallId,
    /// Why it could not be applied when it was tried, in words.
    pub problem: Option<String>,
}

/// What is decided about waiting changes, at one time.
pub(crate) struct Verdict<'a> {
    pub(crate) applied: &'a [NotePath],
    pub(crate) rejected: &'a [NotePath],
    pub(crate) problems: &'a [(NotePath, String)],
    pub(crate) at: Timestamp,
}

/// A change that does not wait any more.
pub(crate) struct Decided {
    pub(crate) change_set: ChangeSetId,
    pub(crate) path: NotePath,
    pub(crate) applied: bool,
    pub(crate) told: bool,
    pub(crate) at: Timestamp,
}

/// A waiting row without its contents. Paths are compared here and not in SQL, because only the
/// type knows that two spellings are one path.
struct Waiting {
    position: i64,
    path: NotePath,
    before: Option<ContentHash>,
    after: ContentHash,
    turn: TurnId,
    call: CallId,
    problem: Option<String>,
}

/// Adds one change to a set, on top of the one that waits for its path.
pub(crate) async fn plan(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    change: &Change,
    turn: &TurnId,
    call: &CallId,
) -> Result<(), sqlx::Error> {
    let rows = rows_waiting(db, set).await?;
    let Some(earlier) = rows.into_iter().find(|row| row.path == change.path) else {
        return insert(db, set, change, turn, call).await;
    };
    if earlier.before == Some(change.after_hash()) {
        return delete(db, set, earlier.position).await;
    }
    let after = image::put(db, &change.after).await?;
    sqlx::query(
        "UPDATE planned_change SET after = ?3, turn = ?4, call = ?5, problem = NULL
         WHERE change_set = ?1 AND position = ?2",
    )
    .bind(set.as_str())
    .bind(earlier.position)
    .bind(after.as_str())
    .bind(turn.as_str())
    .bind(call.as_str())
    .execute(db)
    .await?;
    Ok(())
}

async fn insert(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    change: &Change,
    turn: &TurnId,
    call: &CallId,
) -> Result<(), sqlx::Error> {
    if change.before.as_deref() == Some(change.after.as_slice()) {
        return Ok(());
    }
    let before = match &change.before {
        Some(content) => Some(image::put(db, content).await?),
        None => None,
    };
    let after = image::put(db, &change.after).await?;
    sqlx::query(
        "INSERT INTO planned_change
             (change_set, position, path, before, after, turn, call, state, told)
         VALUES (
             ?1,
             (SELECT coalesce(max(position) + 1, 0) FROM planned_change WHERE change_set = ?1),
             ?2, ?3, ?4, ?5, ?6, 'waiting', 0
         )",
    )
    .bind(set.as_str())
    .bind(change.path.as_str())
    .bind(before.as_ref().map(ContentHash::as_str))
    .bind(after.as_str())
    .bind(turn.as_str())
    .bind(call.as_str())
    .execute(db)
    .await?;
    Ok(())
}

async fn delete(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    position: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM planned_change WHERE change_set = ? AND position = ?")
        .bind(set.as_str())
        .bind(position)
        .execute(db)
        .await?;
    Ok(())
}

/// Moves the named rows out of the waiting ones, or notes why they still wait.
pub(crate) async fn decide(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    verdict: &Verdict<'_>,
) -> Result<(), sqlx::Error> {
    for row in rows_waiting(db, set).await? {
        let problem = verdict.problems.iter().find(|(path, _)| *path == row.path);
        if let Some((_, why)) = problem {
            store_problem(db, set, row.position, why).await?;
        } else if verdict.applied.contains(&row.path) {
            store_state(db, set, row.position, "applied", verdict.at).await?;
        } else if verdict.rejected.contains(&row.path) {
            store_state(db, set, row.position, "rejected", verdict.at).await?;
        }
    }
    Ok(())
}

async fn store_state(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    position: i64,
    state: &'static str,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE planned_change SET state = ?3, problem = NULL, decided_at = ?4
         WHERE change_set = ?1 AND position = ?2",
    )
    .bind(set.as_str())
    .bind(position)
    .bind(state)
    .bind(at.0)
    .execute(db)
    .await?;
    Ok(())
}

async fn store_problem(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    position: i64,
    why: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE planned_change SET problem = ?3 WHERE change_set = ?1 AND position = ?2")
        .bind(set.as_str())
        .bind(position)
        .bind(why)
        .execute(db)
        .await?;
    Ok(())
}

/// The changes of a set that wait, with their contents.
pub(crate) async fn waiting(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
) -> Result<Vec<PlannedRow>, Failure> {
    let mut planned = Vec::new();
    for row in rows_waiting(db, set).await? {
        let before = match &row.before {
            Some(hash) => Some(image::get(db, hash).await?),
            None => None,
        };
        let after = image::get(db, &row.after).await?;
        planned.push(PlannedRow {
            change: Change { path: row.path, before, after },
            turn: row.turn,
            call: row.call,
            problem: row.problem,
        });
    }
    Ok(planned)
}

async fn rows_waiting(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
) -> Result<Vec<Waiting>, sqlx::Error> {
    sqlx::query(
        "SELECT position, path, before, after, turn, call, problem
         FROM planned_change WHERE change_set = ? AND state = 'waiting' ORDER BY position",
    )
    .bind(set.as_str())
    .try_map(|row: SqliteRow| {
        Ok(Waiting {
            position: row.try_get("position")?,
            path: row.path("path")?,
            before: row.maybe_hash("before")?,
            after: row.hash("after")?,
            turn: row.text("turn")?,
            call: row.text("call")?,
            problem: row.maybe_text("problem")?,
        })
    })
    .fetch_all(db)
    .await
}

/// Decided changes of a conversation, in the order of the decisions.
pub(crate) async fn decided(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<Decided>, sqlx::Error> {
    sqlx::query(
        "SELECT p.change_set, p.path, p.state = 'applied' AS applied, p.told, p.decided_at
         FROM change_set s JOIN planned_change p ON p.change_set = s.id
         WHERE s.conversation = ? AND p.state IN ('applied', 'rejected')
         ORDER BY p.decided_at, s.opened_at, p.change_set, p.position",
    )
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| {
        Ok(Decided {
            change_set: row.text("change_set")?,
            path: row.path("path")?,
            applied: row.try_get("applied")?,
            told: row.try_get("told")?,
            at: row.at("decided_at")?,
        })
    })
    .fetch_all(db)
    .await
}

pub(crate) async fn mark_told(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    decided_at: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE planned_change SET told = 1
         WHERE change_set = ? AND decided_at = ? AND state IN ('applied', 'rejected')",
    )
    .bind(set.as_str())
    .bind(decided_at.0)
    .execute(db)
    .await?;
    Ok(())
}
