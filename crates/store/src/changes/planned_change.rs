//! The table `planned_change`: one planned change of one note, until the user has decided.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    CallId, Change, ChangeSet, ChangeSetId, ContentHash, ConversationId, NotePath, Timestamp,
    TurnId,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::changes::change_columns::{self, ChangeColumns};
use crate::changes::merged_plan::merge_rows;
use crate::changes::planned_name::{PlannedNote, updates_links};
use crate::db::row_ext::RowExt;
use crate::error::{Failure, StoreError};

/// A pending change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChangeRow {
    /// The change, contents included.
    pub change: Change,
    /// The turn that planned it last.
    pub turn: TurnId,
    /// The call that planned it last.
    pub call: CallId,
    /// Changes with the same unit are accepted, rejected and applied all or not at all.
    pub unit: Option<CallId>,
    /// The message why it could not be applied when it was tried.
    pub problem: Option<String>,
    /// The decision on its hunks that was being applied, as [`Store::store_hunk_choices`] was given
    /// it.
    ///
    /// [`Store::store_hunk_choices`]: crate::Store::store_hunk_choices
    pub choice: Option<String>,
    /// Effects with a number up to this one are not its own, though call and path are.
    pub since: i64,
}

/// The decision about pending changes, at one time. A path in no list is left as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSetDecision {
    /// Notes that were changed as planned.
    pub applied: Vec<NotePath>,
    /// Notes that stay as they are.
    pub rejected: Vec<NotePath>,
    /// Notes whose hunks go different ways.
    pub parts: Vec<(NotePath, PartialDecision)>,
    /// Notes that could not be changed and keep waiting, with why.
    pub problems: Vec<(NotePath, String)>,
}

/// A change of contents that was taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialDecision {
    /// The part that was applied; `None` if nothing was.
    pub applied: Option<Change>,
    /// The rejected change, on top of the applied one.
    pub rejected: Option<Change>,
    /// The pending change, on top of the applied one.
    pub left: Option<Change>,
    /// Whether some of the lines are the user's own.
    pub edited: bool,
}

/// The `choice` of a decided part of a change of which another part was left pending. That of a pending row is in the
/// form of the caller.
const LEFT_A_REST: &str = "rest";

/// A change that does not wait any more.
pub(crate) struct DecidedChange {
    pub(crate) change_set: ChangeSetId,
    pub(crate) path: NotePath,
    /// The turn that planned it last.
    pub(crate) turn: TurnId,
    pub(crate) applied: bool,
    pub(crate) edited: bool,
    pub(crate) reported: bool,
    pub(crate) at: Timestamp,
}

/// Adds a plan to a set, on top of its pending changes. Rows of paths that the plan does not change
/// keep their turn, call and problem. Changes of a plan that moves a note happen all or not at all,
/// with those that it builds on.
pub(crate) async fn add_plan(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    later: &ChangeSet,
    turn: &TurnId,
    call: &CallId,
) -> Result<(), Failure> {
    let earlier = pending(db, set).await?;
    let mut grown: ChangeSet = earlier.iter().map(|row| row.change.clone()).collect();
    grown.extend(later.clone()).map_err(StoreError::from).map_err(Failure::Refused)?;
    let rows = merge_rows(earlier, &grown, turn, call, later.is_unit());
    delete_pending(db, set).await?;
    for row in &rows {
        insert(db, set, row).await?;
    }
    Ok(())
}

async fn insert(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    row: &PlannedChangeRow,
) -> Result<i64, sqlx::Error> {
    let act = change_columns::store_contents(db, &row.change).await?;
    sqlx::query_scalar(
        "INSERT INTO planned_change
             (change_set, position, kind, path, target, before, after, unit, turn, call, state,
              problem, told, since)
         VALUES (
             ?1,
             (SELECT coalesce(max(position) + 1, 0) FROM planned_change WHERE change_set = ?1),
             ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'waiting', ?10, 0, ?11
         )
         RETURNING position",
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
    .bind(row.since)
    .fetch_one(db)
    .await
}

async fn delete_pending(db: &mut SqliteConnection, set: &ChangeSetId) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM planned_change WHERE change_set = ? AND state = 'waiting'")
        .bind(set.as_str())
        .execute(db)
        .await?;
    Ok(())
}

