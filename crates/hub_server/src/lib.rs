//! A small message hub on this computer, for people without one and for tests. It speaks the protocol of [`hub::wire`].
//!
//! [`LocalHub`] serves clients, such as [`hub::start`], and senders, such as [`send()`]. It takes programs of this computer
//! only, no browser, and with a token only those that present it. It stores nothing: a message that no client takes is
//! dropped, and its sender is told.
//!
//! One task owns the `state`, which decides without IO; each socket is a `connection` with a task of its own, in a set
//! that [`LocalHub::run`] joins.
//!
//! ```
//! use hub_server::{DeliveryReport, InputMethod, LocalHub, ReportsWanted, send};
//! use tokio::task::JoinSet;
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hub = LocalHub::bind(([127, 0, 0, 1], 0).into(), None).await?;
//! let (address, cancel) = (hub.address(), CancellationToken::new());
//! let mut tasks = JoinSet::new();
//! tasks.spawn(hub.run(cancel.clone()));
//!
//! // No client is connected, so nobody takes the text.
//! let (how, wait) = (InputMethod::Text, ReportsWanted::Responses);
//! let report = send(address, None, "buy milk", how, wait).await?.next().await;
//! assert!(matches!(report, Some(Ok(DeliveryReport::Undelivered { .. }))));
//!
//! cancel.cancel();
//! while tasks.join_next().await.is_some() {}
//! # Ok(())
//! # }
//! ```

mod connection;
mod event;
mod handshake;
mod limits;
mod send;
mod server;
mod state;
mod throttle;

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use self::server::LocalHubServer;

pub use event::{DeliveryReport, HubNotification, LocalHubEvent};
pub use hub::Token;
pub use limits::LocalHubLimits;
pub use send::{DeliveryReports, InputMethod, ReportsWanted, SendProblem, send};

const EVENT_CAPACITY: usize = 1024;

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
