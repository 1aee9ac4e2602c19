//! The table `planned_change`: one planned change of one note, until the user has decided.

use protocol::{
    CallId, Change, ChangeSet, ChangeSetId, ContentHash, ConversationId, NotePath, Timestamp,
    TurnId,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::act::{self, ActRow};
use crate::column::Columns;
use crate::error::{Failure, StoreError};

/// A change that waits for a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRow {
    /// The change, contents included.
    pub change: Change,
    /// The turn that planned it last.
    pub turn: TurnId,
    /// The call that planned it last.
    pub call: CallId,
    /// Changes with the same unit are accepted, rejected and applied all or not at all.
    pub unit: Option<CallId>,
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

/// Adds a plan to a set, on top of what waits in it.
///
/// What the plan does not touch keeps its turn, call and problem. Changes of a plan that moves
/// something happen all or not at all, with those that it builds on.
pub(crate) async fn plan(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    later: &ChangeSet,
    turn: &TurnId,
    call: &CallId,
) -> Result<(), Failure> {
    let earlier = waiting(db, set).await?;
    let mut grown: ChangeSet = earlier.iter().map(|row| row.change.clone()).collect();
    grown.extend(later.clone()).map_err(StoreError::from).map_err(Failure::Refused)?;
    let rows = joined(earlier, &grown, turn, call, later.is_unit());
    delete_waiting(db, set).await?;
    for row in &rows {
        insert(db, set, row).await?;
    }
    Ok(())
}

/// The rows of the grown set: those of before where the change is the same, else of this call.
fn joined(
    earlier: Vec<PlannedRow>,
    grown: &ChangeSet,
    turn: &TurnId,
    call: &CallId,
    is_unit: bool,
) -> Vec<PlannedRow> {
    let mut swallowed = Vec::new();
    let mut rows = Vec::with_capacity(grown.len());
    for change in grown.changes() {
        let same = earlier.iter().find(|row| row.change == *change);
        let before = earlier.iter().find(|row| {
            row.change.path == change.path && row.change.is_rename() == change.is_rename()
        });
        let unit = before.and_then(|row| row.unit.clone());
        rows.push(match same {
            Some(row) => row.clone(),
            None => PlannedRow {
                change: change.clone(),
                turn: turn.clone(),
                call: call.clone(),
                unit: if is_unit {
                    swallowed.extend(unit);
                    Some(call.clone())
                } else {
                    unit
                },
                problem: None,
            },
        });
    }
    for row in &mut rows {
        if row.unit.as_ref().is_some_and(|unit| swallowed.contains(unit)) {
            row.unit = Some(call.clone());
        }
    }
    rows
}

async fn insert(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    row: &PlannedRow,
) -> Result<(), sqlx::Error> {
    let act = act::put(db, &row.change).await?;
    sqlx::query(
        "INSERT INTO planned_change
             (change_set, position, kind, path, target, before, after, unit, turn, call, state,
              problem, told)
         VALUES (
             ?1,
             (SELECT coalesce(max(position) + 1, 0) FROM planned_change WHERE change_set = ?1),
             ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'waiting', ?10, 0
         )",
    )
    .bind(set.as_str())
    .bind(&act.kind)
    .bind(row.change.path.as_str())
    .bind(&act.target)
    .bind(act.before.as_ref().map(ContentHash::as_str))
    .bind(act.after.as_ref().map(ContentHash::as_str))
    .bind(row.unit.as_ref().map(CallId::as_str))
    .bind(row.turn.as_str())
    .bind(row.call.as_str())
    .bind(&row.problem)
    .execute(db)
    .await?;
    Ok(())
}

async fn delete_waiting(db: &mut SqliteConnection, set: &ChangeSetId) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM planned_change WHERE change_set = ? AND state = 'waiting'")
        .bind(set.as_str())
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
    for Waiting { position, path, .. } in rows_waiting(db, set).await? {
        let problem = verdict.problems.iter().find(|(at, _)| *at == path);
        if let Some((_, why)) = problem {
            store_problem(db, set, position, why).await?;
        } else if verdict.applied.contains(&path) {
            store_state(db, set, position, "applied", verdict.at).await?;
        } else if verdict.rejected.contains(&path) {
            store_state(db, set, position, "rejected", verdict.at).await?;
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
        planned.push(PlannedRow {
            change: row.act.change(db, row.path).await?,
            turn: row.turn,
            call: row.call,
            unit: row.unit,
            problem: row.problem,
        });
    }
    Ok(planned)
}

/// A waiting row without its contents. Paths are compared here and not in SQL, because only the
/// type knows that two spellings are one path.
struct Waiting {
    position: i64,
    path: NotePath,
    act: ActRow,
    turn: TurnId,
    call: CallId,
    unit: Option<CallId>,
    problem: Option<String>,
}

async fn rows_waiting(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
) -> Result<Vec<Waiting>, sqlx::Error> {
    sqlx::query(
        "SELECT position, kind, path, target, before, after, unit, turn, call, problem
         FROM planned_change WHERE change_set = ? AND state = 'waiting' ORDER BY position",
    )
    .bind(set.as_str())
    .try_map(|row: SqliteRow| {
        Ok(Waiting {
            position: row.try_get("position")?,
            path: row.path("path")?,
            act: ActRow::of(&row)?,
            turn: row.text("turn")?,
            call: row.text("call")?,
            unit: row.maybe_text("unit")?,
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
    turn: &TurnId,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE planned_change SET told = 1, told_in = ?
         WHERE change_set = ? AND decided_at = ? AND state IN ('applied', 'rejected')",
    )
    .bind(turn.as_str())
    .bind(set.as_str())
    .bind(decided_at.0)
    .execute(db)
    .await?;
    Ok(())
}
