//! Messages of the hub, and the state of the link.

pub mod approval;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Origin, Timestamp, UserError};

/// A message that came over the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubMessage {
    /// The hub's id: data, never a path.
    pub id: String,
    /// The words of the sender, as the hub passed them.
    pub text: String,
    /// Spoken or typed.
    pub origin: Origin,
    /// When it came, by our clock.
    pub received_at: Timestamp,
}

/// Where the link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HubState {
    /// Not switched on.
    Off,
    /// Opening the socket.
    Connecting,
    /// Open, waiting for the hub's word on our name.
    Registering,
    /// Registered.
    Online,
    /// Lost; will try again automatically.
    Waiting,
    /// Needs the user: the hub will not have us as we are.
    Refused,
}

/// The link, for the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HubStatus {
    /// Where it stands.
    pub state: HubState,
    /// The last problem and the remedy; empty when all is well.
    pub trouble: Option<UserError>,
    /// When it tries again automatically, while it is offline.
    pub retry_at: Option<Timestamp>,
    /// How many frames of the hub were ignored since the vault was opened: they were not what a hub
    /// sends.
    pub ignored: u32,
}

impl HubStatus {
    /// Nothing is switched on, and nothing was.
    #[must_use]
    pub const fn off() -> Self {
        Self { state: HubState::Off, trouble: None, retry_at: None, ignored: 0 }
    }
}
