//! Edits of notes that another program changed since they were planned.

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

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use protocol::{Change, Intent, IntentState, SettledIntent};
use support::{Folder, MemoryLedger, order, path, replace, unit};
use vault::VaultError;
use vault::ledger::{Ledger, LedgerError};

#[tokio::test]
async fn an_edit_is_made_on_what_is_there_now_when_its_own_lines_are_as_they_were() {
    let folder = Folder::with(&[("a.md", "one\ntwo\nthree, by hand\n")]);
    let ledger = MemoryLedger::default();
    let plan = replace("a.md", "one\ntwo\nthree\n", "one, edited\ntwo\nthree\n");
    let applied = folder.vault().apply(order([plan]), &ledger).await.unwrap();
    let made = replace("a.md", "one\ntwo\nthree, by hand\n", "one, edited\ntwo\nthree, by hand\n");
    assert_eq!(applied.done, [path("a.md")]);
    assert_eq!(applied.rebased, std::slice::from_ref(&made), "it says what it was made on");
    assert_eq!(folder.read("a.md").unwrap(), b"one, edited\ntwo\nthree, by hand\n");
    let kept = ledger.0.lock().unwrap();
    assert_eq!(
        kept.iter().map(|(_, state)| *state).collect::<Vec<_>>(),
        [IntentState::Stale, IntentState::Done]
    );
    assert_eq!(kept[1].0.change, made, "the ledger holds what was really there");
    assert_eq!(folder.names(), ["a.md", "notes"], "nothing is left in its folder");
}

#[tokio::test]
async fn an_edit_whose_own_lines_changed_is_stale_and_the_note_is_untouched() {
    for now in ["one, by hand\ntwo\n", "two\n", "", "zero\nnew\none, again\n"] {
        let folder = Folder::with(&[("a.md", now)]);
        let ledger = MemoryLedger::default();
        let plan = replace("a.md", "one\ntwo\n", "one, edited\ntwo\n");
        let applied = folder.vault().apply(order([plan]), &ledger).await.unwrap();
        assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }), "{now:?}");
        assert_eq!(folder.read("a.md").unwrap(), now.as_bytes());
        assert_eq!(ledger.states(), [IntentState::Stale]);
    }
}

#[tokio::test]
async fn lines_that_grew_inside_what_would_be_deleted_make_it_stale() {
    let folder = Folder::with(&[("a.md", "keep\nold 1\nnew, by hand\nold 2\n")]);
    let plan = replace("a.md", "keep\nold 1\nold 2\n", "keep\n");
    let applied = folder.vault().apply(order([plan]), &MemoryLedger::default()).await.unwrap();
    assert_eq!((applied.done.len(), applied.problems.len()), (0, 1));
    assert_eq!(folder.read("a.md").unwrap(), b"keep\nold 1\nnew, by hand\nold 2\n");
}

#[tokio::test]
async fn an_edit_that_the_note_holds_already_is_done_without_a_write() {
    let folder = Folder::with(&[("a.md", "one, edited\ntwo, by hand\n")]);
    let before = std::fs::metadata(folder.root.join("a.md")).unwrap();
    let ledger = MemoryLedger::default();
    let plan = replace("a.md", "one\ntwo\n", "one, edited\ntwo\n");
    let applied = folder.vault().apply(order([plan]), &ledger).await.unwrap();
    assert!(applied.problems.len() == 1, "the lines touch the one that was changed by hand");
    let plan = replace("a.md", "one\nmiddle\ntwo\n", "one, edited\nmiddle\ntwo\n");
    folder.write("a.md", "one, edited\nmiddle\ntwo, by hand\n");
    let middle = std::fs::metadata(folder.root.join("a.md")).unwrap();
    let applied = folder.vault().apply(order([plan]), &ledger).await.unwrap();
    assert_eq!((applied.done.len(), applied.rebased.len()), (1, 0));
    let after = std::fs::metadata(folder.root.join("a.md")).unwrap();
    assert_eq!((after.ino(), after.mtime_nsec()), (before.ino(), middle.mtime_nsec()));
}

