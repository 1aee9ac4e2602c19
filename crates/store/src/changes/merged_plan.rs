//! The pending changes of a conversation after a call has planned more.

use protocol::{CallId, ChangeSet, NotePath, TurnId};

use crate::changes::planned_change::PlannedChangeRow;

/// The rows of the grown set: those of before where the change is the same, else of this call.
pub(crate) fn merge_rows(
    earlier: Vec<PlannedChangeRow>,
    grown: &ChangeSet,
    turn: &TurnId,
    call: &CallId,
    is_unit: bool,
) -> Vec<PlannedChangeRow> {
    let own_unit = unit_of_call(turn, call);
    // Units that become part of that one.
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
            None => PlannedChangeRow {
                change: change.clone(),
                turn: turn.clone(),
                call: call.clone(),
                unit: if is_unit {
                    swallowed.extend(unit);
                    Some(own_unit.clone())
                } else {
                    unit
                },
                problem: None,
                choice: None,
                since: 0,
            },
        });
    }
    let edited_and_moved = edited_and_moved(&rows);
    let of_those = |row: &&PlannedChangeRow| edited_and_moved.contains(&row.change.path);
    swallowed.extend(rows.iter().filter(of_those).filter_map(|row| row.unit.clone()));
    for row in &mut rows {
        let is_swallowed = row.unit.as_ref().is_some_and(|unit| swallowed.contains(unit));
        if is_swallowed || edited_and_moved.contains(&row.change.path) {
            row.unit = Some(own_unit.clone());
        }
    }
    rows
}

/// The unit of the changes that a call planned. Servers number the calls of each answer from the start, so an id
/// alone may stand for two calls of a conversation.
fn unit_of_call(turn: &TurnId, call: &CallId) -> CallId {
    CallId::from(format!("{turn}/{call}").as_str())
}

/// Paths with a move and another change in different units. They are shown as one note and decided
/// by its path, so they have to be carried out together.
fn edited_and_moved(rows: &[PlannedChangeRow]) -> Vec<NotePath> {
    let (moves, edits): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.change.is_rename());
    let joined = moves.into_iter().filter(|row| {
        edits.iter().any(|edit| {
            edit.change.path == row.change.path && (edit.unit.is_none() || edit.unit != row.unit)
        })
    });
    joined.map(|row| row.change.path.clone()).collect()
}
