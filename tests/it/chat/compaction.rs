//! Long conversations: earlier messages are summarized, over real HTTP and real SQLite.

use std::time::{Duration, Instant};

use protocol::chat::conversation::ChatItem;
use protocol::chat::model::{ModelInfo, ModelParameters, Price};
use protocol::request::RegenerateRequest;
use protocol::settings::{CompactionSettings, PrivateSettings, SpendingSettings, TitleSource};
use protocol::{ConversationId, ErrorCode, Settings, TurnStatus};
use serde_json::{Value, json};
use testkit::scripted_model::last_message_text;
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};
use crate::models::prompt_caching::{CACHE_CONTROL, cacheable_prefix};

/// The model of these stories, and the one that summarizes.
const MODEL: &str = "claude-haiku-4-5";
const SUMMARY_MODEL: &str = "claude-cheap";

/// From Stop to the end.
const MAX_STOP_DELAY: Duration = Duration::from_millis(300);

/// A small window, and another model for summaries.
fn settings(model: &ScriptedModel) -> Settings {
    let known = |id: &str, window| ModelInfo {
        id: id.into(),
        window: Some(window),
        ..ModelInfo::default()
    };
    let parameters = ModelParameters {
        model: MODEL.into(),
        max_tokens: Some(1_000),
        ..ModelParameters::default()
    };
    let compaction =
        CompactionSettings { model: SUMMARY_MODEL.into(), prompt: "Mind the dates.".into() };
    Settings {
        models: vec![known(MODEL, 14_000), known(SUMMARY_MODEL, 50_000)],
        parameters: vec![parameters],
        compaction,
        ..settings_with_model(model)
    }
}

fn is_summary_request(request: &Value) -> bool {
    request["model"] == SUMMARY_MODEL
}

/// The text of an exchange; one line of it is as long.
fn exchange_text(n: usize) -> String {
    format!("Number {n}. {}", "and so on ".repeat(50))
}

/// Answers with a text of its own, and each request for a summary with `summary`.
async fn start_model(summary: impl Fn(&Value) -> Reply + Send + 'static) -> ScriptedModel {
    ScriptedModel::responder(move |request| match is_summary_request(request) {
        true => summary(request),
        false => Reply::text(&exchange_text(0).repeat(2)),
    })
    .await
}

/// Talks until a summary was asked for; how many exchanges that took.
async fn chat_until_compacted(
    app: &RunningApp,
    model: &ScriptedModel,
    chat: &mut Option<ConversationId>,
) -> usize {
    let before = model.requests().iter().filter(|request| is_summary_request(request)).count();
    for n in 1..60 {
        let conversation = app.send_and_wait(chat.as_ref(), &exchange_text(n)).await;
        app.app.wait_for_idle_work(&conversation).await.expect("open");
        *chat = Some(conversation);
        if model.requests().iter().filter(|request| is_summary_request(request)).count() > before {
            return n;
        }
    }
    panic!("no summary after {} requests", model.requests().len())
}

fn find_summary(items: &[ChatItem]) -> Option<(usize, &str)> {
    items.iter().enumerate().find_map(|(at, item)| match item {
        ChatItem::Summary { text, .. } => Some((at, text.as_str())),
        _ => None,
    })
}

