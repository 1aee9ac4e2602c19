//! The computer sleeps, wakes and gets on networks: what the bus tells of it reaches the link of a
//! process that serves.

use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::{Gate, PrivateBus, Reply, Roamer, ScriptedModel, Sleeper};

use crate::bare_hub::{BareHub, Line};
use crate::stage::keyed;

/// A hub that went without a word is noticed after a minute; after a waking much sooner.
const SOON: Duration = Duration::from_secs(25);

const WORDS: &str =
    "All is well here, and the pantry holds lentils, rice, and a long list of other things.";

/// The next link, while the computer is told something once a second: the first may come before
/// anybody listens for it.
async fn next_link(hub: &BareHub, tell: impl AsyncFn()) -> Line {
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
async fn after_waking_a_dead_link_is_made_anew_at_once_and_the_turn_under_way_goes_on() {
    let (bus, gate) = (PrivateBus::start(), Gate::closed());
    let computer = Sleeper::on(bus.address()).await;
    let model = ScriptedModel::start(vec![Reply::text(WORDS).gated(&gate)]).await;
    let (home, hub) = (keyed(&[("Alpha.md", "# Alpha\n")]), BareHub::bind().await);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut served = home
        .cli(&["serve", "--vault", vault])
        .env("DBUS_SYSTEM_BUS_ADDRESS", bus.address())
        .env("VAULTMATE_HUB_URL", hub.url())
        .env("ANTHROPIC_BASE_URL", model.base_url())
        .stderr(Stdio::null())
        .spawn()
        .expect("it serves");
    let mut before = hub.accept().await;
    before.say("m-1", "How are you?").await;
    assert_eq!(before.answer().await.kind, "ack");
    gate.reached(1).await;

    // As one that was cut in the sleep.
    before.goes_dead();
    let woke = Instant::now();
    let sleep = async || {
        computer.sleeps().await;
        computer.wakes().await;
    };
    let mut after = next_link(&hub, sleep).await;
    assert!(woke.elapsed() < SOON, "it took {:?}", woke.elapsed());
    gate.open();
    let answer = after.answer().await;
    assert_eq!((answer.message.as_str(), answer.kind.as_str()), ("m-1", "notification"));
    assert_eq!(answer.payload["body"], WORDS);
    assert_eq!(model.requests().len(), 1, "the turn was not begun again");
    served.kill().await.expect("it ends");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_network_again_a_dead_link_is_made_anew_at_once() {
    let bus = PrivateBus::start();
    let computer = Roamer::on(bus.address()).await;
    let (home, hub) = (keyed(&[]), BareHub::bind().await);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut served = home
        .cli(&["serve", "--vault", vault])
        .env("DBUS_SYSTEM_BUS_ADDRESS", bus.address())
        .env("VAULTMATE_HUB_URL", hub.url())
        .stderr(Stdio::null())
        .spawn()
        .expect("it serves");
    let mut before = hub.accept().await;
    before.goes_dead();
    let again = Instant::now();
    let roam = async || {
        computer.changes_to(20).await;
        computer.changes_to(70).await;
    };
    let mut after = next_link(&hub, roam).await;
    assert!(again.elapsed() < SOON, "it took {:?}", again.elapsed());
    after.say("m-1", "remember milk").await;
    assert_eq!(after.answer().await.kind, "ack");
    served.kill().await.expect("it ends");
}
