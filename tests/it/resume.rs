//! Turns that a kill cut: some go on by themselves, about the others the user is asked, and each
//! choice does what it says.

use std::time::{Duration, Instant};

use protocol::applied::UndoScope;
use protocol::conversation::{ConversationView, Interruption, Item};
use protocol::{Resume, Settings, TurnId, TurnStatus};
use serde_json::Value;
use testkit::scripted_model::{KEY, results};
use testkit::story::{self, ADDED, NOTES};
use testkit::{Gate, Reply, ScriptedModel};

use crate::stage::{Home, Running, asking, keyed, users_words};

/// From the start to the end of a turn that goes on by itself.
const SOON: Duration = Duration::from_secs(2);

/// A story that is killed at the first point of this name.
async fn cut(story: &str, point: &str) -> (Home, ScriptedModel) {
    let (home, model) = (keyed(&NOTES), ScriptedModel::responder(story::model).await);
    home.killed_on(point, story, &env(&model)).await;
    (home, model)
}

fn env(model: &ScriptedModel) -> [(&'static str, String); 2] {
    [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.base_url())]
}

fn resuming(model: &ScriptedModel, resume: Resume) -> Settings {
    Settings { resume, ..asking(model) }
}

/// What is offered of the cut turn, if the user is asked.
fn offer(view: &ConversationView) -> Option<(TurnId, Interruption)> {
    view.items.iter().find_map(|item| match item {
        Item::Ended { turn, status: TurnStatus::Interrupted, offer: Some(offer), .. } => {
            Some((turn.clone(), *offer))
        }
        _ => None,
    })
}

fn last_words(view: &ConversationView) -> Option<&str> {
    view.items.iter().rev().find_map(|item| match item {
        Item::Assistant { text, .. } => Some(text.as_str()),
        _ => None,
    })
}

/// The view once nothing runs any more.
async fn settled(running: &Running) -> ConversationView {
    let conversation = running.only_conversation().await;
    running.app.idle(&conversation).await.expect("idle");
    running.view(&conversation).await
}

