//! A change is cut, somebody acts on the notes, and the next start resolves it: only the recorded
//! file is finished, reverted or moved, and a file that cannot be identified stays where it is.
//!
//! The outcome of recovery, by the content of both ends of a change. "It" is the recorded file
//! (inode and birth time: `Intent::base`; for created or restored files `Intent::staged`), "other"
//! is any other file.
//!
//! | change | old end | new end | finish | revert |
//! |---|---|---|---|---|
//! | create | its temporary file | nothing | put in place | temporary file removed |
//! | create | its temporary file | other | that stays, temporary file removed | the same |
//! | create | – | it | done | removed |
//! | create | nothing | nothing, it elsewhere | done | parked |
//! | create | nothing | nothing, it missing | done without a file; in a unit made again | – |
//! | edit | its temporary file | the text before | exchanged | temporary file removed |
//! | edit | its temporary file | other text, or nothing | stale | temporary file removed |
//! | edit | old file or nothing | it | done, whatever it says by now | exchanged back, if it says what was put |
//! | edit | old file or nothing | other with the text after | done without a file | parked |
//! | edit | nothing | other with the text before | parked; in a unit exchanged | – |
//! | edit | old file or nothing | nothing, it elsewhere | done | parked |
//! | trash | it | nothing | moved | – |
//! | trash | other, or nothing | it | done; back if it was saved before it went | moved back |
//! | trash | it | other | stale | – |
//! | trash | other, or nothing | other | parked | parked |
//! | trash | nothing | nothing | done, parked if it stands elsewhere | parked |
//! | rename | it | nothing | moved | – |
//! | rename | it | other | stale | – |
//! | rename | other, or nothing | it | done | moved back, parked if the old path is taken |
//! | rename | other | other, or nothing | stale | – |
//! | rename | nothing | other | done without a file if its contents tell; else parked | parked |
//! | rename | nothing | nothing | parked | – |
//! | trash folder | as rename, and back only what got something new before it went | | | |
//! | restore folder | as rename, and it goes to the trash again only as it was | | | |

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

mod edits;
#[path = "../support/mod.rs"]
mod support;

use std::fs;

use protocol::{Change, ChangeAction, FileId, IntentState};
use support::stops::{NAMES, SWAPS, faults, recover, run_until};
use support::{Folder, MemoryLedger, create, order, path, replace, unit};
use vault::{ChangeBatch, Recovery};

const TEXT: &str = "text\n";
const OTHER: &str = "quite another note\n";
const OLD_LINK: &str = "see [[a]]\n";
const NEW_LINK: &str = "see [[b]]\n";

/// Some notes, and an order that is cut when it passes a fault point for the `nth` time.
struct Cut {
    folder: Folder,
    ledger: MemoryLedger,
}

fn notes() -> Folder {
    Folder::with(&[
        ("a.md", TEXT),
        ("l.md", OLD_LINK),
        ("m.md", OLD_LINK),
        ("f/x.md", "x"),
        ("f/y.md", "y"),
        ("sub/a.md", OTHER),
        ("sub/f/z.md", "z"),
        ("filed/old.md", "old"),
    ])
}

impl Cut {
    fn at(point: &str, nth: usize, order: impl Fn(&Folder) -> ChangeBatch) -> Self {
        Self::of(notes, point, nth, order)
    }

    fn of(
        notes: impl Fn() -> Folder,
        point: &str,
        nth: usize,
        order: impl Fn(&Folder) -> ChangeBatch,
    ) -> Self {
        let (whole, first) = (notes(), MemoryLedger::default());
        let planned = order(&whole);
        NAMES.lock().unwrap().clear();
        run_until(usize::MAX - 1, async || drop(whole.vault().apply(planned, &first).await));
        let passed = NAMES.lock().unwrap().clone();
        let mut places = passed.iter().enumerate().filter(|(_, name)| **name == point);
        let (stop, _) = places.nth(nth).expect("the point is passed");
        let (folder, ledger) = (notes(), MemoryLedger::default());
        let planned = order(&folder);
        let ended = run_until(stop, async || drop(folder.vault().apply(planned, &ledger).await));
        assert!(!ended, "it is cut");
        assert!(ledger.states().iter().all(|state| *state == IntentState::Open));
        Self { folder, ledger }
    }

    fn recover(&self) -> Recovery {
        recover(&self.folder.vault(), &self.ledger)
    }

    fn file(&self, at: &str) -> Option<FileId> {
        self.folder.vault().file_id(&path(at))
    }

