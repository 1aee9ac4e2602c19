//! Links lead to their notes also where a part of what was accepted with a move is refused.

use protocol::ConversationId;
use testkit::{Reply, ScriptedModel};

use super::second_plan::{ScriptedCall, delete, move_to};
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

/// Accepts every note of the review. What could not be applied is pending again.
async fn accept_all(running: &RunningApp, conversation: &ConversationId) {
    let review = running.view(conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    drop(running.decide(conversation, &paths, &[]).await);
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
