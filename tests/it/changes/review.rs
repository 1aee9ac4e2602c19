//! Pending changes survive a kill; each note is decided alone, and the model is told.

use std::fs::OpenOptions;
use std::io::Write as _;

use protocol::ErrorCode;
use protocol::changes::history::{ListApplied, UndoScope};
use serde_json::json;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use testkit::scripted_model::{KEY, last_message_text};
use testkit::stories::note_changes;
use testkit::stories::note_changes::{EDITED, NOTES};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{TestHome, home_with_key, settings_with_model};

fn original_text(path: &str) -> &'static str {
    NOTES.iter().find(|(name, _)| *name == path).expect("a note").1
}

fn edited_text(path: &str) -> &'static str {
    EDITED.iter().find(|(name, _)| *name == path).expect("an edited note").1
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_edits_survive_a_kill_and_are_decided_note_by_note() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let before = home.notes.snapshot();
    let env = [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.base_url())];
    home.run_story_killed_at("vault.intend.before", "review", &env).await;
    assert_eq!(home.notes.snapshot(), before, "pending changes are not written");

    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.only_conversation().await;
    assert_eq!(
        running.pending_paths(&conversation).await,
        ["Alpha.md", "Beta.md", "Deep/Gamma.md"]
    );
    running.decide(&conversation, &["Alpha.md"], &["Beta.md"]).await.expect("decided");
    assert_eq!(home.notes.read("Alpha.md"), edited_text("Alpha.md"));
    assert_eq!(home.notes.read("Beta.md"), original_text("Beta.md"));
    assert_eq!(home.notes.read("Deep/Gamma.md"), original_text("Deep/Gamma.md"));
    running.quit().await;

    let running = home.open(settings_with_model(&model)).await;
    assert_eq!(running.pending_paths(&conversation).await, ["Deep/Gamma.md"]);
    running.send_and_wait(Some(&conversation), "and now?").await;
    let told = last_message_text(model.requests().last().expect("a request"));
    for sentence in [
        "After your last answer, the user applied the changes to Alpha.md and rejected the changes to Beta.md; \
         those notes are as they were.",
        "Changes still waiting for the user's review: Deep/Gamma.md",
    ] {
        assert!(told.contains(sentence), "{told}");
    }
    running.send_and_wait(Some(&conversation), "go on").await;
    let told = last_message_text(model.requests().last().expect("a request"));
    assert!(!told.contains("After your last answer"), "a decision is told once: {told}");

    running.decide(&conversation, &["Deep/Gamma.md"], &[]).await.expect("applied");
    assert_eq!(home.notes.read("Deep/Gamma.md"), edited_text("Deep/Gamma.md"));
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_changed_meanwhile_is_not_overwritten_and_the_others_are_applied() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    let elsewhere = "# Beta\r\n\r\nWritten elsewhere meanwhile.\r\n";
    home.notes.write("Beta.md", elsewhere);

    let all = ["Alpha.md", "Beta.md", "Deep/Gamma.md"];
    let told = running.decide(&conversation, &all, &[]).await.expect_err("one is not as it was");
    assert_eq!(told.code, ErrorCode::Write);
    let why = "Another program changed it since. Reject this change, then ask for it again.";
    assert_eq!(told.message, format!("Beta wasn’t changed and still needs review: {why}"));
    assert_eq!(home.notes.read("Beta.md"), elsewhere);
    assert_eq!(home.notes.read("Alpha.md"), edited_text("Alpha.md"));
    assert_eq!(home.notes.read("Deep/Gamma.md"), edited_text("Deep/Gamma.md"));
    running.quit().await;

    let running = home.open(settings_with_model(&model)).await;
    let review = running.view(&conversation).await.review.expect("one note waits");
    let waiting: Vec<_> =
        review.notes.iter().map(|note| (note.path.as_str(), note.problem.as_deref())).collect();
    assert_eq!(waiting, [("Beta.md", Some(why))]);
    running.decide(&conversation, &[], &["Beta.md"]).await.expect("rejected");
    assert_eq!(home.notes.read("Beta.md"), elsewhere);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn note_that_a_program_has_open_for_writing_waits_in_the_review_until_it_is_closed() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    let file = home.notes.root().join("Alpha.md");
    let mut held = OpenOptions::new().append(true).open(file).expect("a note");

    let both = ["Alpha.md", "Beta.md"];
    let told = running.decide(&conversation, &both, &[]).await.expect_err("one is held open");
    assert_eq!(told.code, ErrorCode::Write);
    let why = "Another program has `Alpha.md` open and may still write to it, so the note was left \
               as it is. Close it there, then try again.";
    assert_eq!(told.message, format!("Alpha wasn’t changed and still needs review: {why}"));
    assert_eq!(home.notes.read("Alpha.md"), original_text("Alpha.md"));
    assert_eq!(home.notes.read("Beta.md"), edited_text("Beta.md"), "the control: nobody has it");
    let review = running.view(&conversation).await.review.expect("two notes wait");
    let waiting: Vec<_> =
        review.notes.iter().map(|note| (note.path.as_str(), note.problem.as_deref())).collect();
    assert_eq!(waiting, [("Alpha.md", Some(why)), ("Deep/Gamma.md", None)]);

    held.write_all(b"Written meanwhile.\n").expect("written");
    drop(held);
    running.decide(&conversation, &["Alpha.md"], &[]).await.expect("applied");
    let expected = format!("{}Written meanwhile.\n", edited_text("Alpha.md"));
    assert_eq!(home.notes.read("Alpha.md"), expected, "nothing that was written is lost");
    assert_eq!(running.pending_paths(&conversation).await, ["Deep/Gamma.md"]);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_counts_once() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    let review = running.view(&conversation).await.review.expect("three notes wait");
    let accepted: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
    let decision = review.decide_request(&accepted, &[]);
    running.app.decide_review(&decision).await.expect("applied");
    home.notes.write("Alpha.md", original_text("Alpha.md"));

    let again = running.app.decide_review(&decision).await.expect_err("it was decided");
    assert_eq!(again.message, "These changes have already been reviewed. Nothing was repeated.");
    assert_eq!(home.notes.read("Alpha.md"), original_text("Alpha.md"));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn later_reads_of_the_model_see_pending_changes_as_if_they_were_applied() {
    let edit = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "FIRST" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("edit_file", edit)]),
        Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" }))]),
        Reply::text("It needs your review."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    running.send_and_wait(None, "shout").await;
    let read = testkit::scripted_model::tool_results(&model.wait_for_request(3).await).remove(0).1;
    assert!(read.contains("The FIRST line of alpha."), "{read}");
    assert_eq!(home.notes.read("Alpha.md"), original_text("Alpha.md"));
    running.quit().await;
    model.finish();
}