    fn text(&self, at: &str) -> Option<String> {
        self.folder.read(at).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn carry(&self, from: &str, to: &str) {
        let to = self.folder.root.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(self.folder.root.join(from), to).unwrap();
    }

    fn remove(&self, at: &str) {
        fs::remove_file(self.folder.root.join(at)).unwrap();
    }

    /// As editors save: a new file gets the note's name.
    fn save(&self, at: &str, text: &str) {
        self.folder.write("filed/saved", text);
        self.carry("filed/saved", at);
    }

    #[track_caller]
    fn assert_nothing_is_left(&self) {
        let left = self.folder.names().into_iter().filter(|name| name.contains(".vaultmate-"));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new());
    }

    fn states(&self) -> Vec<IntentState> {
        self.ledger.states()
    }
}

fn act(at: &str, act: ChangeAction) -> Change {
    Change { path: path(at), act }
}

fn rename(from: &str, to: &str) -> Change {
    Change::rename(path(from), path(to))
}

/// A move with the links to it.
fn linked(_: &Folder) -> ChangeBatch {
    unit([
        replace("l.md", OLD_LINK, NEW_LINK),
        replace("m.md", OLD_LINK, NEW_LINK),
        rename("a.md", "b.md"),
    ])
}

#[test]
fn a_note_that_the_user_made_by_hand_is_not_removed_with_a_creation_that_is_reverted() {
    let _one = faults();
    let planned = |_: &Folder| unit([create("n.md", TEXT), rename("a.md", "b.md")]);
    for point in ["vault.staged.before", "vault.rename.before", "vault.rename.after"] {
        let cut = Cut::at(point, 0, planned);
        if cut.file("n.md").is_some() {
            cut.carry("n.md", "filed/n.md");
        }
        cut.folder.write("n.md", TEXT);
        let theirs = cut.file("n.md");
        cut.save("a.md", "saved\n");
        cut.recover();
        assert_eq!(cut.file("n.md"), theirs, "{point}");
        assert_eq!(cut.text("a.md").as_deref(), Some("saved\n"), "{point}");
        cut.assert_nothing_is_left();

        let control = Cut::at(point, 0, planned);
        control.save("a.md", "saved\n");
        control.recover();
        assert_eq!(control.text("n.md"), None, "{point}: the note that we made is reverted");
        control.assert_nothing_is_left();
    }
}

#[test]
fn a_new_note_that_was_moved_or_removed_is_not_made_again() {
    let _one = faults();
    let planned = |_: &Folder| order([create("n/n.md", TEXT)]);
    let cut = || Cut::at("vault.rename.after", 0, planned);
    let moves: [fn(&Cut); 3] = [
        |cut| cut.carry("n/n.md", "filed/n.md"),
        |cut| cut.carry("n", "filed/n"),
        |cut| cut.remove("n/n.md"),
    ];
    for meanwhile in moves {
        let cut = cut();
        let ours = cut.file("n/n.md");
        meanwhile(&cut);
        let names = cut.folder.names();
        cut.recover();
        assert_eq!(cut.folder.names(), names);
        assert_eq!(cut.states(), [IntentState::Done]);
        let is_there = names.iter().any(|name| name.starts_with("filed/n"));
        assert_eq!(cut.ledger.files(), [ours.filter(|_| is_there)]);
    }
    let control = Cut::at("vault.rename.before", 0, planned);
    control.recover();
    assert_eq!(control.text("n/n.md").as_deref(), Some(TEXT), "the open change is finished");
}

/// The folder `f` is restored from the trash, and `a.md` is moved.
fn restoring(folder: &Folder) -> ChangeBatch {
    let holds = folder.vault().folder_contents(&path("f")).unwrap();
    fs::create_dir_all(folder.root.join(".trash")).unwrap();
    fs::rename(folder.root.join("f"), folder.root.join(".trash/f")).unwrap();
    let restore = ChangeAction::RestoreFolder { trashed: "f".to_owned(), holds: Some(holds) };
    unit([act("f", restore), rename("a.md", "b.md")])
}

#[test]
fn a_folder_in_which_the_user_works_does_not_go_to_the_trash_again() {
    let _one = faults();
    let work = |cut: &Cut| cut.folder.write("f/new.md", "mine");
    let back = |cut: &Cut| {
        if cut.file("f").is_none() {
            cut.carry(".trash/f", "f");
        }
    };
    for point in ["vault.carry.before", "vault.carry.after"] {
        for is_another in [false, true] {
            let cut = Cut::at(point, 0, restoring);
            back(&cut);
            if is_another {
                cut.carry("f", "filed/f");
            }
            work(&cut);
            cut.save("a.md", "saved\n");
            cut.recover();
            assert_eq!(cut.text("f/new.md").as_deref(), Some("mine"), "{point} {is_another}");
            let in_trash = fs::exists(cut.folder.root.join(".trash/f")).unwrap();
            assert!(!in_trash, "{point} {is_another}");
        }
    }
    let control = Cut::at("vault.carry.after", 0, restoring);
    control.save("a.md", "saved\n");
    control.recover();
    assert_eq!(control.file("f"), None, "an unchanged folder is reverted");
    assert!(fs::exists(control.folder.root.join(".trash/f/x.md")).unwrap());
    assert_eq!(control.states(), [IntentState::Stale; 2]);
    let whole = Cut::at("vault.carry.before", 0, restoring);
    whole.recover();
    assert_eq!(whole.text("f/x.md").as_deref(), Some("x"), "nobody acts: it is finished");
    assert_eq!(whole.states(), [IntentState::Done; 2]);
}

