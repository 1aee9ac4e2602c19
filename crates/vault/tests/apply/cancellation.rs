//! An order that is stopped in the middle: what is under way is finished, the rest is left alone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::{Change, IntentState, NotePath, fault_injection};
use support::{Folder, MemoryLedger, order, replace, unit};
use vault::{Applied, ChangeBatch, Progress, VaultError};

/// The number of notes to change before the work is stopped.
static NOTES_UNTIL_STOP: AtomicUsize = AtomicUsize::new(usize::MAX);
static PROGRESS: Mutex<Option<Progress>> = Mutex::new(None);

fn pass(name: &'static str) {
    if name == "vault.exchange.after" && NOTES_UNTIL_STOP.fetch_sub(1, Ordering::SeqCst) == 1 {
        PROGRESS.lock().unwrap().take().unwrap().stop();
    }
}

fn sixty() -> (Vec<(String, String)>, Vec<Change>) {
    let name = |n: usize| format!("Note {n:02}.md");
    let notes: Vec<_> = (0..60).map(|n| (name(n), "old\n".to_owned())).collect();
    let changes = notes.iter().map(|(path, old)| replace(path, old, "new\n")).collect();
    (notes, changes)
}

/// Carries out an order that is stopped after so many notes.
async fn stopped_after(notes: usize, batch: ChangeBatch) -> (Folder, MemoryLedger, Applied) {
    let (texts, _) = sixty();
    let texts: Vec<_> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = Folder::with(&texts);
    let (ledger, progress) = (MemoryLedger::default(), Progress::default());
    fault_injection::install_handler(pass);
    *PROGRESS.lock().unwrap() = Some(progress.clone());
    NOTES_UNTIL_STOP.store(notes, Ordering::SeqCst);
    let applied = folder.vault().apply_until(&progress, batch, &ledger).await.unwrap();
    NOTES_UNTIL_STOP.store(usize::MAX, Ordering::SeqCst);
    (folder, ledger, applied)
}

// Fault points belong to the whole process: one test after the other.
#[tokio::test]
async fn a_halt_finishes_the_note_that_is_under_way_and_a_unit_as_a_whole() {
    let (_, changes) = sixty();
    let (folder, ledger, applied) = stopped_after(7, order(changes.clone())).await;
    let done: Vec<&str> = applied.done.iter().map(NotePath::as_str).collect();
    let first: Vec<String> = (0..7).map(|n| format!("Note {n:02}.md")).collect();
    assert_eq!(done, first);
    assert_eq!(applied.problems.len(), 53);
    for (path, why) in &applied.problems {
        assert!(matches!(why, VaultError::Stopped { .. }), "{path}: {why}");
        assert_eq!(folder.read(path.as_str()).unwrap(), b"old\n");
    }
    let names = folder.names();
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{names:?}");
    let open = ledger.states().into_iter().filter(|state| *state == IntentState::Open).count();
    assert_eq!(open, 0, "nothing is left for a recovery");

    let (folder, _, applied) = stopped_after(7, unit(changes)).await;
    assert_eq!((applied.done.len(), applied.problems.len()), (60, 0));
    assert_eq!(folder.read("Note 59.md").unwrap(), b"new\n");

    // Stopped before it began, nothing happens.
    let (_, changes) = sixty();
    let progress = Progress::default();
    progress.stop();
    let ledger = MemoryLedger::default();
    let applied = folder.vault().apply_until(&progress, order(changes), &ledger).await.unwrap();
    assert_eq!(applied.done.len(), 0);
}