/// Lets the database refuse to store how changes end, as on a full disk, until `free_space`.
struct FullDatabase(SqliteConnection);

impl FullDatabase {
    async fn fill(home: &TestHome) -> Self {
        let options = SqliteConnectOptions::new().filename(home.database_path());
        let mut database = SqliteConnection::connect_with(&options).await.expect("a database");
        for refusal in [
            "CREATE TRIGGER no_outcome BEFORE UPDATE OF state ON effect
             BEGIN SELECT RAISE(ABORT, 'full'); END",
            "CREATE TRIGGER no_decision BEFORE UPDATE ON planned_change
             BEGIN SELECT RAISE(ABORT, 'full'); END",
        ] {
            sqlx::query(refusal).execute(&mut database).await.expect(refusal);
        }
        Self(database)
    }

    async fn free_space(mut self) {
        for name in ["no_outcome", "no_decision"] {
            let drop = format!("DROP TRIGGER {name}");
            sqlx::query(sqlx::AssertSqlSafe(drop)).execute(&mut self.0).await.expect(name);
        }
        self.0.close().await.expect("closed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn change_that_was_made_but_not_recorded_is_accepted_once() {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![
            ("delete_file", json!({ "path": "Alpha.md" })),
            ("move_file", json!({ "source": "Beta.md", "destination": "Moved.md" })),
        ]),
        Reply::text("They need your review."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    let pending = running.pending_paths(&conversation).await;
    let all: Vec<_> = pending.iter().map(String::as_str).collect();
    let full = FullDatabase::fill(&home).await;
    running.decide(&conversation, &all, &[]).await.expect_err("no decision can be stored");
    assert_eq!(home.notes.try_read("Alpha.md"), None, "but the changes were made");
    assert_eq!(home.notes.read("Moved.md"), original_text("Beta.md"));
    full.free_space().await;

    running.decide(&conversation, &all, &[]).await.expect("what was made is accepted");
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    let listed = ListApplied { conversation: None, before: None };
    let sets = running.app.list_applied(&listed).await.expect("a list").sets;
    let [set] = sets.as_slice() else { panic!("{sets:?}") };
    assert_eq!(set.notes.len(), all.len(), "each change happened once: {set:?}");

    let full = FullDatabase::fill(&home).await;
    let scope = UndoScope::ChangeSet { change_set: set.id.clone() };
    running.app.undo(&scope).await.expect("undone, but not recorded");
    assert_eq!(home.notes.read("Alpha.md"), original_text("Alpha.md"));
    full.free_space().await;
    running.app.redo(&scope).await.expect("the undo is known by now");
    assert_eq!(home.notes.try_read("Alpha.md"), None);
    running.quit().await;
}
