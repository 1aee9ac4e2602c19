//! A hub that remembers everything: what is not acknowledged it delivers again, under the same id,
//! over each new connection, which is harder on a client than any hub.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

/// Nothing that is waited for takes so long, unless it never comes.
const HUB_TIMEOUT: Duration = Duration::from_secs(120);

/// The messages to a client, and its answers.
#[derive(Debug, Default)]
pub struct HubLog {
    /// Ids and texts, in the order in which they were sent.
    pub sent: Vec<(String, String)>,
    /// When each was handed to a connection first.
    pub delivered: BTreeMap<String, Instant>,
    /// When each was acknowledged first.
    pub acked: BTreeMap<String, Instant>,
    /// The reasons of those that were not taken.
    pub rejected: BTreeMap<String, String>,
    /// The notifications for each, as often as they came.
    pub notified: BTreeMap<String, Vec<String>>,
    /// The ids of the messages for which something was shown, each once, in that order.
    pub shown: Vec<String>,
    /// How often a client has registered.
    pub registered: usize,
    /// Frames that no client of the protocol sends.
    pub unexpected: usize,
}

impl HubLog {
    /// Whether nothing is left to be delivered. One that was turned down as the queue was full, on a line
    /// that was cut then, may have been delivered again and taken.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let turned_down = self.rejected.keys().filter(|id| !self.acked.contains_key(*id)).count();
        self.acked.len() + turned_down == self.sent.len()
    }

    /// Whether something was shown for all that was taken.
    #[must_use]
    pub fn is_notified(&self) -> bool {
        self.is_answered() && self.acked.keys().all(|id| self.notified.contains_key(id))
    }

    /// The texts that were acknowledged, in the order in which they were sent.
    #[must_use]
    pub fn acknowledged_texts(&self) -> Vec<&str> {
        let taken = self.sent.iter().filter(|(id, _)| self.acked.contains_key(id));
        taken.map(|(_, text)| text.as_str()).collect()
    }

    /// The texts that were acknowledged, each with what was shown for it.
    #[must_use]
    pub fn notification_per_acknowledged(&self) -> Vec<(&str, String)> {
        let taken = self.sent.iter().filter(|(id, _)| self.acked.contains_key(id));
        let shown = |id| self.notified.get(id).map_or_else(String::new, |all| all.join(" | "));
        taken.map(|(id, text)| (text.as_str(), shown(id))).collect()
    }

    /// How many notifications came more than once, and how many of these were not the very same: a hub
    /// takes the very same, so soon, for one.
    #[must_use]
    pub fn repeated_notifications(&self) -> (usize, usize) {
        let again = self.notified.values().filter(|heard| heard.len() > 1);
        let other = |heard: &&Vec<String>| heard.iter().any(|one| Some(one) != heard.first());
        (again.clone().count(), again.filter(other).count())
    }

    fn record_frame(&mut self, frame: &Value) {
        let payload = &frame["payload"];
        let id = payload["messageId"].as_str().unwrap_or_default().to_owned();
        let now = Instant::now();
        match (frame["type"].as_str(), payload["type"].as_str()) {
            (Some("response"), Some("ack")) => {
                self.acked.entry(id).or_insert(now);
            }
            (Some("response"), Some("reject")) => {
                let reason = payload["payload"]["reason"].as_str().unwrap_or_default();
                self.rejected.insert(id, reason.to_owned());
            }
            (Some("response"), Some("notification")) => {
                let shown = payload["payload"].to_string();
                if !self.notified.contains_key(&id) {
                    self.shown.push(id.clone());
                }
                self.notified.entry(id).or_default().push(shown);
            }
            _ => self.unexpected += 1,
        }
    }

    /// The next undelivered one, at or behind this place.
    fn next_undelivered(&self, place: &mut usize) -> Option<(String, String)> {
        loop {
            let (id, text) = self.sent.get(*place)?;
            *place += 1;
            if !self.acked.contains_key(id) && !self.rejected.contains_key(id) {
                return Some((id.clone(), text.clone()));
            }
        }
    }
}

