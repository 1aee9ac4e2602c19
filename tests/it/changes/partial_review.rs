//! A decision on single hunks: each hunk is applied, rejected or left pending, a kill at any step
//! is recovered, and the model is told which hunks were rejected.

use protocol::changes::history::UndoScope;
use protocol::changes::retention::HistoryAge;
use protocol::request::{DecideReview, HunkDecision, NoteDecision, ReviewDecision};
use protocol::{ConversationId, Review};
use serde_json::json;
use testkit::scripted_model::{KEY, last_message_text};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const BEFORE: &str = "one\n-\ntwo\n-\nthree\n-\nfour\n";
const NOTES: [(&str, &str); 1] = [("List.md", BEFORE)];
const AFTER_DECISIONS: &str = "ONE\n-\ntwo\n-\nmine\nand more\n-\nfour\n";
const AFTER_ALL_ACCEPTED: &str = "ONE\n-\ntwo\n-\nmine\nand more\n-\nFOUR\n";

fn script() -> Vec<Reply> {
    let edit = |word: &str| {
        let (old_text, new_text) = (word, word.to_uppercase());
        ("edit_file", json!({ "path": "List.md", "old_text": old_text, "new_text": new_text }))
    };
    vec![
        Reply::calls(["one", "two", "three", "four"].map(edit).to_vec()),
        Reply::text("Look at it."),
        Reply::text("I see."),
    ]
}

fn decide_each_hunk(review: &Review) -> DecideReview {
    let note = &review.notes[0];
    let edit = HunkDecision::Edit { text: "mine\nand more".into() };
    let hunks = vec![HunkDecision::Accept, HunkDecision::Reject, edit, HunkDecision::Wait];
    let (path, seen) = (note.path.clone(), note.seen.clone());
    let notes = vec![NoteDecision { path, seen, decision: ReviewDecision::Hunks { hunks } }];
    DecideReview { review: review.id.clone(), notes }
}

async fn review(app: &RunningApp, conversation: &ConversationId) -> Review {
    app.view(conversation).await.review.expect("something is pending")
}

/// The last hunk is pending; it is accepted, and all of it is undone.
async fn accept_rest_and_undo(
    test_home: &TestHome,
    app: &RunningApp,
    conversation: &ConversationId,
) {
    let left = review(app, conversation).await;
    assert_eq!((left.notes.len(), left.notes[0].hunks.len()), (1, 1), "{left:?}");
    assert_eq!(test_home.notes.read("List.md"), AFTER_DECISIONS);
    app.decide(conversation, &["List.md"], &[]).await.expect("applied");
    assert_eq!(test_home.notes.read("List.md"), AFTER_ALL_ACCEPTED);
    let all = UndoScope::Conversation { conversation: conversation.clone() };
    assert!(app.app.undo(&all).await.expect("undone").conflicts.is_empty());
    assert_eq!(test_home.notes.read("List.md"), BEFORE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_after_the_text_of_a_rejected_hunk_was_deleted() {
    for deletes in [true, false] {
        let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script()).await);
        let running = home.open(settings_with_model(&model)).await;
        let conversation = running.send_and_wait(None, "make it loud").await;
        let decision = decide_each_hunk(&review(&running, &conversation).await);
        running.app.decide_review(&decision).await.expect("decided");
        if deletes {
            running.app.delete_history(HistoryAge::Any).await.expect("deleted");
        }
        running.send_and_wait(Some(&conversation), "well?").await;
        let told = last_message_text(model.requests().last().expect("a request"));
        assert!(told.contains("applied some of the changes to List.md and rejected"), "{told}");
        assert_eq!(told.contains("-two\n+TWO\n"), !deletes, "{told}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hunk_goes_its_own_way_and_the_model_is_told() {
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script()).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "make it loud").await;
    let shown = review(&running, &conversation).await;
    assert_eq!(shown.notes[0].hunks.len(), 4, "{shown:?}");
    let decision = decide_each_hunk(&shown);
    running.app.decide_review(&decision).await.expect("decided");
    assert_eq!(home.notes.read("List.md"), AFTER_DECISIONS);

    let again = running.app.decide_review(&decision).await.expect_err("it is about other changes");
    assert!(again.message.contains("the changes that you looked at"), "{again:?}");
    assert_eq!(home.notes.read("List.md"), AFTER_DECISIONS);

    running.send_and_wait(Some(&conversation), "well?").await;
    let told = last_message_text(model.requests().last().expect("a request"));
    for words in [
        "applied some of the changes to List.md and rejected the rest",
        "edited some lines in List.md",
        "-two\n+TWO\n",
        "still waiting for the user's review: List.md",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    accept_rest_and_undo(&home, &running, &conversation).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_hunks_are_decided_leads_on_and_not_back() {
    let points = [
        ("store.choose.before", false),
        ("store.choose.after", false),
        ("store.intend.after", true),
        ("store.settle.after", true),
        ("store.decide.before", true),
        ("store.decide.after", true),
    ];
    for (point, is_decided) in points {
        let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script()).await);
        let env = [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.base_url())];
        home.run_story_killed_at(point, "hunks", &env).await;
        let running = home.open(settings_with_model(&model)).await;
        let conversation = running.only_conversation().await;
        if !is_decided {
            assert_eq!(home.notes.read("List.md"), BEFORE, "{point}");
            let shown = review(&running, &conversation).await;
            running.app.decide_review(&decide_each_hunk(&shown)).await.expect("decided");
        }
        accept_rest_and_undo(&home, &running, &conversation).await;
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_changed_elsewhere_takes_the_hunks_where_its_own_lines_did_not() {
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script()).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "make it loud").await;
    let decision = decide_each_hunk(&review(&running, &conversation).await);
    home.notes.write("List.md", format!("{BEFORE}-\nfive\n"));
    running.app.decide_review(&decision).await.expect("decided");
    assert_eq!(home.notes.read("List.md"), format!("{AFTER_DECISIONS}-\nfive\n"));

    home.notes.write("List.md", format!("{AFTER_DECISIONS}-\nfive\n").replace("four", "cuatro"));
    let told = running.decide(&conversation, &["List.md"], &[]).await.expect_err("the same lines");
    assert!(told.message.contains("wasn’t changed and still needs review"), "{told:?}");
    assert_eq!(running.pending_paths(&conversation).await, ["List.md"]);
    running.quit().await;
}
