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

/// So many lines, of which every second one is written by hand.
fn mixed_lines(count: usize) -> String {
    let by = |at: usize| if at.is_multiple_of(2) { "line" } else { "mine" };
    (0..count).map(|at| format!("{} {at}\n", by(at))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_tell_the_beginning_of_a_long_message_and_too_many_tell_nothing() {
    let all = |count: usize| (0..count).map(|at| format!("line {at}\n")).collect::<String>();
    let write = |path: &str, count: usize| {
        Reply::calls(vec![("write_file", json!({ "path": path, "content": all(count) }))])
    };
    let model = ScriptedModel::start(vec![
        write("Most.md", 2_000),
        Reply::text("Made."),
        write("More.md", 2_002),
        Reply::text("Made."),
    ])
    .await;
    let home = home_with_key(&[]);
    let running = home.open(settings_with_model(&model)).await;
    let first = "list ".repeat(100);
    let long = format!("{first}\n{}", "words ".repeat(2_000));
    let conversation = running.send_and_wait(None, &long).await;
    running.send_and_wait(Some(&conversation), "And another").await;
    assert_eq!(attributed_lines(&running, "Most.md").await.len(), 1);
    assert_eq!(attributed_lines(&running, "More.md").await, [(1, 2_002, "And another".to_owned())]);

    home.notes.write("Most.md", mixed_lines(2_000));
    home.notes.write("More.md", mixed_lines(2_002));
    let told = attributed_lines(&running, "Most.md").await;
    assert_eq!(told.len(), 1_000);
    let beginning = format!("{}…", first.get(..200).expect("it is longer"));
    for (number, lines) in (0..).step_by(2).zip(&told) {
        assert_eq!(lines, &(number + 1, number + 1, beginning.clone()));
    }
    assert_eq!(attributed_lines(&running, "More.md").await, [], "they are 1,001");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_two_messages_tell_each_its_own() {
    let append = |line: &str| json!({ "path": "A.md", "content": line });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("append_file", append("- one"))]),
        Reply::text("Added."),
        Reply::calls(vec![("append_file", append("- two"))]),
        Reply::text("Added."),
    ])
    .await;
    let home = home_with_key(&[("A.md", "- none\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Add one").await;
    running.send_and_wait(Some(&conversation), "Add two").await;
    assert_eq!(
        attributed_lines(&running, "A.md").await,
        [(2, 2, "Add one".to_owned()), (3, 3, "Add two".to_owned())]
    );
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
