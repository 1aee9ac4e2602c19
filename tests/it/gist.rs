//! Conversations get a title and a summary from a model, in the background, and nobody waits for it.

use app::Pace;
use protocol::settings::{PrivateSettings, SpendingSettings, Titles};
use protocol::{AppEvent, Conversation, ConversationId, Settings};
use serde_json::{Value, json};
use testkit::scripted_model::{last_words, results};
use testkit::{Gate, Reply, ScriptedModel};

use crate::bare_hub::BareHub;
use crate::stage::{Home, Running, asking, keyed, linked};

/// The clocks of these stories: what is calm for 2 s counts after 100 ms.
fn hurried() -> Pace {
    Pace::divided_by(20)
}

/// A model that answers every turn, and tells what conversations are about.
async fn talking(title: &'static str, summary: &'static str) -> ScriptedModel {
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    model.tells(move |request| Reply::text(&told(request, title, summary)));
    model
}

fn told(request: &Value, title: &str, summary: &str) -> String {
    match request["system"][0]["text"].to_string().contains("summary") {
        true => format!("{title}\n\n{summary}"),
        false => title.to_owned(),
    }
}

async fn open(home: &Home, settings: Settings) -> Running {
    home.open_at(settings, hurried()).await
}

/// The row of a conversation once it is as `wanted`.
async fn row(running: &Running, wanted: impl Fn(&Conversation) -> bool) -> Conversation {
    let row = |event: &AppEvent| match event {
        AppEvent::ConversationChanged { conversation } if wanted(conversation) => {
            Some(conversation.clone())
        }
        _ => None,
    };
    running.hears("the row", row).await
}

