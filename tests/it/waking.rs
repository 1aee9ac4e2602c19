//! The computer sleeps and wakes: what the bus tells of it reaches the link of a process that serves.

use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::{Gate, PrivateBus, Reply, ScriptedModel, Sleeper};

use crate::bare_hub::{BareHub, Line};
use crate::stage::keyed;

/// A hub that went without a word is noticed after a minute; after a waking much sooner.
const SOON: Duration = Duration::from_secs(25);

const WORDS: &str =
    "All is well here, and the pantry holds lentils, rice, and a long list of other things.";

/// The next link, while the computer wakes once a second: the first waking may come before anybody
/// listens for it.
async fn next_link(hub: &BareHub, computer: &Sleeper) -> Line {
    let accepted = hub.accept();
    tokio::pin!(accepted);
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            line = &mut accepted => return line,
            _ = second.tick() => {
                computer.sleeps().await;
                computer.wakes().await;
            }
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
    let mut after = next_link(&hub, &computer).await;
    assert!(woke.elapsed() < SOON, "it took {:?}", woke.elapsed());
    gate.open();
    let answer = after.answer().await;
    assert_eq!((answer.message.as_str(), answer.kind.as_str()), ("m-1", "notification"));
    assert_eq!(answer.payload["body"], WORDS);
    assert_eq!(model.requests().len(), 1, "the turn was not begun again");
    served.kill().await.expect("it ends");
    model.finish();
}
