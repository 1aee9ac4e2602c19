//! A change that is about one note is made on no other, whatever else gets its path and says the same:
//! not when it begins, not in the last moment, and not when it is finished after an interruption.

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

use protocol::{Change, FileId, FileReplacement, IntentState};
use support::stops::{SAVES, SWAPS, faults, recover, run_until};
use support::{Folder, MemoryLedger, order, path, replace, unit};
use vault::{Applied, ChangeBatch, Recovery, VaultError};

const TEXT: &str = "one\ntwo\n";
const EDITED: &str = "one, edited\ntwo\n";

fn before() -> Folder {
    Folder::with(&[("a.md", TEXT), ("archive/other.md", "other")])
}

/// The kinds of change that a note can undergo.
fn changes() -> [Change; 3] {
    [
        replace("a.md", TEXT, EDITED),
        Change::trash(path("a.md"), TEXT),
        Change::rename(path("a.md"), path("b.md")),
    ]
}

/// An order about the file at `a.md`, and about no other.
fn about_the_note(folder: &Folder, change: Change) -> (ChangeBatch, FileId) {
    let file = folder.vault().file_id(&path("a.md")).unwrap();
    let mut order = order([change]);
    order.changes[0].file = Some(file);
    (order, file)
}

/// The note is archived, and another one with the same text has its place.
fn swap(folder: &Folder) {
    let note = folder.root.join("a.md");
    std::fs::rename(&note, folder.root.join("archive/a.md")).unwrap();
    std::fs::write(note, TEXT).unwrap();
}

#[track_caller]
fn assert_both_are_as_they_were(folder: &Folder, change: &Change) {
    assert_eq!(folder.read("a.md").as_deref(), Some(TEXT.as_bytes()), "{change:?}");
    assert_eq!(folder.read("archive/a.md").as_deref(), Some(TEXT.as_bytes()), "{change:?}");
    let names = folder.names();
    let kept = ["a.md", "archive", "archive/a.md", "archive/other.md", "notes"];
    let left: Vec<_> = names.iter().filter(|name| !name.starts_with(".trash")).collect();
    assert_eq!(left, kept, "{change:?}");
}

/// Fault points belong to the whole process, so the tests run one after the other.
fn apply(folder: &Folder, batch: ChangeBatch, ledger: &MemoryLedger) -> Applied {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(folder.vault().apply(batch, ledger)).unwrap()
}

#[test]
fn another_note_with_the_path_and_the_text_is_not_changed() {
    let _one = faults();
    for change in changes() {
        let folder = before();
        let (order, _) = about_the_note(&folder, change.clone());
        swap(&folder);
        let applied = apply(&folder, order, &MemoryLedger::default());
        assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }), "{applied:?}");
        assert_both_are_as_they_were(&folder, &change);
    }
}

#[test]
fn a_note_that_stays_where_it_is_is_changed() {
    let _one = faults();
    for change in changes() {
        let folder = before();
        let (order, file) = about_the_note(&folder, change.clone());
        let ledger = MemoryLedger::default();
        let applied = apply(&folder, order, &ledger);
        assert!(applied.problems.is_empty(), "the control: {applied:?}");
        let renamed = folder.vault().file_id(&path("b.md"));
        assert_eq!(renamed.is_some(), renamed == Some(file), "a rename keeps the file");
    }
}

#[test]
fn a_note_that_is_put_there_in_the_last_moment_is_not_changed() {
    let _one = faults();
    for (change, point) in changes().into_iter().zip([
        "vault.exchange.before",
        "vault.carry.before",
        "vault.carry.before",
    ]) {
        let folder = before();
        let (order, _) = about_the_note(&folder, change.clone());
        let (note, away) = (folder.root.join("a.md"), folder.root.join("archive/a.md"));
        *SWAPS.lock().unwrap() = Some((point, note, away, TEXT));
        let ledger = MemoryLedger::default();
        let work = async || {
            let applied = folder.vault().apply(order.clone(), &ledger).await.unwrap();
            assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }), "{applied:?}");
        };
        assert!(run_until(usize::MAX - 1, work), "{point} is passed");
        assert!(SWAPS.lock().unwrap().is_none(), "{point} is passed");
        assert_both_are_as_they_were(&folder, &change);
    }
}

