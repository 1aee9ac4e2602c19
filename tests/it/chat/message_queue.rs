//! Messages that are typed while an answer is written are kept in order, can be changed and
//! removed, and are never taken for the answer to a question.

use app::TimeScale;
use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::{AppEvent, ConversationId};
use serde_json::json;
use testkit::scripted_model::last_message_text;
use testkit::stories::note_changes::NOTES;
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, user_messages,
};
use crate::hub::inbox::change_database;

/// An application whose model has begun an answer and stands at the gate, and three messages that
/// were typed meanwhile.
async fn app_with_queued_messages(
    script: Vec<Reply>,
    gate: &Gate,
) -> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send(None, "begin", None).await.expect("taken");
    gate.wait_until_reached(1).await;
    for words in ["one", "two", "three"] {
        running.send(Some(&conversation), words, None).await.expect("taken");
    }
    (home, model, running, conversation)
}

fn queued_messages(view: &ConversationView) -> Vec<(protocol::MessageId, String)> {
    let waiting = view.items.iter().filter_map(|item| match item {
        ChatItem::User { id, text, queued: true, .. } => Some((id.clone(), text.clone())),
        _ => None,
    });
    waiting.collect()
}

/// The texts of the requests to the model, in order, without their context.
fn requested_texts(model: &ScriptedModel) -> Vec<String> {
    let words = |request: &serde_json::Value| {
        let words = last_message_text(request);
        words.rsplit("</context>").next().unwrap_or_default().trim().to_owned()
    };
    model.requests().iter().map(words).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_messages_are_changed_and_removed_and_run_in_order() {
    let gate = Gate::closed();
    let long = "An answer of several words, so that there is time to type.";
    let script =
        vec![Reply::text(long).gated(&gate), Reply::text("First."), Reply::text("Second.")];
    let (_home, model, running, conversation) = app_with_queued_messages(script, &gate).await;
    let waiting = queued_messages(&running.view(&conversation).await);
    let words: Vec<_> = waiting.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(words, ["one", "two", "three"]);
    running.app.edit_queued(&waiting[0].0, " number one ").await.expect("changed");
    running.app.remove_queued(&waiting[1].0).await.expect("removed");
    let empty = running.app.edit_queued(&waiting[2].0, "  ").await.expect_err("nothing to say");
    assert!(empty.message.contains("remove it"), "{empty}");
    gate.open();
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(requested_texts(&model), ["begin", "number one", "three"]);
    let view = running.view(&conversation).await;
    assert_eq!(user_messages(&view), ["begin", "number one", "three"]);

    let late = running.app.remove_queued(&waiting[0].0).await.expect_err("it was heard");
    assert!(late.message.contains("is no longer queued"), "{late}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_and_removed_in_the_queue_is_so_after_a_restart() {
    let gate = Gate::closed();
    let long = "An answer of several words, so that there is time to type.";
    let script = vec![
        Reply::text(long).gated(&gate),
        Reply::text("Begun again."),
        Reply::text("First."),
        Reply::text("Second."),
    ];
    let (home, model, running, conversation) = app_with_queued_messages(script, &gate).await;
    let waiting = queued_messages(&running.view(&conversation).await);
    running.app.edit_queued(&waiting[0].0, "number one").await.expect("changed");
    running.app.remove_queued(&waiting[1].0).await.expect("removed");
    running.quit().await;
    let running = home.open(settings_with_model(&model)).await;
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(requested_texts(&model), ["begin", "begin", "number one", "three"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_message_is_never_the_answer_to_a_question() {
    let gate = Gate::closed();
    let asks = json!({ "message": "Which list?", "is_question": true, "options": ["A", "B"] });
    let script = vec![
        Reply::text_and_calls("Let me see what there is to ask.", vec![("send_message", asks)])
            .gated(&gate),
        Reply::text("A it is."),
        Reply::text("First."),
        Reply::text("Third."),
    ];
    let (_home, model, running, conversation) = app_with_queued_messages(script, &gate).await;
    gate.open();
    running.app.wait_until_idle(&conversation).await.expect("idle");
    let view = running.view(&conversation).await;
    let question = view.question.clone().expect("it is open").id;
    assert_eq!(queued_messages(&view).len(), 3, "all are held: {:#?}", view.items);
    assert!(!view.conversation.working, "nothing works while the user is asked");
    assert_eq!(model.requests().len(), 1);
    // Held messages can be removed, too.
    running.app.remove_queued(&queued_messages(&view)[1].0).await.expect("removed");

    running.send(Some(&conversation), "A", Some(&question)).await.expect("answered");
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(requested_texts(&model)[1..], ["A", "one", "three"]);
    running.quit().await;
    model.finish();
}

fn has_problem(event: &AppEvent) -> Option<()> {
    matches!(event, AppEvent::Problem { .. }).then_some(())
}

/// An application whose database refuses `refused` of the turns that begin or end.
async fn app_with_full_database(
    script: &[&'static str],
    refused: &str,
) -> (TestHome, ScriptedModel, RunningApp) {
    let replies = script.iter().map(|text| Reply::text(text)).collect();
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(replies).await);
    let pace = TimeScale::divided_by(100);
    let running = home.open_with_time_scale(settings_with_model(&model), pace).await;
    let refusal = format!(
        "CREATE TRIGGER full BEFORE UPDATE OF status ON turn WHEN {refused}
         BEGIN SELECT RAISE(ABORT, 'full'); END"
    );
    change_database(&home, refusal).await;
    (home, model, running)
}

async fn free_space(home: &TestHome) {
    change_database(home, "DROP TRIGGER full".to_owned()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_whose_turns_could_not_begin_are_answered_when_they_can() {
    let (home, model, running) =
        app_with_full_database(&["One.", "Two."], "NEW.status = 'running'").await;
    let conversation = running.send(None, "one", None).await.expect("taken");
    running.wait_for_event("a problem", has_problem).await;
    running.send(Some(&conversation), "two", None).await.expect("taken");
    // The control: nobody is asked while the database is full, and the window waits.
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(queued_messages(&running.view(&conversation).await).len(), 2);
    assert_eq!(model.requests().len(), 0);
    free_space(&home).await;
    model.wait_for_request(2).await;
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(requested_texts(&model), ["one", "two"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_end_was_not_stored_holds_up_nothing() {
    let (home, _model, running) = app_with_full_database(&["One."], "OLD.status = 'running'").await;
    let conversation = running.send_and_wait(None, "one").await;
    assert!(running.view(&conversation).await.conversation.working, "as far as is stored");
    let busy = running.app.delete_conversation(&conversation).await.expect_err("it works");
    assert!(busy.message.contains("Stop it"), "{busy}");
    free_space(&home).await;
    // A way out: it need not be waited for.
    running.app.stop(&conversation).await.expect("a vault is open");
    running
        .until("the end of the work", async || {
            (!running.view(&conversation).await.conversation.working).then_some(())
        })
        .await;
    running.app.wait_until_idle(&conversation).await.expect("idle");
    running.app.delete_conversation(&conversation).await.expect("deleted");
    running.quit().await;
}
