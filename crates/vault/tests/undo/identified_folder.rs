//! The user's answer which folder a change is about.

use protocol::changes::history::UndoCandidate;
use protocol::{ChangeKind, EffectId, FileId};
use vault::undo::{LedgerView, identify_note};

use crate::cases::{EmptyFolders, folder_effect};
use crate::simulation::path;

#[test]
fn folder_is_identified_for_its_move_and_not_for_an_edit() {
    let (moved, other) = (FileId { inode: 1, born: Some(1) }, FileId { inode: 2, born: Some(2) });
    let folders = EmptyFolders(vec![(path("New"), other)]);
    let chosen = UndoCandidate { path: path("New"), file: other };
    let identify = |kind: ChangeKind, at: &str| {
        let past = LedgerView::new(vec![folder_effect("e", kind, at, moved)]);
        identify_note(&past, &EffectId::from("e"), &chosen, &folders)
    };
    let found = identify(ChangeKind::RenameFolder, "Old").expect("identified");
    assert_eq!((found.from, found.to), (path("New"), path("New")));
    assert_eq!((found.base, found.file), (Some(moved), Some(other)));
    // The control: an edit is undone in a text, and the folder has none.
    assert_eq!(identify(ChangeKind::Replace, "New"), None);
}
