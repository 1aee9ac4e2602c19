//! Links lead to their notes whatever of a move and of what was accepted with it stays or comes back.

use protocol::ConversationId;
use protocol::changes::history::{AppliedNote, UndoScope};
use testkit::{Reply, ScriptedModel};

use super::applied_sets;
use super::second_plan::{ScriptedCall, delete, edit, move_to};
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

/// The application while the changes of these calls, all of one message, are pending.
async fn app_with_review(
    notes: &[(&str, &str)],
    calls: Vec<ScriptedCall>,
) -> (TestHome, RunningApp, ConversationId) {
    let model = ScriptedModel::start(vec![Reply::calls(calls), Reply::text("Done.")]).await;
    let home = home_with_key(notes);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    (home, running, conversation)
}

/// Accepts every note of the review; whether all of it could be applied.
async fn accept_all(running: &RunningApp, conversation: &ConversationId) -> bool {
    let review = running.view(conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(conversation, &paths, &[]).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn links_of_a_note_whose_deletion_is_refused_follow_a_move() {
    for is_changed in [true, false] {
        let notes = [("Plan.md", "# Plan\n"), ("Old.md", "[x](Plan.md)\n")];
        let calls = vec![delete("Old.md"), move_to("Plan.md", "Work/Plan.md")];
        let (home, running, conversation) = app_with_review(&notes, calls).await;
        if is_changed {
            home.notes.write("Old.md", "[x](Plan.md)\nmine\n");
        }
        accept_all(&running, &conversation).await;
        assert_eq!(home.notes.read("Work/Plan.md"), "# Plan\n");
        // The control: a note as it was planned goes to the trash, and is not rewritten.
        match is_changed {
            true => assert_eq!(home.notes.read("Old.md"), "[x](Work/Plan.md)\nmine\n"),
            false => assert!(!home.notes.root().join("Old.md").exists()),
        }
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_hunks_leaves_the_links_to_a_note_that_stays_moved() {
    let notes = [("Plan.md", "# Plan\n"), ("Old.md", "one\n\n\n\n\n[x](Plan.md)\n")];
    let calls = vec![edit("Old.md", "one", "two"), move_to("Plan.md", "Work/Plan.md")];
    let (home, running, conversation) = app_with_review(&notes, calls).await;
    assert!(accept_all(&running, &conversation).await);
    let moved = "two\n\n\n\n\n[x](Work/Plan.md)\n";
    assert_eq!(home.notes.read("Old.md"), moved);
    let is_edit = |note: &AppliedNote| note.path.as_str() == "Old.md";
    let set = applied_sets(&running).await.remove(0);
    let effect = set.notes.into_iter().find(is_edit).expect("the edit").effect;
    let undo = async |hunks: &[u32]| {
        let scope = UndoScope::Effect { effect: effect.clone(), hunks: hunks.to_vec() };
        running.app.undo(&scope).await
    };
    let refused = undo(&[1]).await.expect_err("only a link");
    assert!(refused.to_string().contains("Undo the move"), "{refused}");
    assert_eq!(home.notes.read("Old.md"), moved);
    undo(&[0, 1]).await.expect("undone");
    assert_eq!(home.notes.read("Old.md"), moved.replace("two", "one"));

    // The control: the undo of the whole change takes the move and the link along.
    undo_newest_of_conversation(&running, &conversation).await;
    assert_eq!(home.notes.read("Old.md"), notes[1].1);
    assert_eq!(home.notes.read("Plan.md"), notes[0].1);
    running.quit().await;
}

async fn undo_newest_of_conversation(running: &RunningApp, conversation: &ConversationId) {
    let scope = UndoScope::Conversation { conversation: conversation.clone() };
    let undone = running.app.undo(&scope).await.expect("undone");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
}
