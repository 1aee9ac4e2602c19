//! Whether the desktop's portal comes when it is called. Toolkits call it while they start and wait
//! for as long as a call may take, which is 25 seconds.

use zbus::Connection;
use zbus::fdo::DBusProxy;
use zbus::names::{BusName, WellKnownName};

use crate::bus::Bus;

const NAME: &str = "org.freedesktop.portal.Desktop";
/// One that works comes well within that, also when it is the first to be called.
const PORTAL_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(3);

/// The state of the portal for its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortalStatus {
    /// It answers, or it is known at once that there is none.
    Answers,
    /// It is said to be there and never comes.
    KeepsWaiting,
}

impl PortalStatus {
    /// Asks on `bus`, and has it started if it is not; takes no longer than a few seconds.
    pub async fn probe(bus: &Bus) -> Self {
        let Some(connection) = bus.connect().await else { return Self::Answers };
        let called = tokio::time::timeout(PORTAL_TIMEOUT, start_service(&connection)).await;
        if called.is_err() { Self::KeepsWaiting } else { Self::Answers }
    }
}

/// Resolves when it is there, or when it is known that it is not.
async fn start_service(connection: &Connection) -> zbus::Result<()> {
    let bus = DBusProxy::new(connection).await?;
    if !bus.name_has_owner(BusName::try_from(NAME)?).await? {
        bus.start_service_by_name(WellKnownName::try_from(NAME)?, 0).await?;
    }
    Ok(())
}
