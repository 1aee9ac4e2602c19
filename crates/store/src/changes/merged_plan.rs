//! The pending changes of a conversation after a call has planned more.

use std::collections::BTreeSet;

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
    let joined = rows_of_moved_paths(&rows);
    swallowed.extend(joined.iter().filter_map(|at| rows.get(*at)?.unit.clone()));
    for (at, row) in rows.iter_mut().enumerate() {
        let is_swallowed = row.unit.as_ref().is_some_and(|unit| swallowed.contains(unit));
        if is_swallowed || joined.contains(&at) {
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

/// The positions of moves, and of other changes that are not in the same unit although they are about what is moved,
/// about something in it, or a move of what it is in. A moved note is shown as one note and decided by its path. A
/// change of what is in a moved folder has its path from before that move: once the folder has moved, the change would
/// be about nothing.
fn rows_of_moved_paths(rows: &[PlannedChangeRow]) -> BTreeSet<usize> {
    let mut joined = BTreeSet::new();
    // Where each earlier change is about something, and where it moves that, by the time of a later move.
    let mut earlier: Vec<(&PlannedChangeRow, NotePath, Option<NotePath>)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let (from, target) = (&row.change.path, row.change.target());
        if let Some(to) = target {
            let carry = |path: &mut NotePath| {
                if let Some(moved) = path.after_move(from, to) {
                    *path = moved;
                }
            };
            for (other, (before, path, moved_to)) in earlier.iter_mut().enumerate() {
                let is_one = before.unit.is_some() && before.unit == row.unit;
                let meets = |place: &NotePath| place.is_in(from) || from.is_in(place);
                if !is_one && (path.is_in(from) || moved_to.as_ref().is_some_and(meets)) {
                    joined.extend([other, at]);
                }
                carry(path);
                moved_to.iter_mut().for_each(carry);
            }
        }
        earlier.push((row, from.clone(), target.cloned()));
    }
    joined
}
