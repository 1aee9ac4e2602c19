//! Undo of a move carries back the note or the folder that was moved, and no other, whoever has its new or its
//! old path by then.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use protocol::changes::history::{UndoResult, UndoTarget};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use super::undo_identity::{LOG, WATERED, app_after_edit, only_conflict, undo_newest};
use crate::harness::test_app::{
    RunningApp, home_with_key, settings_with_model, settings_without_model,
};

/// The outcome of an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The moved note is at its old path.
    Undone,
    /// The user is asked which note or folder is meant, and nothing changed.
    Asked,
    /// The user is told what is in the way, and nothing changed.
    Told,
}

/// An act of another program after the move.
type Act = fn(&Path);

/// A move by the assistant, and what is done by others before its undo.
struct Case {
    name: &'static str,
    act: Act,
    /// If it is done while the application does not run.
    expected: Outcome,
}

const NOTES: [(&str, &str); 5] = [
    ("Plan.md", "# Plan\n"),
    ("A/One.md", "one\n"),
    ("Twin/Plan.md", "# Plan\n"),
    ("Twin/One.md", "one\n"),
    ("Links.md", "[[Plan]] and [[A/One]]\n"),
];

fn write(at: &Path, text: &str) {
    fs::create_dir_all(at.parent().expect("a folder")).expect("made");
    fs::write(at, text).expect("written");
}

fn rename(root: &Path, from: &str, to: &str) {
    let to = root.join(to);
    fs::create_dir_all(to.parent().expect("a folder")).expect("made");
    fs::rename(root.join(from), to).expect("renamed");
}

const fn case(name: &'static str, act: Act, expected: Outcome) -> Case {
    Case { name, act, expected }
}

/// `Plan.md` was moved to `Work/Moved.md`.
const MOVED_NOTE: [Case; 9] = [
    case("nothing", |_| {}, Outcome::Undone),
    case(
        "replaced by another file",
        |root| {
            fs::remove_file(root.join("Work/Moved.md")).expect("removed");
            write(&root.join("Work/Moved.md"), "other\n");
        },
        Outcome::Asked,
    ),
    case(
        "replaced by a file with the same text",
        |root| {
            fs::remove_file(root.join("Work/Moved.md")).expect("removed");
            write(&root.join("Work/Moved.md"), "# Plan\n");
        },
        Outcome::Asked,
    ),
    case(
        "deleted",
        |root| fs::remove_file(root.join("Work/Moved.md")).expect("removed"),
        Outcome::Told,
    ),
    case(
        "a new file at the old path",
        |root| write(&root.join("Plan.md"), "# Plan\n"),
        Outcome::Told,
    ),
    case("its folder renamed", |root| rename(root, "Work", "Job"), Outcome::Told),
    case(
        "its folder renamed and created again",
        |root| {
            rename(root, "Work", "Job");
            write(&root.join("Work/Moved.md"), "# Plan\n");
        },
        Outcome::Asked,
    ),
    case(
        "a copy at the new path and the note elsewhere",
        |root| {
            rename(root, "Work/Moved.md", "Else/Moved.md");
            fs::copy(root.join("Else/Moved.md"), root.join("Work/Moved.md")).expect("copied");
        },
        Outcome::Asked,
    ),
    case(
        "a copy at the new path and the note removed",
        |root| {
            fs::copy(root.join("Work/Moved.md"), root.join("copy.md")).expect("copied");
            fs::remove_file(root.join("Work/Moved.md")).expect("removed");
            rename(root, "copy.md", "Work/Moved.md");
        },
        Outcome::Asked,
    ),
];

/// The folder `A` was moved to `Work/B`.
const MOVED_FOLDER: [Case; 6] = [
    case("nothing", |_| {}, Outcome::Undone),
    case(
        "replaced by another folder with the same notes",
        |root| {
            fs::remove_dir_all(root.join("Work/B")).expect("removed");
            write(&root.join("Work/B/One.md"), "one\n");
        },
        Outcome::Asked,
    ),
    case(
        "a new folder at the old path",
        |root| write(&root.join("A/One.md"), "one\n"),
        Outcome::Told,
    ),
    case("the folder around it renamed", |root| rename(root, "Work", "Job"), Outcome::Told),
    case(
        "renamed, and another folder at the new path",
        |root| {
            rename(root, "Work/B", "Work/C");
            write(&root.join("Work/B/One.md"), "one\n");
        },
        Outcome::Asked,
    ),
    case(
        "a copy at the new path and the folder elsewhere",
        |root| {
            rename(root, "Work/B", "Else/B");
            write(&root.join("Work/B/One.md"), "one\n");
        },
        Outcome::Asked,
    ),
];

/// Every file and folder by its inode: its path, and the text of a note.
type Tree = BTreeMap<u64, (String, Option<String>)>;

fn tree(root: &Path) -> Tree {
    fn collect(root: &Path, at: &Path, found: &mut Tree) {
        for entry in fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let inode = path.metadata().expect("there").ino();
            let text = path.is_file().then(|| fs::read_to_string(&path).expect("a text"));
            found.insert(inode, (name, text));
            if path.is_dir() {
                collect(root, &path, found);
            }
        }
    }
    let mut found = Tree::new();
    collect(root, root, &mut found);
    found
}

