//! How full the context window is, against what is really sent, over real HTTP and real SQLite.

use protocol::chat::model::{ModelInfo, ModelParameters};
use protocol::settings::CompactionSettings;
use protocol::{AppEvent, ContextKind, ContextUse, ConversationId, Settings};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, home_with_key, settings_with_model, settings_without_model,
};

const MODEL: &str = "claude-haiku-4-5";
const LARGER: &str = "claude-larger";
const CHEAP: &str = "claude-cheap";

/// The room for an answer.
const ANSWER: u32 = 1_000;

fn settings(model: &ScriptedModel, window: u32) -> Settings {
    let known = |id: &str, window| ModelInfo {
        id: id.into(),
        window: Some(window),
        ..ModelInfo::default()
    };
    let parameters = |model: &str| ModelParameters {
        model: model.into(),
        max_tokens: Some(ANSWER),
        ..ModelParameters::default()
    };
    let compaction = CompactionSettings { model: CHEAP.into(), ..CompactionSettings::default() };
    Settings {
        model: MODEL.into(),
        models: vec![known(MODEL, window), known(LARGER, 100_000), known(CHEAP, 50_000)],
        parameters: vec![parameters(MODEL), parameters(LARGER)],
        compaction,
        ..settings_with_model(model)
    }
}

/// A tokenizer that finds three bytes in each token, wherever they stand.
fn count(sent: &Value) -> usize {
    fn bytes(sent: &Value) -> usize {
        match sent {
            Value::String(text) => text.len(),
            Value::Array(all) => all.iter().map(bytes).sum(),
            Value::Object(all) => all.iter().map(|(name, value)| name.len() + bytes(value)).sum(),
            _ => 1,
        }
    }
    bytes(sent) / 3
}

fn counted(request: &Value) -> usize {
    [&request["system"], &request["tools"], &request["messages"]].into_iter().map(count).sum()
}

fn is_summary(request: &Value) -> bool {
    request["model"] == CHEAP
}

fn tokens(context: &ContextUse, kind: ContextKind) -> u32 {
    context.parts.iter().filter(|part| part.kind == kind).map(|part| part.tokens).sum()
}

/// Whether two counts differ by no more than three in a hundred.
fn is_near(found: u32, expected: usize) -> bool {
    let expected = u32::try_from(expected).expect("few");
    found.abs_diff(expected) * 100 <= 3 * expected
}

#[track_caller]
fn near(found: u32, expected: usize) {
    assert!(is_near(found, expected), "{found} is not near {expected}");
}

async fn known(app: &RunningApp, chat: &ConversationId) -> ContextUse {
    app.view(chat).await.context.expect("it is known")
}

/// The context in an event about this conversation.
fn told_of(event: &AppEvent, chat: &ConversationId) -> Option<ContextUse> {
    match event {
        AppEvent::ContextChanged { conversation, context } if conversation == chat => {
            context.clone()
        }
        _ => None,
    }
}

