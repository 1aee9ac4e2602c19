//! The same cuts before the small local hub, which drops messages that it could not deliver; and
//! flipped bits.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hub_server::{DeliveryReport, InputMethod, LocalHub, LocalHubEvent, ReportsWanted, send};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::app_process::{RetryPacing, SoakAppOptions};
use super::connection_cuts::{CUT_WITHIN_BYTES, TIME_DIVISOR};
use super::fault_proxy::{ConnectionFault, ENDING_FAULTS, FaultProxy, ForwardingMode};
use super::fixture::{DeliveryTally, SoakFixture};
use super::redelivering_hub::{HubLog, RedeliveringHub};

/// Nothing that is waited for takes so long, unless it never comes.
const HUB_TIMEOUT: Duration = Duration::from_secs(120);

/// So many messages are sent after the flips, and all of them arrive.
const MESSAGES_AFTER_FLIPS: usize = 20;

/// The hub's record of its client.
#[derive(Debug, Default, Clone)]
struct LocalHubLog {
    registered: usize,
    delivered: Vec<(String, String)>,
    acked: BTreeSet<String>,
    notified: BTreeMap<String, String>,
}

impl LocalHubLog {
    fn record(&mut self, event: LocalHubEvent) {
        match event {
            LocalHubEvent::Registered { .. } => self.registered += 1,
            LocalHubEvent::Delivered { id, text, .. } => self.delivered.push((id, text)),
            LocalHubEvent::Acked { id, .. } => drop(self.acked.insert(id)),
            LocalHubEvent::Notified { id, notice, .. } => {
                self.notified.insert(id, format!("{notice:?}"));
            }
            _ => {}
        }
    }

    fn acknowledged_texts(&self) -> Vec<&str> {
        let taken = self.delivered.iter().filter(|(id, _)| self.acked.contains(id));
        taken.map(|(_, text)| text.as_str()).collect()
    }

    fn notification_per_acknowledged(&self) -> Vec<(&str, String)> {
        let taken = self.delivered.iter().filter(|(id, _)| self.acked.contains(id));
        let shown = |id| self.notified.get(id).cloned().unwrap_or_default();
        taken.map(|(id, text)| (text.as_str(), shown(id))).collect()
    }
}