#[test]
fn a_note_that_is_put_there_after_the_right_one_left_is_not_changed() {
    let _one = faults();
    for change in changes() {
        let folder = before();
        let (order, _) = about_the_note(&folder, change.clone());
        let note = folder.root.join("a.md");
        std::fs::rename(&note, folder.root.join("archive/a.md")).unwrap();
        *SAVES.lock().unwrap() = Some(("vault.intend.after", note, vec![TEXT]));
        let applied = apply(&folder, order, &MemoryLedger::default());
        let left = SAVES.lock().unwrap().take().unwrap();
        assert!(left.2.is_empty(), "the other note came before it was looked at");
        assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }), "{applied:?}");
        assert_both_are_as_they_were(&folder, &change);
    }
}

#[test]
fn recovery_changes_no_note_that_was_put_there_since() {
    let _one = faults();
    for change in changes() {
        let (mut stop, mut swapped) = (0, 0);
        loop {
            let (folder, ledger) = (before(), MemoryLedger::default());
            let work = async || drop(folder.vault().apply(order([change.clone()]), &ledger).await);
            let ended = run_until(stop, work);
            let stood = folder.read("a.md");
            if !ended && stood.as_deref() == Some(TEXT.as_bytes()) && !ledger.states().is_empty() {
                swap(&folder);
                swapped += 1;
                let recovery = recover(&folder.vault(), &ledger);
                assert!(recovery.done.is_empty(), "stopped at {stop}: {recovery:?}");
                // The staged file stays if nobody can identify the note.
                remove_temporary_files(&folder);
                assert_both_are_as_they_were(&folder, &change);
            }
            if ended {
                break;
            }
            stop += 1;
        }
        assert!(swapped > 1, "only {swapped} stops lie before the change");
    }
}

fn remove_temporary_files(folder: &Folder) {
    for name in folder.names().iter().filter(|name| name.starts_with(".vaultmate-")) {
        std::fs::remove_file(folder.root.join(name)).unwrap();
    }
}

#[test]
fn an_edit_is_finished_after_a_restore_in_which_every_file_is_another_one() {
    let _one = faults();
    let (mut stop, mut finished) = (0, 0);
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let edit = replace("a.md", TEXT, EDITED);
        let ended = run_until(stop, async || {
            drop(folder.vault().apply(order([edit.clone()]), &ledger).await)
        });
        if !ended && ledger.states() == [protocol::IntentState::Open] {
            for name in folder.names().iter().filter(|name| name.ends_with(['d', 'p'])) {
                let (file, copy) = (folder.root.join(name), folder.root.join("copy"));
                std::fs::copy(&file, &copy).unwrap();
                std::fs::rename(copy, file).unwrap();
            }
            let recovery = recover(&folder.vault(), &ledger);
            assert_eq!(recovery.done.len(), 1, "stopped at {stop}: {recovery:?}");
            assert_eq!(folder.read("a.md").as_deref(), Some(EDITED.as_bytes()));
            finished += 1;
        }
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(finished > 1, "only {finished} stops leave the edit open");
}

const LINKS: [&str; 4] = ["l1.md", "l2.md", "l3.md", "l4.md"];