/// Waits for a context that was told of since `before`.
async fn hears(app: &RunningApp, what: &str, is_it: impl Fn(&ContextUse) -> bool) -> ContextUse {
    let told = app.wait_for_event(what, |event| match event {
        AppEvent::ContextChanged { context: Some(context), .. } if is_it(context) => {
            Some(context.clone())
        }
        _ => None,
    });
    told.await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_is_what_the_model_counts_in_what_it_is_sent() {
    let note = "A line of the plan.\n".repeat(150);
    let home = home_with_key(&[("Plan.md", &note)]);
    let model = ScriptedModel::responder(|request| {
        let messages = request["messages"].as_array().expect("messages");
        let reply = match messages.len() {
            1 => Reply::calls(vec![("read_file", json!({ "path": "Plan.md" }))]),
            _ => Reply::text(&"It says so. ".repeat(40)),
        };
        reply.counting(counted(request))
    })
    .await;
    let running = home.open(settings(&model, 60_000)).await;
    let chat = running.send_and_wait(None, &"What does the plan say? ".repeat(20)).await;
    let first = known(&running, &chat).await;
    assert_eq!(first.window, 60_000 - ANSWER);
    assert_eq!(first.used, first.parts.iter().map(|part| part.tokens).sum::<u32>());
    assert_eq!(tokens(&first, ContextKind::OpenTurn), 0);
    assert!(tokens(&first, ContextKind::ToolResults) > 900, "{first:?}");

    // The next request holds exactly that, and the new message.
    running.send_and_wait(Some(&chat), "And then?").await;
    let sent = model.requests().pop().expect("a request");
    let message = count(sent["messages"].as_array().expect("messages").last().expect("one"));
    near(first.used, counted(&sent) - message);
    // The control: a count that leaves out a part is not near.
    for kind in [ContextKind::ToolResults, ContextKind::Instructions] {
        let without = first.used - tokens(&first, kind);
        assert!(!is_near(without, counted(&sent) - message), "{kind:?}: {without}");
    }
    let said = counted(&sent) + "It says so. ".len() * 40 / 3;
    near(known(&running, &chat).await.used, said);
    let open =
        hears(&running, "the open turn", |context| tokens(context, ContextKind::OpenTurn) > 900);
    assert!(open.await.used > 900);
    running.quit().await;
}

/// Talks until more than four fifths of the window are used, and nobody could summarize before.
async fn nearly_full(app: &RunningApp) -> (ConversationId, ContextUse) {
    let mut chat = None;
    for n in 0..40 {
        let words = format!("Number {n}. {}", "and so on ".repeat(100));
        let id = app.send_and_wait(chat.as_ref(), &words).await;
        app.app.wait_for_idle_work(&id).await.expect("open");
        let context = known(app, &id).await;
        if context.used * 100 > 80 * context.window {
            return (id, context);
        }
        chat = Some(id);
    }
    panic!("the window never fills")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_makes_room_and_another_model_another_window() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let can = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let may = std::sync::Arc::clone(&can);
    let model = ScriptedModel::responder(move |request| {
        if !is_summary(request) {
            return Reply::text(&"so on ".repeat(60)).counting(counted(request));
        }
        match may.load(std::sync::atomic::Ordering::SeqCst) {
            true => Reply::text("They counted."),
            false => Reply::status(400, "not now"),
        }
    })
    .await;
    let running = home.open(settings(&model, 14_000)).await;
    let (chat, before) = nearly_full(&running).await;
    assert!(before.can_summarize, "{before:?}");

    let wide = Settings { model: LARGER.into(), ..settings(&model, 14_000) };
    running.replace_settings(wide).await;
    let wide = hears(&running, "the larger window", |c| c.window > 14_000).await;
    assert_eq!(wide.window, 100_000 - ANSWER);
    assert_eq!(known(&running, &chat).await, wide);
    running.replace_settings(settings(&model, 14_000)).await;

    can.store(true, std::sync::atomic::Ordering::SeqCst);
    running.app.compact(&chat).await.expect("summarized");
    let after = hears(&running, "the summary", |c| tokens(c, ContextKind::Summary) > 0).await;
    assert!(after.used * 100 <= 80 * after.window, "{after:?}");
    assert_eq!(known(&running, &chat).await.used, after.used);

    running.replace_settings(settings_without_model()).await;
    running
        .wait_for_event("that no model answers", |event| {
            matches!(event, AppEvent::ContextChanged { context: None, .. }).then_some(())
        })
        .await;
    assert_eq!(running.view(&chat).await.context, None);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_it_is_found_out_again_once_the_conversation_is_opened() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = ScriptedModel::responder(|_| Reply::text("Yes.").counting(2_000)).await;
    let running = home.open(settings(&model, 60_000)).await;
    let chat = running.send_and_wait(None, &"words ".repeat(1_000)).await;
    let before = known(&running, &chat).await;
    running.quit().await;
    let running = home.open(settings(&model, 60_000)).await;
    // The control: as long as nobody opens it, nothing is found out.
    let other = running.send_and_wait(None, "one more").await;
    running.wait_for_event("the context of another", |event| told_of(event, &other)).await;
    assert_eq!(running.heard_so_far(|event| told_of(event, &chat)), []);
    assert_eq!(running.view(&chat).await.context, None);
    let again = running.wait_for_event("the context", |event| told_of(event, &chat)).await;
    assert_eq!(again.window, before.window);
    let kinds = |context: &ContextUse| context.parts.iter().map(|p| p.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&again), kinds(&before));
    assert_eq!(known(&running, &chat).await, again);
    assert_eq!(model.requests().len(), 2, "no model is asked for it");
    running.quit().await;
}
