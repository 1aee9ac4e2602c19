//! The plans of earlier turns for notes of a change set: a later turn that plans on top of one gets the row of both in
//! `planned_change`, so the calls tell which turns had a part in it.

use protocol::{ChangeSetId, NotePath, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::RowExt;
use crate::db::transaction::read_one;
use crate::{Store, StoreError};

/// A change that a call planned, and that was not decided by itself, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierPlan {
    /// The turn of the call.
    pub turn: TurnId,
    /// The note or folder, by its path for the call.
    pub path: NotePath,
    /// Whether the call moves it; otherwise it creates or edits it.
    pub is_move: bool,
}

impl Store {
    /// The pending changes that other turns had planned since this set was opened and before this turn ran, oldest
    /// first. Links that a move rewrites are left out.
    pub async fn plans_before(
        &self,
        set: &ChangeSetId,
        turn: &TurnId,
    ) -> Result<Vec<EarlierPlan>, StoreError> {
        read_one!(self, "read the earlier plans", |db| select_before(db, set, turn))
    }
}

/// A decided row with a `choice` is a part of a change of which another part was left pending. Each list of reactions
/// and each decision is read once: a call may change thousands of notes.
async fn select_before(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    turn: &TurnId,
) -> Result<Vec<EarlierPlan>, sqlx::Error> {
    sqlx::query(
        "WITH called AS MATERIALIZED (
             SELECT c.turn, t.ran, m.at, c.reactions, EXISTS (
                 SELECT 1 FROM json_each(c.reactions) r WHERE r.value ->> 'type' = 'moved'
             ) AS moves
             FROM change_set s
                 JOIN turn opened ON opened.id = s.turn
                 JOIN turn own ON own.id = ?2
                 JOIN turn t ON t.conversation = s.conversation
                     AND t.ran >= opened.ran AND t.ran < own.ran
                 JOIN tool_call c ON c.turn = t.id
                 JOIN message m ON m.id = c.message
             WHERE s.id = ?1
         ),
         decided AS MATERIALIZED (
             SELECT turn, path, max(decided_at) AS at FROM planned_change
             WHERE change_set = ?1 AND state IN ('applied', 'rejected') AND choice IS NULL
             GROUP BY turn, path
         )
         SELECT DISTINCT c.turn, r.value ->> 'path' AS path, r.value ->> 'type' = 'moved' AS is_move
         FROM called c JOIN json_each(c.reactions) r
             LEFT JOIN decided d ON d.turn = c.turn AND d.path = r.value ->> 'path'
         WHERE r.value ->> 'waiting'
             AND (r.value ->> 'type' = 'moved' OR r.value ->> 'type' = 'changed' AND NOT c.moves)
             AND (d.at IS NULL OR d.at < c.at)
         ORDER BY c.ran, path",
    )
    .bind(set.as_str())
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| {
        Ok(EarlierPlan {
            turn: row.text("turn")?,
            path: row.path("path")?,
            is_move: row.try_get("is_move")?,
        })
    })
    .fetch_all(db)
    .await
}
