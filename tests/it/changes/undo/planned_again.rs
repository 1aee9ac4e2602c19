//! An undo that is planned again is about what the plans before have left: a place that came back is not asked about, and
//! stays as it is.

use std::fs;

use protocol::ChangeKind;
use protocol::changes::history::{UndoConflict, UndoResult, UndoScope};
use testkit::{Reply, ScriptedModel};

use super::applied_sets;
use super::second_plan::{ScriptedCall, delete, edit, move_to};
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

/// The application after the changes of several messages were accepted together, and then those of a later one.
async fn app_after_messages(
    notes: &[(&str, &str)],
    together: Vec<Vec<ScriptedCall>>,
    later: Option<ScriptedCall>,
) -> (TestHome, RunningApp) {
    let first_accepted = together.len();
    let messages: Vec<_> = together.into_iter().chain(later.map(|call| vec![call])).collect();
    let count = messages.len();
    let replies =
        messages.into_iter().flat_map(|calls| [Reply::calls(calls), Reply::text("Done.")]);
    let model = ScriptedModel::start(replies.collect()).await;
    let home = home_with_key(notes);
    let running = home.open(settings_with_model(&model)).await;
    let mut conversation = None;
    for number in 1..=count {
        let sent = running.send_and_wait(conversation.as_ref(), "Please").await;
        if number >= first_accepted {
            let pending = running.pending_paths(&sent).await;
            let paths: Vec<&str> = pending.iter().map(String::as_str).collect();
            running.decide(&sent, &paths, &[]).await.expect("applied");
        }
        conversation = Some(sent);
    }
    (home, running)
}

/// Undoes the turn that edited a note, as far as that goes.
async fn undo_turn_of_edit(running: &RunningApp, note: &str) -> UndoResult {
    let oldest = applied_sets(running).await.pop().expect("a set");
    let mut edits = oldest.notes.into_iter().filter(|one| one.kind == ChangeKind::Replace);
    let edited = edits.find(|one| one.path.as_str() == note).expect("an edit");
    let undone = running.app.undo(&UndoScope::Turn { turn: edited.turn }).await;
    undone.expect("as far as it goes")
}

const LOG: &str = "# Log\n\nSee [x](Plan.md).\n\nmiddle\n\nend\n";

/// `Log.md` with another line in each of the two places that are edited.
fn log(first: &str, last: &str) -> String {
    format!("# Log\n\n{first}\n\nmiddle\n\n{last}\n")
}

fn edits_of_log() -> Vec<ScriptedCall> {
    vec![edit("Log.md", "See [x](Plan.md).", "Planned."), edit("Log.md", "end", "END")]
}

/// The conflict is about the last line of `Log.md`, which the user wrote, and about nothing else.
#[track_caller]
fn assert_about_last_line(conflict: &UndoConflict) {
    assert_eq!((conflict.path.as_str(), conflict.hunks.as_slice()), ("Log.md", &[1][..]));
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!((place.now.as_str(), place.back.as_str()), ("by hand\n", "end\n"));
}

/// The notes of a folder that comes back are looked at in another plan. In the control, there is no such plan.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_came_back_with_another_link_is_not_asked_about_with_the_line_that_did_not() {
    for is_planned_again in [true, false] {
        let notes = [("Plan.md", "# Plan\n"), ("Log.md", LOG), ("Old/one.md", "one\n")];
        let deletion = is_planned_again.then(|| delete("Old/"));
        let calls = edits_of_log().into_iter().chain(deletion).collect();
        let moved = move_to("Plan.md", "Archive/Plan.md");
        let (home, running) = app_after_messages(&notes, vec![calls], Some(moved)).await;
        assert_eq!(home.notes.read("Log.md"), log("Planned.", "END"));
        assert_eq!(home.notes.try_read("Old/one.md").is_none(), is_planned_again);
        home.notes.write("Log.md", log("Planned.", "by hand"));

        let undone = undo_turn_of_edit(&running, "Log.md").await;
        let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
        assert_about_last_line(conflict);
        assert_eq!(undone.left, 0);
        let restored = "See [x](Archive/Plan.md).";
        assert_eq!(home.notes.read("Log.md"), log(restored, "by hand"));
        assert_eq!(home.notes.read("Old/one.md"), "one\n");

        running.app.resolve_conflict(conflict).await.expect("answered");
        assert_eq!(home.notes.read("Log.md"), log(restored, "end"));
        running.quit().await;
    }
}

