//! Pending changes that no longer fit a note because a hub message was added to it.
//!
//! A capture is never held up by what is pending: it goes into the file. A pending edit is rebased when it is accepted; one
//! that cannot be is shown with its problem in the review.

use protocol::{Change, ChangeAction, NotePath};
use store::PlannedChangeRow;
use vault::merge::merge;

/// The problem that the review shows for a pending change that no longer fits the note.
const CAPTURED_SINCE: &str =
    "A hub message was added to this note since. Reject this change, then ask for it again.";

/// The pending changes that cannot be made on what `path` says `now`, by their paths, with why.
pub(crate) fn capture_conflicts(
    pending: &[PlannedChangeRow],
    path: &NotePath,
    now: &[u8],
) -> Vec<(NotePath, String)> {
    let rows = pending.iter().filter(|row| !fits(&row.change, path, now));
    rows.map(|row| (row.change.path.clone(), CAPTURED_SINCE.to_owned())).collect()
}

/// Whether a change can still be made: it is about another note, moves this one, or merges with its text.
fn fits(change: &Change, path: &NotePath, now: &[u8]) -> bool {
    let is_it = change.path == *path;
    match &change.act {
        ChangeAction::Trash { before } => !is_it || before == now,
        ChangeAction::TrashFolder { .. } => !path.is_in(&change.path),
        ChangeAction::Create { .. } => !is_it,
        ChangeAction::Replace { before, after } => {
            !is_it || merge(before, now, after).without_shared_changes().is_some()
        }
        ChangeAction::Rename { .. }
        | ChangeAction::MakeFolder
        | ChangeAction::RestoreFolder { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    #[test]
    fn only_changes_that_do_not_merge_with_the_capture_are_in_conflict() {
        let (inbox, now) = (path("inbox/Inbox.md"), b"# Inbox\n\n- tea\n- milk\n");
        let before = "# Inbox\n\n- tea\n";
        let folder = ChangeAction::TrashFolder { holds: None };
        let cases = [
            (Change::trash(inbox.clone(), before), false),
            (Change::trash(path("Other.md"), before), true),
            (Change::create(inbox.clone(), "new"), false),
            (Change::rename(inbox.clone(), path("Old.md")), true),
            (Change::replace(inbox.clone(), before, "# In\n\n- tea\n"), true),
            (Change::replace(inbox.clone(), before, "# Inbox\n\n- tea\n- eggs\n"), false),
            (Change { path: path("inbox"), act: folder }, false),
        ];
        for (change, expected) in cases {
            assert_eq!(fits(&change, &inbox, now), expected, "{change:?}");
        }
    }
}