/// The texts of the results that the model was sent last.
fn told(request: &Value) -> Vec<String> {
    results(request).into_iter().map(|(_, text)| text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_only_read_goes_on_by_itself_and_soon() {
    let (home, model) = cut("ask", "llm.step.after").await;
    let began = Instant::now();
    let running = home.open(asking(&model)).await;
    let view = settled(&running).await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(users_words(&view), ["play ask"], "nothing is put into the user's mouth");
    assert_eq!(last_words(&view), Some("All of it is done."));
    assert_eq!((offer(&view), view.conversation.interrupted), (None, false));
    let told = told(&model.request(2).await);
    assert_eq!(told.len(), 2, "each call has its one result: {told:?}");
    assert!(told.iter().all(|result| result.contains("before")), "{told:?}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_cut_twice_is_not_taken_up_a_third_time() {
    let (home, model) = cut("ask", "llm.step.after").await;
    home.killed_on("llm.finish.before", "listen", &env(&model)).await;
    let running = home.open(asking(&model)).await;
    let view = settled(&running).await;
    assert!(view.conversation.interrupted);
    assert_eq!(offer(&view).expect("it is offered").1, Interruption { changed: 0, waiting: 0 });
    assert_eq!(model.requests().len(), 2, "no model is asked before the user says so");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_changed_a_note_is_offered_and_continued_where_it_was() {
    let (home, model) = cut("add", "llm.results.before").await;
    let running = home.open(asking(&model)).await;
    let view = settled(&running).await;
    let (_, done) = offer(&view).expect("the user is asked");
    assert_eq!(done, Interruption { changed: 1, waiting: 0 });
    assert_eq!(home.notes.read("List.md"), ADDED[0].1);
    assert_eq!(model.requests().len(), 1);

    running.app.continue_turn(&view.conversation.id).await.expect("it goes on");
    let view = settled(&running).await;
    assert_eq!((offer(&view), view.conversation.interrupted), (None, false));
    assert_eq!(users_words(&view), ["play add"]);
    assert_eq!(last_words(&view), Some("All of it is done."));
    let told = told(&model.request(2).await);
    assert!(told[0].contains("append_file had changed List.md"), "{told:?}");
    assert!(told[1].contains("before write_file did anything"), "{told:?}");
    assert_eq!(home.notes.read("List.md"), ADDED[0].1, "and nothing is done twice");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_cut_turn_changed_is_taken_back_or_left() {
    let (home, model) = cut("add", "llm.results.before").await;
    let running = home.open(asking(&model)).await;
    let view = settled(&running).await;
    let (turn, _) = offer(&view).expect("the user is asked");
    let undone = running.app.undo(&UndoScope::Turn { turn: turn.clone() }).await.expect("undone");
    assert_eq!(undone.changed.len(), 1);
    assert_eq!(home.notes.read("List.md"), NOTES[3].1);
    let (_, left) = offer(&settled(&running).await).expect("it is still offered");
    assert_eq!(left.changed, 0);

    running.app.leave_turn(&turn).await.expect("left");
    let view = settled(&running).await;
    assert_eq!((offer(&view), view.conversation.interrupted), (None, false));
    let again = running.app.leave_turn(&turn).await.expect_err("it is decided");
    assert!(again.message.contains("decided already"), "{again}");
    assert_eq!(model.requests().len(), 1);
    running.quit().await;

    // It stays decided, and what comes next is a turn of its own.
    let running = home.open(asking(&model)).await;
    assert_eq!(offer(&settled(&running).await), None);
    running.app.continue_turn(&view.conversation.id).await.expect("taken");
    assert_eq!(users_words(&settled(&running).await), ["play add", "Continue."]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn planned_changes_of_a_cut_turn_are_counted_and_wait_on() {
    let (home, model) = cut("review", "llm.results.before").await;
    let running = home.open(asking(&model)).await;
    let view = settled(&running).await;
    assert_eq!(offer(&view).expect("asked").1, Interruption { changed: 0, waiting: 1 });
    running.app.continue_turn(&view.conversation.id).await.expect("it goes on");
    settled(&running).await;
    let told = told(&model.request(2).await);
    assert!(told[0].starts_with("Planned, not yet done"), "{told:?}");
    assert_eq!(running.waiting(&view.conversation.id).await, ["Alpha.md"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_setting_says_whether_anything_or_nothing_goes_on_by_itself() {
    let (home, model) = cut("add", "llm.results.before").await;
    let running = home.open(resuming(&model, Resume::Always)).await;
    let view = settled(&running).await;
    assert_eq!((offer(&view), last_words(&view)), (None, Some("All of it is done.")));
    running.quit().await;
    model.finish();

    let (home, model) = cut("ask", "llm.step.after").await;
    let running = home.open(resuming(&model, Resume::Never)).await;
    let view = settled(&running).await;
    assert_eq!(offer(&view).expect("asked").1, Interruption { changed: 0, waiting: 0 });
    assert_eq!(model.requests().len(), 1);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn words_typed_behind_a_cut_turn_wait_until_the_user_has_decided() {
    let gate = Gate::closed();
    let milk = serde_json::json!({ "path": "List.md", "content": "- milk" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("append_file", milk)]),
        Reply::text("This answer is never heard to its end.").gated(&gate),
        Reply::text("Here I am."),
    ])
    .await;
    let home = keyed(&NOTES);
    let running = home.open(asking(&model)).await;
    let conversation = running.send(None, "add milk", None).await.expect("taken");
    gate.reached(1).await;
    running.send(Some(&conversation), "and then?", None).await.expect("taken");
    running.quit().await;

    let running = home.open(asking(&model)).await;
    let view = settled(&running).await;
    let (turn, _) = offer(&view).expect("the user is asked");
    let held =
        |item: &Item| matches!(item, Item::User { text, queued: true, .. } if text == "and then?");
    assert!(view.items.iter().any(held), "{:#?}", view.items);
    assert!(!view.conversation.working, "nothing works while the user is asked");
    assert_eq!(model.requests().len(), 2);

    running.app.leave_turn(&turn).await.expect("left");
    let view = settled(&running).await;
    assert_eq!(last_words(&view), Some("Here I am."));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn to_say_something_else_is_to_leave_a_cut_turn() {
    let (home, model) = cut("add", "llm.results.before").await;
    let running = home.open(asking(&model)).await;
    let conversation = settled(&running).await.conversation.id;
    running.say(Some(&conversation), "never mind").await;
    let view = settled(&running).await;
    assert_eq!((offer(&view), view.conversation.interrupted), (None, false));
    assert_eq!(users_words(&view), ["play add", "never mind"]);
    assert_eq!(model.requests().len(), 2);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_at_its_limit_does_not_get_another_one_by_being_cut() {
    let looks =
        |_: &Value| Reply::calls(vec![("read_file", serde_json::json!({ "path": "Alpha.md" }))]);
    let model = ScriptedModel::responder(looks).await;
    let home = keyed(&NOTES);
    let mut child = home.story("no such point", "ask", &env(&model));
    model.request(8).await;
    child.kill().await.expect("killed");
    let before = model.requests().len();
    let running = home.open(resuming(&model, Resume::Always)).await;
    let view = settled(&running).await;
    // Ten round trips, and the one that closes; the one that was cut is asked again.
    let requests = model.requests().len();
    assert!((11..=12).contains(&requests), "{requests}, {before} before the kill");
    let limit = |item: &Item| matches!(item, Item::Ended { status: TurnStatus::Limit, .. });
    assert!(view.items.iter().any(limit), "{:#?}", view.items);
    running.quit().await;
}