async fn title_of(running: &Running, id: &ConversationId) -> String {
    running.view(id).await.conversation.title
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_exchange_gives_a_title_and_the_end_a_summary_that_others_can_look_up() {
    let home = keyed(&[]);
    let model = talking("Buying milk for the week", "The user wanted milk. It was noted.").await;
    let running = open(&home, asking(&model)).await;
    let chat = running.say(None, "buy milk and more of it").await;
    let titled = row(&running, |row| row.title == "Buying milk for the week").await;
    assert_eq!((&titled.id, titled.summary), (&chat, None));
    let asked = model.aside(1).await;
    assert!(last_words(&asked).contains("> User: buy milk and more of it\n> Assistant: Noted."));
    assert!(asked["tools"].is_null());
    let spent = running.app.spent_in(&chat).await.expect("told");
    assert_eq!(spent[0].spent.requests, 2, "it is paid for");

    running.app.end_conversation(&chat).await.expect("ended");
    let told = row(&running, |row| row.summary.is_some()).await;
    assert_eq!(told.summary.as_deref(), Some("The user wanted milk. It was noted."));
    assert_eq!(model.asides().len(), 2);
    running.quit().await;
    model.finish();

    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("get_conversation", json!({}))]),
        Reply::text("Milk."),
    ])
    .await;
    let running = open(&home, Settings { titles: Titles::Words, ..asking(&model) }).await;
    running.say(None, "what did we talk about").await;
    let heard = results(&model.request(2).await).remove(0).1;
    assert!(heard.contains("Buying milk for the week"), "{heard}");
    assert!(heard.contains("The user wanted milk. It was noted."), "{heard}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_never_waits_for_a_title_and_what_was_cut_is_asked_again_after_a_restart() {
    let home = keyed(&[]);
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    model.tells(|_| Reply::hang());
    let running = open(&home, asking(&model)).await;
    let chat = running.say(None, "buy milk").await;
    model.aside(1).await;
    running.say(Some(&chat), "and eggs").await;
    model.hung_up(1).await;
    model.aside(2).await;
    assert_eq!(title_of(&running, &chat).await, "buy milk");
    running.quit().await;
    model.tells(|request| Reply::text(&told(request, "Milk and eggs to buy", "")));
    let running = open(&home, asking(&model)).await;
    row(&running, |row| row.title == "Milk and eggs to buy").await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_asked_about_at_a_time_and_a_name_of_the_user_stays() {
    let home = keyed(&[]);
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    let running = open(&home, Settings { titles: Titles::Words, ..asking(&model) }).await;
    let mut others = Vec::new();
    for words in ["one", "two", "three"] {
        others.push(running.say(None, words).await);
    }
    let named = running.say(None, "four").await;
    running.quit().await;
    assert_eq!(model.asides(), [] as [Value; 0], "the control: the setting is off");

    let gate = Gate::closed();
    let held = gate.clone();
    model.tells(move |request| Reply::text(&told(request, "A title", "")).gated(&held));
    let running = open(&home, asking(&model)).await;
    model.aside(1).await;
    running.app.rename_conversation(&named, "Mine").await.expect("renamed");
    assert_eq!(model.asides().len(), 1);
    gate.open();
    model.aside(4).await;
    for id in &others {
        row(&running, |row| row.id == *id && row.title == "A title").await;
    }
    assert_eq!(title_of(&running, &named).await, "Mine");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_model_is_asked_for_the_hub_when_it_is_switched_off_paused_or_too_dear() {
    let home = keyed(&[]);
    let model = talking("A title", "A summary.").await;
    let hub = BareHub::bind().await;
    let running = open(&home, linked(asking(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    line.say("m-1", "milk").await;
    assert_eq!(line.answer().await.kind, "ack");
    assert_eq!(line.answer().await.payload["body"], "Noted.");
    let of_hub = running.only_conversation().await;
    // The answer goes out a moment before its turn has ended.
    running.app.idle(&of_hub).await.expect("a vault is open");
    running.app.end_conversation(&of_hub).await.expect("ended");
    running.quit().await;
    drop(line);

    let spending = SpendingSettings { month_cents: 1, ..SpendingSettings::default() };
    let paused = SpendingSettings { paused: true, ..SpendingSettings::default() };
    let off = Settings { titles: Titles::Words, ..asking(&model) };
    let running = open(&home, off.clone()).await;
    let chat = running.say(None, "buy milk").await;
    for _ in 0..100 {
        running.say(Some(&chat), "more").await;
    }
    running.quit().await;
    for settings in [
        off,
        Settings { spending: paused, ..asking(&model) },
        Settings { spending, ..asking(&model) },
    ] {
        let running = open(&home, settings).await;
        // Ringing the bell leaves nothing that could be under way.
        running.app.end_conversation(&chat).await.expect("ended");
        tokio::time::timeout(hurried().of(std::time::Duration::from_secs(20)), model.aside(1))
            .await
            .expect_err("nobody is asked");
        running.quit().await;
    }
    let running = open(&home, asking(&model)).await;
    row(&running, |row| row.id == chat && row.title == "A title").await;
    assert_eq!(title_of(&running, &of_hub).await.split(',').next(), Some("Inbox"));
    assert_eq!(model.asides().len(), 1, "the control: one is asked about, and it is not the hub's");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_no_title_and_is_not_tried_for_ever() {
    let home = keyed(&[]);
    let model = ScriptedModel::responder(|_| Reply::text("Noted.")).await;
    // A busy machine must not make a deadline of it.
    let pace = Pace::divided_by(200);
    let running = home.open_at(asking(&model), pace).await;
    let chat = running.say(None, "buy milk").await;
    model.aside(3).await;
    let calm = pace.of(std::time::Duration::from_secs(15 * 60));
    tokio::time::timeout(calm, model.aside(4)).await.expect_err("three times are enough");
    assert_eq!(title_of(&running, &chat).await, "buy milk");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_private_by_now_is_not_told_and_neither_is_a_title_made_of_it() {
    const SECRET: &str = "canary-77";
    let home = keyed(&[("Diary/Kanarie.md", "canary-77\n")]);
    let model = ScriptedModel::responder(|request| match results(request).is_empty() {
        true if last_words(request).contains("look") => {
            Reply::calls(vec![("read_file", json!({ "path": "Diary/Kanarie.md" }))])
        }
        true if last_words(request).contains("before") => {
            Reply::calls(vec![("get_conversation", json!({}))])
        }
        true => Reply::text("Noted."),
        false => Reply::text("It says canary-77."),
    })
    .await;
    let secret = |request: &Value| Reply::text(&told(request, "About canary-77", "canary-77."));
    let words = Settings { titles: Titles::Words, ..asking(&model) };
    let running = open(&home, words).await;
    let first = running.say(None, "look").await;
    running.quit().await;

    // The control: without a rule it is told.
    model.tells(secret);
    let running = open(&home, asking(&model)).await;
    assert!(model.aside(1).await.to_string().contains(SECRET));
    row(&running, |row| row.id == first && row.title.contains(SECRET)).await;
    running.app.end_conversation(&first).await.expect("ended");
    row(&running, |row| row.summary.is_some()).await;
    running.quit().await;

    let private = PrivateSettings { never: vec!["Diary/".into()], ..PrivateSettings::default() };
    let before = model.requests().len();
    let running = open(&home, Settings { private, ..asking(&model) }).await;
    running.say(None, "what was before").await;
    let told: String = model.requests()[before..].iter().map(Value::to_string).collect();
    assert!(told.contains("Withheld") && !told.contains(SECRET), "{told}");
    running.say(Some(&first), "go on").await;
    let asked = model.asides().len();
    running.app.end_conversation(&first).await.expect("ended");
    let request = model.aside(asked + 1).await.to_string();
    assert!(!request.contains(SECRET), "{request}");
    running.quit().await;
}
