//! Cuts at random bytes with messages under way.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hub::{HubEvent, LinkConfig, Timing};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::home::{Home, Tally};
use super::hub::Remembering;
use super::program::{Orders, Retries};
use super::proxy::{ENDS, Manner, Proxy};

/// So many times as fast as they are, the clocks go.
pub(super) const TIMES: u32 = 100;

/// A cut falls into so many bytes: into a handshake, a registration, a message or an answer.
pub(super) const WITHIN: u64 = 1_500;

/// So many cuts between the whole application and a hub, each while messages are under way; and what
/// became of the messages.
pub async fn cuts(program: &Path, cuts: usize, seed: u64) -> Tally {
    let (hub, home) = (Remembering::start().await, Home::new(program));
    let proxy = Proxy::before(hub.address(), seed, Manner::Rough).await;
    let orders = Orders { hub: proxy.url(), times: TIMES, model: None, retries: Retries::Eager };
    let app = home.start(&orders);
    weather(&hub, &proxy, cuts).await;
    home.judged(&hub, app).await
}

/// The control: a client that works on each message and acknowledges it then, without a memory of
/// what it has worked on already.
pub async fn careless(cuts: usize, seed: u64) -> Tally {
    let hub = Remembering::start().await;
    let proxy = Proxy::before(hub.address(), seed, Manner::Rough).await;
    let (tasks, cancel, mut worker) =
        (TaskTracker::new(), CancellationToken::new(), JoinSet::new());
    let config = LinkConfig::new(&proxy.url(), "Notes", "Keeps my notes.").expect("a config");
    let timing = Timing::default().faster(TIMES);
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
    weather(&hub, &proxy, cuts).await;
    cancel.cancel();
    let worked = worked.lock().unwrap_or_else(PoisonError::into_inner);
    hub.read(|book| Tally::of(&book.taken(), &[&worked]))
}

/// Says something and cuts, until all cuts were made; then everything that was said is taken.
async fn weather(hub: &Remembering, proxy: &Proxy, cuts: usize) {
    let mut struck = proxy.watch();
    for cut in 0..cuts {
        proxy.arm(&ENDS, WITHIN);
        while proxy.struck() == cut {
            let number = hub.read(|book| book.said.len());
            hub.say(&format!("remember number {number} of many"));
            // The next one when this is taken; a cut comes first, or later.
            let taken = hub.until("an answer", |book| book.acked.len() > number);
            tokio::select! {
                () = taken => {}
                changed = struck.changed() => changed.expect("the proxy is there"),
            }
        }
    }
    hub.until("an answer to each", super::hub::Book::is_answered).await;
}
