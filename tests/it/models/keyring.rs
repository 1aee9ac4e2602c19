//! A keyring that is locked: told as such, and never as "no model" or "no token".

use std::process::Stdio;
use std::time::Duration;

use protocol::chat::conversation::ChatItem;
use protocol::event::ProviderStatus;
use protocol::request::{KeyStorage, Unlocking};
use protocol::settings::KeyringTrouble;
use protocol::{AppEvent, ProviderKind, Settings};
use secrecy::SecretString;
use testkit::scripted_model::KEY;
use testkit::{KeyringDaemon, PrivateBus, Reply, ScriptedModel};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::harness::test_app::{RunningApp, TEST_TIMEOUT, TestHome, run_command};

/// The program on this home, over a bus.
fn on(bus: &PrivateBus, test_home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = test_home.cli_command(arguments);
    command.env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    command
}

/// How the provider stands as soon as it stands so.
async fn provider(app: &RunningApp, stands: impl Fn(&ProviderStatus) -> bool) -> ProviderStatus {
    let told = |event: &AppEvent| match event {
        AppEvent::ProviderChanged { provider } if stands(provider) => Some(provider.clone()),
        _ => None,
    };
    app.wait_for_event("the provider", told).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_locked_keyring_is_told_and_found_once_the_keyring_is_unlocked() {
    let bus = PrivateBus::start();
    let daemon = KeyringDaemon::on(bus.address()).await;
    let home = TestHome::new(&[]);
    let running = home.start_on(bus.address()).await;
    running.app.set_key(SecretString::from(KEY), KeyStorage::Keyring).await.expect("stored");
    provider(&running, |now| now.key_source.as_deref() == Some("keyring")).await;
    running.quit().await;

    daemon.lock().await;
    let running = home.start_on(bus.address()).await;
    let locked = provider(&running, |_| true).await;
    assert_eq!((locked.has_model, locked.keyring), (true, Some(KeyringTrouble::Locked)));
    let words = locked.trouble.expect("it is told").message;
    assert!(words.starts_with("The keyring is locked."), "{words}");
    let outcome = running.app.unlock_keyring().await;
    assert_eq!(outcome, Ok(Unlocking::Dismissed), "nobody can be asked here");
    daemon.unlock().await;
    assert_eq!(running.app.unlock_keyring().await, Ok(Unlocking::Unlocked));
    let found = provider(&running, |now| now.key_source.is_some()).await;
    assert_eq!((found.keyring, found.trouble), (None, None));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keyring_that_is_gone_is_told_only_to_those_who_have_a_key_in_it() {
    let (home, other) = (TestHome::new(&[]), TestHome::new(&[]));
    {
        let bus = PrivateBus::start();
        let _daemon = KeyringDaemon::on(bus.address()).await;
        let running = home.start_on(bus.address()).await;
        running.app.set_key(SecretString::from(KEY), KeyStorage::Keyring).await.expect("stored");
        running.quit().await;
    }
    let bus = PrivateBus::start();
    let running = home.start_on(bus.address()).await;
    let gone = provider(&running, |_| true).await;
    assert_eq!((gone.has_model, gone.keyring), (true, Some(KeyringTrouble::Unavailable)));
    running.quit().await;
    let running = other.start_on(bus.address()).await;
    let calm = provider(&running, |_| true).await;
    assert_eq!((calm.has_model, calm.keyring, calm.trouble), (false, None, None));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_says_that_the_keyring_is_locked_and_asks_no_other_provider() {
    let bus = PrivateBus::start();
    let daemon = KeyringDaemon::on(bus.address()).await;
    daemon.store("anthropic", KEY).await;
    daemon.lock().await;
    let (home, model) = (TestHome::new(&[]), ScriptedModel::start(vec![Reply::text("Yes.")]).await);
    let vault = home.notes.root().to_str().expect("a path in UTF-8").to_owned();
    let ask = || {
        let mut command = on(&bus, &home, &["ask", "--vault", &vault, "Is it there?"]);
        command.env("ANTHROPIC_BASE_URL", model.base_url());
        command
    };
    let locked =
        run_command(ask().env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", model.base_url()))
            .await;
    let words = "The keyring is locked. Unlock it to use your API key, or set ANTHROPIC_API_KEY.";
    assert!(locked.stderr.contains(words) && locked.code != Some(0), "{locked:?}");
    daemon.unlock().await;
    let found = run_command(&mut ask()).await;
    assert!(found.stdout.contains("Yes.") && found.code == Some(0), "{found:?}");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_needs_a_key_is_told_of_a_locked_keyring_that_shows_nothing() {
    let bus = PrivateBus::start();
    let daemon = KeyringDaemon::on(bus.address()).await;
    daemon.lock().await;
    let home = TestHome::new(&[]);
    let running = home.start_on(bus.address()).await;
    let unknown = provider(&running, |_| true).await;
    assert_eq!((unknown.has_model, unknown.keyring), (false, Some(KeyringTrouble::Unknown)));
    running.app.open_vault(home.notes.root()).await.expect("the vault opens");
    let conversation = running.send_and_wait(None, "turmeric").await;
    let items = running.view(&conversation).await.items;
    let Some(ChatItem::Assistant { text, .. }) = items.last() else { panic!("{items:?}") };
    assert!(text.starts_with("The keyring is locked, so no model was asked. "), "{text}");
    running
        .replace_settings(Settings { provider: ProviderKind::Anthropic, ..Settings::default() })
        .await;
    let locked = provider(&running, |now| now.has_model).await;
    assert_eq!(locked.keyring, Some(KeyringTrouble::Locked));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_is_not_asked_without_the_token_that_a_locked_keyring_holds() {
    let bus = PrivateBus::start();
    let daemon = KeyringDaemon::on(bus.address()).await;
    daemon.store("hub", "a-token").await;
    daemon.lock().await;
    let home = TestHome::new(&[]);
    let hub = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("ws://{}", hub.local_addr().expect("an address"));
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let serve = || {
        let mut command = on(&bus, &home, &["serve", "--vault", vault]);
        command.env("VAULTMATE_HUB_URL", &address).stderr(Stdio::piped());
        command.spawn().expect("it serves")
    };
    let mut served = serve();
    let mut lines = BufReader::new(served.stderr.take().expect("it is piped")).lines();
    let told = async {
        while let Some(line) = lines.next_line().await.expect("text") {
            if line.contains("The keyring is locked. Unlock it to use the token for the hub.") {
                return;
            }
        }
        panic!("it ended without a word");
    };
    tokio::time::timeout(TEST_TIMEOUT, told).await.expect("it tells");
    let dialled = tokio::time::timeout(Duration::from_secs(1), hub.accept()).await;
    assert!(dialled.is_err(), "a hub was dialled without its token");
    served.kill().await.expect("it ends");
    // The control: with the keyring unlocked the same hub is dialled.
    daemon.unlock().await;
    let mut served = serve();
    let dialled = tokio::time::timeout(TEST_TIMEOUT, hub.accept()).await;
    assert!(dialled.is_ok(), "the hub was not dialled with its token");
    served.kill().await.expect("it ends");
}
