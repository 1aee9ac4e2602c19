//! Moves, folders and the trash: whole or not at all, whatever happens in the middle.

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

use std::os::unix::fs::PermissionsExt;

use protocol::{Change, ChangeAction, IntentState};
use support::stops::{CHMODS, SAVES, faults, recover, run_until};
use support::{Folder, MemoryLedger, create, order, path, replace, unit};
use vault::{Applied, ChangeBatch, VaultError};

fn before() -> Folder {
    Folder::with(&[
        ("notes/a.md", "to [[b]]"),
        ("notes/b.md", "b"),
        ("notes/sub/c.md", "c to [[b]]"),
        ("old/d.md", "d"),
    ])
}

fn act(at: &str, act: ChangeAction) -> Change {
    Change { path: path(at), act }
}

/// A move of a note and of a folder with the links to them, and a deletion.
fn moving() -> Vec<Change> {
    vec![
        replace("notes/a.md", "to [[b]]", "to [[new/b]]"),
        replace("notes/sub/c.md", "c to [[b]]", "c to [[new/b]]"),
        create("made.md", "made"),
        Change::trash(path("old/d.md"), "d"),
        Change::rename(path("notes/b.md"), path("new/place/b.md")),
        Change::rename_folder(path("notes/sub"), path("sub")),
    ]
}

const AFTER: [&str; 12] = [
    ".trash",
    ".trash/d.md",
    "made.md",
    "new",
    "new/place",
    "new/place/b.md",
    "notes",
    "notes/a.md",
    "old",
    "sub",
    "sub/c.md",
    "",
];

fn is_whole(folder: &Folder) -> bool {
    let text = |at: &str| folder.read(at).unwrap_or_default();
    folder.names() == AFTER[..11]
        && text("notes/a.md") == b"to [[new/b]]"
        && text("sub/c.md") == b"c to [[new/b]]"
        && text("new/place/b.md") == b"b"
}

/// As before, but for empty folders that were made on the way.
fn is_untouched(folder: &Folder) -> bool {
    let texts = |folder: &Folder| -> Vec<_> {
        let named = folder.names().into_iter().filter(|name| name.ends_with(".md"));
        named.map(|name| (folder.read(&name), name)).collect()
    };
    texts(folder) == texts(&before()) && !folder.names().iter().any(|name| name.contains(".tmp"))
}

fn apply(folder: &Folder, ledger: &MemoryLedger, batch: ChangeBatch) -> Applied {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(folder.vault().apply(batch, ledger)).unwrap()
}

#[test]
fn a_move_carries_note_folder_links_and_what_goes_to_the_trash() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let applied = apply(&folder, &ledger, unit(moving()));
    assert!(applied.problems.is_empty(), "{applied:?}");
    assert!(is_whole(&folder), "{:?}", folder.names());
    assert_eq!(ledger.states(), [IntentState::Done; 6]);
}

#[test]
fn a_move_stopped_at_any_step_is_finished_by_recovery() {
    let _one = faults();
    let mut stop = 0;
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let work = async || drop(folder.vault().apply(unit(moving()), &ledger).await);
        let ended = run_until(stop, work);
        let intended = !ledger.states().is_empty();
        let recovery = recover(&folder.vault(), &ledger);
        assert!(recovery.problems.is_empty(), "stopped at {stop}: {:?}", recovery.problems);
        assert_eq!(is_whole(&folder), intended, "stopped at {stop}: {:?}", folder.names());
        assert_eq!(is_untouched(&folder), !intended, "stopped at {stop}");
        assert!(ledger.states().iter().all(|state| *state == IntentState::Done));
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(stop > 60, "only {stop} steps were seen");
}

/// Each thing that can be in the way of a part of the move.
fn obstacles() -> Vec<fn(&Folder)> {
    vec![
        |folder| folder.write("notes/a.md", "another text"),
        |folder| folder.write("notes/sub/c.md", "another text"),
        |folder| folder.write("made.md", "somebody made it"),
        |folder| folder.write("old/d.md", "written since"),
        |folder| folder.write("new/place/b.md", "somebody made it"),
        |folder| folder.write("sub/x.md", "somebody made it"),
        |folder| std::fs::remove_file(folder.root.join("notes/b.md")).unwrap(),
    ]
}

