//! The pending changes of a conversation after a call has planned more.

use protocol::{CallId, ChangeSet, TurnId};

use crate::changes::planned_change::PlannedChangeRow;

/// The rows of the grown set: those of before where the change is the same, else of this call.
pub(crate) fn merge_rows(
    earlier: Vec<PlannedChangeRow>,
    grown: &ChangeSet,
    turn: &TurnId,
    call: &CallId,
    is_unit: bool,
) -> Vec<PlannedChangeRow> {
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
                    Some(call.clone())
                } else {
                    unit
                },
                problem: None,
                choice: None,
                since: 0,
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
