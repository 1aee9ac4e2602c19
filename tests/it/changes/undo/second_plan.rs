//! An undo that is planned again changes a path twice: a redo of one of its changes leaves the other as it is, and each
//! change is shown as it stands.

use protocol::ConversationId;
use protocol::changes::history::{ChangeStatus, UndoResult, UndoScope};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use super::applied_sets;
use crate::changes::undo_identity::{app_after_calls, only_conflict};
use crate::changes::undo_moves::undo_conversation;
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const STANDS: ChangeStatus = ChangeStatus::Stands;
const UNDONE: ChangeStatus = ChangeStatus::Undone;

/// A tool that the model calls, with its arguments.
pub(super) type ScriptedCall = (&'static str, Value);

pub(super) fn delete(path: &str) -> ScriptedCall {
    ("delete_file", json!({ "path": path }))
}

fn create(path: &str, text: &str) -> ScriptedCall {
    ("write_file", json!({ "path": path, "content": text }))
}

pub(in crate::changes) fn edit(path: &str, old: &str, new: &str) -> ScriptedCall {
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

pub(in crate::changes) fn move_to(from: &str, to: &str) -> ScriptedCall {
    ("move_file", json!({ "source": from, "destination": to }))
}

/// The application after each call was accepted in a message of its own, and then all of them were undone.
async fn app_after_undo<const N: usize>(
    notes: &[(&str, &str)],
    calls: [ScriptedCall; N],
) -> (TestHome, RunningApp, ConversationId) {
    let calls = calls.map(|call| vec![call]).to_vec();
    let (home, running, conversation) = app_after_calls(notes, calls, |_| {}).await;
    undo_conversation(&running, &conversation).await;
    for (note, text) in notes {
        assert_eq!(home.notes.read(note), *text);
    }
    (home, running, conversation)
}

/// Redoes the change of a message, by its place among them.
async fn try_redo(running: &RunningApp, message: usize) -> UndoResult {
    let set = applied_sets(running).await.into_iter().rev().nth(message).expect("a set");
    let scope = UndoScope::Effect { effect: set.notes[0].effect.clone(), hunks: Vec::new() };
    running.app.redo(&scope).await.expect("as far as it goes")
}

async fn redo(running: &RunningApp, message: usize) {
    let redone = try_redo(running, message).await;
    assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
}

/// How the changes of the messages stand.
async fn assert_standings(running: &RunningApp, expected: &[ChangeStatus]) {
    let sets = applied_sets(running).await.into_iter().rev().take(expected.len());
    let found: Vec<_> = sets.map(|set| set.notes[0].standing).collect();
    assert_eq!(found, expected);
}

const LOG: &str = "# Log\n\nswept\n";
const EDITED_LOG: &str = "# Log\n\nwatered\n";

fn edit_and_deletion() -> [ScriptedCall; 2] {
    [edit("Log.md", "swept", "watered"), delete("Log.md")]
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_an_edit_leaves_the_note_whose_deletion_was_undone_with_it() {
    let (home, running, _) = app_after_undo(&[("Log.md", LOG)], edit_and_deletion()).await;
    redo(&running, 0).await;
    assert_eq!(home.notes.try_read("Log.md").as_deref(), Some(EDITED_LOG));
    assert_standings(&running, &[STANDS, UNDONE]).await;
    // The control: the deletion is redone by itself, of the text that it was about.
    redo(&running, 1).await;
    assert_eq!(home.notes.try_read("Log.md"), None);
    assert_standings(&running, &[STANDS, STANDS]).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_a_deletion_asks_while_an_edit_before_it_stays_undone() {
    let (home, running, _) = app_after_undo(&[("Log.md", LOG)], edit_and_deletion()).await;
    let redone = try_redo(&running, 1).await;
    let conflict = only_conflict(&redone);
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!((place.now.as_str(), place.back.as_str()), (LOG, ""));
    assert_eq!(home.notes.try_read("Log.md").as_deref(), Some(LOG));
    running.app.resolve_conflict(conflict).await.expect("answered");
    assert_eq!(home.notes.try_read("Log.md"), None);
    assert_standings(&running, &[UNDONE, STANDS]).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_the_conversation_makes_both_changes_of_the_note_again() {
    let (home, running, conversation) =
        app_after_undo(&[("Log.md", LOG)], edit_and_deletion()).await;
    let redone = running.app.redo(&UndoScope::Conversation { conversation }).await.expect("redone");
    assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
    assert_eq!(home.notes.try_read("Log.md"), None);
    assert_standings(&running, &[STANDS, STANDS]).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_an_edit_leaves_another_note_that_came_back_to_its_path() {
    let notes = [("Plan.md", "# Plan\n"), ("Draft.md", "# Draft\n\nfirst\n")];
    let calls =
        [delete("Plan.md"), move_to("Draft.md", "Plan.md"), edit("Plan.md", "first", "second")];
    let (home, running, _) = app_after_undo(&notes, calls).await;
    redo(&running, 2).await;
    assert_eq!(home.notes.try_read("Plan.md").as_deref(), Some("# Plan\n"));
    assert_eq!(home.notes.read("Draft.md"), "# Draft\n\nsecond\n");
    assert_standings(&running, &[UNDONE, UNDONE, STANDS]).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_a_creation_tells_that_the_note_that_came_back_is_in_its_place() {
    let calls = [delete("Plan.md"), create("Plan.md", "# New plan\n")];
    let (home, running, _) = app_after_undo(&[("Plan.md", "# Plan\n")], calls).await;
    let redone = try_redo(&running, 1).await;
    let why = only_conflict(&redone).why.as_str();
    assert!(why.contains("Something else is in its place now"), "{why}");
    assert_eq!(home.notes.read("Plan.md"), "# Plan\n");
    assert_standings(&running, &[UNDONE, UNDONE]).await;
    running.quit().await;
}

/// The first move is undone once the second one is, and only then the line with the link is as the edit left it.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_undone_whole_though_one_plan_undoes_one_line_and_the_next_the_other() {
    let links = |link: &str, last: &str| format!("{link}\n\nmiddle\n\n{last}\n");
    let before = links("none", "end");
    let notes = [("Plan.md", "# Plan\n"), ("New.md", "# New\n"), ("Links.md", before.as_str())];
    let calls = [
        edit("Links.md", &before, &links("[x](Plan.md)", "END")),
        move_to("Plan.md", "Old.md"),
        move_to("New.md", "Plan.md"),
    ];
    let (home, running, conversation) = app_after_undo(&notes, calls).await;
    let redone = running.app.redo(&UndoScope::Conversation { conversation }).await.expect("redone");
    assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
    assert_eq!(home.notes.read("Links.md"), links("[x](Old.md)", "END"));
    assert_standings(&running, &[STANDS, STANDS, STANDS]).await;
    running.quit().await;
}

/// Until all moves are undone, which takes a plan for each, another note is at the place that the link of the deleted note
/// names.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_note_comes_back_with_its_links_while_later_moves_are_undone() {
    let notes = [
        ("Plan.md", "# Plan\n"),
        ("New.md", "# New\n"),
        ("Next.md", "# Next\n"),
        ("Links.md", "[x](Plan.md)\n\n[y](New.md)\n"),
    ];
    let calls = [
        delete("Links.md"),
        move_to("Plan.md", "Old.md"),
        move_to("New.md", "Plan.md"),
        move_to("Next.md", "New.md"),
    ];
    let (home, running, conversation) = app_after_undo(&notes, calls).await;
    let redone = running.app.redo(&UndoScope::Conversation { conversation }).await.expect("redone");
    assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
    assert_eq!(home.notes.try_read("Links.md"), None);
    for (note, text) in [("Old.md", "# Plan\n"), ("Plan.md", "# New\n"), ("New.md", "# Next\n")] {
        assert_eq!(home.notes.read(note), text);
    }
    assert_standings(&running, &[STANDS; 4]).await;
    running.quit().await;

    // The control: the link names the place to which an earlier move led.
    let calls = [move_to("Plan.md", "Work/Plan.md"), delete("Links.md")];
    let write = |home: &TestHome| home.notes.write("Links.md", "[x](Work/Plan.md)\n");
    let calls = calls.map(|call| vec![call]).to_vec();
    let (home, running, conversation) = app_after_calls(&notes[..1], calls, write).await;
    undo_conversation(&running, &conversation).await;
    assert_eq!(home.notes.read("Links.md"), "[x](Plan.md)\n");
    running.quit().await;
}

/// Sends a message to a conversation, a new one if there is none, and accepts all that the answer changes.
async fn send_and_accept(
    running: &RunningApp,
    conversation: Option<&ConversationId>,
) -> ConversationId {
    let sent = running.send_and_wait(conversation, "Please").await;
    if let Some(review) = running.view(&sent).await.review {
        let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
        running.decide(&sent, &paths, &[]).await.expect("applied");
    }
    sent
}

/// The note that the link names was moved by another conversation, and that stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_note_comes_back_with_links_to_where_a_move_of_another_conversation_leaves_a_note()
 {
    let calls =
        [delete("Links.md"), move_to("Plan.md", "Ideas.md"), move_to("Ideas.md", "Plan.md")];
    let replies =
        calls.into_iter().flat_map(|call| [Reply::calls(vec![call]), Reply::text("Done.")]);
    let model = ScriptedModel::start(replies.collect()).await;
    let home = home_with_key(&[("Plan.md", "# Plan\n"), ("Links.md", "[x](Plan.md)\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let first = send_and_accept(&running, None).await;
    send_and_accept(&running, None).await;
    assert_eq!(home.notes.read("Ideas.md"), "# Plan\n");
    send_and_accept(&running, Some(&first)).await;
    assert_eq!(home.notes.read("Plan.md"), "# Plan\n");
    let scope = UndoScope::Conversation { conversation: first };
    let undone = running.app.undo(&scope).await.expect("undone");
    assert_eq!((undone.conflicts.as_slice(), undone.left), (&[][..], 0));
    assert_eq!(home.notes.read("Ideas.md"), "# Plan\n");
    assert_eq!(home.notes.read("Links.md"), "[x](Ideas.md)\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_made_again_with_its_links_while_earlier_moves_are_redone() {
    let notes = [("Plan.md", "# Plan\n"), ("New.md", "# New\n")];
    let made = create("Links.md", "[x](Plan.md)\n");
    let calls = [move_to("Plan.md", "Old.md"), move_to("New.md", "Plan.md"), made];
    let (home, running, conversation) = app_after_undo(&notes, calls).await;
    assert_eq!(home.notes.try_read("Links.md"), None);
    let redone = running.app.redo(&UndoScope::Conversation { conversation }).await.expect("redone");
    assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
    assert_eq!(home.notes.read("Plan.md"), "# New\n");
    assert_eq!(home.notes.read("Links.md"), "[x](Plan.md)\n");
    assert_standings(&running, &[STANDS, STANDS, STANDS]).await;
    running.quit().await;
}
