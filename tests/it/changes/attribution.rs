//! The lines of a note that the assistant wrote are told, with what led to them, until somebody else
//! writes them.

use protocol::changes::history::{AppliedSet, ListApplied, UndoScope};
use protocol::{ConversationId, NotePath};
use serde_json::json;
use testkit::stories::note_changes;
use testkit::stories::note_changes::{EDITED, NOTES};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

async fn attributed_lines(app: &RunningApp, path: &str) -> Vec<(u32, u32, String)> {
    let path = NotePath::parse(path).expect("a path");
    let told = app.app.assistant_lines(path).await.expect("marks").marks.into_iter();
    told.map(|lines| (lines.first, lines.last, lines.request)).collect()
}

async fn newest_set(app: &RunningApp) -> AppliedSet {
    let all = ListApplied { conversation: None, before: None };
    app.app.list_applied(&all).await.expect("a list").sets.remove(0)
}

/// The application after three notes were changed together.
async fn app_with_changes() -> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    let all = ["Alpha.md", "Beta.md", "Deep/Gamma.md"];
    running.decide(&conversation, &all, &[]).await.expect("applied");
    (home, model, running, conversation)
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_the_assistant_are_found_after_a_restart_and_beside_other_lines() {
    let (home, model, running, conversation) = app_with_changes().await;
    let path = NotePath::parse("Alpha.md").expect("a path");
    let told = running.app.assistant_lines(path.clone()).await.expect("marks");
    assert_eq!(told.text, EDITED[0].1);
    let [lines] = told.marks.as_slice() else { panic!("{told:?}") };
    let set = newest_set(&running).await;
    assert_eq!((lines.first, lines.last, &lines.change_set), (3, 3, &set.id));
    assert_eq!((&lines.conversation, lines.at), (&Some(conversation), set.at));
    assert_eq!(
        attributed_lines(&running, "Deep/Gamma.md").await,
        [(5, 5, "play review".to_owned())]
    );
    running.quit().await;

    home.notes.write("Alpha.md", format!("By hand.\n{}By hand.\n", EDITED[0].1));
    let running = home.open(settings_with_model(&model)).await;
    assert_eq!(attributed_lines(&running, "Alpha.md").await, [(4, 4, "play review".to_owned())]);
    home.notes.write("Alpha.md", EDITED[0].1.replace("ALPHA", "Alpha"));
    assert_eq!(attributed_lines(&running, "Alpha.md").await, [], "the user wrote that line");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undone_lines_have_no_owner_and_redone_ones_belong_to_the_assistant() {
    let (home, _model, running, _) = app_with_changes().await;
    let scope = UndoScope::ChangeSet { change_set: newest_set(&running).await.id };
    running.app.undo(&scope).await.expect("undone");
    assert_eq!(home.notes.read("Alpha.md"), NOTES[0].1);
    assert_eq!(attributed_lines(&running, "Alpha.md").await, []);
    running.app.redo(&scope).await.expect("redone");
    assert_eq!(attributed_lines(&running, "Alpha.md").await, [(3, 3, "play review".to_owned())]);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_was_made_and_moved_is_whole_and_one_that_was_renamed_by_hand_has_no_marks() {
    let create = json!({ "path": "Plan.md", "content": "# Plan\n\nOne.\n" });
    let to = json!({ "source": "Plan.md", "destination": "Work/The plan.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("write_file", create)]),
        Reply::text("Made."),
        Reply::calls(vec![("move_file", to)]),
        Reply::text("It waits."),
    ])
    .await;
    let home = home_with_key(&[("Other.md", "other\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Make a plan").await;
    assert_eq!(attributed_lines(&running, "Plan.md").await, [(1, 3, "Make a plan".to_owned())]);
    running.send_and_wait(Some(&conversation), "Move it").await;
    running.decide(&conversation, &["Plan.md"], &[]).await.expect("moved");
    assert_eq!(
        attributed_lines(&running, "Work/The plan.md").await,
        [(1, 3, "Make a plan".to_owned())]
    );
    assert_eq!(attributed_lines(&running, "Other.md").await, []);
    home.notes.write("By hand.md", home.notes.read("Work/The plan.md"));
    assert_eq!(
        attributed_lines(&running, "By hand.md").await,
        [],
        "the ledger knows nothing of it"
    );
    let gone = NotePath::parse("Plan.md").expect("a path");
    running.app.assistant_lines(gone).await.expect_err("it is not there any more");
    running.quit().await;
}
