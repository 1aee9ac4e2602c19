//! A small hub for people without one, and for every test: it speaks the same protocol.
//!
//! One task owns the board, which knows who is registered and what was delivered to
//! whom; each socket is a line with a task of its own, in a set that [`LocalHub::run`] joins.

mod connection;
mod handshake;
mod send;
mod server;
mod state;
mod throttle;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use self::server::LocalHubServer;
use crate::{Priority, Token};

pub use send::{DeliveryReports, InputMethod, ReportsWanted, SendProblem, send};

const EVENT_CAPACITY: usize = 1024;

/// The hub's limits. The defaults are those of the hub it stands in for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LocalHubLimits {
    /// More sockets are turned away with 503.
    pub sockets: usize,
    /// From an accepted connection to an open socket.
    pub handshake: Duration,
    /// Between pings; a socket without a pong by the next is cut.
    pub ping_every: Duration,
    /// The time after which a delivery without a response counts as rejected.
    pub response_timeout: Duration,
    /// The least time between two notifications shown.
    pub notice_gap: Duration,
    /// A title that came within this time is merged.
    pub notice_merge: Duration,
    /// At most ten notifications are shown in this time.
    pub notice_window: Duration,
}

impl Default for LocalHubLimits {
    fn default() -> Self {
        Self {
            sockets: 100,
            handshake: Duration::from_secs(10),
            ping_every: Duration::from_secs(30),
            response_timeout: Duration::from_secs(30),
            notice_gap: Duration::from_secs(1),
            notice_merge: Duration::from_secs(5),
            notice_window: Duration::from_secs(60),
        }
    }
}

/// Events of clients and of the hub, for a terminal or a test to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalHubEvent {
    /// A client has a name now.
    Registered {
        /// The name it registered.
        name: String,
    },
    /// A registration failed.
    Declined {
        /// The name it asked for.
        name: String,
        /// The code it was told.
        code: &'static str,
    },
    /// A client's socket ended.
    Left {
        /// The name; `None` for a client that had not registered.
        name: Option<String>,
        /// The code of its close frame; `None` when it just went.
        code: Option<u16>,
    },
    /// A message went out.
    Delivered {
        /// The message's id.
        id: String,
        /// The name of the client that was asked.
        to: String,
        /// The words, as the client gets them.
        text: String,
    },
    /// A message was acknowledged.
    Acked {
        /// The message's id.
        id: String,
        /// The name of the client that took it.
        by: String,
    },
    /// A message was rejected, or not answered in time.
    Rejected {
        /// The message's id.
        id: String,
        /// The name of the client that was asked.
        by: String,
        /// The reason given, or "Response timeout".
        reason: String,
    },
    /// No client is left for a message.
    Undelivered {
        /// The reason and the remedy.
        reason: String,
    },
    /// A client sent a notification.
    Notified {
        /// The message's id.
        id: String,
        /// The name of the client that sent it.
        by: String,
        /// The notification as the client sent it.
        notice: HubNotification,
    },
    /// A notification is shown now, after the rules for it.
    Shown {
        /// The notification as it is shown.
        notice: HubNotification,
    },
    /// A frame was dropped: not of the protocol, not registered, or for an unknown message.
    Dropped {
        /// From whom, if registered.
        by: Option<String>,
    },
}

/// A notification as a client sent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubNotification {
    /// Its title; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its text; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// How loudly.
    pub priority: Priority,
}

/// The result of sending a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryReport {
    /// It went out.
    Delivered {
        /// The name of the client that was asked.
        to: String,
        /// Under which id.
        id: String,
    },
    /// It was taken.
    Acked {
        /// The name of the client that took it.
        by: String,
    },
    /// It was not; others are asked.
    Rejected {
        /// The name of the client that was asked.
        by: String,
        /// The reason given, or "Response timeout".
        reason: String,
    },
    /// Nobody takes it. Nothing follows.
    Undelivered {
        /// The reason and the remedy.
        reason: String,
    },
    /// Something to show came back.
    Notified {
        /// The name of the client that sent it.
        by: String,
        /// The notification as the client sent it.
        notice: HubNotification,
    },
}

/// A hub that listens.
#[derive(Debug)]
pub struct LocalHub {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<Token>,
    limits: LocalHubLimits,
    events: broadcast::Sender<LocalHubEvent>,
}

impl LocalHub {
    /// Listens on `address` (port 0 takes a free one). Connections wait until [`LocalHub::run`].
    /// With a token, every client and sender has to present it.
    pub async fn bind(address: SocketAddr, token: Option<Token>) -> io::Result<Self> {
        Self::bind_with(address, token, LocalHubLimits::default()).await
    }

    /// [`LocalHub::bind`] with other limits than the original's.
    pub async fn bind_with(
        address: SocketAddr,
        token: Option<Token>,
        rules: LocalHubLimits,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (seen, _) = broadcast::channel(EVENT_CAPACITY);
        Ok(Self { listener, address, token, limits: rules, events: seen })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The events from now on. A watcher that falls 1,024 events behind loses the oldest.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<LocalHubEvent> {
        self.events.subscribe()
    }

    /// Serves until `cancel`, then leaves every client with close code 1001.
    pub async fn run(self, cancel: CancellationToken) {
        let mut serving = LocalHubServer::new(self.token, self.limits, self.events);
        while serving.step(&self.listener, &cancel).await.is_continue() {}
        serving.shut_down().await;
    }
}
