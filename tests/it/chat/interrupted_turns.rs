//! Turns that a kill cut: some go on by themselves, about the others the user is asked, and each
//! choice does what it says.

use std::time::{Duration, Instant};

use app::{DataDir, ExistingFile, ExportJob};
use protocol::changes::history::UndoScope;
use protocol::chat::conversation::{ChatItem, ConversationView, Interruption};
use protocol::chat::export::ExportFormat;
use protocol::request::RegenerateRequest;
use protocol::{AppEvent, ConversationId, ResumePolicy, Settings, TurnId, TurnStatus};
use serde_json::Value;
use testkit::scripted_model::{KEY, tool_results};
use testkit::stories::note_changes;
use testkit::stories::note_changes::{ADDED, NOTES};
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, user_messages,
};
use crate::hub::inbox::change_database;

/// From the start to the end of a turn that continues automatically.
const MAX_RESUME_TIME: Duration = Duration::from_secs(2);

/// A story that is killed at the first point of this name.
async fn kill_story_at(story: &str, point: &str) -> (TestHome, ScriptedModel) {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    home.run_story_killed_at(point, story, &model_env(&model)).await;
    (home, model)
}

fn model_env(model: &ScriptedModel) -> [(&'static str, String); 2] {
    [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.base_url())]
}

fn settings_with_resume(model: &ScriptedModel, resume: ResumePolicy) -> Settings {
    Settings { resume, ..settings_with_model(model) }
}

/// The offer about the interrupted turn, if the user is asked.
fn offered_interruption(view: &ConversationView) -> Option<(TurnId, Interruption)> {
    view.items.iter().find_map(|item| match item {
        ChatItem::Ended { turn, status: TurnStatus::Interrupted, offer: Some(offer), .. } => {
            Some((turn.clone(), *offer))
        }
        _ => None,
    })
}

fn last_text(view: &ConversationView) -> Option<&str> {
    view.items.iter().rev().find_map(|item| match item {
        ChatItem::Assistant { text, .. } => Some(text.as_str()),
        _ => None,
    })
}

/// The view once nothing runs any more.
async fn view_when_idle(app: &RunningApp) -> ConversationView {
    let conversation = app.only_conversation().await;
    app.app.wait_until_idle(&conversation).await.expect("idle");
    app.view(&conversation).await
}

