//! Actions of other programs between two steps of a change.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use protocol::{Change, IntentState};
use support::stops::{CHMODS, faults};
use support::{Folder, MemoryLedger, order, path, replace};
use vault::{Applied, VaultError};

const TEXT: &str = "one\ntwo\n";
const EDITED: &str = "one, edited\ntwo\n";

fn edit() -> Change {
    replace("a.md", TEXT, EDITED)
}

/// Fault points belong to the whole process, so each test takes [`faults`].
fn apply(folder: &Folder, change: Change) -> (Applied, IntentState) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let ledger = MemoryLedger::default();
    let applied = runtime.block_on(folder.vault().apply(order([change]), &ledger)).unwrap();
    (applied, *ledger.states().last().unwrap())
}

#[test]
fn a_note_that_becomes_write_protected_between_two_steps_is_left_as_it_is() {
    let _one = faults();
    for (change, point) in [
        (edit(), "vault.staged.after"),
        (edit(), "vault.exchange.before"),
        (Change::trash(path("a.md"), TEXT), "vault.intend.after"),
        (Change::trash(path("a.md"), TEXT), "vault.carry.before"),
    ] {
        // The control: other permissions that allow to write do not keep it from being changed.
        for (mode, is_protected) in [(0o444, true), (0o400, true), (0o000, true), (0o600, false)] {
            let folder = Folder::with(&[("a.md", TEXT)]);
            let note = folder.root.join("a.md");
            let inode = fs::metadata(&note).unwrap().ino();
            *CHMODS.lock().unwrap() = Some((point, note.clone(), mode));
            let (applied, state) = apply(&folder, change.clone());
            assert!(CHMODS.lock().unwrap().is_none(), "{point} is passed");
            if !is_protected {
                assert_eq!(applied.done, [path("a.md")], "{point}: {applied:?}");
                continue;
            }
            let why = &applied.problems[0].1;
            let is_refused = matches!(why, VaultError::Protected { .. })
                || (mode == 0 && matches!(why, VaultError::Denied { .. }));
            assert!(is_refused, "{point} {mode:o}: {why:?}");
            assert_eq!(state, IntentState::Failed, "{point} {mode:o}");
            let now = fs::metadata(&note).unwrap();
            assert_eq!((now.ino(), now.mode() & 0o777), (inode, mode), "{point}");
            fs::set_permissions(&note, fs::Permissions::from_mode(0o644)).unwrap();
            assert_eq!(folder.read("a.md").unwrap(), TEXT.as_bytes(), "{point} {mode:o}");
            let names = folder.names().into_iter().filter(|name| name != ".trash");
            assert_eq!(names.collect::<Vec<_>>(), ["a.md", "notes"], "{point} {mode:o}");
        }
    }
}