#[test]
fn a_move_with_one_part_in_the_way_changes_nothing() {
    let _one = faults();
    for (number, block) in obstacles().into_iter().enumerate() {
        let (folder, blocked, ledger) = (before(), before(), MemoryLedger::default());
        block(&folder);
        block(&blocked);
        let applied = apply(&folder, &ledger, unit(moving()));
        assert!(applied.done.is_empty(), "{number}: {applied:?}");
        assert_eq!(applied.problems.len(), 6, "{number}");
        assert!(ledger.states().iter().all(|state| *state == IntentState::Stale), "{number}");
        for name in blocked.names().iter().filter(|name| name.ends_with(".md")) {
            assert_eq!(folder.read(name), blocked.read(name), "{number}: {name}");
        }
        assert!(!folder.names().iter().any(|name| name.contains(".tmp")), "{number}");
    }
}

/// Without a unit the parts stand alone: the sweep above would find it.
#[test]
fn changes_without_a_unit_are_not_reverted() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    folder.write("sub/x.md", "somebody made it");
    let applied = apply(&folder, &ledger, order(moving()));
    assert_eq!((applied.done.len(), applied.problems.len()), (5, 1));
    assert!(!is_untouched(&folder));
}

/// Stopped at every step, then a file comes in the way: the recovery leaves the move whole, or
/// restores the notes and keeps the new file.
#[test]
fn a_stopped_move_that_cannot_go_on_is_reverted_by_recovery() {
    let _one = faults();
    let mut stop = 0;
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let work = async || drop(folder.vault().apply(unit(moving()), &ledger).await);
        let ended = run_until(stop, work);
        let done = folder.read("sub/c.md").is_some();
        if !done {
            folder.write("sub/x.md", "somebody made it");
        }
        let is_open = ledger.states().contains(&IntentState::Open);
        let recovery = recover(&folder.vault(), &ledger);
        if is_open && !done {
            assert_eq!(recovery.done.len(), 0, "stopped at {stop}");
            assert!(ledger.states().iter().all(|state| *state == IntentState::Stale));
        }
        if done {
            assert!(is_whole(&folder), "stopped at {stop}: {:?}", folder.names());
        } else {
            std::fs::remove_dir_all(folder.root.join("sub")).unwrap();
            assert!(is_untouched(&folder), "stopped at {stop}: {:?}", folder.names());
        }
        if ended {
            break;
        }
        stop += 1;
    }
}

#[test]
fn a_folder_is_trashed_and_restored() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let gone =
        apply(&folder, &ledger, order([act("notes", ChangeAction::TrashFolder { holds: None })]));
    assert!(gone.problems.is_empty(), "{gone:?}");
    assert_eq!(folder.read(".trash/notes/sub/c.md").unwrap(), b"c to [[b]]");
    let trashed = ledger.0.lock().unwrap()[0].0.temp_name.clone();
    let back = apply(
        &folder,
        &ledger,
        order([act("notes", ChangeAction::RestoreFolder { trashed, holds: None })]),
    );
    assert!(back.problems.is_empty(), "{back:?}");
    assert!(is_untouched(&folder));
}

#[test]
fn a_note_is_made_in_a_folder_that_the_same_order_restores() {
    let _one = faults();
    for batch in [order as fn([Change; 2]) -> ChangeBatch, unit] {
        let (folder, ledger) = (before(), MemoryLedger::default());
        apply(&folder, &ledger, order([act("notes", ChangeAction::TrashFolder { holds: None })]));
        let trashed = ledger.0.lock().unwrap()[0].0.temp_name.clone();
        let changes = || {
            let trashed = trashed.clone();
            let restore = act("notes", ChangeAction::RestoreFolder { trashed, holds: None });
            [restore, Change::create(path("notes/new.md"), "new")]
        };
        let applied = apply(&folder, &ledger, batch(changes()));
        assert!(applied.problems.is_empty(), "{applied:?}");
        assert_eq!(folder.read("notes/new.md").unwrap(), b"new");
        assert_eq!(folder.read("notes/sub/c.md").unwrap(), b"c to [[b]]");
        assert!(ledger.files().iter().skip(1).all(Option::is_some), "the files are known");

        // The control: where the folder is gone from the trash, no other folder takes its place for the note.
        std::fs::remove_dir_all(folder.root.join("notes")).unwrap();
        let applied = apply(&folder, &ledger, batch(changes()));
        assert_eq!(applied.problems.len(), 2, "{applied:?}");
        assert_eq!(folder.read("notes/new.md"), None, "{:?}", folder.names());
        assert!(!folder.names().iter().any(|name| name.ends_with(".tmp")), "{:?}", folder.names());
    }
}