#[test]
fn another_folder_of_that_name_is_not_restored_from_the_trash() {
    let _one = faults();
    let cut = Cut::at("vault.carry.before", 0, restoring);
    cut.carry(".trash/f", "filed/f");
    cut.carry("sub/f", ".trash/f");
    cut.recover();
    assert_eq!(cut.file("f"), None);
    assert_eq!(cut.states()[0], IntentState::Parked);
}

#[test]
fn another_note_is_not_recorded_as_the_restored_one() {
    let _one = faults();
    let planned =
        |_: &Folder| unit([create("f/n.md", TEXT), Change::rename_folder(path("f"), path("g"))]);
    let cut = Cut::at("vault.carry.after", 0, planned);
    cut.carry("g/n.md", "filed/n.md");
    cut.folder.write("g/n.md", TEXT);
    let theirs = cut.file("g/n.md");
    cut.recover();
    assert!(cut.ledger.files().iter().all(|file| *file != theirs), "{:?}", cut.ledger.files());

    let control = Cut::at("vault.carry.after", 0, planned);
    let ours = control.file("g/n.md");
    control.recover();
    assert_eq!(control.ledger.files()[0], ours, "nobody acts: it is known");
}

#[test]
fn another_note_is_not_taken_out_of_the_trash() {
    let _one = faults();
    let planned = |_: &Folder| order([Change::trash(path("a.md"), TEXT)]);
    for (is_filed, state) in [(true, IntentState::Parked), (false, IntentState::Stale)] {
        let cut = Cut::at("vault.carry.before", 0, planned);
        if is_filed {
            cut.carry("a.md", "filed/a.md");
        }
        cut.carry("sub/a.md", ".trash/a.md");
        cut.recover();
        assert_eq!(cut.text(".trash/a.md").as_deref(), Some(OTHER));
        assert_eq!(cut.text("a.md").is_some(), !is_filed);
        assert_eq!(cut.states(), [state]);
    }
    let filed = Cut::at("vault.carry.before", 0, planned);
    filed.carry("a.md", "filed/a.md");
    filed.recover();
    assert_eq!(filed.states(), [IntentState::Parked], "it was never deleted");
    let control = Cut::at("vault.carry.after", 0, planned);
    control.save("a.md", "again\n");
    control.recover();
    assert_eq!(control.states(), [IntentState::Done], "it is in the trash, whatever came after");
    assert_eq!(control.text("a.md").as_deref(), Some("again\n"));
}

fn trashing(folder: &Folder) -> ChangeBatch {
    let holds = Some(folder.vault().folder_contents(&path("f")).unwrap());
    order([act("f", ChangeAction::TrashFolder { holds })])
}

#[test]
fn the_deletion_of_a_folder_is_known_by_the_folder() {
    let _one = faults();
    let cut = Cut::at("vault.carry.before", 0, trashing);
    cut.carry("f", "filed/f");
    cut.carry("sub/f", ".trash/f");
    cut.recover();
    assert_eq!((cut.file("f"), cut.states()), (None, vec![IntentState::Parked]));
    let acts: [fn(&Cut); 3] = [
        |cut| cut.folder.write("f/new.md", "again"),
        |cut| cut.carry(".trash/f/x.md", "x.md"),
        |_| {},
    ];
    for meanwhile in acts {
        let cut = Cut::at("vault.carry.after", 0, trashing);
        meanwhile(&cut);
        let names = cut.folder.names();
        cut.recover();
        assert_eq!((cut.folder.names(), cut.states()), (names, vec![IntentState::Done]));
    }
}

#[test]
fn a_copy_in_the_place_of_a_changed_note_is_not_changed_when_a_move_is_reverted() {
    let _one = faults();
    let cut = Cut::at("vault.carry.before", 0, linked);
    cut.carry("l.md", "filed/l.md");
    cut.folder.write("l.md", NEW_LINK);
    cut.save("a.md", "saved\n");
    cut.recover();
    assert_eq!(cut.text("l.md").as_deref(), Some(NEW_LINK), "the copy is as it was");
    assert_eq!(cut.text("m.md").as_deref(), Some(OLD_LINK));
    assert_eq!(cut.states()[0], IntentState::Parked);
}

