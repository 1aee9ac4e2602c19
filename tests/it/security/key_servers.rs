//! The server that a key was saved for is remembered for as long as the key may still be somewhere, and no key is saved
//! without it.

use std::fs;
use std::path::PathBuf;

use protocol::event::ProviderStatus;
use protocol::request::KeyStorage;
use protocol::{AppEvent, ProviderKind, Settings};
use secrecy::SecretString;
use testkit::scripted_model::KEY;
use testkit::{KeyringDaemon, PrivateBus};

use self::asked_user::{Answer, AskedUser};
use crate::harness::test_app::{RunningApp, TestHome};

#[allow(dead_code, unreachable_pub, reason = "other tests share this double")]
#[path = "../../support/dbus/asked_user.rs"]
mod asked_user;

const FIRST: &str = "https://first.example/v1";
const SECOND: &str = "https://second.example/v1";

/// The application on this home and bus, with a server of OpenAI's protocol selected.
async fn start(test_home: &TestHome, bus: &PrivateBus, base_url: &str) -> RunningApp {
    let running = test_home.start_on(bus.address()).await;
    let settings = Settings {
        provider: ProviderKind::OpenAi,
        base_url: base_url.to_owned(),
        model: "model".to_owned(),
        ..Settings::default()
    };
    running.replace_settings(settings).await;
    running
}