/// The folder `notes` is in the trash. The changes restore it, make a note in it and move one into it.
fn with_trashed_folder() -> (Folder, MemoryLedger, [Change; 3]) {
    let (folder, ledger) = (before(), MemoryLedger::default());
    let holds = folder.vault().folder_contents(&path("notes")).unwrap();
    apply(&folder, &ledger, order([act("notes", ChangeAction::TrashFolder { holds: None })]));
    let trashed = ledger.0.lock().unwrap()[0].0.temp_name.clone();
    let restore = ChangeAction::RestoreFolder { trashed, holds: Some(holds) };
    let moved = Change::rename(path("old/d.md"), path("notes/d.md"));
    (folder, ledger, [act("notes", restore), create("notes/new.md", "new"), moved])
}

#[track_caller]
fn assert_not_restored(folder: &Folder, case: &str) {
    assert!(!folder.root.join("notes").exists(), "{case}: {:?}", folder.names());
    assert_eq!(folder.read("old/d.md").unwrap(), b"d", "{case}");
    assert!(!folder.names().iter().any(|name| name.ends_with(".tmp")), "{case}");
}

#[track_caller]
fn assert_restored(folder: &Folder, case: &str) {
    for (note, text) in [("notes/new.md", "new"), ("notes/d.md", "d"), ("notes/b.md", "b")] {
        assert_eq!(folder.read(note).unwrap(), text.as_bytes(), "{case}: {note}");
    }
}

#[test]
fn nothing_is_put_into_a_folder_that_changed_in_the_trash() {
    let _one = faults();
    for batch in [order as fn([Change; 3]) -> ChangeBatch, unit] {
        let (folder, ledger, changes) = with_trashed_folder();
        folder.write(".trash/notes/theirs.md", "theirs");
        let applied = apply(&folder, &ledger, batch(changes));
        assert_eq!(applied.problems.len(), 3, "{applied:?}");
        assert_not_restored(&folder, "changed");

        // The control: a folder that is as it was comes back.
        let (folder, ledger, changes) = with_trashed_folder();
        let applied = apply(&folder, &ledger, batch(changes));
        assert!(applied.problems.is_empty(), "{applied:?}");
        assert_restored(&folder, "the same");
    }
}

#[test]
fn recovery_puts_nothing_into_a_folder_that_changed_in_the_trash() {
    let _one = faults();
    let (mut stop, mut refused) = (0, 0);
    loop {
        let case = format!("stopped at {stop}");
        let (folder, ledger, changes) = with_trashed_folder();
        let work = async || drop(folder.vault().apply(order(changes), &ledger).await);
        let ended = run_until(stop, work);
        if folder.root.join("notes").exists() {
            recover(&folder.vault(), &ledger);
            assert_restored(&folder, &case);
            assert_eq!(ledger.states(), [IntentState::Done; 4], "{case}");
        } else if ledger.states().len() > 1 {
            refused += 1;
            folder.write(".trash/notes/theirs.md", "theirs");
            recover(&folder.vault(), &ledger);
            assert_not_restored(&folder, &case);
            let (stale, failed) = (IntentState::Stale, IntentState::Failed);
            assert_eq!(ledger.states()[1..], [stale, failed, failed], "{case}");
        }
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(refused > 1, "only {refused} stops were before the folder came back");
}

#[test]
fn a_note_in_a_folder_that_moves_first_is_carried_only_if_it_is_the_one_that_is_meant() {
    let _one = faults();
    for is_replaced in [false, true] {
        let folder = Folder::with(&[("New/a.md", "a"), ("New/b.md", "b")]);
        let mut batch = unit([
            Change::replace(path("New/b.md"), "b", "B"),
            Change::rename_folder(path("New"), path("Old")),
            Change::rename(path("Old/a.md"), path("a.md")),
            Change::rename(path("Old/b.md"), path("b.md")),
        ]);
        for (at, meant) in [(0, "New/b.md"), (1, "New"), (2, "New/a.md"), (3, "New/b.md")] {
            batch.changes[at].file = folder.vault().file_id(&path(meant));
        }
        if is_replaced {
            folder.write("other.md", "a");
            std::fs::rename(folder.root.join("other.md"), folder.root.join("New/a.md")).unwrap();
        }
        let ledger = MemoryLedger::default();
        let applied = apply(&folder, &ledger, batch);
        assert_eq!(applied.problems.len(), if is_replaced { 4 } else { 0 }, "{applied:?}");
        let at = |path: &str| folder.read(path).map(|text| String::from_utf8(text).unwrap());
        let (a, b) = match is_replaced {
            true => (at("New/a.md"), at("New/b.md")),
            false => (at("a.md"), at("b.md")),
        };
        let expected = if is_replaced { "b" } else { "B" };
        assert_eq!((a.as_deref(), b.as_deref()), (Some("a"), Some(expected)));
    }
}

#[test]
fn a_note_saved_before_it_was_trashed_is_restored_after_a_kill() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    apply(&folder, &ledger, order([Change::trash(path("old/d.md"), "d")]));
    let intent = ledger.0.lock().unwrap()[0].0.clone();
    // As a kill leaves it between the move and the look at what was moved.
    folder.write(&format!(".trash/{}", intent.temp_name), "saved");
    let ledger = MemoryLedger::holding(vec![intent]);
    recover(&folder.vault(), &ledger);
    assert_eq!(ledger.states(), [IntentState::Stale]);
    assert_eq!(folder.read("old/d.md").unwrap(), b"saved");
}

