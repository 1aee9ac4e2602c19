//! Cuts at random bytes with messages under way.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hub::{HubEvent, LinkConfig, LinkTiming};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::app_process::{RetryPacing, SoakAppOptions};
use super::fault_proxy::{ENDING_FAULTS, FaultProxy, ForwardingMode};
use super::fixture::{DeliveryTally, SoakFixture};
use super::redelivering_hub::RedeliveringHub;

/// So many times as fast as they are, the clocks go.
pub(super) const TIME_DIVISOR: u32 = 100;

/// A cut falls into so many bytes: into a handshake, a registration, a message or an answer.
pub(super) const CUT_WITHIN_BYTES: u64 = 1_500;

/// So many cuts between the whole application and a hub, each while messages are under way; and what
/// became of the messages.
pub async fn run_cuts(program: &Path, cuts: usize, seed: u64) -> DeliveryTally {
    let (hub, home) = (RedeliveringHub::start().await, SoakFixture::new(program));
    let proxy = FaultProxy::start(hub.address(), seed, ForwardingMode::Rough).await;
    let orders = SoakAppOptions {
        hub: proxy.url(),
        times: TIME_DIVISOR,
        model: None,
        retries: RetryPacing::Eager,
    };
    let app = home.start(&orders);
    send_and_cut(&hub, &proxy, cuts).await;
    home.finish_and_count(&hub, app).await
}

/// The control: a client that works on each message and acknowledges it then, without a memory of
/// the finished ones.
pub async fn run_naive_client(cuts: usize, seed: u64) -> DeliveryTally {
    let hub = RedeliveringHub::start().await;
    let proxy = FaultProxy::start(hub.address(), seed, ForwardingMode::Rough).await;
    let (tasks, cancel, mut worker) =
        (TaskTracker::new(), CancellationToken::new(), JoinSet::new());
    let config = LinkConfig::new(&proxy.url(), "Notes", "Keeps my notes.").expect("a config");
    let timing = LinkTiming::default().faster(TIME_DIVISOR);
    let (link, mut events) = hub::start_timed(&tasks, cancel.clone(), Some(config), timing);
    let worked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&worked);
    worker.spawn(async move {
        while let Some(event) = events.recv().await {
            match event {
                HubEvent::Message(message) => {
                    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
                    notes.push(message.text);
                    message.receipt.ack();
                }
                HubEvent::Status(_) => link.retry(),
                HubEvent::Ignored { .. } => {}
            }
        }
    });
    send_and_cut(&hub, &proxy, cuts).await;
    cancel.cancel();
    let worked = worked.lock().unwrap_or_else(PoisonError::into_inner);
    hub.read_log(|book| DeliveryTally::count(&book.acknowledged_texts(), &[&worked]))
}

/// Sends messages and cuts, until all cuts were made; then every message is accepted.
async fn send_and_cut(hub: &RedeliveringHub, proxy: &FaultProxy, cuts: usize) {
    let mut struck = proxy.subscribe();
    for cut in 0..cuts {
        proxy.arm(&ENDING_FAULTS, CUT_WITHIN_BYTES);
        while proxy.fault_count() == cut {
            let number = hub.read_log(|book| book.sent.len());
            hub.send(&format!("remember number {number} of many"));
            // The next one when this is taken; a cut comes first, or later.
            let taken = hub.wait_until("an answer", |book| book.acked.len() > number);
            tokio::select! {
                () = taken => {}
                changed = struck.changed() => changed.expect("the proxy is there"),
            }
        }
    }
    hub.wait_until("an answer to each", super::redelivering_hub::HubLog::is_answered).await;
}
