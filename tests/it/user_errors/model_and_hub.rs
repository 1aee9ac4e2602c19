//! The model and the hub: a wrong key, nobody there, a name that is not wanted.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::settings::HubSettings;
use protocol::{AppEvent, ErrorCode, HubState, ProviderKind, Settings};
use secrecy::SecretString;
use testkit::scripted_model::{KEY, last_message_text};
use testkit::{Reply, ScriptedModel, TestHub};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{NOTES, assert_error, assert_readable};
use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{
    TestHome, home_with_key, settings_with_model, settings_without_model, turn_failure,
    user_messages, with_hub,
};
use crate::settings::LAST_LINE;

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_key_ends_the_turn_and_the_message_continues_with_the_right_one() {
    let model = ScriptedModel::start(vec![Reply::text("At nine.")]).await;
    let home = TestHome::new(&NOTES).with_key("not-a-key");
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "When does the ferry leave?").await;
    let view = running.view(&conversation).await;
    let error = turn_failure(&view).expect("the turn failed");
    let sentence = "Anthropic didn’t accept the API key. Check it, or use another one.";
    assert_error(&error, ErrorCode::Key, sentence);
    assert_eq!(user_messages(&view), ["When does the ferry leave?"]);
    assert_eq!(model.refused_key_count(), 1, "a wrong key is not tried again");

    let place = protocol::request::KeyStorage::File;
    running.app.set_key(SecretString::from(KEY), place).await.expect("the key is kept");
    running.app.continue_turn(&conversation).await.expect("it goes on");
    running.app.wait_until_idle(&conversation).await.expect("idle");
    let words = last_message_text(&model.wait_for_request(1).await);
    assert!(words.contains("When does the ferry leave?"), "{words}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_key_is_told_where_to_put_one() {
    let home = TestHome::new(&NOTES);
    let settings = Settings { provider: ProviderKind::Anthropic, ..Settings::default() };
    let running = home.open(settings).await;
    let conversation = running.send_and_wait(None, "hello").await;
    let error = turn_failure(&running.view(&conversation).await).expect("the turn failed");
    let sentence =
        "There is no API key for Anthropic. Paste one in Settings, or set ANTHROPIC_API_KEY.";
    assert_error(&error, ErrorCode::Key, sentence);
    running.quit().await;
}

