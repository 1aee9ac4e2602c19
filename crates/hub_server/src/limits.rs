//! How much the hub takes, and how long it waits.

use std::time::Duration;

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
