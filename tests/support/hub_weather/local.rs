//! The same cuts before the small local hub, which forgets what it could not deliver; and bits that
//! are other ones.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hub::local::{InputMethod, LocalHub, Report, Seen, Wait, send};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::cuts::{TIMES, WITHIN};
use super::home::{Home, Tally};
use super::hub::{Book, Remembering};
use super::program::{Orders, Retries};
use super::proxy::{ENDS, Fault, Manner, Proxy};

/// Nothing that is waited for takes so long, unless it never comes.
const PATIENCE: Duration = Duration::from_secs(120);

/// So many messages are said after the bits, and all of them arrive.
const CALM: usize = 20;

/// What the hub has seen of its client.
#[derive(Debug, Default, Clone)]
struct Sight {
    registered: usize,
    delivered: Vec<(String, String)>,
    acked: BTreeSet<String>,
    notified: BTreeMap<String, String>,
}

impl Sight {
    fn note(&mut self, seen: Seen) {
        match seen {
            Seen::Registered { .. } => self.registered += 1,
            Seen::Delivered { id, text, .. } => self.delivered.push((id, text)),
            Seen::Acked { id, .. } => drop(self.acked.insert(id)),
            Seen::Notified { id, notice, .. } => {
                self.notified.insert(id, format!("{notice:?}"));
            }
            _ => {}
        }
    }

    fn taken(&self) -> Vec<&str> {
        let taken = self.delivered.iter().filter(|(id, _)| self.acked.contains(id));
        taken.map(|(_, text)| text.as_str()).collect()
    }

    fn shown_for_taken(&self) -> Vec<(&str, String)> {
        let taken = self.delivered.iter().filter(|(id, _)| self.acked.contains(id));
        let shown = |id| self.notified.get(id).cloned().unwrap_or_default();
        taken.map(|(id, text)| (text.as_str(), shown(id))).collect()
    }
}

/// So many cuts between the application and the local hub. A message that did not arrive is lost with
/// the connection, as its sender is told; one that was acknowledged is not.
pub async fn cuts_before_a_local_hub(program: &Path, cuts: usize, seed: u64) -> Tally {
    let (address, sight, _serving) = local_hub().await;
    let proxy = Proxy::before(address, seed, Manner::Rough).await;
    let orders = Orders { hub: proxy.url(), times: TIMES, model: None, retries: Retries::Eager };
    let home = Home::new(program);
    let mut app = home.start(&orders);
    let mut struck = proxy.watch();
    let mut number = 0;
    for cut in 0..cuts {
        proxy.arm(&ENDS, WITHIN);
        while proxy.struck() == cut {
            let Some(id) = said(address, &format!("remember number {number} of some")).await else {
                // Nobody is there: what passes until somebody is brings the cut nearer.
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            number += 1;
            let taken = until(&sight, "an answer", |sight| sight.acked.contains(&id));
            tokio::select! {
                () = taken => {}
                changed = struck.changed() => changed.expect("the proxy is there"),
            }
        }
    }
    // An acknowledgement that comes after this one is of a message that nobody has worked on yet.
    let acked = sight.borrow().acked.clone();
    let is_told = |sight: &Sight| acked.iter().all(|id| sight.notified.contains_key(id));
    until(&sight, "a notification for each", is_told).await;
    app.ask("idle", "");
    let told = app.ask("said", "");
    app.close();
    let mut sight = sight.borrow().clone();
    sight.acked = acked;
    let lines = home.lines();
    let places: [&[String]; 2] = [&lines, &told];
    let tally = Tally::of(&sight.taken(), &places);
    home.explain(&tally, &sight.shown_for_taken(), &places);
    tally
}

async fn local_hub() -> (SocketAddr, watch::Sender<Sight>, JoinSet<()>) {
    let hub = LocalHub::bind((Ipv4Addr::LOCALHOST, 0).into(), None).await.expect("a free port");
    let (address, mut events) = (hub.address(), hub.events());
    let (sight, mut serving) = (watch::Sender::<Sight>::default(), JoinSet::new());
    let noted = sight.clone();
    serving.spawn(hub.run(CancellationToken::new()));
    serving.spawn(async move {
        while let Ok(seen) = events.recv().await {
            noted.send_modify(|sight| sight.note(seen));
        }
    });
    (address, sight, serving)
}

/// Says something; the id under which it went out, if somebody was there.
async fn said(address: SocketAddr, text: &str) -> Option<String> {
    let sent = send(address, None, text, InputMethod::Text, Wait::Delivery).await;
    match sent.expect("the hub listens").next().await {
        Some(Ok(Report::Delivered { id, .. })) => Some(id),
        _ => None,
    }
}

async fn until(sight: &watch::Sender<Sight>, what: &str, is_so: impl FnMut(&Sight) -> bool) {
    let mut seen = sight.subscribe();
    if tokio::time::timeout(PATIENCE, seen.wait_for(is_so)).await.is_err() {
        panic!("{what} did not come: {:?}", sight.borrow());
    }
}

/// So many bits are other ones on their way, wherever they stand; then none is, and the link is as
/// good as ever. What was said meanwhile may be something else now, and is not judged.
pub async fn flips(program: &Path, flips: usize, seed: u64) -> Tally {
    let (hub, home) = (Remembering::start().await, Home::new(program));
    let proxy = Proxy::before(hub.address(), seed, Manner::Smooth).await;
    let orders = Orders { hub: proxy.url(), times: TIMES, model: None, retries: Retries::Eager };
    let mut app = home.start(&orders);
    let mut struck = proxy.watch();
    for flip in 0..flips {
        proxy.arm(&[Fault::Flip], WITHIN);
        while proxy.struck() == flip {
            let said = hub.read(|book| book.said.len());
            hub.say(&format!("number {said} may be another"));
            let answered = hub.until("an answer", |book| book.acked.len() > said);
            let later = tokio::time::sleep(Duration::from_millis(50));
            tokio::select! {
                () = answered => {}
                () = later => {}
                changed = struck.changed() => changed.expect("the proxy is there"),
            }
        }
    }
    // No bit makes one of the ids before these to one of them.
    let calm: Vec<(String, String)> = (0..CALM)
        .map(|number| (format!("calm-{number}"), format!("remember number {number} of the calm")))
        .collect();
    calm.iter().for_each(|(id, text)| hub.say_as(id, text));
    // Not its acknowledgement, which comes before anybody has worked on it.
    let answered = |book: &Book| calm.iter().all(|(id, _)| book.notified.contains_key(id));
    hub.until("a notification for each", answered).await;
    app.ask("idle", "");
    let told = app.ask("said", "");
    app.close();
    let texts: Vec<&str> = calm.iter().map(|(_, text)| text.as_str()).collect();
    let lines = home.lines();
    let places: [&[String]; 2] = [&lines, &told];
    let tally = Tally::of(&texts, &places);
    hub.read(|book| home.explain(&tally, &book.shown_for_taken(), &places));
    tally
}