/// The deletion of `notes` as it is now.
fn deletion(folder: &Folder) -> Change {
    let holds = Some(folder.vault().folder_contents(&path("notes")).unwrap());
    act("notes", ChangeAction::TrashFolder { holds })
}

#[test]
fn a_folder_that_holds_something_else_by_then_does_not_go_to_the_trash() {
    let _one = faults();
    let meanwhile: [fn(&Folder); 5] = [
        |folder| folder.write("notes/sub/theirs.md", "theirs"),
        |folder| folder.write("notes/.hidden", "theirs"),
        |folder| folder.write("notes/a.md", "of another length"),
        |folder| std::fs::remove_file(folder.root.join("notes/b.md")).unwrap(),
        |folder| std::fs::create_dir(folder.root.join("notes/empty")).unwrap(),
    ];
    for change in meanwhile {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let deletion = deletion(&folder);
        change(&folder);
        let names = folder.names();
        let applied = apply(&folder, &ledger, order([deletion]));
        assert!(matches!(applied.problems[0].1, VaultError::FolderChanged { .. }), "{applied:?}");
        assert_eq!(ledger.states(), [IntentState::Stale]);
        let left: Vec<_> = folder.names().into_iter().filter(|name| name != ".trash").collect();
        assert_eq!(left, names);
        // The control: who does not know what it held takes it all.
        let careless = act("notes", ChangeAction::TrashFolder { holds: None });
        let applied = apply(&folder, &MemoryLedger::default(), order([careless]));
        assert_eq!(applied.problems.len(), 0, "{applied:?}");
    }
    let (folder, ledger) = (before(), MemoryLedger::default());
    let applied = apply(&folder, &ledger, order([deletion(&folder)]));
    assert_eq!(applied.problems.len(), 0, "as it was, it goes: {applied:?}");
}

#[test]
fn a_note_that_gets_into_a_folder_just_before_it_goes_to_the_trash_stays() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let note = folder.root.join("notes/sub/theirs.md");
    *SAVES.lock().unwrap() = Some(("vault.carry.before", note, vec!["saved"]));
    let applied = apply(&folder, &ledger, order([deletion(&folder)]));
    *SAVES.lock().unwrap() = None;
    assert!(matches!(applied.problems[0].1, VaultError::FolderChanged { .. }), "{applied:?}");
    assert_eq!(folder.read("notes/sub/theirs.md").unwrap(), b"saved");
    assert_eq!(folder.read("notes/a.md").unwrap(), b"to [[b]]");
}