fn outcome(undone: &UndoResult) -> Outcome {
    match undone.conflicts.as_slice() {
        [] => Outcome::Undone,
        conflicts if conflicts.iter().any(|conflict| !conflict.candidates.is_empty()) => {
            Outcome::Asked
        }
        _ => Outcome::Told,
    }
}

/// Answers that the moved note or folder is the one with the new path: that one comes back to `home`.
async fn answer_that_it_is_at(
    app: &RunningApp,
    (root, to): (&Path, &str),
    asked: &UndoResult,
    home: &str,
) {
    let about = asked.conflicts.iter().find(|conflict| !conflict.candidates.is_empty());
    let question = about.expect("a question");
    let note = question.candidates.iter().find(|candidate| candidate.path.as_str() == to);
    let note = note.expect("it is offered").clone();
    let (action, effect) = (question.action, question.effect.clone());
    let answer = UndoTarget { action, effect, hunks: question.hunks.clone(), note };
    let chosen = root.join(to).metadata().expect("it is there").ino();
    let undone = app.app.undo_in_note(&answer).await.expect("answered");
    assert_eq!((&undone.conflicts, undone.left), (&Vec::new(), 0), "{to}: {asked:?}");
    let after = tree(root);
    assert_eq!(after.get(&chosen).map(|(path, _)| path.as_str()), Some(home), "{to}: {asked:?}");
}

/// Moves, lets others act, undoes, and compares all files with what they were. Answers the question if there is one.
async fn check(moved: (&str, &str), case: &Case, is_watched: bool) {
    let (from, to) = moved;
    let call: Value = json!({ "source": from, "destination": to });
    let replies = vec![Reply::calls(vec![("move_file", call)]), Reply::text("It waits.")];
    let model = ScriptedModel::start(replies).await;
    let home = home_with_key(&NOTES);
    let root = home.notes.root();
    let mut running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    let review = running.view(&conversation).await.review.expect("it waits");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    let carried = root.join(to).metadata().expect("moved").ino();
    if is_watched {
        (case.act)(root);
    } else {
        running.quit().await;
        (case.act)(root);
        running = home.open(settings_with_model(&model)).await;
    }

    let before = tree(root);
    let undone = undo_newest(&running).await;
    let after = tree(root);
    let what = format!("{to}, {}, watched: {is_watched}: {undone:?}", case.name);
    let came_to = outcome(&undone);
    // A watch that saw the file go may know where it is, and then there is nothing to ask.
    let is_seen = is_watched && (case.expected, came_to) == (Outcome::Asked, Outcome::Told);
    assert!(came_to == case.expected || is_seen, "{what}");
    if came_to == Outcome::Undone {
        let home = from.trim_end_matches('/');
        assert_eq!(after.get(&carried).map(|(path, _)| path.as_str()), Some(home), "{what}");
    } else {
        assert_eq!(after, before, "{what}");
        assert_eq!((&undone.changed, undone.left), (&Vec::new(), 0), "{what}");
    }
    if came_to == Outcome::Asked {
        answer_that_it_is_at(&running, (root, to), &undone, from.trim_end_matches('/')).await;
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_moved_note_moves_no_other_file() {
    for case in &MOVED_NOTE {
        for is_watched in [true, false] {
            check(("Plan.md", "Work/Moved.md"), case, is_watched).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_moved_folder_moves_no_other_folder() {
    for case in &MOVED_FOLDER {
        for is_watched in [true, false] {
            check(("A/", "Work/B"), case, is_watched).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_was_asked_about_or_looked_at_is_asked_about_again() {
    for is_shown in [false, true] {
        let (home, running) = app_after_edit("Plan.md", &[]).await;
        running.quit().await;
        // A synchronization program puts the version of another computer in the place of the note.
        let root = home.notes.root();
        fs::rename(root.join("Plan.md"), root.join("Plan-DESKTOP1.md")).expect("renamed");
        home.notes.write("Plan.md", LOG);
        let running = home.open(settings_without_model()).await;
        for _ in 0..2 {
            let undone = undo_newest(&running).await;
            let names = only_conflict(&undone).candidates.iter().map(|note| note.path.as_str());
            assert!(names.clone().any(|name| name == "Plan-DESKTOP1.md"), "{undone:?}");
            if is_shown {
                running.show("Plan-DESKTOP1.md").await;
            }
        }
        assert_eq!(home.notes.read("Plan-DESKTOP1.md"), WATERED);
        assert_eq!(home.notes.read("Plan.md"), LOG);
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_was_gone_when_the_user_was_asked_and_is_back_is_not_made_a_second_time() {
    let (home, running) = app_after_edit("Plan.md", &[("Kept/Other.md", "x\n")]).await;
    let outside = tempfile::tempdir_in(home.data.root()).expect("a folder");
    let (root, away) = (home.notes.root(), outside.path().join("Plan.md"));
    fs::rename(root.join("Plan.md"), &away).expect("moved away");
    let undone = undo_newest(&running).await;
    fs::rename(&away, root.join("Kept/Plan.md")).expect("moved back");
    let refused = running.app.resolve_conflict(only_conflict(&undone)).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(home.notes.try_read("Plan.md"), None);

    let undone = undo_newest(&running).await;
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Kept/Plan.md"), LOG);
    running.quit().await;
}