/// The hub, on loopback; dropped, it is gone.
#[derive(Debug)]
pub struct RedeliveringHub {
    address: SocketAddr,
    log: watch::Sender<HubLog>,
    _serving: JoinSet<()>,
}

impl RedeliveringHub {
    /// Listens on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let book: watch::Sender<HubLog> = watch::Sender::default();
        let shared = book.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let book = shared.clone();
                lines.spawn(async move { drop(serve(stream, &book).await) });
                while lines.try_join_next().is_some() {}
            }
        });
        Self { address, log: book, _serving: serving }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a message under the next id; it goes out as soon as there is a client.
    pub fn send(&self, text: &str) {
        let id = self.read_log(|book| format!("m-{}", book.sent.len()));
        self.send_with_id(&id, text);
    }

    /// The same under an id of the caller's choice.
    pub fn send_with_id(&self, id: &str, text: &str) {
        self.log.send_modify(|book| book.sent.push((id.to_owned(), text.to_owned())));
    }

    /// Looks at the log without waiting; nothing is logged meanwhile.
    pub fn read_log<T>(&self, look: impl FnOnce(&HubLog) -> T) -> T {
        look(&self.log.borrow())
    }

    /// Resolves when the book says so; panics when `what` does not come.
    pub async fn wait_until(&self, what: &str, is_so: impl FnMut(&HubLog) -> bool) {
        let mut book = self.log.subscribe();
        if tokio::time::timeout(HUB_TIMEOUT, book.wait_for(is_so)).await.is_err() {
            let book = self.log.borrow();
            panic!(
                "{what} did not come: said={} acked={} rejected={} notified={} registered={}",
                book.sent.len(),
                book.acked.len(),
                book.rejected.len(),
                book.notified.len(),
                book.registered
            );
        }
    }
}

type HubSocket = WebSocketStream<TcpStream>;
type HubTaskResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;

async fn serve(stream: TcpStream, book: &watch::Sender<HubLog>) -> HubTaskResult {
    stream.set_nodelay(true)?;
    let mut line = accept_async(stream).await?;
    loop {
        let frame = next_frame(&mut line).await?;
        if frame["type"] == "registration" {
            break;
        }
        book.send_modify(|book| book.unexpected += 1);
    }
    let welcome = json!({ "success": true, "clientId": "c", "message": "Welcome" });
    send_frame(&mut line, "registration_response", welcome).await?;
    book.send_modify(|book| book.registered += 1);
    let mut news = book.subscribe();
    let mut place = 0;
    loop {
        let next_one = news.borrow_and_update().next_undelivered(&mut place);
        if let Some((id, text)) = next_one {
            let message = json!({ "id": id, "text": text, "timestamp": "2026-01-01T00:00:00Z" });
            send_frame(&mut line, "message", message).await?;
            book.send_modify(|book| {
                book.delivered.entry(id).or_insert_with(Instant::now);
            });
            continue;
        }
        tokio::select! {
            frame = next_frame(&mut line) => {
                let frame = frame?;
                book.send_modify(|book| book.record_frame(&frame));
            }
            changed = news.changed() => changed?,
        }
    }
}

async fn send_frame(line: &mut HubSocket, kind: &str, payload: Value) -> HubTaskResult {
    let frame = json!({ "type": kind, "payload": payload }).to_string();
    Ok(line.send(Message::text(frame)).await?)
}

/// The next text frame; what is no JSON reads as nothing. Cancel-safe.
async fn next_frame(
    line: &mut HubSocket,
) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
    loop {
        match line.next().await.ok_or("it left")?? {
            Message::Text(text) => return Ok(serde_json::from_str(&text).unwrap_or_default()),
            Message::Close(_) => return Err("it left".into()),
            _ => {}
        }
    }
}