/// Resolves once the saved key is not sent to the selected server, because it is for this one.
async fn wait_until_key_is_for(app: &RunningApp, server: &str) -> ProviderStatus {
    let words = format!("The saved API key is for {server}");
    let told = |event: &AppEvent| match event {
        AppEvent::ProviderChanged { provider }
            if provider.trouble.as_ref().is_some_and(|it| it.message.starts_with(&words)) =>
        {
            Some(provider.clone())
        }
        _ => None,
    };
    app.wait_for_event("the server of the key", told).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_keyring_may_still_hold_is_not_removed_and_stays_with_its_server() {
    let bus = PrivateBus::start();
    let _daemon = KeyringDaemon::on(bus.address()).await;
    let home = TestHome::new(&[]);
    let running = start(&home, &bus, FIRST).await;
    running.app.set_key(SecretString::from(KEY), KeyStorage::Keyring).await.expect("stored");
    running.quit().await;

    let (away, opaque) = (PrivateBus::start(), PrivateBus::start());
    let user = AskedUser::on(opaque.address(), Answer::Dismisses).await;
    for (bus, words) in [
        (&away, "The system keyring doesn’t answer, so the API key"),
        (&opaque, "The keyring is locked, so the API key"),
    ] {
        let running = start(&home, bus, FIRST).await;
        let removed = running.app.set_key(SecretString::from(""), KeyStorage::Keyring).await;
        let refused = removed.expect_err("the keyring may hold it").message;
        assert!(refused.starts_with(words), "{refused}");
        running.quit().await;
    }
    assert_eq!(user.asked(), 1, "to unlock it");

    let running = start(&home, &bus, SECOND).await;
    let status = wait_until_key_is_for(&running, "https://first.example,").await;
    assert_eq!((status.key_source, status.keys), (None, 0));
    // The control: where the keyring lets it be removed, its server is forgotten too.
    running.app.set_key(SecretString::from(""), KeyStorage::Keyring).await.expect("removed");
    assert_eq!(home.data.read("server-of-key"), "");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_kept_in_a_file_instead_leaves_the_one_in_a_locked_keyring_its_server() {
    let (bus, opaque) = (PrivateBus::start(), PrivateBus::start());
    let _daemon = KeyringDaemon::on(bus.address()).await;
    let _user = AskedUser::on(opaque.address(), Answer::Dismisses).await;
    let home = TestHome::new(&[]);
    let running = start(&home, &bus, FIRST).await;
    running.app.set_key(SecretString::from(KEY), KeyStorage::Keyring).await.expect("stored");
    running.quit().await;
    let servers = || home.data.read("server-of-key");
    assert_eq!(servers(), "openai/keyring https://first.example\n");

    let running = start(&home, &opaque, SECOND).await;
    running.app.set_key(SecretString::from(KEY), KeyStorage::File).await.expect("stored");
    running.quit().await;
    let both = "openai/file https://second.example\nopenai/keyring https://first.example\n";
    assert_eq!(servers(), both);

    // The control: an unlocked keyring gives up the former key.
    let running = start(&home, &bus, SECOND).await;
    running.app.set_key(SecretString::from(KEY), KeyStorage::File).await.expect("stored");
    running.quit().await;
    assert_eq!(servers(), "openai/file https://second.example\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_file_is_removed_beside_a_locked_keyring_that_shows_nothing() {
    let bus = PrivateBus::start();
    let user = AskedUser::on(bus.address(), Answer::Dismisses).await;
    let home = TestHome::new(&[]);
    let running = start(&home, &bus, FIRST).await;
    let save = |key: &str| running.app.set_key(SecretString::from(key), KeyStorage::File);
    save(KEY).await.expect("stored");
    assert_eq!(home.data.read("key.openai"), KEY);
    save("").await.expect("removed");
    assert_eq!((user.asked(), home.data.try_read("key.openai")), (0, None));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_servers_of_keys_cannot_be_read_no_key_is_used_or_saved() {
    let (bus, home) = (PrivateBus::start(), TestHome::new(&[]));
    let running = start(&home, &bus, FIRST).await;
    let save = |key: &str| running.app.set_key(SecretString::from(key), KeyStorage::File);
    save(KEY).await.expect("stored");
    let unreadable = b"openai/file https://first.example\n\xff\n";
    home.data.write("server-of-key", unreadable);
    running.app.change_settings(|settings| settings.base_url = SECOND.into()).await.expect("saved");
    let status = wait_until_key_is_for(&running, "an unknown server (").await;
    let trouble = status.trouble.expect("it is told").message;
    assert!(trouble.contains("server-of-key can’t be read"), "{trouble}");
    assert_eq!((status.key_source, status.keys), (None, 0));
    let refused = save("sk-another").await.expect_err("its server cannot be recorded").message;
    assert!(refused.contains("server-of-key, which says where"), "{refused}");
    assert_eq!(home.data.read("key.openai"), KEY);
    let now = std::fs::read(home.data.root().join("server-of-key")).expect("it is there");
    assert_eq!(now, unreadable);
    running.quit().await;
}

/// Keeps the file of the servers from being replaced, as a full disk does, until this folder is removed.
fn block_servers(home: &TestHome) -> PathBuf {
    let blocked = home.data.root().join(".server-of-key.new");
    fs::create_dir(&blocked).expect("a folder in the place of the new file");
    blocked
}

/// The provider as the window shows it now.
async fn provider_now(app: &RunningApp) -> ProviderStatus {
    app.app.subscribe(Box::new(|_| true)).await.expect("a snapshot").provider
}

async fn select_server(app: &RunningApp, url: &str) {
    let url = url.to_owned();
    app.app.change_settings(|settings| settings.base_url = url).await.expect("saved");
}

/// Checks that the saved key is sent to none of these servers, and that the user is told why.
async fn assert_key_is_for_no_server(app: &RunningApp) {
    for (url, server) in [(FIRST, "https://first.example"), (SECOND, "https://second.example")] {
        select_server(app, url).await;
        let status = provider_now(app).await;
        assert_eq!((status.key_source.as_deref(), status.keys), (None, 0), "{url}");
        let told = format!(
            "The saved API key is for an unknown server (saving it was interrupted), so it isn’t \
             sent to {server}."
        );
        assert!(
            status.trouble.as_ref().is_some_and(|it| it.message.starts_with(&told)),
            "{status:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_server_cannot_be_recorded_does_not_take_the_place_of_another_servers_key() {
    for (place, source) in [(KeyStorage::File, "file"), (KeyStorage::Keyring, "keyring")] {
        let bus = PrivateBus::start();
        let _daemon = KeyringDaemon::on(bus.address()).await;
        let home = TestHome::new(&[]);
        let running = start(&home, &bus, FIRST).await;
        let save = |keys: &str| running.app.set_key(SecretString::from(keys), place);
        save(KEY).await.expect("stored");
        let blocked = block_servers(&home);
        select_server(&running, SECOND).await;
        let refused = save("sk-one sk-two").await.expect_err("its server is not recorded").message;
        assert!(refused.contains("server-of-key"), "{refused}");
        fs::remove_dir(blocked).expect("removed");
        select_server(&running, FIRST).await;
        let status = provider_now(&running).await;
        assert_eq!((status.key_source.as_deref(), status.keys), (Some(source), 1), "as before");
        // The control: with room for the server, the keys are saved.
        select_server(&running, SECOND).await;
        save("sk-one sk-two").await.expect("stored");
        let status = provider_now(&running).await;
        assert_eq!((status.key_source.as_deref(), status.keys), (Some(source), 2));
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_came_into_the_keyring_although_saving_it_failed_is_for_no_server() {
    let bus = PrivateBus::start();
    let _daemon = KeyringDaemon::on(bus.address()).await;
    let home = TestHome::new(&[]);
    let running = start(&home, &bus, FIRST).await;
    let save = |keys: &str| running.app.set_key(SecretString::from(keys), KeyStorage::Keyring);
    save(KEY).await.expect("stored");
    // The file of a former key cannot be removed once the keyring has the new one.
    let former = home.data.root().join("key.openai");
    fs::create_dir(&former).expect("a folder in its place");
    select_server(&running, SECOND).await;
    save("sk-another").await.expect_err("the file is not removed");
    assert_key_is_for_no_server(&running).await;
    fs::remove_dir(former).expect("removed");
    save("sk-another").await.expect("stored");
    assert_eq!(provider_now(&running).await.key_source.as_deref(), Some("keyring"));
    assert_eq!(home.data.read("server-of-key"), "openai/keyring https://second.example\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_being_saved_at_a_crash_is_for_no_server_until_it_is_saved_again() {
    const ANOTHER: &str = "sk-another";
    for (point, held) in [("app.save_secret.before", KEY), ("app.save_secret.after", ANOTHER)] {
        let (bus, home) = (PrivateBus::start(), TestHome::new(&[]));
        let running = start(&home, &bus, FIRST).await;
        let saved = running.app.set_key(SecretString::from(KEY), KeyStorage::File).await;
        saved.expect("stored");
        running.quit().await;
        let env = [("SAYS", ANOTHER.to_owned()), ("SERVER", SECOND.to_owned())];
        home.run_story_killed_at(point, "key", &env).await;
        assert_eq!(home.data.read("key.openai"), held, "{point}");

        let running = start(&home, &bus, FIRST).await;
        assert_key_is_for_no_server(&running).await;
        let saved = running.app.set_key(SecretString::from(ANOTHER), KeyStorage::File).await;
        saved.expect("stored");
        assert_eq!(provider_now(&running).await.key_source.as_deref(), Some("file"));
        assert_eq!(home.data.read("server-of-key"), "openai/file https://second.example\n");
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_cannot_be_kept_in_a_file_leaves_the_former_one_in_the_keyring() {
    let bus = PrivateBus::start();
    let _daemon = KeyringDaemon::on(bus.address()).await;
    let home = TestHome::new(&[]);
    let running = start(&home, &bus, FIRST).await;
    let save = |key: &str, place| running.app.set_key(SecretString::from(key), place);
    save(KEY, KeyStorage::Keyring).await.expect("stored");
    // As a full disk does.
    let blocked = home.data.root().join(".key.openai.new");
    fs::create_dir(&blocked).expect("a folder in the place of the new file");
    let refused = save("sk-one sk-two", KeyStorage::File).await.expect_err("not written").message;
    assert!(refused.contains("key.openai"), "{refused}");
    let status = provider_now(&running).await;
    assert_eq!((status.key_source.as_deref(), status.keys), (Some("keyring"), 1));
    assert_eq!(home.data.read("server-of-key"), "openai/keyring https://first.example\n");
    fs::remove_dir(blocked).expect("removed");
    save("sk-one sk-two", KeyStorage::File).await.expect("the control");
    let status = provider_now(&running).await;
    assert_eq!((status.key_source.as_deref(), status.keys), (Some("file"), 2));
    assert_eq!(home.data.read("server-of-key"), "openai/file https://first.example\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_keyring_is_used_after_a_crash_before_it_was_removed_for_one_in_a_file() {
    let bus = PrivateBus::start();
    let _daemon = KeyringDaemon::on(bus.address()).await;
    let home = TestHome::new(&[]);
    let running = start(&home, &bus, FIRST).await;
    running.app.set_key(SecretString::from(KEY), KeyStorage::Keyring).await.expect("stored");
    running.quit().await;
    let env = [
        ("SAYS", "sk-one sk-two".to_owned()),
        ("SERVER", SECOND.to_owned()),
        ("DBUS_SESSION_BUS_ADDRESS", bus.address().to_owned()),
    ];
    home.run_story_killed_at("app.remove_replaced_secret.before", "key", &env).await;
    assert_eq!(home.data.read("key.openai"), "sk-one sk-two");

    let running = start(&home, &bus, SECOND).await;
    select_server(&running, FIRST).await;
    let status = provider_now(&running).await;
    assert_eq!((status.key_source.as_deref(), status.keys), (Some("keyring"), 1));
    let saved = running.app.set_key(SecretString::from("sk-one sk-two"), KeyStorage::File).await;
    saved.expect("stored");
    let status = provider_now(&running).await;
    assert_eq!((status.key_source.as_deref(), status.keys), (Some("file"), 2));
    assert_eq!(home.data.read("server-of-key"), "openai/file https://first.example\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_for_a_url_that_no_key_is_sent_to_is_not_saved() {
    let (bus, home) = (PrivateBus::start(), TestHome::new(&[]));
    for url in ["http://192.168.0.2:8000/v1", "first.example/v1"] {
        let running = start(&home, &bus, url).await;
        let saved = running.app.set_key(SecretString::from(KEY), KeyStorage::File).await;
        let refused = saved.expect_err("the next server would be sent it").message;
        assert!(refused.starts_with("The API key wasn’t saved"), "{refused}");
        assert_eq!(home.data.try_read("key.openai"), None);
        running.quit().await;
    }
    let running = start(&home, &bus, FIRST).await;
    running.app.set_key(SecretString::from(KEY), KeyStorage::File).await.expect("the control");
    assert_eq!(home.data.read("server-of-key"), "openai/file https://first.example\n");
    running.quit().await;
}