#[test]
fn a_move_is_done_where_the_file_is_at_the_new_path_and_only_there() {
    let _one = faults();
    for text in [TEXT, "again\n"] {
        let cut = Cut::at("vault.carry.after", 0, linked);
        cut.save("a.md", text);
        cut.recover();
        assert_eq!(cut.states(), [IntentState::Done; 3], "{text}");
        assert_eq!(cut.text("l.md").as_deref(), Some(NEW_LINK));
        assert_eq!(cut.text("a.md").as_deref(), Some(text));
    }
    let cut = Cut::at("vault.exchange.before", 0, linked);
    cut.remove("a.md");
    cut.folder.write("b.md", OTHER);
    cut.recover();
    assert!(!cut.states().contains(&IntentState::Done), "{:?}", cut.states());
    assert_eq!(cut.text("l.md").as_deref(), Some(OLD_LINK));
    assert_eq!(cut.text("m.md").as_deref(), Some(OLD_LINK));
    cut.assert_nothing_is_left();
    // It was moved, and an editor saved it there since.
    let saved = Cut::at("vault.carry.after", 0, linked);
    saved.save("b.md", "text and more\n");
    let theirs = saved.file("b.md");
    saved.recover();
    assert_eq!(saved.text("l.md").as_deref(), Some(NEW_LINK), "its links stay");
    assert!(saved.ledger.files().iter().all(|file| *file != theirs));
}

#[test]
fn a_move_by_hand_takes_everything_that_belongs_to_it_along() {
    let _one = faults();
    let planned = |_: &Folder| {
        unit([
            replace("l.md", OLD_LINK, NEW_LINK),
            create("n.md", TEXT),
            Change::trash(path("f/x.md"), "x"),
            rename("a.md", "b.md"),
        ])
    };
    let cut = Cut::at("vault.exchange.before", 0, planned);
    cut.carry("a.md", "b.md");
    cut.recover();
    assert_eq!(cut.text("n.md").as_deref(), Some(TEXT));
    assert_eq!(cut.text("l.md").as_deref(), Some(NEW_LINK));
    assert_eq!(cut.file("f/x.md"), None);
    assert_eq!(cut.states(), [IntentState::Done; 4]);
    cut.assert_nothing_is_left();
}

#[test]
fn another_note_that_gets_the_path_when_a_move_is_reverted_goes_back() {
    let _one = faults();
    let planned = |_: &Folder| unit([rename("a.md", "b.md"), rename("f/x.md", "d.md")]);
    let cut = Cut::at("vault.carry.before", 1, planned);
    cut.folder.write("d.md", "in the way");
    let (note, away) = (cut.folder.root.join("b.md"), cut.folder.root.join("filed/b.md"));
    *SWAPS.lock().unwrap() = Some(("vault.carry.before", note, away, OTHER));
    cut.recover();
    assert!(SWAPS.lock().unwrap().is_none(), "it was reverted");
    assert_eq!(cut.text("b.md").as_deref(), Some(OTHER));
    assert_eq!(cut.text("a.md"), None);
    assert_eq!(cut.text("filed/b.md").as_deref(), Some(TEXT));

    let trashing = |_: &Folder| unit([Change::trash(path("a.md"), TEXT), rename("f/x.md", "d.md")]);
    let cut = Cut::at("vault.carry.before", 1, trashing);
    cut.folder.write("d.md", "in the way");
    cut.carry(".trash/a.md", "filed/a.md");
    cut.carry("sub/a.md", ".trash/a.md");
    cut.recover();
    assert_eq!(cut.text("a.md"), None, "another one of the name stays in the trash");
    assert_eq!(cut.text(".trash/a.md").as_deref(), Some(OTHER));
}

#[test]
fn a_temporary_file_that_is_half_written_goes_with_its_move() {
    let _one = faults();
    for (point, nth) in
        [("vault.temp_create.after", 1), ("vault.write.before", 0), ("vault.write.before", 1)]
    {
        let cut = Cut::at(point, nth, linked);
        cut.save("l.md", "see nothing\n");
        cut.recover();
        assert_eq!(cut.text("l.md").as_deref(), Some("see nothing\n"));
        assert_eq!(cut.text("m.md").as_deref(), Some(OLD_LINK));
        cut.assert_nothing_is_left();
    }
}

#[test]
fn a_folder_that_was_there_before_stays_when_its_making_is_reverted() {
    let _one = faults();
    let with_empty = || {
        let folder = notes();
        fs::create_dir(folder.root.join("empty")).unwrap();
        folder
    };
    let planned =
        |_: &Folder| unit([act("empty", ChangeAction::MakeFolder), rename("a.md", "b.md")]);
    let cut = Cut::of(with_empty, "vault.carry.before", 0, planned);
    cut.save("a.md", "saved\n");
    cut.recover();
    assert!(fs::exists(cut.folder.root.join("empty")).unwrap());
}
