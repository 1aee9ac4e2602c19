//! The way to a message bus. Somebody may be there and never answer: every wait here is bounded.

use std::time::Duration;

use zbus::Connection;
use zbus::connection::Builder;

/// How long a bus has to let us in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a service has for an answer, its start included.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// The address of a D-Bus bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bus(BusAddress);

#[derive(Debug, Clone, PartialEq, Eq)]
enum BusAddress {
    Session,
    System,
    At(String),
}

impl Bus {
    /// The bus of the user's session.
    #[must_use]
    pub const fn session() -> Self {
        Self(BusAddress::Session)
    }

    /// The bus of the computer.
    #[must_use]
    pub const fn system() -> Self {
        Self(BusAddress::System)
    }

    /// The one at an address as buses print theirs.
    #[must_use]
    pub fn at(address: &str) -> Self {
        Self(BusAddress::At(address.to_owned()))
    }

    /// A connection of its own, or `None` where there is no such bus or it does not let us in.
    pub(crate) async fn connect(&self) -> Option<Connection> {
        let builder = match &self.0 {
            BusAddress::Session => Builder::session(),
            BusAddress::System => Builder::system(),
            BusAddress::At(address) => Builder::address(address.as_str()),
        };
        let connected = with_timeout(CONNECT_TIMEOUT, async {
            builder?.method_timeout(CALL_TIMEOUT).build().await
        })
        .await;
        connected.map_err(|why| tracing::debug!(bus = ?self.0, why, "no bus")).ok()
    }
}

/// The result of `work`, or an error, if one is known within `timeout`.
pub(crate) async fn with_timeout<T>(
    timeout: Duration,
    work: impl Future<Output = zbus::Result<T>>,
) -> Result<T, String> {
    match tokio::time::timeout(timeout, work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", timeout.as_secs())),
    }
}
