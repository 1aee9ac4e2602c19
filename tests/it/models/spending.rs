//! The cost of models: limits that hold, and a pause that lets no request leave.

use protocol::chat::conversation::ChatItem;
use protocol::chat::model::Price;
use protocol::settings::SpendingSettings;
use protocol::{ErrorCode, ModelInfo, Settings};
use serde_json::json;
use testkit::scripted_model::{last_message_text, tool_results};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{home_with_key, settings_with_model, turn_failure};

fn settings_with_limits(model: &ScriptedModel, spending: SpendingSettings) -> Settings {
    Settings { spending, ..settings_with_model(model) }
}

/// These settings where a token of the prompt costs so many billionths of a dollar, and an answer nothing.
fn with_price(settings: Settings, input: u32) -> Settings {
    let price = Some(Price { input, ..Price::default() });
    let model = ModelInfo { id: "claude-haiku-4-5".into(), price, ..ModelInfo::default() };
    Settings { models: vec![model], ..settings }
}

/// Each answer of the double uses 100 tokens of prompt, which is $0.0001, and a few more.
#[tokio::test(flavor = "multi_thread")]
async fn costs_are_told_by_turn_and_month_and_the_monthly_limit_holds() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = ScriptedModel::responder(|request| match tool_results(request).is_empty() {
        true if last_message_text(request).contains("Read.") => {
            Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" }))])
        }
        _ => Reply::text("More."),
    })
    .await;
    let limit = SpendingSettings { month_cents: 1, ..SpendingSettings::default() };
    let running = home.open(settings_with_limits(&model, limit.clone())).await;
    let chat = running.send_and_wait(None, "Read.").await;
    let spent = running.app.conversation_costs(&chat).await.expect("told");
    let answer = running.view(&chat).await.items.iter().rev().find_map(|item| match item {
        ChatItem::Assistant { id, .. } => Some(id.clone()),
        _ => None,
    });
    assert_eq!((spent.len(), spent[0].spent.requests, &spent[0].answer), (1, 2, &answer));
    assert!(spent[0].spent.cost > 200_000 && spent[0].spent.unpriced == 0, "{spent:?}");
    let months = running.app.monthly_costs().await.expect("told");
    assert_eq!((months.len(), months[0].spent), (1, spent[0].spent));

    let mut asked = 0;
    let error = loop {
        running.send_and_wait(Some(&chat), "More.").await;
        if let Some(error) = turn_failure(&running.view(&chat).await) {
            break error;
        }
        asked += 1;
        assert!(asked < 100, "no limit");
    };
    assert!(asked > 50, "{asked}");
    assert_eq!(error.code, ErrorCode::Spending);
    assert!(error.message.contains("your monthly limit is $0.0100"), "{error}");
    let requests = model.requests().len();
    // Over a restart it holds still; raised, it lets go.
    running.quit().await;
    let running = home.open(settings_with_limits(&model, limit)).await;
    running.send_and_wait(Some(&chat), "More.").await;
    assert_eq!(model.requests().len(), requests);
    running.app.save_settings(settings_with_model(&model)).await.expect("saved");
    running.send_and_wait(Some(&chat), "More.").await;
    assert_eq!(model.requests().len(), requests + 1);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_monthly_limit_a_model_that_costs_nothing_is_asked() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = ScriptedModel::responder(|_| Reply::text("More.")).await;
    model.answer_utility_requests(|_| Reply::text("Keeps recipes."));
    let limit = SpendingSettings { month_cents: 1, ..SpendingSettings::default() };
    let costing = |input| with_price(settings_with_limits(&model, limit.clone()), input);
    let running = home.open(costing(1_000_000)).await;
    let chat = running.send_and_wait(None, "More.").await;
    running.send_and_wait(Some(&chat), "More.").await;
    let refused = [
        turn_failure(&running.view(&chat).await).expect("a limit"),
        running.app.write_description("By year.").await.expect_err("a limit"),
        running.app.compact(&chat).await.expect_err("a limit"),
    ];
    let is_limit = refused.iter().all(|error| error.code == ErrorCode::Spending);
    assert!(is_limit, "the control: {refused:?}");
    assert_eq!(model.requests().len(), 1);
    let spent = running.app.monthly_costs().await.expect("told")[0].spent.cost;

    running.app.save_settings(costing(0)).await.expect("saved");
    let chat = running.send_and_wait(None, "More.").await;
    assert_eq!(turn_failure(&running.view(&chat).await), None);
    assert_eq!(model.requests().len(), 2);
    let written = running.app.write_description("By year.").await.expect("written");
    assert_eq!(written.as_deref(), Some("Keeps recipes."));
    let short = running.app.compact(&chat).await.expect_err("one exchange is not summarized");
    assert_ne!(short.code, ErrorCode::Spending, "{short}");
    let months = running.app.monthly_costs().await.expect("told");
    assert_eq!((months[0].spent.cost, months[0].spent.unpriced), (spent, 0));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn while_models_are_paused_no_request_leaves_over_a_restart_too() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let model = ScriptedModel::start(vec![Reply::text("Back.")]).await;
    let paused = SpendingSettings { paused: true, ..SpendingSettings::default() };
    let running = home.open(settings_with_limits(&model, paused)).await;
    let chat = running.send_and_wait(None, "Hello?").await;
    let error = turn_failure(&running.view(&chat).await).expect("it says so");
    assert!(error.message.contains("Resume them"), "{error}");
    assert!(!running.app.test_provider().await.ok);
    running.quit().await;

    let running = home.start_with_stored_settings().await;
    running.app.open_vault(home.notes.root()).await.expect("opened");
    running.send_and_wait(Some(&chat), "Hello?").await;
    assert!(running.settings().await.spending.paused);
    assert_eq!(model.requests(), [] as [serde_json::Value; 0]);
    running.app.save_settings(settings_with_model(&model)).await.expect("saved");
    running.send_and_wait(Some(&chat), "Hello?").await;
    assert_eq!(model.requests().len(), 1);
    running.quit().await;
    model.finish();
}
