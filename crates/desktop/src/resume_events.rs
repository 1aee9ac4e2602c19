//! Tells when the computer has woken, as logind says it: `PrepareForSleep` is sent with `true`
//! before the computer sleeps and with `false` once it is awake again
//! (org.freedesktop.login1(5), "The Manager Object").

use crate::bus::Bus;
use crate::dbus_signals::{DbusSignal, DbusSignalStream};

const PREPARE_FOR_SLEEP: DbusSignal = DbusSignal {
    sender: "org.freedesktop.login1",
    path: "/org/freedesktop/login1",
    interface: "org.freedesktop.login1.Manager",
    member: "PrepareForSleep",
};

/// The times at which the computer wakes.
#[derive(Debug)]
pub struct ResumeEvents(DbusSignalStream);

impl ResumeEvents {
    /// As told on `bus`, which is the computer's own, from now on.
    pub async fn subscribe(bus: Bus) -> Self {
        Self(DbusSignalStream::subscribe(bus, PREPARE_FOR_SLEEP).await)
    }

    /// Resolves when the computer has woken. Where nobody tells of sleep it never does: the clocks
    /// must do then. A waking is not lost when this is dropped and called again.
    pub async fn next(&mut self) {
        self.0.next(|signal| signal.body().deserialize::<bool>() == Ok(false)).await;
        tracing::debug!("the computer woke");
    }
}
