//! The keyring as GNOME's real one and a bus without one have it.
#![cfg(target_os = "linux")]
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and shares its doubles with the other tests"
)]

#[path = "../../../tests/support/dbus/asked_user.rs"]
mod asked_user;
#[path = "../../../tests/support/dbus/keyring_daemon.rs"]
mod keyring_daemon;
#[path = "../../../tests/support/dbus/private_bus.rs"]
mod private_bus;

use std::future::{pending, ready};
use std::time::Duration;

use asked_user::{Answer, AskedUser};
use desktop::{Bus, InKeyring, Keyring, KeyringError};
use keyring_daemon::KeyringDaemon;
use private_bus::PrivateBus;
use protocol::request::Unlocking;
use secrecy::{ExposeSecret as _, SecretString};

const PROMPTER: &str = "org.gnome.keyring.SystemPrompter";
const KEYRING_TIMEOUT: Duration = Duration::from_secs(20);

fn at(bus: &PrivateBus) -> Keyring {
    Keyring::on(Bus::at(bus.address()))
}

/// The state as a word, or the secret itself.
async fn look(keyring: &Keyring, account: &str) -> String {
    match keyring.look(account).await {
        InKeyring::Secret(secret) => secret.expose_secret().to_owned(),
        other => format!("{other:?}"),
    }
}

async fn store(keyring: &Keyring, account: &str, secret: &str) -> Result<(), KeyringError> {
    keyring.store(account, &SecretString::from(secret)).await
}

#[tokio::test]
async fn a_secret_is_stored_found_replaced_and_removed() {
    let bus = PrivateBus::start();
    let _daemon = KeyringDaemon::on(bus.address()).await;
    let keyring = at(&bus);
    assert_eq!(look(&keyring, "anthropic").await, "Nothing");
    store(&keyring, "anthropic", "sk-one").await.expect("stored");
    store(&keyring, "anthropic", "sk-two").await.expect("replaced");
    assert_eq!(look(&keyring, "anthropic").await, "sk-two");
    assert_eq!(look(&keyring, "openai").await, "Nothing");
    keyring.remove("openai").await.expect("nothing to do");
    keyring.remove("anthropic").await.expect("removed");
    assert_eq!(look(&keyring, "anthropic").await, "Nothing");
}

#[tokio::test]
async fn a_locked_keyring_is_no_missing_secret_and_nobody_is_asked() {
    let bus = PrivateBus::start();
    let daemon = KeyringDaemon::on(bus.address()).await;
    let keyring = at(&bus);
    store(&keyring, "anthropic", "sk-one").await.expect("stored");
    daemon.lock().await;
    assert_eq!(look(&keyring, "anthropic").await, "Locked");
    assert_eq!(look(&keyring, "openai").await, "Nothing", "it lists what it has");
    assert_eq!(store(&keyring, "openai", "sk-two").await, Err(KeyringError::Locked));
    assert_eq!(keyring.remove("anthropic").await, Err(KeyringError::Locked));
    daemon.unlock().await;
    assert_eq!(look(&keyring, "anthropic").await, "sk-one");
    assert_eq!(keyring.unlock(pending()).await, Unlocking::Unlocked, "it is");
}

#[tokio::test]
async fn a_locked_keyring_that_shows_nothing_may_hold_anything() {
    let bus = PrivateBus::start();
    let daemon = KeyringDaemon::on(bus.address()).await;
    daemon.lock().await;
    assert_eq!(look(&at(&bus), "anthropic").await, "Unknown");
}

#[tokio::test]
async fn a_question_that_cannot_be_asked_counts_as_dismissed() {
    let bus = PrivateBus::start();
    let daemon = KeyringDaemon::on(bus.address()).await;
    daemon.lock().await;
    assert_eq!(at(&bus).unlock(pending()).await, Unlocking::Dismissed);
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_withdrawn() {
    let bus = PrivateBus::with_unresponsive_services(&[PROMPTER]);
    let daemon = KeyringDaemon::on(bus.address()).await;
    store(&at(&bus), "anthropic", "sk-one").await.expect("stored");
    daemon.lock().await;
    let keyring = at(&bus);
    let asked = tokio::time::timeout(Duration::from_secs(1), keyring.unlock(pending())).await;
    assert!(asked.is_err(), "the user takes time: {asked:?}");
    for _ in 0..2 {
        let withdrawn = tokio::time::timeout(KEYRING_TIMEOUT, keyring.unlock(ready(()))).await;
        assert_eq!(withdrawn, Ok(Unlocking::Dismissed));
    }
    assert_eq!(look(&keyring, "anthropic").await, "Locked", "the keyring lives");
}

#[tokio::test]
async fn what_the_user_answers_is_told() {
    for (answer, outcome) in
        [(Answer::Unlocks, Unlocking::Unlocked), (Answer::Dismisses, Unlocking::Dismissed)]
    {
        let bus = PrivateBus::start();
        let user = AskedUser::on(bus.address(), answer).await;
        assert_eq!(at(&bus).unlock(pending()).await, outcome);
        assert_eq!(user.asked(), 1);
    }
}

#[tokio::test]
async fn no_keyring_and_one_that_never_answers_are_told_soon() {
    let silent = PrivateBus::with_unresponsive_services(&["org.freedesktop.secrets"]);
    for bus in [PrivateBus::start(), silent] {
        let keyring = at(&bus);
        let looked = tokio::time::timeout(KEYRING_TIMEOUT, look(&keyring, "anthropic")).await;
        assert_eq!(looked.as_deref(), Ok("Unavailable"));
        let asked = tokio::time::timeout(KEYRING_TIMEOUT, keyring.unlock(pending())).await;
        assert_eq!(asked, Ok(Unlocking::Unavailable));
        let stored = store(&keyring, "anthropic", "sk-one").await;
        assert!(matches!(stored, Err(KeyringError::Unreachable(_))), "{stored:?}");
    }
}