#[tokio::test]
async fn a_move_is_made_whole_on_notes_that_changed_elsewhere() {
    let folder = Folder::with(&[("a.md", "A\n"), ("b.md", "see [[a]]\n\nby hand\n")]);
    let plan = || {
        let link = replace("b.md", "see [[a]]\n\n", "see [[c]]\n\n");
        unit([link, Change::rename(path("a.md"), path("c.md"))])
    };
    let ledger = MemoryLedger::default();
    let applied = folder.vault().apply(plan(), &ledger).await.unwrap();
    assert_eq!(applied.problems.len(), 0, "{:?}", applied.problems);
    assert_eq!((applied.done.len(), applied.rebased.len()), (2, 1));
    assert_eq!(folder.read("b.md").unwrap(), b"see [[c]]\n\nby hand\n");
    assert_eq!(folder.names(), ["b.md", "c.md", "notes"]);

    let folder = Folder::with(&[("a.md", "A\n"), ("b.md", "see [[a]] and more\n")]);
    let applied = folder.vault().apply(plan(), &MemoryLedger::default()).await.unwrap();
    assert_eq!(applied.problems.len(), 2, "where the link's own line changed, nothing moves");
    assert_eq!(folder.names(), ["a.md", "b.md", "notes"]);
}

/// An editor that saves whenever an edit is about to be made, so many times.
struct AutosavingEditor {
    ledger: MemoryLedger,
    file: PathBuf,
    saves: AtomicUsize,
    until: usize,
}

#[async_trait]
impl Ledger for AutosavingEditor {
    async fn record_intents(&self, intents: &[Intent]) -> Result<(), LedgerError> {
        let save = self.saves.fetch_add(1, Ordering::Relaxed);
        if save < self.until {
            let text = std::fs::read_to_string(&self.file).unwrap();
            std::fs::write(&self.file, format!("{text}saved {save}\n")).unwrap();
        }
        self.ledger.record_intents(intents).await
    }

    async fn record_outcomes(&self, ended: &[SettledIntent]) -> Result<(), LedgerError> {
        self.ledger.record_outcomes(ended).await
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        self.ledger.open_intents().await
    }
}

async fn with_an_editor(until: usize) -> (vault::Applied, String, usize) {
    let text = "one\ntwo\nthree\n";
    let folder = Folder::with(&[("a.md", text)]);
    let ledger = AutosavingEditor {
        ledger: MemoryLedger::default(),
        file: folder.root.join("a.md"),
        saves: AtomicUsize::new(0),
        until,
    };
    let plan = replace("a.md", text, "ONE\ntwo\nthree\n");
    let applied = folder.vault().apply(order([plan]), &ledger).await.unwrap();
    assert!(ledger.open_intents().await.unwrap().is_empty(), "nothing stays open");
    let now = String::from_utf8(folder.read("a.md").unwrap()).unwrap();
    (applied, now, ledger.saves.into_inner())
}

#[tokio::test]
async fn an_editor_that_saves_again_and_again_does_not_void_an_edit() {
    let (applied, now, _) = with_an_editor(3).await;
    assert_eq!(applied.done, [path("a.md")]);
    assert_eq!(now, "ONE\ntwo\nthree\nsaved 0\nsaved 1\nsaved 2\n", "no save is lost");
    let (applied, now, _) = with_an_editor(20).await;
    assert_eq!((applied.done.len(), now.lines().count()), (1, 23), "nor of twenty");
}

#[tokio::test]
async fn a_program_that_never_stops_writing_is_given_up_on() {
    let (applied, now, tries) = with_an_editor(usize::MAX).await;
    assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }));
    assert!(now.starts_with("one\n") && tries <= 40, "{tries} tries");
}