/// The texts of the results that the model was sent last.
fn result_texts(request: &Value) -> Vec<String> {
    tool_results(request).into_iter().map(|(_, text)| text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_only_read_continues_automatically_and_soon() {
    let (home, model) = kill_story_at("ask", "llm.step.after").await;
    let began = Instant::now();
    let running = home.open(settings_with_model(&model)).await;
    let view = view_when_idle(&running).await;
    assert!(began.elapsed() < MAX_RESUME_TIME, "{:?}", began.elapsed());
    assert_eq!(user_messages(&view), ["play ask"], "nothing is put into the user's mouth");
    assert_eq!(last_text(&view), Some("All of it is done."));
    assert_eq!((offered_interruption(&view), view.conversation.interrupted), (None, false));
    let told = result_texts(&model.wait_for_request(2).await);
    assert_eq!(told.len(), 2, "each call has its one result: {told:?}");
    assert!(told.iter().all(|result| result.contains("before")), "{told:?}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_cut_twice_is_not_taken_up_a_third_time() {
    let (home, model) = kill_story_at("ask", "llm.step.after").await;
    home.run_story_killed_at("llm.finish.before", "listen", &model_env(&model)).await;
    let running = home.open(settings_with_model(&model)).await;
    let view = view_when_idle(&running).await;
    assert!(view.conversation.interrupted);
    assert_eq!(
        offered_interruption(&view).expect("it is offered").1,
        Interruption { changed: 0, waiting: 0 }
    );
    assert_eq!(model.requests().len(), 2, "no model is asked before the user says so");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_changed_a_note_is_offered_and_continued_where_it_was() {
    let (home, model) = kill_story_at("add", "llm.results.before").await;
    let running = home.open(settings_with_model(&model)).await;
    let view = view_when_idle(&running).await;
    let (_, done) = offered_interruption(&view).expect("the user is asked");
    assert_eq!(done, Interruption { changed: 1, waiting: 0 });
    assert_eq!(home.notes.read("List.md"), ADDED[0].1);
    assert_eq!(model.requests().len(), 1);

    running.app.continue_turn(&view.conversation.id).await.expect("it goes on");
    let view = view_when_idle(&running).await;
    assert_eq!((offered_interruption(&view), view.conversation.interrupted), (None, false));
    assert_eq!(user_messages(&view), ["play add"]);
    assert_eq!(last_text(&view), Some("All of it is done."));
    let told = result_texts(&model.wait_for_request(2).await);
    assert!(told[0].contains("append_file had changed List.md"), "{told:?}");
    assert!(told[1].contains("before write_file did anything"), "{told:?}");
    assert_eq!(home.notes.read("List.md"), ADDED[0].1, "and nothing is done twice");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn continue_pressed_twice_sends_no_message() {
    let (home, model) = kill_story_at("add", "llm.results.before").await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = view_when_idle(&running).await.conversation.id;
    running.app.continue_turn(&conversation).await.expect("it goes on");
    // The second press comes while the turn runs, or right after its end.
    running.app.continue_turn(&conversation).await.expect_err("it has gone on");
    assert_eq!(user_messages(&view_when_idle(&running).await), ["play add"]);
    let late = running.app.continue_turn(&conversation).await.expect_err("it has come to its end");
    assert!(late.message.contains("already been dealt with"), "{late}");
    let view = view_when_idle(&running).await;
    assert_eq!(user_messages(&view), ["play add"]);
    assert_eq!(last_text(&view), Some("All of it is done."));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_an_interrupted_turn_are_undone_or_kept() {
    let (home, model) = kill_story_at("add", "llm.results.before").await;
    let running = home.open(settings_with_model(&model)).await;
    let view = view_when_idle(&running).await;
    let (turn, _) = offered_interruption(&view).expect("the user is asked");
    let undone = running.app.undo(&UndoScope::Turn { turn: turn.clone() }).await.expect("undone");
    assert_eq!(undone.changed.len(), 1);
    assert_eq!(home.notes.read("List.md"), NOTES[3].1);
    let (_, left) =
        offered_interruption(&view_when_idle(&running).await).expect("it is still offered");
    assert_eq!(left.changed, 0);

    running.app.dismiss_interrupted_turn(&turn).await.expect("left");
    let view = view_when_idle(&running).await;
    assert_eq!((offered_interruption(&view), view.conversation.interrupted), (None, false));
    let again = running.app.dismiss_interrupted_turn(&turn).await.expect_err("it is decided");
    assert!(again.message.contains("already been dealt with"), "{again}");
    assert_eq!(model.requests().len(), 1);
    running.quit().await;

    // It stays decided, and what comes next is a turn of its own.
    let running = home.open(settings_with_model(&model)).await;
    assert_eq!(offered_interruption(&view_when_idle(&running).await), None);
    running.app.continue_turn(&view.conversation.id).await.expect("taken");
    assert_eq!(user_messages(&view_when_idle(&running).await), ["play add", "Continue."]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn planned_changes_of_a_cut_turn_are_counted_and_wait_on() {
    let (home, model) = kill_story_at("review", "llm.results.before").await;
    let running = home.open(settings_with_model(&model)).await;
    let view = view_when_idle(&running).await;
    assert_eq!(
        offered_interruption(&view).expect("asked").1,
        Interruption { changed: 0, waiting: 1 }
    );
    running.app.continue_turn(&view.conversation.id).await.expect("it goes on");
    view_when_idle(&running).await;
    let told = result_texts(&model.wait_for_request(2).await);
    assert!(told[0].starts_with("Waiting for review, not applied"), "{told:?}");
    assert_eq!(running.pending_paths(&view.conversation.id).await, ["Alpha.md"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_setting_decides_whether_turns_continue_automatically() {
    let (home, model) = kill_story_at("add", "llm.results.before").await;
    let running = home.open(settings_with_resume(&model, ResumePolicy::Always)).await;
    let view = view_when_idle(&running).await;
    assert_eq!((offered_interruption(&view), last_text(&view)), (None, Some("All of it is done.")));
    running.quit().await;
    model.finish();

    let (home, model) = kill_story_at("ask", "llm.step.after").await;
    let running = home.open(settings_with_resume(&model, ResumePolicy::Never)).await;
    let view = view_when_idle(&running).await;
    assert_eq!(
        offered_interruption(&view).expect("asked").1,
        Interruption { changed: 0, waiting: 0 }
    );
    assert_eq!(model.requests().len(), 1);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_behind_an_interrupted_turn_are_queued_until_the_user_has_decided() {
    let gate = Gate::closed();
    let milk = serde_json::json!({ "path": "List.md", "content": "- milk" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("append_file", milk)]),
        Reply::text("This answer is never heard to its end.").gated(&gate),
        Reply::text("Here I am."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send(None, "add milk", None).await.expect("taken");
    gate.wait_until_reached(1).await;
    running.send(Some(&conversation), "and then?", None).await.expect("taken");
    running.quit().await;

    let running = home.open(settings_with_model(&model)).await;
    let view = view_when_idle(&running).await;
    let (turn, _) = offered_interruption(&view).expect("the user is asked");
    let held = |item: &ChatItem| matches!(item, ChatItem::User { text, queued: true, .. } if text == "and then?");
    assert!(view.items.iter().any(held), "{:#?}", view.items);
    assert!(!view.conversation.working, "nothing works while the user is asked");
    assert_eq!(model.requests().len(), 2);

    running.app.dismiss_interrupted_turn(&turn).await.expect("left");
    let view = view_when_idle(&running).await;
    assert_eq!(last_text(&view), Some("Here I am."));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_turn_continues_only_in_the_version_that_is_shown() {
    for (number, texts) in [(1, vec!["add milk", "Continue."]), (2, vec!["add milk and bread"])] {
        let gate = Gate::closed();
        let milk = serde_json::json!({ "path": "List.md", "content": "- milk" });
        let model = ScriptedModel::start(vec![
            Reply::text("Later."),
            Reply::calls(vec![("append_file", milk)]),
            Reply::text("This answer is never heard to its end.").gated(&gate),
            Reply::text("Here I am."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        let running = home.open(settings_with_model(&model)).await;
        let conversation = running.send_and_wait(None, "add milk").await;
        let view = running.view(&conversation).await;
        let Some(ChatItem::User { id, .. }) = view.items.first() else { panic!("{view:#?}") };
        let text = Some("add milk and bread".to_owned());
        let request = RegenerateRequest { message: id.clone(), text, old: None };
        running.app.regenerate(&request).await.expect("regenerated");
        gate.wait_until_reached(1).await;
        running.quit().await;

        let running = home.open(settings_with_model(&model)).await;
        offered_interruption(&view_when_idle(&running).await).expect("the user is asked");
        running.app.show_variant(id, number).await.expect("shown");
        running.app.continue_turn(&conversation).await.expect("it goes on");
        let view = view_when_idle(&running).await;
        assert_eq!(user_messages(&view), texts, "version {number}");
        assert_eq!(last_text(&view), Some("Here I am."), "version {number}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_say_something_else_is_to_leave_a_cut_turn() {
    let (home, model) = kill_story_at("add", "llm.results.before").await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = view_when_idle(&running).await.conversation.id;
    running.send_and_wait(Some(&conversation), "never mind").await;
    let view = view_when_idle(&running).await;
    assert_eq!((offered_interruption(&view), view.conversation.interrupted), (None, false));
    assert_eq!(user_messages(&view), ["play add", "never mind"]);
    assert_eq!(model.requests().len(), 2);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_at_its_limit_does_not_get_another_one_by_being_cut() {
    let looks =
        |_: &Value| Reply::calls(vec![("read_file", serde_json::json!({ "path": "Alpha.md" }))]);
    let model = ScriptedModel::responder(looks).await;
    let home = home_with_key(&NOTES);
    let mut child = home.spawn_story_killed_at("no such point", "ask", &model_env(&model));
    model.wait_for_request(8).await;
    child.kill().await.expect("killed");
    let before = model.requests().len();
    let running = home.open(settings_with_resume(&model, ResumePolicy::Always)).await;
    let view = view_when_idle(&running).await;
    // Ten round trips, and the one that closes; the interrupted one is sent again.
    let requests = model.requests().len();
    assert!((11..=12).contains(&requests), "{requests}, {before} before the kill");
    let limit = |item: &ChatItem| matches!(item, ChatItem::Ended { status: TurnStatus::Limit, .. });
    assert!(view.items.iter().any(limit), "{:#?}", view.items);
    running.quit().await;
}

/// Opens the vault in a run that answers no turn, and closes it again.
async fn export_once(home: &TestHome) {
    let data = DataDir::at(home.data.root().to_owned()).expect("a data directory");
    let job = ExportJob {
        conversation: None,
        format: ExportFormat::Json,
        file: home.data.root().join("all.json"),
        existing: ExistingFile::Replaced,
    };
    app::export(data, home.notes.root(), &job).await.expect("exported");
}

async fn make_turns_old(home: &TestHome) {
    change_database(home, "UPDATE turn SET at = at - 11 * 60 * 1000".to_owned()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_continues_nothing_leaves_the_decision_to_the_next_one() {
    let (home, model) = kill_story_at("ask", "llm.step.after").await;
    export_once(&home).await;
    let running = home.open(settings_with_model(&model)).await;
    let view = view_when_idle(&running).await;
    assert_eq!(last_text(&view), Some("All of it is done."), "it is young, so it continues");
    running.quit().await;
    model.finish();

    // The window is opened days later.
    let (home, model) = kill_story_at("ask", "llm.step.after").await;
    export_once(&home).await;
    make_turns_old(&home).await;
    let running = home.open(settings_with_model(&model)).await;
    offered_interruption(&view_when_idle(&running).await).expect("the user is asked");
    assert_eq!(model.requests().len(), 1);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_to_continue_and_was_not_begun_is_decided_again() {
    // Killed between the decision and the begin.
    let queued = "UPDATE turn SET status = 'queued', resumed = 1";
    let (home, model) = kill_story_at("ask", "llm.step.after").await;
    change_database(&home, queued.to_owned()).await;
    make_turns_old(&home).await;
    let running = home.open(settings_with_model(&model)).await;
    offered_interruption(&view_when_idle(&running).await).expect("the user is asked");
    assert_eq!(model.requests().len(), 1);
    running.quit().await;
    model.finish();

    // The control: the setting lets everything continue.
    let (home, model) = kill_story_at("ask", "llm.step.after").await;
    change_database(&home, queued.to_owned()).await;
    change_database(&home, "UPDATE tool_call SET output = 'Cut.'".to_owned()).await;
    let running = home.open(settings_with_resume(&model, ResumePolicy::Always)).await;
    let view = view_when_idle(&running).await;
    assert_eq!(last_text(&view), Some("All of it is done."));
    running.quit().await;
    model.finish();
}

/// A conversation whose cut turn the user has continued, in a run in which four other turns stand at the gate
/// and leave it no slot.
async fn continued_without_slot(
    gate: &Gate,
) -> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let held = |_| Reply::text("This answer comes late, or never.").gated(gate);
    let replies = (0..5).map(held).chain([Reply::text("Here I am.")]);
    let model = ScriptedModel::start(replies.collect()).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_resume(&model, ResumePolicy::Never)).await;
    let conversation = running.send(None, "first", None).await.expect("taken");
    gate.wait_until_reached(1).await;
    running.quit().await;

    let running = home.open(settings_with_resume(&model, ResumePolicy::Never)).await;
    for text in ["second", "third", "fourth", "fifth"] {
        running.send(None, text, None).await.expect("taken");
    }
    gate.wait_until_reached(5).await;
    running.app.continue_turn(&conversation).await.expect("it is queued");
    (home, model, running, conversation)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continued_turn_of_a_deleted_conversation_waits_over_a_restart_until_it_is_restored() {
    for is_deleted in [true, false] {
        let (home, model, running, conversation) = continued_without_slot(&Gate::closed()).await;
        if is_deleted {
            running.app.delete_conversation(&conversation).await.expect("deleted");
        }
        running.quit().await;

        let running = home.open(settings_with_resume(&model, ResumePolicy::Never)).await;
        running.app.wait_until_idle(&conversation).await.expect("idle");
        assert_eq!(model.requests().len(), 5, "deleted: {is_deleted}");
        if is_deleted {
            running.app.restore_conversation(&conversation).await.expect("restored");
        } else {
            // The control: the user is asked again.
            let view = running.view(&conversation).await;
            offered_interruption(&view).expect("the user is asked");
            running.app.continue_turn(&conversation).await.expect("it goes on");
        }
        running.app.wait_until_idle(&conversation).await.expect("idle");
        let view = running.view(&conversation).await;
        assert_eq!(user_messages(&view), ["first"], "deleted: {is_deleted}");
        assert_eq!(last_text(&view), Some("Here I am."), "deleted: {is_deleted}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continued_turn_of_a_conversation_that_is_restored_in_the_same_run_goes_on() {
    let gate = Gate::closed();
    let (_home, model, running, conversation) = continued_without_slot(&gate).await;
    running.app.delete_conversation(&conversation).await.expect("deleted");
    gate.open();
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(model.requests().len(), 5, "no model is asked for a deleted conversation");
    running.app.restore_conversation(&conversation).await.expect("restored");
    running.app.wait_until_idle(&conversation).await.expect("idle");
    let view = running.view(&conversation).await;
    assert_eq!((offered_interruption(&view), last_text(&view)), (None, Some("Here I am.")));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_turn_that_cannot_be_recovered_is_told_and_the_vault_opens() {
    let gate = Gate::closed();
    let held = |_| Reply::text("This answer is never heard to its end.").gated(&gate);
    let model = ScriptedModel::start((0..2).map(held).collect()).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_resume(&model, ResumePolicy::Never)).await;
    let odd = running.send(None, "first", None).await.expect("taken");
    let sound = running.send(None, "second", None).await.expect("taken");
    gate.wait_until_reached(2).await;
    running.quit().await;
    let refusal = format!(
        "CREATE TRIGGER odd BEFORE UPDATE OF status ON turn WHEN OLD.conversation = '{odd}'
         BEGIN SELECT RAISE(ABORT, 'odd'); END"
    );
    change_database(&home, refusal).await;

    let running = home.open(settings_with_resume(&model, ResumePolicy::Never)).await;
    let told = |event: &AppEvent| match event {
        AppEvent::Problem { error } => {
            error.message.starts_with("An interrupted answer couldn’t be recovered: ").then_some(())
        }
        _ => None,
    };
    running.wait_for_event("the problem", told).await;
    let view = running.view(&sound).await;
    offered_interruption(&view).expect("the turn after it is recovered");
    running.quit().await;

    change_database(&home, "DROP TRIGGER odd".to_owned()).await;
    let running = home.open(settings_with_resume(&model, ResumePolicy::Never)).await;
    let view = running.view(&odd).await;
    offered_interruption(&view).expect("the next start recovers it");
    assert!(running.heard_so_far(told).is_empty(), "nothing is left to tell");
    running.quit().await;
    model.finish();
}