/// The move of another turn rewrote a link in the note and stands, so the edit is undone by its hunks. In the control, the
/// line comes back as it was.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_is_undone_but_for_the_link_of_a_move_is_not_planned_again() {
    const LINKS: &str = "See [[A]].\n\nfirst\n\nSee [[K]].\n\nsecond\n\nThe end.\n";
    for is_moved in [true, false] {
        let notes = [("A.md", "a\n"), ("K.md", "k\n"), ("C.md", LINKS), ("Old/one.md", "one\n")];
        let edits = vec![
            edit("C.md", "See [[K]].", "Known."),
            edit("C.md", "The end", "The END"),
            delete("Old/"),
        ];
        let together = vec![vec![move_to("A.md", "Sub/B.md")], edits];
        let moved = is_moved.then(|| move_to("K.md", "Archive/L.md"));
        let (home, running) = app_after_messages(&notes, together, moved).await;
        let edited = "See [[B]].\n\nfirst\n\nKnown.\n\nsecond\n\nThe END.\n";
        assert_eq!(home.notes.read("C.md"), edited);

        let undone = undo_turn_of_edit(&running, "C.md").await;
        assert_eq!((undone.conflicts.as_slice(), undone.left), (&[][..], 0));
        let link = if is_moved { "[[L]]" } else { "[[K]]" };
        let restored = LINKS.replace("[[A]]", "[[B]]").replace("[[K]]", link);
        assert_eq!(home.notes.read("C.md"), restored);
        assert_eq!(home.notes.read("Old/one.md"), "one\n");
        assert_eq!(home.notes.read("Sub/B.md"), "a\n");
        running.quit().await;
    }
}

/// A second name of the file takes the former name of the note. The plan takes it for another spelling, and each try to
/// rename the note finds it taken. In the control, it is free.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_came_back_is_not_asked_about_when_a_rename_of_the_turn_is_tried_again() {
    for is_taken in [true, false] {
        let before = LOG.replace("See [x](Plan.md).", "Swept.");
        let notes = [("Log.md", before.as_str()), ("note.md", "a note\n")];
        let calls = vec![
            edit("Log.md", "Swept.", "Watered."),
            edit("Log.md", "end", "END"),
            move_to("note.md", "Note.md"),
        ];
        let (home, running) = app_after_messages(&notes, vec![calls], None).await;
        assert_eq!(home.notes.read("Log.md"), log("Watered.", "END"));
        home.notes.write("Log.md", log("Watered.", "by hand"));
        let [named, former] = ["Note.md", "note.md"].map(|name| home.notes.root().join(name));
        if is_taken {
            fs::hard_link(&named, &former).expect("a second name");
        }

        let undone = undo_turn_of_edit(&running, "Log.md").await;
        let is_of_log = |conflict: &&UndoConflict| conflict.path.as_str() == "Log.md";
        let (of_log, others): (Vec<_>, Vec<_>) = undone.conflicts.iter().partition(is_of_log);
        let [conflict] = of_log.as_slice() else { panic!("{undone:?}") };
        assert_about_last_line(conflict);
        assert_eq!((others.len(), named.exists()), (usize::from(is_taken), is_taken), "{others:?}");
        assert_eq!(home.notes.read("Log.md"), log("Swept.", "by hand"));
        assert!(former.exists());

        running.app.resolve_conflict(conflict).await.expect("answered");
        assert_eq!(home.notes.read("Log.md"), log("Swept.", "end"));
        running.quit().await;
    }
}
