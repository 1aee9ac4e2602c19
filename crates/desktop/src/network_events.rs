//! Tells when the computer is on a network, as NetworkManager says it: `StateChanged` carries the new
//! state, and from 50, a network without a way out of it, a hub may be within reach
//! (NetworkManager's D-Bus reference, `NMState`).

use crate::bus::Bus;
use crate::dbus_signals::{DbusSignal, DbusSignalStream};

const STATE_CHANGED: DbusSignal = DbusSignal {
    sender: "org.freedesktop.NetworkManager",
    path: "/org/freedesktop/NetworkManager",
    interface: "org.freedesktop.NetworkManager",
    member: "StateChanged",
};

/// `NM_STATE_CONNECTED_LOCAL`; higher states reach further.
const CONNECTED_LOCAL: u32 = 50;

/// The times at which the computer gets on a network, or from one that reaches less far.
#[derive(Debug)]
pub struct NetworkEvents(DbusSignalStream);

impl NetworkEvents {
    /// As told on `bus`, which is the computer's own, from now on.
    pub async fn subscribe(bus: Bus) -> Self {
        Self(DbusSignalStream::subscribe(bus, STATE_CHANGED).await)
    }

    /// Resolves when the computer is on a network. Where nobody tells of networks it never does: the
    /// link's own waits must do then. An arrival is not lost when this is dropped and called again.
    pub async fn next(&mut self) {
        let is_on = |state: u32| state >= CONNECTED_LOCAL;
        self.0.next(|signal| signal.body().deserialize::<u32>().is_ok_and(is_on)).await;
        tracing::debug!("the computer is on a network");
    }
}