/// So many cuts between the application and the local hub. A message that did not arrive is lost with
/// the connection, as its sender is told; one that was acknowledged is not.
pub async fn run_local_hub_cuts(program: &Path, cuts: usize, seed: u64) -> DeliveryTally {
    let (address, sight, _serving) = start_local_hub().await;
    let proxy = FaultProxy::start(address, seed, ForwardingMode::Rough).await;
    let orders = SoakAppOptions {
        hub: proxy.url(),
        times: TIME_DIVISOR,
        model: None,
        retries: RetryPacing::Eager,
    };
    let home = SoakFixture::new(program);
    let mut app = home.start(&orders);
    let mut struck = proxy.subscribe();
    let mut number = 0;
    for cut in 0..cuts {
        proxy.arm(&ENDING_FAULTS, CUT_WITHIN_BYTES);
        while proxy.fault_count() == cut {
            let Some(id) = send_text(address, &format!("remember number {number} of some")).await
            else {
                // Nobody is there: what passes until somebody is brings the cut nearer.
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            number += 1;
            let taken = wait_until(&sight, "an answer", |sight| sight.acked.contains(&id));
            tokio::select! {
                () = taken => {}
                changed = struck.changed() => changed.expect("the proxy is there"),
            }
        }
    }
    // An acknowledgement that comes after this one is of a message that nobody has worked on yet.
    let acked = sight.borrow().acked.clone();
    let is_told = |sight: &LocalHubLog| acked.iter().all(|id| sight.notified.contains_key(id));
    wait_until(&sight, "a notification for each", is_told).await;
    app.ask("idle", "");
    let told = app.ask("said", "");
    app.close();
    let mut sight = sight.borrow().clone();
    sight.acked = acked;
    let lines = home.inbox_lines();
    let places: [&[String]; 2] = [&lines, &told];
    let tally = DeliveryTally::count(&sight.acknowledged_texts(), &places);
    home.print_differences(&tally, &sight.notification_per_acknowledged(), &places);
    tally
}

async fn start_local_hub() -> (SocketAddr, watch::Sender<LocalHubLog>, JoinSet<()>) {
    let hub = LocalHub::bind((Ipv4Addr::LOCALHOST, 0).into(), None).await.expect("a free port");
    let (address, mut events) = (hub.address(), hub.events());
    let (sight, mut serving) = (watch::Sender::<LocalHubLog>::default(), JoinSet::new());
    let noted = sight.clone();
    serving.spawn(hub.run(CancellationToken::new()));
    serving.spawn(async move {
        while let Ok(seen) = events.recv().await {
            noted.send_modify(|sight| sight.record(seen));
        }
    });
    (address, sight, serving)
}

/// Sends a message; returns the id under which it went out, if a client was there.
async fn send_text(address: SocketAddr, text: &str) -> Option<String> {
    let sent = send(address, None, text, InputMethod::Text, ReportsWanted::Delivery).await;
    match sent.expect("the hub listens").next().await {
        Some(Ok(DeliveryReport::Delivered { id, .. })) => Some(id),
        _ => None,
    }
}

async fn wait_until(
    sight: &watch::Sender<LocalHubLog>,
    what: &str,
    is_so: impl FnMut(&LocalHubLog) -> bool,
) {
    let mut seen = sight.subscribe();
    if tokio::time::timeout(HUB_TIMEOUT, seen.wait_for(is_so)).await.is_err() {
        panic!("{what} did not come: {:?}", sight.borrow());
    }
}

/// Flips so many bits on their way, wherever they stand; then the link is as good as ever. Messages
/// meanwhile may be garbled, and are not judged.
pub async fn run_bit_flips(program: &Path, flips: usize, seed: u64) -> DeliveryTally {
    let (hub, home) = (RedeliveringHub::start().await, SoakFixture::new(program));
    let proxy = FaultProxy::start(hub.address(), seed, ForwardingMode::Smooth).await;
    let orders = SoakAppOptions {
        hub: proxy.url(),
        times: TIME_DIVISOR,
        model: None,
        retries: RetryPacing::Eager,
    };
    let mut app = home.start(&orders);
    let mut struck = proxy.subscribe();
    for flip in 0..flips {
        proxy.arm(&[ConnectionFault::Flip], CUT_WITHIN_BYTES);
        while proxy.fault_count() == flip {
            let said = hub.read_log(|book| book.sent.len());
            hub.send(&format!("number {said} may be another"));
            let answered = hub.wait_until("an answer", |book| book.acked.len() > said);
            let later = tokio::time::sleep(Duration::from_millis(50));
            tokio::select! {
                () = answered => {}
                () = later => {}
                changed = struck.changed() => changed.expect("the proxy is there"),
            }
        }
    }
    // No bit makes one of the ids before these to one of them.
    let calm: Vec<(String, String)> = (0..MESSAGES_AFTER_FLIPS)
        .map(|number| (format!("calm-{number}"), format!("remember number {number} of the calm")))
        .collect();
    calm.iter().for_each(|(id, text)| hub.send_with_id(id, text));
    // Not its acknowledgement, which comes before anybody has worked on it.
    let answered = |book: &HubLog| calm.iter().all(|(id, _)| book.notified.contains_key(id));
    hub.wait_until("a notification for each", answered).await;
    app.ask("idle", "");
    let told = app.ask("said", "");
    app.close();
    let texts: Vec<&str> = calm.iter().map(|(_, text)| text.as_str()).collect();
    let lines = home.inbox_lines();
    let places: [&[String]; 2] = [&lines, &told];
    let tally = DeliveryTally::count(&texts, &places);
    hub.read_log(|book| {
        home.print_differences(&tally, &book.notification_per_acknowledged(), &places)
    });
    tally
}
