//! Waking as the computer's bus tells it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and shares its doubles with the other tests"
)]

#[path = "../../../tests/support/dbus/logind.rs"]
mod logind;
#[path = "../../../tests/support/dbus/private_bus.rs"]
mod private_bus;

use std::time::Duration;

use desktop::{Bus, ResumeEvents};
use futures_util::FutureExt as _;
use logind::FakeLogind;
use private_bus::PrivateBus;

const TEST_TIMEOUT: Duration = Duration::from_secs(20);

async fn woken(wakings: &mut ResumeEvents) {
    tokio::time::timeout(TEST_TIMEOUT, wakings.next()).await.expect("it is told of the waking");
}

#[tokio::test]
async fn each_waking_is_told_once_and_falling_asleep_is_none() {
    let bus = PrivateBus::start();
    let logind = FakeLogind::start(bus.address()).await;
    let mut wakings = ResumeEvents::subscribe(Bus::at(bus.address())).await;
    for _ in 0..2 {
        logind.announce_sleep().await;
        logind.announce_sleep().await;
        logind.announce_resume().await;
        woken(&mut wakings).await;
        assert_eq!(wakings.next().now_or_never(), None, "once");
    }
}

#[tokio::test]
async fn signals_of_other_programs_wake_nobody() {
    let bus = PrivateBus::start();
    let mut wakings = ResumeEvents::subscribe(Bus::at(bus.address())).await;
    let impostor = FakeLogind::start_with_name("org.example.Impostor", bus.address()).await;
    impostor.announce_resume().await;
    // The bus keeps the order: the impostor's signal would have come first.
    let logind = FakeLogind::start(bus.address()).await;
    logind.announce_resume().await;
    woken(&mut wakings).await;
    assert_eq!(wakings.next().now_or_never(), None, "only logind was heard");
}

#[tokio::test]
async fn without_a_bus_and_on_one_that_lets_nobody_in_it_waits_in_silence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deaf");
    let address = format!("unix:path={}", path.display());
    let mut missing = ResumeEvents::subscribe(Bus::at(&address)).await;
    assert_eq!(missing.next().now_or_never(), None);
    let _deaf = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let began = std::time::Instant::now();
    let mut deaf = ResumeEvents::subscribe(Bus::at(&address)).await;
    assert!(began.elapsed() < Duration::from_secs(4), "it took {:?}", began.elapsed());
    assert_eq!(deaf.next().now_or_never(), None);
}