/// The text of the first message of a request.
fn first_message_text(request: &Value) -> String {
    request["messages"][0]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

fn answer_requests(model: &ScriptedModel) -> Vec<(Value, String)> {
    let all = model.requests().into_iter().zip(model.request_bodies());
    all.filter(|(request, _)| !is_summary_request(request)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn between_turns_messages_are_summarized_and_each_request_begins_as_the_one_before() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = start_model(|_| Reply::text("They counted to some number.")).await;
    let running = home.open(settings(&model)).await;
    let mut chat = None;
    let count = chat_until_compacted(&running, &model, &mut chat).await;
    assert!(count > 10, "{count}");
    let chat = chat.expect("a conversation");
    let asked = model.requests().into_iter().find(is_summary_request).expect("asked");
    assert!(asked["tools"].is_null());
    assert!(asked["system"][0]["text"].as_str().expect("text").ends_with("Mind the dates."));
    assert!(last_message_text(&asked).contains("> User: Number 1."));
    assert!(!last_message_text(&asked).contains(&format!("> User: Number {}.", count - 5)));

    let view = running.view(&chat).await;
    let (at, text) = find_summary(&view.items).expect("a line");
    assert!(text.contains("Summary:\nThey counted to some number."), "{text}");
    assert_eq!(view.items.len() - at - 1, 12, "six exchanges stay");
    assert_eq!(view.items.len(), 2 * count + 1, "nothing is gone");
    let spent = running.app.conversation_costs(&chat).await.expect("told");
    assert_eq!(spent.last().expect("a turn").spent.requests, 2);

    let told = answer_requests(&model).len();
    running.send_and_wait(Some(&chat), "Go on.").await;
    running.quit().await;
    let running = home.open(settings(&model)).await;
    running.send_and_wait(Some(&chat), "And on.").await;
    running.quit().await;
    let answers = answer_requests(&model);
    assert!(first_message_text(&answers[told].0).starts_with("<earlier_messages>"));
    for (n, pair) in answers.windows(2).enumerate() {
        let same = pair[1].1.replace(CACHE_CONTROL, "").starts_with(&cacheable_prefix(&pair[0].1));
        assert_eq!(same, n + 1 != told, "request {n}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn before_a_request_that_is_too_long_earlier_messages_are_summarized() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = start_model(|_| Reply::text("They counted.")).await;
    let running = home.open(settings(&model)).await;
    let chat = running.send_and_wait(None, &exchange_text(1)).await;
    for n in 2..9 {
        running.send_and_wait(Some(&chat), &exchange_text(n)).await;
    }
    assert!(!model.requests().iter().any(is_summary_request));
    running.send_and_wait(Some(&chat), &"long ".repeat(13_200)).await;
    let requests = model.requests();
    let asked = requests.iter().position(is_summary_request).expect("asked");
    assert_eq!(asked, 8, "before the request of the long message");
    assert!(first_message_text(&requests[9]).starts_with("<earlier_messages>"));
    let view = running.view(&chat).await;
    let (at, _) = find_summary(&view.items).expect("a line");
    assert_eq!(at, 4, "six exchanges and the open one stay");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_an_empty_a_cut_and_a_longer_summary_change_nothing() {
    for kind in ["failed", "empty", "cut", "severed", "longer"] {
        let home = home_with_key(&[("Alpha.md", "one\n")]);
        let model = start_model(move |_| match kind {
            "failed" => Reply::status(400, "not today"),
            "empty" => Reply::text("  "),
            "cut" => Reply::text("They").stopping_with("max_tokens"),
            "severed" => Reply::text("They counted, and then they").cut_after(5),
            _ => Reply::text(&"They counted. ".repeat(6_000)),
        })
        .await;
        let running = home.open(settings(&model)).await;
        let mut chat = None;
        chat_until_compacted(&running, &model, &mut chat).await;
        let chat = chat.expect("a conversation");
        running.send_and_wait(Some(&chat), "Go on.").await;
        let view = running.view(&chat).await;
        assert_eq!(find_summary(&view.items), None, "{kind}");
        running.quit().await;
        let answers = answer_requests(&model);
        for pair in answers.windows(2) {
            assert!(
                pair[1].1.replace(CACHE_CONTROL, "").starts_with(&cacheable_prefix(&pair[0].1)),
                "{kind}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_does_not_wait_for_a_summary_and_stop_ends_one_at_once() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let gate = Gate::closed();
    let held = gate.clone();
    let model =
        start_model(move |_| Reply::text("They counted for a long time.").gated(&held)).await;
    let running = home.open(settings(&model)).await;
    let chat = running.send_and_wait(None, &exchange_text(1)).await;
    let mut n = 1;
    while !model.requests().iter().any(is_summary_request) {
        n += 1;
        assert!(n < 60, "no summary");
        running.send_and_wait(Some(&chat), &exchange_text(n)).await;
        // A request of an idle task is sent before the next message, or not at all.
        let rested = running.app.wait_for_idle_work(&chat);
        let _ = tokio::time::timeout(Duration::from_millis(200), rested).await;
    }
    gate.wait_until_reached(1).await;
    running.send_and_wait(Some(&chat), "Now?").await;
    model.wait_for_disconnects(1).await;
    assert_eq!(find_summary(&running.view(&chat).await.items), None);

    let asked = model.requests().len();
    let long = running.send(Some(&chat), &"long ".repeat(3_000), None).await.expect("taken");
    model.wait_for_request(asked + 1).await;
    while !model.requests().last().is_some_and(is_summary_request) {
        model.wait_for_request(model.requests().len() + 1).await;
    }
    let stopped = Instant::now();
    running.app.stop(&long).await.expect("stopped");
    running.app.wait_until_idle(&long).await.expect("idle");
    assert!(stopped.elapsed() < MAX_STOP_DELAY, "{:?}", stopped.elapsed());
    let view = running.view(&chat).await;
    let cancelled =
        |item: &ChatItem| matches!(item, ChatItem::Ended { status: TurnStatus::Cancelled, .. });
    assert!(view.items.last().is_some_and(cancelled), "{:?}", view.items.last());
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_paused_or_over_the_monthly_limit_nothing_is_summarized() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = start_model(|_| Reply::text("They counted.")).await;
    let running = home.open(settings(&model)).await;
    let chat = running.send_and_wait(None, &exchange_text(1)).await;
    for n in 2..10 {
        running.send_and_wait(Some(&chat), &exchange_text(n)).await;
    }
    let asked = model.requests().len();
    let paused = SpendingSettings { paused: true, ..SpendingSettings::default() };
    let spending = Settings { spending: paused, ..settings(&model) };
    running.app.save_settings(spending).await.expect("saved");
    let refused = running.app.compact(&chat).await.expect_err("paused");
    assert!(refused.message.contains("nothing has changed"), "{refused}");
    assert_eq!(model.requests().len(), asked);
    running.app.save_settings(settings(&model)).await.expect("saved");
    running.app.compact(&chat).await.expect("summarized");
    assert_eq!(model.requests().len(), asked + 1);
    assert!(find_summary(&running.view(&chat).await.items).is_some());
    let refused = running.app.compact(&chat).await.expect_err("nothing new");
    assert!(refused.message.contains("six exchanges"), "{refused}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_the_last_answer_does_not_keep_it_from_being_summarized() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = start_model(|_| Reply::text("They counted.")).await;
    let mut limited = settings(&model);
    limited.spending.turn_cents = 1;
    let Some(answering) = limited.models.first_mut() else { panic!("no model") };
    answering.price = Some(Price { input: 1_000_000, ..Price::default() });
    let running = home.open(limited.clone()).await;
    let chat = running.send_and_wait(None, &exchange_text(1)).await;
    for n in 2..10 {
        running.send_and_wait(Some(&chat), &exchange_text(n)).await;
    }
    let costs = running.app.conversation_costs(&chat).await.expect("told");
    assert!(costs.iter().all(|turn| turn.spent.cost > 10_000_000), "each costs more than a cent");
    running.app.compact(&chat).await.expect("summarized");
    assert!(find_summary(&running.view(&chat).await.items).is_some());
    // The control: the month's limit counts.
    limited.spending.month_cents = 1;
    running.app.save_settings(limited).await.expect("saved");
    let refused = running.app.compact(&chat).await.expect_err("the limit is reached");
    assert_eq!(refused.code, ErrorCode::Spending, "{refused}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_monthly_limit_holds_for_summaries_where_answers_have_no_known_price() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = start_model(|_| Reply::text("They counted.")).await;
    let mut limited = settings(&model);
    (limited.model, limited.titles) = ("unpriced".into(), TitleSource::Words);
    limited.spending.month_cents = 1;
    let [answering, summarizing] = limited.models.as_mut_slice() else { panic!("two models") };
    answering.id = "unpriced".into();
    summarizing.price = Some(Price { input: 1_000_000, ..Price::default() });
    let running = home.open(limited.clone()).await;
    let chat = running.send_and_wait(None, &exchange_text(1)).await;
    let talk = async |numbers: std::ops::Range<usize>| {
        for n in numbers {
            running.send_and_wait(Some(&chat), &exchange_text(n)).await;
        }
    };
    talk(2..10).await;
    running.app.compact(&chat).await.expect("within the limit");
    talk(10..13).await;
    let summaries = || model.requests().iter().filter(|asked| is_summary_request(asked)).count();
    let refused = running.app.compact(&chat).await.expect_err("the limit is reached");
    assert_eq!(refused.code, ErrorCode::Spending, "{refused}");
    assert_eq!(summaries(), 1);
    // The control: without the limit it is summarized again.
    limited.spending.month_cents = 0;
    running.app.save_settings(limited).await.expect("saved");
    running.app.compact(&chat).await.expect("summarized");
    assert_eq!(summaries(), 2);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_begins_before_it_hears_the_messages_themselves() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = start_model(|_| Reply::text("They counted.")).await;
    let running = home.open(settings(&model)).await;
    let chat = running.send_and_wait(None, &exchange_text(1)).await;
    for n in 2..10 {
        running.send_and_wait(Some(&chat), &exchange_text(n)).await;
    }
    running.app.compact(&chat).await.expect("summarized");
    let items = running.view(&chat).await.items;
    let message = |n: usize| match &items[n] {
        ChatItem::User { id, .. } => id.clone(),
        other => panic!("{other:?}"),
    };
    // Two stand before each; the line stands behind the third exchange.
    for (at, told) in [(2, false), (9, true)] {
        let text = Some("In other words.".to_owned());
        let edited = RegenerateRequest { message: message(at), text, old: None };
        running.app.regenerate(&edited).await.expect("begun");
        running.app.wait_until_idle(&chat).await.expect("idle");
        let last = answer_requests(&model).pop().expect("a request").0;
        assert_eq!(first_message_text(&last).starts_with("<earlier_messages>"), told, "{at}");
        let shown = running.view(&chat).await.items;
        assert_eq!(find_summary(&shown).is_some(), told);
        running.app.show_variant(&message_id_at(&shown, at), 1).await.expect("shown");
    }
    running.quit().await;
}

fn message_id_at(items: &[ChatItem], at: usize) -> protocol::MessageId {
    match &items[at] {
        ChatItem::User { id, .. } => id.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_of_a_note_that_is_private_now_is_withheld_and_made_again_without_it() {
    let home = home_with_key(&[("Diary/Day.md", "the canary-4711 sang\n")]);
    let model = ScriptedModel::responder(|request| {
        let all = request.to_string();
        if is_summary_request(request) {
            let knows = all.contains("canary-4711");
            return Reply::text(if knows { "Heard of canary-4711." } else { "Heard of nothing." });
        }
        match last_message_text(request).contains("Read it.")
            && testkit::scripted_model::tool_results(request).is_empty()
        {
            true => Reply::calls(vec![("read_file", json!({ "path": "Diary/Day.md" }))]),
            false => Reply::text("Yes."),
        }
    })
    .await;
    let running = home.open(settings(&model)).await;
    let chat = running.send_and_wait(None, "Read it.").await;
    for n in 1..9 {
        running.send_and_wait(Some(&chat), &exchange_text(n)).await;
    }
    running.app.compact(&chat).await.expect("summarized");
    running.send_and_wait(Some(&chat), "Go on.").await;
    let heard = answer_requests(&model).pop().expect("a request").1;
    assert!(heard.contains("Heard of canary-4711."), "the control: it is heard");

    let never = PrivateSettings { never: vec!["Diary/".into()], ..PrivateSettings::default() };
    let private = Settings { private: never, ..settings(&model) };
    running.app.save_settings(private.clone()).await.expect("saved");
    let before = model.requests().len();
    running.send_and_wait(Some(&chat), "Go on.").await;
    let heard = model.request_bodies()[before..].concat();
    assert!(!heard.contains("canary-4711") && !heard.contains("earlier_messages"), "{heard}");
    running.app.compact(&chat).await.expect("summarized again");
    running.send_and_wait(Some(&chat), "Go on.").await;
    running.quit().await;
    let running = home.open(private).await;
    running.send_and_wait(Some(&chat), "Go on.").await;
    let heard = model.request_bodies()[before..].concat();
    assert!(!heard.contains("canary-4711"), "{heard}");
    assert!(
        first_message_text(&answer_requests(&model).pop().expect("a request").0)
            .contains("Heard of nothing.")
    );
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_around_the_row_of_a_summary_the_history_is_one_that_the_model_takes() {
    for (point, stored) in [
        ("llm.compaction.before", false),
        ("store.store_compaction.before", false),
        ("store.store_compaction.after", true),
        ("llm.compaction.after", true),
    ] {
        let model = ScriptedModel::responder(|_| Reply::text("They counted.")).await;
        let home = TestHome::new(&[("Alpha.md", "one\n")]).with_key(testkit::scripted_model::KEY);
        let env = [
            ("ANTHROPIC_BASE_URL", model.base_url()),
            ("ANTHROPIC_API_KEY", testkit::scripted_model::KEY.to_owned()),
        ];
        home.run_story_killed_at(point, "summarize", &env).await;
        let running = home.open(settings_with_model(&model)).await;
        let chat = running.only_conversation().await;
        let items = running.view(&chat).await.items;
        assert_eq!(find_summary(&items).is_some(), stored, "{point}");
        running.send_and_wait(Some(&chat), "Go on.").await;
        let last = model.requests().pop().expect("a request");
        assert_eq!(first_message_text(&last).starts_with("<earlier_messages>"), stored, "{point}");
        if !stored {
            running.app.compact(&chat).await.expect("summarized after all");
        }
        running.quit().await;
        model.finish();
    }
}