/// A move with the links to it, stopped at every step, and a user's action before the next start.
fn stopped_moves(meanwhile: impl Fn(&Folder) -> Option<&'static str>) -> usize {
    let (mut stop, mut met) = (0, 0);
    loop {
        let notes = LINKS.iter().map(|path| (*path, "see [[a]]\n")).chain([("a.md", TEXT)]);
        let folder = Folder::with(&notes.collect::<Vec<_>>());
        let ledger = MemoryLedger::default();
        let changes = LINKS
            .map(|path| replace(path, "see [[a]]\n", "see [[b]]\n"))
            .into_iter()
            .chain([Change::rename(path("a.md"), path("b.md"))]);
        let mut move_with_links = order(changes);
        for planned in &mut move_with_links.changes {
            planned.unit = Some("move".into());
        }
        let ended = run_until(stop, async || {
            drop(folder.vault().apply(move_with_links.clone(), &ledger).await)
        });
        let is_open = !ledger.states().is_empty()
            && ledger.states().iter().all(|state| *state == protocol::IntentState::Open);
        if !ended
            && is_open
            && let Some(touched) = meanwhile(&folder)
        {
            met += 1;
            let recovery = recover(&folder.vault(), &ledger);
            let is_moved = folder.read("b.md").is_some();
            assert_whole_or_told(&ledger.states(), &recovery, is_moved);
            let wanted: &[u8] = if is_moved { b"see [[b]]\n" } else { b"see [[a]]\n" };
            for note in LINKS.iter().filter(|note| **note != touched) {
                assert_eq!(folder.read(note).as_deref(), Some(wanted), "{note} at {stop}");
            }
            let left = folder.names().into_iter().filter(|name| name.contains(".vaultmate-"));
            let left: Vec<_> = left.collect();
            assert!(left.len() <= 1, "stopped at {stop}: {left:?}");
        }
        if ended {
            return met;
        }
        stop += 1;
    }
}

/// A group is finished, but for notes that are told, or no part of it stands and every part is told.
fn assert_whole_or_told(states: &[IntentState], recovery: &Recovery, is_moved: bool) {
    let count = |wanted| states.iter().filter(|state| **state == wanted).count();
    assert_eq!(count(IntentState::Open), 0, "{recovery:?}");
    assert!(is_moved || count(IntentState::Done) == 0, "{states:?}");
    assert_eq!(recovery.problems.len(), states.len() - count(IntentState::Done), "{recovery:?}");
}

#[test]
fn a_move_with_a_note_that_another_program_overtook_is_reverted_whole_and_told() {
    let _one = faults();
    let folder =
        Folder::with(&[("l1.md", "see [[a]]\n"), ("l2.md", "see [[a]]\n"), ("a.md", TEXT)]);
    let links = ["l1.md", "l2.md"].map(|path| replace(path, "see [[a]]\n", "see [[b]]\n"));
    let moves = unit(links.into_iter().chain([Change::rename(path("a.md"), path("b.md"))]));
    // The first of them comes with the exchange of the other note.
    let saves = vec!["see [[a]]\n", "first", "second"];
    *SAVES.lock().unwrap() = Some(("vault.exchange.before", folder.root.join("l2.md"), saves));
    let ledger = MemoryLedger::default();
    let applied = apply(&folder, moves, &ledger);
    assert!(SAVES.lock().unwrap().take().unwrap().2.is_empty());
    assert_eq!(applied.done, []);
    let [(_, first), (_, second), (_, third)] = applied.problems.as_slice() else {
        panic!("{applied:?}")
    };
    assert!(matches!(second, VaultError::Overtaken { .. }), "{second:?}");
    for other in [first, third] {
        assert!(matches!(other, VaultError::Reverted { .. }), "{other:?}");
    }
    let notes = ["l1.md", "l2.md", "a.md"].map(|note| folder.read(note).unwrap());
    assert_eq!(notes, [&b"see [[a]]\n"[..], b"second", TEXT.as_bytes()]);
    assert_eq!(folder.read("b.md"), None);
    use IntentState::{Failed, Stale};
    assert_eq!(ledger.states(), [Stale, Failed, Stale]);
}

#[test]
fn a_move_that_was_interrupted_is_finished_or_reverted_whole_although_somebody_edited_a_note() {
    let _one = faults();
    let edited = |folder: &Folder| {
        let is_changed = |note: &&&str| folder.read(note).is_some_and(|it| it == b"see [[b]]\n");
        let note = LINKS.iter().find(is_changed)?;
        folder.write(note, "see [[b]]\nmine\n");
        Some(*note)
    };
    assert!(stopped_moves(edited) > 4);
    let replaced = |folder: &Folder| {
        let is_changed = |note: &&&str| folder.read(note).is_some_and(|it| it == b"see [[b]]\n");
        let note = LINKS.iter().find(is_changed)?;
        std::fs::remove_file(folder.root.join(note)).unwrap();
        folder.write(note, "something else\n");
        Some(*note)
    };
    assert!(stopped_moves(replaced) > 4);
    assert!(stopped_moves(|_| Some("")) > 4, "the control: nobody touches anything");
}

