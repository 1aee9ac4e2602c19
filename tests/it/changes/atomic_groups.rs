//! A move and the links to it are decided as one.

use protocol::changes::history::UndoScope;
use protocol::chat::conversation::ChatItem;
use protocol::request::{OldChanges, RegenerateRequest};
use protocol::{AppEvent, ConversationId, Settings, UserError};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const NOTES: [(&str, &str); 2] = [("A.md", "text\n"), ("C.md", "See [[A]].\n\nThe end.\n")];

fn move_a() -> Reply {
    Reply::calls(vec![move_call("A.md", "Sub/B.md")])
}

/// An application with the pending move of `A.md`, which changes the link in `C.md` too.
async fn with_pending_move(rest: Vec<Reply>) -> (TestHome, ScriptedModel, RunningApp) {
    let replies = [move_a(), Reply::text("Moved.")].into_iter().chain(rest).collect();
    let model = ScriptedModel::start(replies).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    (home, model, running)
}

/// An application with what one answer planned by these calls, over [`NOTES`] and more notes.
async fn with_pending_calls(
    more: &[(&str, &str)],
    calls: Vec<(&str, Value)>,
) -> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let model = ScriptedModel::start(vec![Reply::calls(calls), Reply::text("Planned.")]).await;
    let home = home_with_key(&[&NOTES[..], more].concat());
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "do it").await;
    (home, model, running, conversation)
}

fn move_call(source: &str, destination: &str) -> (&'static str, Value) {
    ("move_file", json!({ "source": source, "destination": destination }))
}

async fn accept_all(running: &RunningApp, conversation: &ConversationId) -> Result<(), UserError> {
    let pending = running.pending_paths(conversation).await;
    let all: Vec<_> = pending.iter().map(String::as_str).collect();
    running.decide(conversation, &all, &[]).await
}

