//! Conversations get a title and a summary from a model, in the background, and nobody waits for it.

use app::TimeScale;
use protocol::settings::{PrivateSettings, SpendingSettings, TitleSource};
use protocol::{AppEvent, Conversation, ConversationId, Settings};
use serde_json::{Value, json};
use testkit::scripted_model::{last_message_text, tool_results};
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model, with_hub,
};
use crate::hub::inbox::change_database;

/// The clocks of these stories: what is calm for 2 s counts after 100 ms.
fn fast_time_scale() -> TimeScale {
    TimeScale::divided_by(20)
}

/// A model that answers every turn, and tells what conversations are about.
async fn start_model(title: &'static str, summary: &'static str) -> ScriptedModel {
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    model.answer_utility_requests(move |request| {
        Reply::text(&utility_answer(request, title, summary))
    });
    model
}

fn utility_answer(request: &Value, title: &str, summary: &str) -> String {
    match request["system"][0]["text"].to_string().contains("summary") {
        true => format!("{title}\n\n{summary}"),
        false => title.to_owned(),
    }
}

async fn open(test_home: &TestHome, settings: Settings) -> RunningApp {
    test_home.open_with_time_scale(settings, fast_time_scale()).await
}

/// The row of a conversation once it is as `wanted`.
async fn wait_for_row(app: &RunningApp, wanted: impl Fn(&Conversation) -> bool) -> Conversation {
    let row = |event: &AppEvent| match event {
        AppEvent::ConversationChanged { conversation } if wanted(conversation) => {
            Some(conversation.clone())
        }
        _ => None,
    };
    app.wait_for_event("the row", row).await
}