#[test]
fn a_move_that_somebody_finishes_by_hand_takes_its_links_along() {
    let _one = faults();
    let by_hand = |folder: &Folder| {
        std::fs::rename(folder.root.join("a.md"), folder.root.join("b.md")).ok()?;
        Some("")
    };
    assert!(stopped_moves(by_hand) > 4);
}

#[test]
fn a_copy_of_the_changed_note_is_not_taken_for_it_after_an_interruption() {
    let _one = faults();
    let (mut stop, mut known, mut told_apart) = (0, 0, 0);
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let edit = replace("a.md", TEXT, EDITED);
        let ended = run_until(stop, async || {
            drop(folder.vault().apply(order([edit.clone()]), &ledger).await)
        });
        let is_changed = folder.read("a.md").as_deref() == Some(EDITED.as_bytes());
        let is_open = ledger.states() == [protocol::IntentState::Open];
        if !ended && is_changed && is_open {
            // Stopped between the exchange and the ledger: first without anybody else, then with.
            let ours = folder.vault().file_id(&path("a.md"));
            recover(&folder.vault(), &ledger);
            known += usize::from(ledger.files()[0] == ours);

            let (folder, ledger) = (before(), MemoryLedger::default());
            run_until(stop, async || {
                drop(folder.vault().apply(order([edit.clone()]), &ledger).await)
            });
            let note = folder.root.join("a.md");
            std::fs::rename(&note, folder.root.join("archive/a.md")).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::fs::write(&note, EDITED).unwrap();
            let copy = folder.vault().file_id(&path("a.md"));
            recover(&folder.vault(), &ledger);
            assert!(ledger.files()[0] != copy, "stopped at {stop}");
            told_apart += 1;
        }
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(told_apart > 0);
    assert!(known > 0, "the control: where nobody came, the file is known");
}

/// An edit of `a.md`, and a move into the folder `Sub`.
fn edit_and_move() -> ChangeBatch {
    let moved = Change::rename(path("archive/other.md"), path("Sub/other.md"));
    unit([replace("a.md", TEXT, EDITED), moved])
}

#[test]
fn ledger_learns_the_file_of_a_note_whose_change_was_reverted() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let file = || folder.vault().file_id(&path("a.md")).unwrap();
    folder.write("Sub", "a file");
    let from = file();
    let applied = apply(&folder, edit_and_move(), &ledger);
    assert_eq!(applied.problems.len(), 2, "{applied:?}");
    assert_eq!(folder.read("a.md").unwrap(), TEXT.as_bytes());
    assert_ne!(file(), from, "the revert puts the note into another file");
    assert_eq!(ledger.replacements(), [FileReplacement { from, to: file() }]);
    // The control: a change that stands has an effect of its own.
    let (folder, ledger) = (before(), MemoryLedger::default());
    assert!(apply(&folder, edit_and_move(), &ledger).problems.is_empty());
    assert_eq!(ledger.replacements(), []);
}

#[test]
fn ledger_learns_the_file_of_a_note_whose_change_recovery_reverted() {
    let _one = faults();
    let (mut stop, mut reverted) = (0, 0);
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let from = folder.vault().file_id(&path("a.md")).unwrap();
        let work = async || drop(folder.vault().apply(edit_and_move(), &ledger).await);
        let ended = run_until(stop, work);
        let is_edited = folder.read("a.md").unwrap() == EDITED.as_bytes();
        if is_edited && !folder.root.join("Sub").exists() {
            reverted += 1;
            folder.write("Sub", "a file");
            recover(&folder.vault(), &ledger);
            assert_eq!(folder.read("a.md").unwrap(), TEXT.as_bytes(), "stopped at {stop}");
            let to = folder.vault().file_id(&path("a.md")).unwrap();
            assert_eq!(ledger.replacements(), [FileReplacement { from, to }], "stopped at {stop}");
        }
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(reverted > 0, "no stop was between the edit and the move");
}