fn assert_unchanged(home: &TestHome) {
    for (path, text) in NOTES {
        assert_eq!(home.notes.read(path), text, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_rejected_with_any_of_its_notes_and_accepted_with_all() {
    for (accepted, rejected, is_moved) in [
        (&[][..], &["C.md"][..], false),
        (&["A.md"], &["C.md"], false),
        (&["A.md", "C.md"], &[], true),
    ] {
        let (home, model, running) = with_pending_move(vec![]).await;
        let conversation = running.send_and_wait(None, "move it").await;
        assert_eq!(running.pending_paths(&conversation).await, ["C.md", "A.md"]);
        running.decide(&conversation, accepted, rejected).await.expect("decided");
        assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
        if is_moved {
            assert_eq!(home.notes.read("Sub/B.md"), "text\n");
            assert!(home.notes.read("C.md").contains("B]]"));
        } else {
            assert_unchanged(&home);
        }
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_was_added_since_the_plan_is_kept_with_the_move() {
    let (home, model, running) = with_pending_move(vec![]).await;
    let conversation = running.send_and_wait(None, "move it").await;
    home.notes.write("D.md", "And [[A]].\n");
    // The control: what only looks like it leads elsewhere.
    home.notes.write("E.md", "Not [[Another]].\n");
    running.decide(&conversation, &["A.md", "C.md"], &[]).await.expect("decided");
    assert_eq!(home.notes.read("D.md"), "And [[B]].\n");
    assert_eq!(home.notes.read("E.md"), "Not [[Another]].\n");
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    let all = UndoScope::Conversation { conversation };
    assert!(running.app.undo(&all).await.expect("undone").conflicts.is_empty());
    assert_eq!(home.notes.read("D.md"), "And [[A]].\n");
    assert_unchanged(&home);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn links_added_since_to_notes_that_the_index_omits_are_kept_with_the_move() {
    let (home, model, running) = with_pending_move(vec![]).await;
    let conversation = running.send_and_wait(None, "move it").await;
    let hide = |settings: &mut Settings| settings.private.never.push("Diary/".to_owned());
    running.app.change_settings(hide).await.expect("the settings are saved");
    // A private note, and a copy that a sync program made.
    let omitted = ["Diary/D.md", "D.sync-conflict-20260102-030405-ABCDEFG.md"];
    omitted.iter().for_each(|path| home.notes.write(path, "And [[A]].\n"));
    let probe = async || running.app.list_tags("").await.expect("asked");
    running.until("the index", probe).await;
    accept_all(&running, &conversation).await.expect("applied");
    omitted.iter().for_each(|path| assert_eq!(home.notes.read(path), "And [[B]].\n", "{path}"));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_was_added_since_to_a_note_of_the_plan_is_kept_with_the_move() {
    let edit = json!({ "path": "E.md", "old_text": "First", "new_text": "It was [[A]]" });
    let (home, model, running, conversation) = with_pending_calls(
        &[("E.md", "First\n\nThe end.\n")],
        vec![move_call("A.md", "Sub/B.md"), ("edit_file", edit)],
    )
    .await;
    // The notes that the move rewrites, that it moves, and that another call edits.
    let theirs = [
        ("C.md", "See [[A]].\n\nThe end.\n\nAgain [[A]].\n"),
        ("A.md", "text\n\n[C](C.md)\n"),
        ("E.md", "First\n\nThe end.\n\nMine: [[A]].\n"),
    ];
    theirs.iter().for_each(|(path, text)| home.notes.write(path, text));
    accept_all(&running, &conversation).await.expect("applied");
    assert_eq!(home.notes.read("C.md"), "See [[B]].\n\nThe end.\n\nAgain [[B]].\n");
    assert_eq!(home.notes.read("Sub/B.md"), "text\n\n[C](../C.md)\n");
    // The line of the plan is as it was reviewed.
    assert_eq!(home.notes.read("E.md"), "It was [[A]]\n\nThe end.\n\nMine: [[B]].\n");
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    let all = UndoScope::Conversation { conversation };
    assert!(running.app.undo(&all).await.expect("undone").conflicts.is_empty());
    theirs.iter().for_each(|(path, text)| assert_eq!(home.notes.read(path), *text, "{path}"));
    running.quit().await;
    model.finish();
}

/// An application with two pending moves of one answer, of which somebody takes the place of the second.
async fn with_two_moves_and_one_taken_place()
-> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let calls = vec![move_call("A.md", "Sub/B.md"), move_call("X.md", "Sub/Y.md")];
    let app = with_pending_calls(&[("X.md", "mine\n")], calls).await;
    app.0.notes.write("Sub/Y.md", "theirs\n");
    app
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_added_since_follows_only_the_move_of_its_own_note() {
    let (home, model, running, conversation) = with_two_moves_and_one_taken_place().await;
    home.notes.write("D.md", "And [[X]].\n");
    // The control: a link to the note that can be moved.
    home.notes.write("E.md", "And [[A]].\n");
    accept_all(&running, &conversation).await.expect_err("a place is taken");
    assert_eq!(home.notes.read("Sub/B.md"), "text\n");
    assert_eq!(home.notes.read("E.md"), "And [[B]].\n");
    assert_eq!(home.notes.read("X.md"), "mine\n");
    assert_eq!(home.notes.read("D.md"), "And [[X]].\n");
    assert_eq!(running.pending_paths(&conversation).await, ["X.md"]);
    std::fs::remove_file(home.notes.root().join("Sub/Y.md")).expect("removed");
    accept_all(&running, &conversation).await.expect("applied");
    assert_eq!(home.notes.read("Sub/Y.md"), "mine\n");
    assert_eq!(home.notes.read("D.md"), "And [[Y]].\n");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_moves_are_applied_both_or_neither_if_a_note_has_linked_to_both_since() {
    let (home, model, running, conversation) = with_two_moves_and_one_taken_place().await;
    home.notes.write("D.md", "Both [[A]] and [[X]].\n");
    accept_all(&running, &conversation).await.expect_err("a place is taken");
    assert_unchanged(&home);
    assert_eq!(home.notes.read("X.md"), "mine\n");
    assert_eq!(home.notes.read("D.md"), "Both [[A]] and [[X]].\n");
    assert_eq!(running.pending_paths(&conversation).await, ["C.md", "A.md", "X.md"]);
    std::fs::remove_file(home.notes.root().join("Sub/Y.md")).expect("removed");
    accept_all(&running, &conversation).await.expect("applied");
    assert_eq!(home.notes.read("D.md"), "Both [[B]] and [[Y]].\n");
    assert_eq!(home.notes.read("Sub/B.md"), "text\n");
    assert_eq!(home.notes.read("Sub/Y.md"), "mine\n");
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    let all = UndoScope::Conversation { conversation };
    assert!(running.app.undo(&all).await.expect("undone").conflicts.is_empty());
    assert_eq!(home.notes.read("D.md"), "Both [[A]] and [[X]].\n");
    assert_unchanged(&home);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_goes_to_the_trash_together_with_a_move_that_it_links_to() {
    let (home, model, running, conversation) = with_pending_calls(
        &[("Old/D.md", "And [[A]].\n")],
        vec![("delete_file", json!({ "path": "Old/" })), move_call("A.md", "Sub/B.md")],
    )
    .await;
    assert_eq!(running.pending_paths(&conversation).await, ["Old", "C.md", "A.md"]);
    // The control: a note outside the folder follows the move.
    home.notes.write("E.md", "And [[A]].\n");
    accept_all(&running, &conversation).await.expect("applied");
    assert_eq!(home.notes.try_read("Old/D.md"), None);
    assert_eq!(home.notes.read("Sub/B.md"), "text\n");
    assert_eq!(home.notes.read("E.md"), "And [[B]].\n");
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_with_a_note_that_is_not_as_it_was_shown_is_not_applied() {
    let (home, model, running) = with_pending_move(vec![]).await;
    let conversation = running.send_and_wait(None, "move it").await;
    let review = running.view(&conversation).await.review.expect("pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
    let mut request = review.decide_request(&paths, &[]);
    let link = request.notes.iter_mut().find(|note| note.path.as_str() == "C.md");
    link.expect("the note with the link").seen.push('x');
    running.app.decide_review(&request).await.expect_err("it changed");
    assert_unchanged(&home);
    assert_eq!(running.pending_paths(&conversation).await, ["C.md", "A.md"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn regenerating_an_answer_that_edited_a_note_of_a_group_rejects_the_group() {
    let edit = json!({ "path": "C.md", "old_text": "The end", "new_text": "The END" });
    let (home, model, running) = with_pending_move(vec![
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("Edited."),
        Reply::text("Nothing this time."),
    ])
    .await;
    let conversation = running.send_and_wait(None, "move it").await;
    running.send_and_wait(Some(&conversation), "edit it").await;
    let view = running.view(&conversation).await;
    let message = view.items.iter().find_map(|item| match item {
        ChatItem::User { id, text, .. } if text == "edit it" => Some(id.clone()),
        _ => None,
    });
    let message = message.expect("the second message");
    let request = RegenerateRequest { message, text: None, old: Some(OldChanges::Undo) };
    running.app.regenerate(&request).await.expect("begun");
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    assert_unchanged(&home);
    running.quit().await;
    model.finish();
}

/// An application with a pending edit of `A.md` and a pending move of it, by two messages.
async fn with_pending_edit_and_move(
    moves_first: bool,
) -> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let edit = |path: &str| {
        let edit = json!({ "path": path, "old_text": "text", "new_text": "TEXT" });
        Reply::calls(vec![("edit_file", edit)])
    };
    let calls = match moves_first {
        true => [move_a(), edit("Sub/B.md")],
        false => [edit("A.md"), move_a()],
    };
    let replies = calls.into_iter().flat_map(|call| [call, Reply::text("Done.")]).collect();
    let model = ScriptedModel::start(replies).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "one").await;
    running.send_and_wait(Some(&conversation), "two").await;
    (home, model, running, conversation)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_and_a_move_of_a_note_are_applied_both_or_neither() {
    for moves_first in [false, true] {
        let (home, model, running, conversation) = with_pending_edit_and_move(moves_first).await;
        let pending = running.pending_paths(&conversation).await;
        let all: Vec<_> = pending.iter().map(String::as_str).collect();
        for (path, theirs) in [("Sub/B.md", "theirs\n"), ("A.md", "mine\n")] {
            let before = home.notes.try_read(path);
            home.notes.write(path, theirs);
            let _told = running.decide(&conversation, &all, &[]).await;
            assert_eq!(home.notes.read(path), theirs);
            assert_eq!(running.pending_paths(&conversation).await, pending, "{path}");
            assert_eq!(home.notes.read("C.md"), NOTES[1].1, "{path}");
            match before {
                Some(text) => home.notes.write(path, text),
                None => std::fs::remove_file(home.notes.root().join(path)).expect(path),
            }
        }
        running.decide(&conversation, &all, &[]).await.expect("applied");
        assert_eq!(home.notes.read("Sub/B.md"), "TEXT\n");
        assert_eq!(home.notes.try_read("A.md"), None);
        assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_and_moved_note_is_in_the_decision_once() {
    for is_accepted in [true, false] {
        let (_home, model, running, conversation) = with_pending_edit_and_move(false).await;
        let pending = running.pending_paths(&conversation).await;
        let all: Vec<_> = pending.iter().map(String::as_str).collect();
        let none = &[][..];
        let (accepted, declined) = if is_accepted { (&all[..], none) } else { (none, &all[..]) };
        running.decide(&conversation, accepted, declined).await.expect("decided");
        let decision = |item: &ChatItem| match item {
            ChatItem::Decision { applied, rejected, .. } => {
                Some((applied.clone(), rejected.clone()))
            }
            _ => None,
        };
        let published = running.wait_for_event("the decision", |event| match event {
            AppEvent::ItemChanged { item, .. } => decision(item),
            _ => None,
        });
        let view = running.view(&conversation).await;
        let stored = view.items.iter().find_map(decision).expect("a decision");
        for (applied, rejected) in [published.await, stored] {
            let listed = |paths: &[protocol::NotePath]| {
                paths.iter().map(ToString::to_string).collect::<Vec<_>>()
            };
            assert_eq!(listed(&applied), accepted);
            assert_eq!(listed(&rejected), declined);
        }
        running.quit().await;
        model.finish();
    }
}
