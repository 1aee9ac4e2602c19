//! Another hub than before, or the same one with its memory gone: answers and tokens are for the hub
//! that they were made for, and no message is taken for one of an earlier hub.

use std::net::{Ipv4Addr, SocketAddr};

use hub::Token;
use hub_server::LocalHub;
use protocol::hub::approval::ApprovalDecision;
use protocol::request::KeyStorage;
use protocol::{AppEvent, HubState, Settings};
use secrecy::SecretString;
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use testkit::{Gate, Reply, ScriptedModel};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::harness::raw_hub::{RawHub, RawHubLink};
use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model, with_hub,
};

const INBOX: &str = "inbox/Inbox.md";
const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n\nThe first line.\n")];

/// The next answer of a link: its message, its kind and its words.
async fn next(line: &mut RawHubLink) -> (String, String, String) {
    let answer = line.next_response().await;
    let words = answer.payload["body"].as_str().unwrap_or_default().to_owned();
    (answer.message, answer.kind, words)
}

fn answer(message: &str, kind: &str, words: &str) -> (String, String, String) {
    (message.to_owned(), kind.to_owned(), words.to_owned())
}

async fn change_database(home: &TestHome, statements: &[&'static str]) {
    let options = SqliteConnectOptions::new().filename(home.database_path());
    let mut database = SqliteConnection::connect_with(&options).await.expect("a database");
    for statement in statements {
        sqlx::query(*statement).execute(&mut database).await.expect(statement);
    }
    database.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_for_one_hub_wait_for_it_while_another_is_linked() {
    let gate = Gate::closed();
    let replies = vec![
        Reply::text("It leaves at nine.").gated(&gate),
        Reply::text("It is in the harbour."),
        Reply::text("At ten."),
    ];
    let model = ScriptedModel::start(replies).await;
    let (first, second) = (RawHub::bind().await, RawHub::bind().await);
    let home = home_with_key(&NOTES);
    let settings = settings_with_model(&model);
    let running = home.open(with_hub(settings.clone(), &first.url())).await;
    let mut line = first.accept().await;
    line.deliver("m-1", "when does the ferry leave?").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    gate.wait_until_reached(1).await;
    running.app.save_settings(with_hub(settings.clone(), &second.url())).await.expect("saved");
    assert_eq!(line.remaining_responses().await, []);
    let mut line = second.accept().await;
    gate.open();
    running.app.wait_until_idle(&running.only_conversation().await).await.expect("idle");
    // The other hub counts its messages as the first one does.
    for (id, text, words) in
        [("m-1", "where is it?", "It is in the harbour."), ("m-2", "and then?", "At ten.")]
    {
        line.deliver(id, text).await;
        assert_eq!(next(&mut line).await, answer(id, "ack", ""));
        for words in [words, "Saved to inbox/Inbox.md."] {
            assert_eq!(next(&mut line).await, answer(id, "notification", words));
        }
    }
    // The words of one hub are in no request about the other's messages.
    let sent = model.request_bodies();
    assert!(sent[0].contains("ferry") && !sent[1].contains("ferry") && !sent[2].contains("ferry"));
    assert!(sent[2].contains("where is it?"), "the control: the hub's own message");
    running.app.save_settings(with_hub(settings, &first.url())).await.expect("saved");
    assert_eq!(line.remaining_responses().await, []);
    let mut line = first.accept().await;
    assert_eq!(next(&mut line).await, answer("m-1", "notification", "It leaves at nine."));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_one_hub_is_not_answered_by_another() {
    let ask = json!({ "message": "Which ferry?", "is_question": true });
    let ask = Reply::calls(vec![("send_message", ask)]);
    let model = ScriptedModel::start(vec![ask, Reply::text("At ten.")]).await;
    let (first, second) = (RawHub::bind().await, RawHub::bind().await);
    let home = home_with_key(&NOTES);
    let settings = settings_with_model(&model);
    let running = home.open(with_hub(settings.clone(), &first.url())).await;
    let mut line = first.accept().await;
    line.deliver("m-1", "book the ferry").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    assert_eq!(next(&mut line).await, answer("m-1", "notification", "Which ferry?"));
    let asked = running.only_conversation().await;
    running.app.save_settings(with_hub(settings, &second.url())).await.expect("saved");
    let mut line = second.accept().await;
    line.deliver("m-1", "the blue one?").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    assert_eq!(next(&mut line).await, answer("m-1", "notification", "At ten."));
    let sent = model.request_bodies();
    assert!(sent[1].contains("the blue one?") && !sent[1].contains("erry"), "{}", sent[1]);
    let still = running.view(&asked).await.question;
    assert_eq!(still.map(|question| question.text).as_deref(), Some("Which ferry?"));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_answer_is_not_sent_to_another_hub() {
    let read = Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" }))]);
    let model = ScriptedModel::start(vec![read, Reply::text("The first line.")]).await;
    let (first, second) = (RawHub::bind().await, RawHub::bind().await);
    let home = home_with_key(&NOTES);
    let settings = settings_with_model(&model);
    let running = home.open(with_hub(settings.clone(), &first.url())).await;
    let mut line = first.accept().await;
    line.deliver("m-1", "what does Alpha say?").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    next(&mut line).await;
    let conversation = running.only_conversation().await;
    let held = running.view(&conversation).await.held;
    running.app.save_settings(with_hub(settings.clone(), &second.url())).await.expect("saved");
    let _second = second.accept().await;
    let send = async || running.app.decide_approval(held[0].number, ApprovalDecision::Send).await;
    let refused = send().await.expect_err("it is for the first");
    let address = first.url().replace("ws://", "");
    assert!(refused.message.contains(&format!("for the hub at {address}")), "{refused}");
    assert_eq!(running.view(&conversation).await.held, held, "it still waits");
    running.app.save_settings(with_hub(settings, &first.url())).await.expect("saved");
    let mut line = first.accept().await;
    send().await.expect("sent");
    let mut sent = next(&mut line).await;
    // The notification before the change comes again, unless it was known that the hub read it.
    if sent.2.contains("needs your approval") {
        sent = next(&mut line).await;
    }
    assert_eq!(sent, answer("m-1", "notification", "The first line."));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_has_restarted_may_use_an_id_for_another_message() {
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    let saved = answer("m-1", "notification", "Saved to inbox/Inbox.md.");
    assert_eq!(next(&mut line).await, saved);
    change_database(&home, &["UPDATE inbox SET received_at = received_at - 60000"]).await;
    line.deliver("m-1", "remember eggs").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    assert_eq!(next(&mut line).await, saved, "under the id that the hub knows");
    assert_eq!(home.notes.read(INBOX), "- remember milk\n- remember eggs\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_has_restarted_may_send_the_same_text_under_an_id_on_another_day() {
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    let first = "2026-01-01T08:00:00Z";
    line.deliver_sent_at("m-1", "remember milk", first).await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    let saved = answer("m-1", "notification", "Saved to inbox/Inbox.md.");
    assert_eq!(next(&mut line).await, saved);
    change_database(&home, &["UPDATE inbox SET received_at = received_at - 86400000"]).await;
    line.deliver_sent_at("m-1", "remember milk", first).await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    line.deliver_sent_at("m-1", "remember milk", &jiff::Timestamp::now().to_string()).await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""), "nothing more about the repeat");
    assert_eq!(next(&mut line).await, saved, "worked on again");
    assert_eq!(home.notes.read(INBOX), "- remember milk\n- remember milk\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_were_stored_before_hubs_had_ids_are_for_the_configured_hub() {
    let gate = Gate::closed();
    let replies = vec![Reply::text("It leaves at nine.").gated(&gate), Reply::text("At ten.")];
    let model = ScriptedModel::start(replies).await;
    let (first, second) = (RawHub::bind().await, RawHub::bind().await);
    let home = home_with_key(&NOTES);
    let settings = settings_with_model(&model);
    let running = home.open(with_hub(settings.clone(), &first.url())).await;
    let mut line = first.accept().await;
    line.deliver("m-1", "when does the ferry leave?").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""));
    gate.wait_until_reached(1).await;
    let off = with_hub(settings.clone(), &first.url());
    let off = Settings {
        hub: protocol::settings::HubSettings { enabled: false, ..off.hub },
        ..settings.clone()
    };
    running.app.save_settings(off.clone()).await.expect("saved");
    gate.open();
    running.app.wait_until_idle(&running.only_conversation().await).await.expect("idle");
    running.quit().await;
    change_database(&home, &["UPDATE inbox SET hub = 'hub'", "UPDATE outbox SET hub = 'hub'"])
        .await;
    let running = home.open(off).await;
    running.app.save_settings(with_hub(settings.clone(), &second.url())).await.expect("saved");
    let mut line = second.accept().await;
    line.deliver("m-1", "when does the ferry leave?").await;
    assert_eq!(next(&mut line).await, answer("m-1", "ack", ""), "and no answer for the first hub");
    assert_eq!(next(&mut line).await, answer("m-1", "notification", "At ten."));
    running.app.save_settings(with_hub(settings, &first.url())).await.expect("saved");
    let mut line = first.accept().await;
    assert_eq!(next(&mut line).await, answer("m-1", "notification", "It leaves at nine."));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_no_hub_got_in_a_day_are_counted_and_not_quoted() {
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    home.open(settings_without_model()).await.quit().await;
    let old = "INSERT INTO outbox (hub, message_id, title, body, priority, at, state) VALUES
         ('hub', 'm-1', 'ferry', 'It leaves at nine.', 'normal', 1, 'waiting'),
         ('hub', 'm-2', 'bus', 'At nine as well.', 'normal', 2, 'waiting')";
    change_database(&home, &[old]).await;
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let _line = hub.accept().await;
    let problem = running.wait_for_event("a problem", |event| match event {
        AppEvent::Problem { error } => Some(error.message.clone()),
        _ => None,
    });
    assert_eq!(
        problem.await,
        "The hub was offline for a day, so 2 answers were never delivered. Read them in the hub’s \
         conversation, unless you have deleted that."
    );
    running.quit().await;
}

/// The trouble with which the link is refused.
async fn refusal(app: &RunningApp, address: &str) -> String {
    let refused = |event: &AppEvent| match event {
        AppEvent::HubChanged { hub } if hub.state == HubState::Refused => {
            let trouble = hub.trouble.as_ref().map(|error| error.message.clone());
            trouble.filter(|trouble| trouble.contains(address))
        }
        _ => None,
    };
    app.wait_for_event("a refusal", refused).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_token_is_shown_to_the_hub_that_it_was_saved_for_and_to_no_other() {
    const OF_FIRST: &str = "canary-of-the-first";
    const OF_SECOND: &str = "canary-of-the-second";
    let token = Token::new(OF_FIRST).expect("a token");
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let local = LocalHub::bind(anywhere, Some(token)).await.expect("a hub");
    let (first, cancel) = (local.address().to_string(), CancellationToken::new());
    let mut hubs = JoinSet::new();
    hubs.spawn(local.run(cancel.clone()));
    let second = RawHub::bind().await;
    let settings = |url: &str| with_hub(settings_without_model(), url);

    let home = TestHome::new(&NOTES);
    let running = home.open(settings(&format!("ws://{first}"))).await;
    let save = async |running: &RunningApp, token: &str| {
        let saved = running.app.set_hub_token(SecretString::from(token), KeyStorage::File).await;
        saved.expect("saved");
    };
    save(&running, OF_FIRST).await;
    let online = |event: &AppEvent| match event {
        AppEvent::HubChanged { hub } => (hub.state == HubState::Online).then_some(()),
        _ => None,
    };
    running.wait_for_event("the first hub", online).await;
    running.app.save_settings(settings(&second.url())).await.expect("saved");
    assert_eq!(second.accept_sender(OF_SECOND).await, Err(None), "it is shown no token");
    let trouble = refusal(&running, &second.port()).await;
    assert!(trouble.contains("the saved token is for another hub"), "{trouble}");
    assert_eq!(running.app.hub_token_source().await.source, None);
    running.quit().await;

    // After a restart, too.
    let running = home.open(settings(&second.url())).await;
    assert_eq!(second.accept_sender(OF_SECOND).await, Err(None), "it is shown no token");
    save(&running, OF_SECOND).await;
    second.accept_sender(OF_SECOND).await.expect("the control: its own token");
    assert_eq!(running.app.hub_token_source().await.source.as_deref(), Some("file"));
    running.app.save_settings(settings(&format!("ws://{first}"))).await.expect("saved");
    let trouble = refusal(&running, &first).await;
    assert!(trouble.contains("the saved token is for another hub"), "{trouble}");
    running.quit().await;
    cancel.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_whose_hub_cannot_be_recorded_does_not_take_the_place_of_another_hubs_token() {
    const OF_FIRST: &str = "canary-of-the-first";
    let (first, second) = (RawHub::bind().await, RawHub::bind().await);
    let settings = |hub: &RawHub| with_hub(settings_without_model(), &hub.url());
    let home = TestHome::new(&NOTES);
    let running = home.open(settings(&first)).await;
    let save = |token: &str| running.app.set_hub_token(SecretString::from(token), KeyStorage::File);
    save(OF_FIRST).await.expect("saved");
    running.app.save_settings(settings(&second)).await.expect("saved");
    // The file of the hubs cannot be replaced, as on a full disk.
    let blocked = home.data.root().join(".hub-of-token.new");
    std::fs::create_dir(&blocked).expect("a folder in the place of the new file");
    let owners = home.data.read("hub-of-token");
    let refused = save("canary-of-the-second").await.expect_err("its hub is not recorded");
    assert!(refused.message.contains("hub-of-token"), "{refused}");
    assert_eq!(home.data.read("key.hub"), OF_FIRST);
    assert_eq!(home.data.read("hub-of-token"), owners);
    // The control: with room for the hub, the token is saved.
    std::fs::remove_dir(blocked).expect("removed");
    save("canary-of-the-second").await.expect("saved");
    assert_eq!(home.data.read("key.hub"), "canary-of-the-second");
    assert_ne!(home.data.read("hub-of-token"), owners);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_being_saved_at_a_crash_is_shown_to_no_hub_until_it_is_saved_again() {
    const TOKEN: &str = "canary-of-a-crash";
    let hub = RawHub::bind().await;
    let home = TestHome::new(&NOTES);
    home.data.write("key.hub", TOKEN);
    home.data.write("hub-of-token", "file being-saved\n");
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    assert_eq!(hub.accept_sender(TOKEN).await, Err(None), "it is shown no token");
    let trouble = refusal(&running, &hub.port()).await;
    assert!(trouble.contains("the saved token is for another hub"), "{trouble}");
    assert_eq!(running.app.hub_token_source().await.source, None);
    let saved = running.app.set_hub_token(SecretString::from(TOKEN), KeyStorage::File).await;
    saved.expect("saved");
    hub.accept_sender(TOKEN).await.expect("the control: its own token");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_stored_for_no_other_hub_than_it_was_pasted_for() {
    const PASTED: &str = "canary-of-the-pasted";
    let (first, second) = (RawHub::bind().await, RawHub::bind().await);
    for is_changed in [true, false] {
        let home = TestHome::new(&NOTES);
        let running = home.open(with_hub(settings_without_model(), &first.url())).await;
        let other = second.url();
        let change = move |settings: &mut Settings| match is_changed {
            true => settings.hub.address = other,
            // The control: a change of something else.
            false => settings.follow_links = true,
        };
        let storing = running.app.set_hub_token(SecretString::from(PASTED), KeyStorage::File);
        let stored = running.while_settings_change(change, storing).await;
        let message = stored.as_ref().err().map(|error| error.message.as_str());
        let changed = "The hub was changed meanwhile. Paste the token again.";
        assert_eq!(message, is_changed.then_some(changed));
        running.quit().await;
        let holds =
            |bytes: &[u8]| bytes.windows(PASTED.len()).any(|part| part == PASTED.as_bytes());
        let is_kept = home.data.snapshot().into_iter().any(|(_, bytes)| holds(&bytes));
        assert_eq!(is_kept, !is_changed);
    }
}
