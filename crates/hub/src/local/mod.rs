//! A small hub for people without one, and for every test: it speaks the same protocol.
//!
//! One task owns the board, which knows who is registered and what was delivered to
//! whom; each socket is a line with a task of its own, in a set that [`LocalHub::run`] joins.

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
use crate::Token;

pub use event::{DeliveryReport, HubNotification, LocalHubEvent};
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