/// A port where nobody listens.
async fn closed_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    listener.local_addr().expect("its address").port()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_network_ends_the_turn_and_the_message_is_kept() {
    let home = home_with_key(&NOTES);
    let (port, before) = (closed_port().await, home.notes.snapshot());
    let base_url = format!("http://127.0.0.1:{port}");
    let settings = Settings { provider: ProviderKind::Anthropic, base_url, ..Settings::default() };
    let running = home.open(settings).await;
    let conversation = running.send_and_wait(None, "hello").await;
    let view = running.view(&conversation).await;
    let sentence = format!("Couldn’t reach 127.0.0.1:{port}. Check the network, then try again.");
    assert_error(&turn_failure(&view).expect("the turn failed"), ErrorCode::Network, &sentence);
    assert_eq!((user_messages(&view), home.notes.snapshot()), (vec!["hello"], before));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_is_tried_three_times() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let base_url = format!("http://{}", listener.local_addr().expect("its address"));
    let (tries, mut server) = (Arc::new(AtomicUsize::new(0)), JoinSet::new());
    let counted = Arc::clone(&tries);
    server.spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(connection);
        }
    });
    let home = home_with_key(&NOTES);
    let settings = Settings { provider: ProviderKind::Anthropic, base_url, ..Settings::default() };
    let running = home.open(settings).await;
    let conversation = running.send_and_wait(None, "hello").await;
    let error = turn_failure(&running.view(&conversation).await).expect("the turn failed");
    assert_eq!(error.code, ErrorCode::Network);
    assert_readable(&error.message);
    assert_eq!(tries.load(Ordering::SeqCst), 3);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_with_too_much_to_do_is_a_matter_of_trying_again() {
    for (status, sentence) in [
        (529, "HOST is overloaded. Wait a little, then try again."),
        (429, "Too many requests for this API key (slow down). Wait a little, then try again."),
        (500, "HOST reported an error (slow down). Try again."),
    ] {
        let busy = || Reply::status(status, "slow down");
        let model = ScriptedModel::start(vec![busy(), busy(), busy()]).await;
        let home = home_with_key(&NOTES);
        let running = home.open(settings_with_model(&model)).await;
        let conversation = running.send_and_wait(None, "hello").await;
        let error = turn_failure(&running.view(&conversation).await).expect("the turn failed");
        let sentence = sentence.replace("HOST", &model.base_url().replace("http://", ""));
        assert_error(&error, ErrorCode::Network, &sentence);
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_file_is_readable_by_its_owner_only_and_in_no_other_file() {
    let (home, model) =
        (TestHome::new(&NOTES), ScriptedModel::start(vec![Reply::text("Yes.")]).await);
    let running = home.open(settings_with_model(&model)).await;
    let place = protocol::request::KeyStorage::File;
    running.app.set_key(SecretString::from(KEY), place).await.expect("the key is kept");
    running.send_and_wait(None, "Are you there?").await;
    running.quit().await;
    let holding: Vec<String> = home
        .data
        .snapshot()
        .into_iter()
        .filter_map(|(name, bytes)| {
            bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()).then_some(name)
        })
        .collect();
    assert_eq!(holding, ["key"]);
    let file = std::fs::metadata(home.data.root().join("key")).expect("the key's file");
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    model.finish();
}

/// The text of the trouble with which the link gets into this state.
async fn wait_for_hub_error(app: &crate::harness::test_app::RunningApp, state: HubState) -> String {
    app.wait_for_event("the trouble", |event| match event {
        AppEvent::HubChanged { hub } if hub.state == state => {
            hub.trouble.as_ref().map(|error| error.message.clone())
        }
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_refuses_the_name_is_told_and_not_dialed_again() {
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let _line = hub.refuse_registration("INVALID_NAME").await;
    let sentence = wait_for_hub_error(&running, HubState::Refused).await;
    assert_eq!(
        sentence,
        "The hub refuses the name “Notes”. Use letters, digits, - and _, beginning with a letter."
    );
    assert_readable(&sentence);
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!(snapshot.hub.trouble.map(|error| error.message), Some(sentence));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_another_client_has_is_told_while_we_try_again() {
    let (home, other, hub) = (TestHome::new(&NOTES), TestHome::new(&NOTES), TestHub::start().await);
    let first = home.open(with_hub(settings_without_model(), &hub.url())).await;
    assert_eq!(hub.wait_for_registration().await, "Notes");
    let second = other.open(with_hub(settings_without_model(), &hub.url())).await;
    let sentence = wait_for_hub_error(&second, HubState::Waiting).await;
    assert_eq!(
        sentence,
        "Another client is registered as “Notes”. End it, or choose another name. Retrying \
         automatically."
    );
    second.quit().await;
    first.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_is_not_running_is_told_while_we_try_again() {
    let (home, port) = (TestHome::new(&NOTES), closed_port().await);
    let running =
        home.open(with_hub(settings_without_model(), &format!("ws://127.0.0.1:{port}"))).await;
    let sentence = wait_for_hub_error(&running, HubState::Waiting).await;
    let expected = format!(
        "The hub at 127.0.0.1:{port} isn’t responding. Check that it’s running. Retrying \
         automatically."
    );
    assert_eq!(sentence, expected);
    let conversation = running.send_and_wait(None, "help").await;
    assert_eq!(running.view(&conversation).await.items.len(), 2, "the chat works without it");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_no_hub_takes_is_refused_when_saved_and_told_when_written_by_hand() {
    let home = TestHome::new(&NOTES);
    let named = HubSettings { enabled: true, name: "My notes".into(), ..HubSettings::default() };
    let running = home.open(settings_without_model()).await;
    let settings = Settings { hub: named, ..settings_without_model() };
    let refused = running.app.save_settings(settings).await.expect_err("no hub takes it");
    let sentence = "The hub doesn’t accept the name “My notes”. Use up to 64 letters, digits, - \
                    and _, and begin with a letter.";
    assert_error(&refused, ErrorCode::Other, sentence);
    running.quit().await;

    let by_hand = format!("[hub]\nenabled = true\nname = \"My notes\"\n{LAST_LINE}\n");
    home.data.write("config.toml", by_hand);
    let running = home.start_with_stored_settings().await;
    running.app.open_vault(home.notes.root()).await.expect("the vault opens");
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let [problem] = snapshot.problems.as_slice() else { panic!("{:?}", snapshot.problems) };
    assert_error(problem, ErrorCode::Other, sentence);
    running.quit().await;
}