async fn title_of(app: &RunningApp, id: &ConversationId) -> String {
    app.view(id).await.conversation.title
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_exchange_gives_a_title_and_the_end_a_summary_that_others_can_look_up() {
    let home = home_with_key(&[]);
    let model =
        start_model("Buying milk for the week", "The user wanted milk. It was noted.").await;
    let running = open(&home, settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "buy milk and more of it").await;
    let titled = wait_for_row(&running, |row| row.title == "Buying milk for the week").await;
    assert_eq!((&titled.id, titled.summary), (&chat, None));
    let asked = model.wait_for_utility_request(1).await;
    assert!(
        last_message_text(&asked).contains("> User: buy milk and more of it\n> Assistant: Noted.")
    );
    assert!(asked["tools"].is_null());
    let spent = running.app.conversation_costs(&chat).await.expect("told");
    assert_eq!(spent[0].spent.requests, 2, "it is paid for");

    running.app.end_conversation(&chat).await.expect("ended");
    let told = wait_for_row(&running, |row| row.summary.is_some()).await;
    assert_eq!(told.summary.as_deref(), Some("The user wanted milk. It was noted."));
    assert_eq!(model.utility_requests().len(), 2);
    running.quit().await;
    model.finish();

    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("get_conversation", json!({}))]),
        Reply::text("Milk."),
    ])
    .await;
    let running =
        open(&home, Settings { titles: TitleSource::Words, ..settings_with_model(&model) }).await;
    running.send_and_wait(None, "what did we talk about").await;
    let heard = tool_results(&model.wait_for_request(2).await).remove(0).1;
    assert!(heard.contains("Buying milk for the week"), "{heard}");
    assert!(heard.contains("The user wanted milk. It was noted."), "{heard}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_never_waits_for_a_title_and_a_cut_request_is_repeated_after_a_restart() {
    let home = home_with_key(&[]);
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    model.answer_utility_requests(|_| Reply::hang());
    let running = open(&home, settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "buy milk").await;
    model.wait_for_utility_request(1).await;
    running.send_and_wait(Some(&chat), "and eggs").await;
    model.wait_for_disconnects(1).await;
    model.wait_for_utility_request(2).await;
    assert_eq!(title_of(&running, &chat).await, "buy milk");
    running.quit().await;
    model.answer_utility_requests(|request| {
        Reply::text(&utility_answer(request, "Milk and eggs to buy", ""))
    });
    let running = open(&home, settings_with_model(&model)).await;
    wait_for_row(&running, |row| row.title == "Milk and eggs to buy").await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_asked_about_at_a_time_and_a_name_of_the_user_stays() {
    let home = home_with_key(&[]);
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    let running =
        open(&home, Settings { titles: TitleSource::Words, ..settings_with_model(&model) }).await;
    let mut others = Vec::new();
    for words in ["one", "two", "three"] {
        others.push(running.send_and_wait(None, words).await);
    }
    let named = running.send_and_wait(None, "four").await;
    running.quit().await;
    assert_eq!(model.utility_requests(), [] as [Value; 0], "the control: the setting is off");

    let gate = Gate::closed();
    let held = gate.clone();
    model.answer_utility_requests(move |request| {
        Reply::text(&utility_answer(request, "A title", "")).gated(&held)
    });
    let running = open(&home, settings_with_model(&model)).await;
    model.wait_for_utility_request(1).await;
    running.app.rename_conversation(&named, "Mine").await.expect("renamed");
    assert_eq!(model.utility_requests().len(), 1);
    gate.open();
    model.wait_for_utility_request(4).await;
    for id in &others {
        wait_for_row(&running, |row| row.id == *id && row.title == "A title").await;
    }
    assert_eq!(title_of(&running, &named).await, "Mine");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_model_is_asked_for_the_hub_when_it_is_switched_off_paused_or_too_dear() {
    let home = home_with_key(&[]);
    let model = start_model("A title", "A summary.").await;
    let hub = RawHub::bind().await;
    let running = open(&home, with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "milk").await;
    assert_eq!(line.next_response().await.kind, "ack");
    assert_eq!(line.next_response().await.payload["body"], "Noted.");
    let of_hub = running.only_conversation().await;
    // The answer goes out a moment before its turn has ended.
    running.app.wait_until_idle(&of_hub).await.expect("a vault is open");
    running.app.end_conversation(&of_hub).await.expect("ended");
    running.quit().await;
    drop(line);

    let spending = SpendingSettings { month_cents: 1, ..SpendingSettings::default() };
    let paused = SpendingSettings { paused: true, ..SpendingSettings::default() };
    let off = Settings { titles: TitleSource::Words, ..settings_with_model(&model) };
    let running = open(&home, off.clone()).await;
    let chat = running.send_and_wait(None, "buy milk").await;
    for _ in 0..100 {
        running.send_and_wait(Some(&chat), "more").await;
    }
    running.quit().await;
    for settings in [
        off,
        Settings { spending: paused, ..settings_with_model(&model) },
        Settings { spending, ..settings_with_model(&model) },
    ] {
        let running = open(&home, settings).await;
        // Ending a conversation wakes the task for titles: one would be asked for now.
        running.app.end_conversation(&chat).await.expect("ended");
        tokio::time::timeout(
            fast_time_scale().scale(std::time::Duration::from_secs(20)),
            model.wait_for_utility_request(1),
        )
        .await
        .expect_err("nobody is asked");
        running.quit().await;
    }
    let running = open(&home, settings_with_model(&model)).await;
    wait_for_row(&running, |row| row.id == chat && row.title == "A title").await;
    assert_eq!(title_of(&running, &of_hub).await.split(',').next(), Some("Inbox"));
    assert_eq!(
        model.utility_requests().len(),
        1,
        "the control: one is asked about, and it is not the hub's"
    );
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_held_without_a_model_is_not_sent_to_one_that_is_connected_later() {
    let home = home_with_key(&[("Alpha.md", "the canary sings\n")]);
    let model = start_model("A title", "A summary.").await;
    let running = open(&home, settings_without_model()).await;
    let command = running.send_and_wait(None, "find canary").await;
    let words = running.send_and_wait(None, "where is the canary").await;
    running.replace_settings(settings_with_model(&model)).await;
    for id in [&command, &words] {
        // Ending a conversation wakes the task for titles: one would be asked for now.
        running.app.end_conversation(id).await.expect("ended");
    }
    tokio::time::timeout(
        fast_time_scale().scale(std::time::Duration::from_secs(20)),
        model.wait_for_utility_request(1),
    )
    .await
    .expect_err("nobody is asked");

    // The control: one that the model answers is told of, and no other with it.
    let answered = running.send_and_wait(None, "buy milk").await;
    wait_for_row(&running, |row| row.id == answered && row.title == "A title").await;
    let asked = model.utility_requests();
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].to_string().contains("canary"), "{}", asked[0]);
    assert_eq!(title_of(&running, &command).await, "find canary");
    assert!(!Value::from(model.requests()).to_string().contains("canary"));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_no_title_and_is_not_tried_for_ever() {
    let home = home_with_key(&[]);
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    // A busy machine must not make a deadline of it.
    let pace = TimeScale::divided_by(200);
    let running = home.open_with_time_scale(settings_with_model(&model), pace).await;
    let chat = running.send_and_wait(None, "buy milk").await;
    model.wait_for_utility_request(3).await;
    let calm = pace.scale(std::time::Duration::from_secs(15 * 60));
    tokio::time::timeout(calm, model.wait_for_utility_request(4))
        .await
        .expect_err("three times are enough");
    assert_eq!(title_of(&running, &chat).await, "buy milk");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_title_that_could_not_be_stored_is_stored_later_and_not_paid_for_again() {
    let home = home_with_key(&[]);
    let model = start_model("Buying milk", "The user wanted milk.").await;
    let pace = TimeScale::divided_by(200);
    let running = home.open_with_time_scale(settings_with_model(&model), pace).await;
    let refusal = "CREATE TRIGGER no_title BEFORE UPDATE OF title ON conversation
         BEGIN SELECT RAISE(ABORT, 'full'); END";
    change_database(&home, refusal.to_owned()).await;
    let chat = running.send_and_wait(None, "buy milk").await;
    model.wait_for_utility_request(1).await;
    let calm = pace.scale(std::time::Duration::from_secs(15 * 60));
    tokio::time::timeout(calm, model.wait_for_utility_request(2)).await.expect_err("asked once");
    // The control: nothing of it is stored.
    assert_eq!(title_of(&running, &chat).await, "buy milk");
    let requests =
        async || running.app.conversation_costs(&chat).await.expect("told")[0].spent.requests;
    assert_eq!(requests().await, 1, "the answer");
    change_database(&home, "DROP TRIGGER no_title".to_owned()).await;
    wait_for_row(&running, |row| row.title == "Buying milk").await;
    assert_eq!(requests().await, 2, "it is paid for");
    assert_eq!(model.utility_requests().len(), 1);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_private_by_now_is_not_told_and_neither_is_a_title_made_of_it() {
    const SECRET: &str = "canary-77";
    let home = home_with_key(&[("Diary/Kanarie.md", "canary-77\n")]);
    let model = ScriptedModel::responder(|request| match tool_results(request).is_empty() {
        true if last_message_text(request).contains("look") => {
            Reply::calls(vec![("read_file", json!({ "path": "Diary/Kanarie.md" }))])
        }
        true if last_message_text(request).contains("before") => {
            Reply::calls(vec![("get_conversation", json!({}))])
        }
        true => Reply::text("Noted."),
        false => Reply::text("It says canary-77."),
    })
    .await;
    let secret =
        |request: &Value| Reply::text(&utility_answer(request, "About canary-77", "canary-77."));
    let words = Settings { titles: TitleSource::Words, ..settings_with_model(&model) };
    let running = open(&home, words).await;
    let first = running.send_and_wait(None, "look").await;
    running.quit().await;

    // The control: without a rule it is told.
    model.answer_utility_requests(secret);
    let running = open(&home, settings_with_model(&model)).await;
    assert!(model.wait_for_utility_request(1).await.to_string().contains(SECRET));
    wait_for_row(&running, |row| row.id == first && row.title.contains(SECRET)).await;
    running.app.end_conversation(&first).await.expect("ended");
    wait_for_row(&running, |row| row.summary.is_some()).await;
    running.quit().await;

    let private = PrivateSettings { never: vec!["Diary/".into()], ..PrivateSettings::default() };
    let before = model.requests().len();
    let running = open(&home, Settings { private, ..settings_with_model(&model) }).await;
    running.send_and_wait(None, "what was before").await;
    let told: String = model.requests()[before..].iter().map(Value::to_string).collect();
    assert!(told.contains("Withheld") && !told.contains(SECRET), "{told}");
    running.send_and_wait(Some(&first), "go on").await;
    let asked = model.utility_requests().len();
    running.app.end_conversation(&first).await.expect("ended");
    let request = model.wait_for_utility_request(asked + 1).await.to_string();
    assert!(!request.contains(SECRET), "{request}");
    running.quit().await;
}
