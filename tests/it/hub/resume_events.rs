//! The computer sleeps, wakes and gets on networks: what the bus tells of it reaches the link of a
//! process that serves.

use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::{FakeLogind, FakeNetworkManager, Gate, PrivateBus, Reply, ScriptedModel};

use crate::harness::raw_hub::{RawHub, RawHubLink};
use crate::harness::test_app::home_with_key;

/// A hub that went silently is noticed after a minute; after a waking much sooner.
const MAX_RECONNECT_TIME: Duration = Duration::from_secs(25);

const ANSWER_START: &str =
    "All is well here, and the pantry holds lentils, rice, and a long list of other things.";

/// The next link, while the computer is told something once a second: the first may come before
/// anybody listens for it.
async fn accept_link_while(hub: &RawHub, tell: impl AsyncFn()) -> RawHubLink {
    let accepted = hub.accept();
    tokio::pin!(accepted);
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            line = &mut accepted => return line,
            _ = second.tick() => tell().await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_waking_a_dead_connection_is_replaced_at_once_and_the_running_turn_continues() {
    let (bus, gate) = (PrivateBus::start(), Gate::closed());
    let computer = FakeLogind::start(bus.address()).await;
    let model = ScriptedModel::start(vec![Reply::text(ANSWER_START).gated(&gate)]).await;
    let (home, hub) = (home_with_key(&[("Alpha.md", "# Alpha\n")]), RawHub::bind().await);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut served = home
        .cli_command(&["serve", "--vault", vault])
        .env("DBUS_SYSTEM_BUS_ADDRESS", bus.address())
        .env("VAULTMATE_HUB_URL", hub.url())
        .env("ANTHROPIC_BASE_URL", model.base_url())
        .stderr(Stdio::null())
        .spawn()
        .expect("it serves");
    let mut before = hub.accept().await;
    before.deliver("m-1", "How are you?").await;
    assert_eq!(before.next_response().await.kind, "ack");
    gate.wait_until_reached(1).await;

    // As one that was cut in the sleep.
    before.stop_responding();
    let woke = Instant::now();
    let sleep = async || {
        computer.announce_sleep().await;
        computer.announce_resume().await;
    };
    let mut after = accept_link_while(&hub, sleep).await;
    assert!(woke.elapsed() < MAX_RECONNECT_TIME, "it took {:?}", woke.elapsed());
    gate.open();
    let answer = after.next_response().await;
    assert_eq!((answer.message.as_str(), answer.kind.as_str()), ("m-1", "notification"));
    assert_eq!(answer.payload["body"], ANSWER_START);
    assert_eq!(model.requests().len(), 1, "the turn was not begun again");
    served.kill().await.expect("it ends");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn back_on_a_network_a_dead_connection_is_replaced_at_once() {
    let bus = PrivateBus::start();
    let computer = FakeNetworkManager::start(bus.address()).await;
    let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut served = home
        .cli_command(&["serve", "--vault", vault])
        .env("DBUS_SYSTEM_BUS_ADDRESS", bus.address())
        .env("VAULTMATE_HUB_URL", hub.url())
        .stderr(Stdio::null())
        .spawn()
        .expect("it serves");
    let mut before = hub.accept().await;
    before.stop_responding();
    let again = Instant::now();
    let roam = async || {
        computer.set_state(20).await;
        computer.set_state(70).await;
    };
    let mut after = accept_link_while(&hub, roam).await;
    assert!(again.elapsed() < MAX_RECONNECT_TIME, "it took {:?}", again.elapsed());
    after.deliver("m-1", "remember milk").await;
    assert_eq!(after.next_response().await.kind, "ack");
    served.kill().await.expect("it ends");
}