#[test]
fn folder_with_a_note_protected_just_before_it_goes_to_the_trash_stays() {
    let _one = faults();
    // The control: other permissions that allow to write do not keep the folder.
    for (mode, is_protected) in [(0o444, true), (0o000, true), (0o600, false)] {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let note = folder.root.join("notes/sub/c.md");
        let deletion = deletion(&folder);
        *CHMODS.lock().unwrap() = Some(("vault.carry.before", note.clone(), mode));
        let applied = apply(&folder, &ledger, order([deletion]));
        assert!(CHMODS.lock().unwrap().is_none(), "it was carried");
        if !is_protected {
            assert_eq!(applied.done, [path("notes")], "{mode:o}: {applied:?}");
            continue;
        }
        let why = &applied.problems[0].1;
        let is_it =
            matches!(why, VaultError::Protected { path: it } if *it == path("notes/sub/c.md"));
        assert!(is_it, "{mode:o}: {why:?}");
        assert_eq!(ledger.states(), [IntentState::Failed]);
        std::fs::set_permissions(&note, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(is_untouched(&folder), "{mode:o}: {:?}", folder.names());
    }
}

#[test]
fn folder_with_a_protected_note_is_restored_after_a_stop_at_any_step() {
    let _one = faults();
    let (mut stop, mut stopped_in_the_trash) = (0, 0);
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let note = folder.root.join("notes/sub/c.md");
        let deletion = deletion(&folder);
        *CHMODS.lock().unwrap() = Some(("vault.carry.before", note.clone(), 0o444));
        let work = async || drop(folder.vault().apply(order([deletion.clone()]), &ledger).await);
        let ended = run_until(stop, work);
        stopped_in_the_trash += usize::from(!note.exists());
        recover(&folder.vault(), &ledger);
        assert!(CHMODS.lock().unwrap().take().is_none() || ledger.states().is_empty(), "{stop}");
        std::fs::set_permissions(&note, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(is_untouched(&folder), "stopped at {stop}: {:?}", folder.names());
        assert!(!ledger.states().contains(&IntentState::Done), "stopped at {stop}");
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(stopped_in_the_trash > 0, "no stop was between the move and its check");
}

#[test]
fn the_trash_keeps_both_of_two_notes_with_one_name() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    folder.write(".trash/b.md", "an older one");
    folder.write("old/b.md", "one");
    let trash = |at: &str, text: &str| Change::trash(path(at), text);
    apply(&folder, &ledger, order([trash("notes/b.md", "b"), trash("old/b.md", "one")]));
    let names: Vec<_> = folder.names().into_iter().filter(|n| n.starts_with(".trash/")).collect();
    assert_eq!(names, [".trash/b 2.md", ".trash/b 3.md", ".trash/b.md"]);
}

#[test]
fn a_note_saved_just_before_it_is_trashed_is_restored() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let note = folder.root.join("old/d.md");
    *SAVES.lock().unwrap() = Some(("vault.carry.before", note, vec!["saved"]));
    let applied = apply(&folder, &ledger, order([Change::trash(path("old/d.md"), "d")]));
    *SAVES.lock().unwrap() = None;
    assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }), "{applied:?}");
    assert_eq!(folder.read("old/d.md").unwrap(), b"saved");
}

#[test]
fn nothing_moves_over_something_or_into_itself_or_through_a_link() {
    let _one = faults();
    let folder = before();
    std::os::unix::fs::symlink(&folder.out, folder.root.join("link")).unwrap();
    let rename = |from: &str, to: &str| Change::rename(path(from), path(to));
    let rename_folder = |from: &str, to: &str| Change::rename_folder(path(from), path(to));
    for change in [
        rename("notes/a.md", "notes/b.md"),
        rename("notes/a.md", "link/a.md"),
        rename("link", "elsewhere"),
        rename("notes", "elsewhere"),
        rename_folder("notes/a.md", "elsewhere"),
        rename_folder("notes", "notes/sub/notes"),
        rename_folder("notes", "old"),
        act("link", ChangeAction::TrashFolder { holds: None }),
        act("notes/a.md", ChangeAction::MakeFolder),
    ] {
        let ledger = MemoryLedger::default();
        let applied = apply(&folder, &ledger, order([change.clone()]));
        assert_eq!(applied.problems.len(), 1, "{change:?}");
        assert!(is_untouched(&folder), "{change:?}: {:?}", folder.names());
    }
    folder.assert_nothing_outside();
}