/// Stores the decisions on hunks that are about to be applied; every other pending row has none.
pub(crate) async fn store_choices(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    choices: &[(NotePath, String)],
) -> Result<(), sqlx::Error> {
    let choices = by_path(choices);
    for PendingChange { position, path, .. } in pending_rows(db, set).await? {
        let choice = choices.get(&path).copied();
        sqlx::query(
            "UPDATE planned_change SET choice = ?3 WHERE change_set = ?1 AND position = ?2",
        )
        .bind(set.as_str())
        .bind(position)
        .bind(choice)
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// Moves the named rows out of the waiting ones, or notes why they still wait.
pub(crate) async fn decide(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    decision: &ChangeSetDecision,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    let (problems, parts) = (by_path(&decision.problems), by_path(&decision.parts));
    let applied: BTreeSet<&NotePath> = decision.applied.iter().collect();
    let rejected: BTreeSet<&NotePath> = decision.rejected.iter().collect();
    for row in pending_rows(db, set).await? {
        if let Some(why) = problems.get(&row.path) {
            store_problem(db, set, row.position, why).await?;
        } else if let Some(parts) = parts.get(&row.path) {
            split_pending(db, set, row, parts, at).await?;
        } else if applied.contains(&row.path) {
            store_state(db, set, row.position, "applied", at).await?;
        } else if rejected.contains(&row.path) {
            store_state(db, set, row.position, "rejected", at).await?;
        }
    }
    Ok(())
}

/// The entries by path, for as many rows; of several for one path, the first.
fn by_path<T>(entries: &[(NotePath, T)]) -> BTreeMap<&NotePath, &T> {
    let mut by_path = BTreeMap::new();
    for (path, entry) in entries {
        by_path.entry(path).or_insert(entry);
    }
    by_path
}

/// The pending part keeps the row of the whole change; the decided parts get separate rows.
async fn split_pending(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    row: PendingChange,
    parts: &PartialDecision,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    let PartialDecision { applied, rejected: declined, left, edited } = parts;
    match left {
        Some(left) => replace_pending(db, set, row.position, left).await?,
        None => delete(db, set, row.position).await?,
    }
    let decided = [(applied, "applied"), (declined, "rejected")];
    for (change, state) in
        decided.into_iter().filter_map(|(change, state)| Some((change.as_ref()?, state)))
    {
        let (turn, call, unit) = (row.turn.clone(), row.call.clone(), row.unit.clone());
        let change = change.clone();
        let row =
            PlannedChangeRow { change, turn, call, unit, problem: None, choice: None, since: 0 };
        let position = insert(db, set, &row).await?;
        store_state(db, set, position, state, at).await?;
        let is_edited = *edited && state == "applied";
        mark_part(db, set, position, is_edited, left.is_some()).await?;
    }
    Ok(())
}

/// Another change waits in this row, on top of all effects so far.
async fn replace_pending(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    position: i64,
    change: &Change,
) -> Result<(), sqlx::Error> {
    let act = change_columns::store_contents(db, change).await?;
    sqlx::query(
        "UPDATE planned_change
         SET kind = ?3, before = ?4, after = ?5, problem = NULL, choice = NULL,
             since = (SELECT coalesce(max(number), 0) FROM effect)
         WHERE change_set = ?1 AND position = ?2",
    )
    .bind(set.as_str())
    .bind(position)
    .bind(&act.kind)
    .bind(act.before.as_ref().map(ContentHash::as_str))
    .bind(act.after.as_ref().map(ContentHash::as_str))
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

/// Notes of a decided part whether the user wrote some of its lines, and whether another part was left pending.
async fn mark_part(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    position: i64,
    is_edited: bool,
    left_a_rest: bool,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE planned_change SET edited = ?3, choice = ?4 WHERE change_set = ?1 AND position = ?2",
    )
    .bind(set.as_str())
    .bind(position)
    .bind(is_edited)
    .bind(left_a_rest.then_some(LEFT_A_REST))
    .execute(db)
    .await?;
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
        "UPDATE planned_change SET state = ?3, problem = NULL, choice = NULL, decided_at = ?4
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

/// The pending changes of a set, with their contents.
pub(crate) async fn pending(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
) -> Result<Vec<PlannedChangeRow>, Failure> {
    let mut planned = Vec::new();
    for row in pending_rows(db, set).await? {
        planned.push(PlannedChangeRow {
            change: row.act.into_change(db, row.path).await?,
            turn: row.turn,
            call: row.call,
            unit: row.unit,
            problem: row.problem,
            choice: row.choice,
            since: row.since,
        });
    }
    Ok(planned)
}

/// A pending row without its contents. Paths are compared here and not in SQL, because only the
/// type knows that two spellings are one path.
struct PendingChange {
    position: i64,
    path: NotePath,
    act: ChangeColumns,
    turn: TurnId,
    call: CallId,
    unit: Option<CallId>,
    problem: Option<String>,
    choice: Option<String>,
    since: i64,
}

async fn pending_rows(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
) -> Result<Vec<PendingChange>, sqlx::Error> {
    sqlx::query(
        "SELECT position, kind, path, target, before, after, unit, turn, call, problem, choice,
                since
         FROM planned_change WHERE change_set = ? AND state = 'waiting' ORDER BY position",
    )
    .bind(set.as_str())
    .try_map(|row: SqliteRow| {
        Ok(PendingChange {
            position: row.try_get("position")?,
            path: row.path("path")?,
            act: ChangeColumns::from_row(&row)?,
            turn: row.text("turn")?,
            call: row.text("call")?,
            unit: row.optional_text("unit")?,
            problem: row.optional_text("problem")?,
            choice: row.optional_text("choice")?,
            since: row.try_get("since")?,
        })
    })
    .fetch_all(db)
    .await
}

/// Decided changes of a conversation, in the order of the decisions.
pub(crate) async fn decided_in(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<DecidedChange>, sqlx::Error> {
    sqlx::query(
        "SELECT p.change_set, p.path, p.turn, p.state = 'applied' AS applied, p.edited, p.told, p.decided_at
         FROM change_set s JOIN planned_change p ON p.change_set = s.id
         WHERE s.conversation = ? AND p.state IN ('applied', 'rejected')
         ORDER BY p.decided_at, s.opened_at, p.change_set, p.position",
    )
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| {
        Ok(DecidedChange {
            change_set: row.text("change_set")?,
            path: row.path("path")?,
            turn: row.text("turn")?,
            applied: row.try_get("applied")?,
            edited: row.try_get("edited")?,
            reported: row.try_get("told")?,
            at: row.timestamp("decided_at")?,
        })
    })
    .fetch_all(db)
    .await
}

/// The notes of planned changes that were there before, each once for a turn; those with changes of links alone
/// are last. A note may be planned for a path that only a planned move gives it: without that move it is not there.
pub(crate) async fn notes_in(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<PlannedNote>, sqlx::Error> {
    let planned: Vec<PlannedNote> = sqlx::query(concat!(
        "SELECT p.turn, p.path, min(",
        updates_links!(),
        ") AS updates_links
         FROM change_set s JOIN planned_change p ON p.change_set = s.id
         WHERE s.conversation = ? AND p.kind IN ('replace', 'trash', 'rename')
         GROUP BY p.turn, p.path ORDER BY updates_links"
    ))
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| {
        Ok(PlannedNote {
            turn: row.text("turn")?,
            note: row.path("path")?,
            updates_links: row.try_get("updates_links")?,
        })
    })
    .fetch_all(&mut *db)
    .await?;
    let not_made: Vec<NotePath> = sqlx::query(
        "SELECT DISTINCT p.target
         FROM change_set s JOIN planned_change p ON p.change_set = s.id
         WHERE s.conversation = ? AND p.target IS NOT NULL AND p.state != 'applied'",
    )
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| row.path("target"))
    .fetch_all(db)
    .await?;
    let is_made = |path: &NotePath| !not_made.iter().any(|target| path.is_in(target));
    Ok(planned.into_iter().filter(|planned| is_made(&planned.note)).collect())
}

pub(crate) async fn mark_reported(
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

/// The rejected changes of notes of which another part was applied, at one time, as far as their
/// texts are kept.
pub(crate) async fn rejected_parts(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    decided_at: Timestamp,
) -> Result<Vec<Change>, Failure> {
    let rows: Vec<(NotePath, ChangeColumns)> = sqlx::query(
        "SELECT kind, path, target, before, after FROM planned_change AS declined
         WHERE change_set = ?1 AND decided_at = ?2 AND state = 'rejected' AND EXISTS (
             SELECT 1 FROM planned_change AS other
             WHERE other.change_set = ?1 AND other.decided_at = ?2 AND other.state = 'applied'
                 AND other.path = declined.path
         )
         AND (kind NOT IN ('create', 'replace') OR after IS NOT NULL)
         AND (kind NOT IN ('replace', 'trash') OR before IS NOT NULL)
         ORDER BY position",
    )
    .bind(set.as_str())
    .bind(decided_at.0)
    .try_map(|row: SqliteRow| Ok((row.path("path")?, ChangeColumns::from_row(&row)?)))
    .fetch_all(&mut *db)
    .await?;
    let mut changes = Vec::new();
    for (path, act) in rows {
        changes.push(act.into_change(db, path).await?);
    }
    Ok(changes)
}
