//! The description that a hub's router reads is written by the model from the user's text, and
//! saved by the user alone.

use std::time::Duration;

use protocol::settings::{CompactionSettings, SpendingSettings};
use protocol::{ErrorCode, Settings, UserError};
use serde_json::Value;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, home_with_key, settings_with_model, settings_without_model,
};

const USER_RULES: &str = "Recipes go to Recipes/, one note each.";

async fn description_error(app: &RunningApp) -> UserError {
    app.app.write_description(USER_RULES).await.expect_err("nothing is written")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_description_is_written_from_the_users_text_alone_paid_for_and_not_saved() {
    let home = home_with_key(&[("Diary/Kanarie.md", "canary-77\n"), ("AGENTS.md", "canary-78\n")]);
    let model = ScriptedModel::start(Vec::new()).await;
    model.answer_utility_requests(|_| {
        Reply::text("Description: Keeps recipes.\nAsk it what to cook.")
    });
    let compaction = CompactionSettings { model: "claude-sonnet-4-5".into(), prompt: "x".into() };
    let running = home.open(Settings { compaction, ..settings_with_model(&model) }).await;
    let before = running.settings().await;
    let written = running.app.write_description(USER_RULES).await.expect("written");
    assert_eq!(written.as_deref(), Some("Keeps recipes. Ask it what to cook."));
    let request = model.wait_for_utility_request(1).await;
    assert_eq!(request["model"], "claude-sonnet-4-5");
    assert_eq!(request["messages"].as_array().map(Vec::len), Some(1));
    let told = request.to_string();
    assert!(told.contains(USER_RULES) && !told.contains("canary"), "{told}");
    assert_eq!(running.settings().await, before);
    let months = running.app.monthly_costs().await.expect("told");
    assert_eq!((months.len(), months[0].spent.requests), (1, 1));
    assert!(months[0].spent.cost > 0, "{months:?}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn it_can_be_stopped_and_closing_the_vault_stops_it() {
    let home = home_with_key(&[]);
    let model = ScriptedModel::start(Vec::new()).await;
    model.answer_utility_requests(|_| Reply::hang());
    let running = home.open(settings_with_model(&model)).await;
    for (asides, ends) in [(1, "stop"), (2, "another"), (4, "closing")] {
        let app = running.app.clone();
        let writing = tokio::spawn(async move { app.write_description(USER_RULES).await });
        model.wait_for_utility_request(asides).await;
        match ends {
            "stop" => running.app.stop_description(),
            "another" => {
                let app = running.app.clone();
                let another = tokio::spawn(async move { app.write_description(USER_RULES).await });
                model.wait_for_utility_request(3).await;
                assert_eq!(writing.await.expect("joined"), Ok(None), "{ends}");
                running.app.stop_description();
                assert_eq!(another.await.expect("joined"), Ok(None));
                continue;
            }
            _ => running.app.open_vault(home.notes.root()).await.expect("opened again"),
        }
        let written = tokio::time::timeout(Duration::from_secs(10), writing).await;
        assert_eq!(written.expect("soon").expect("joined"), Ok(None), "{ends}");
    }
    model.wait_for_disconnects(4).await;
    assert!(running.app.monthly_costs().await.expect("told").is_empty());
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_may_be_asked_it_says_what_to_do_and_asks_nobody() {
    let home = home_with_key(&[]);
    let model = ScriptedModel::start(Vec::new()).await;
    model.answer_utility_requests(|_| Reply::text("Keeps recipes."));
    let spending = |spending| Settings { spending, ..settings_with_model(&model) };
    let running = home.open(settings_without_model()).await;
    assert!(description_error(&running).await.message.contains("Connect one in Settings"));

    let save = |settings: Settings| running.app.save_settings(settings);
    let paused = SpendingSettings { paused: true, ..SpendingSettings::default() };
    save(spending(paused)).await.expect("saved");
    let error = description_error(&running).await;
    assert!(error.code == ErrorCode::Spending && error.message.contains("paused"), "{error}");

    save(settings_with_model(&model)).await.expect("saved");
    let nothing = running.app.write_description(" \n").await.expect_err("nothing to write from");
    assert!(nothing.message.contains("how your notes are organized"), "{nothing}");
    assert_eq!(model.utility_requests(), [] as [Value; 0]);

    let limit = SpendingSettings { month_cents: 1, ..SpendingSettings::default() };
    save(spending(limit)).await.expect("saved");
    let error = loop {
        match running.app.write_description(USER_RULES).await {
            Ok(written) => assert_eq!(written.as_deref(), Some("Keeps recipes."), "the control"),
            Err(error) => break error,
        }
        assert!(model.utility_requests().len() < 200, "no limit");
    };
    assert_eq!(error.code, ErrorCode::Spending);
    assert!(error.message.contains("monthly limit"), "{error}");

    save(settings_with_model(&model)).await.expect("saved");
    model.answer_utility_requests(|_| Reply::text("…"));
    assert!(
        description_error(&running).await.message.contains("didn’t return a usable description")
    );
    running.quit().await;
}
