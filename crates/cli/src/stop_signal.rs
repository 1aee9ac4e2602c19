//! The signals that stop a command which runs until it is stopped.

use protocol::UserError;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM.
#[derive(Debug)]
pub(crate) struct StopSignal {
    terminate: Signal,
}

impl StopSignal {
    /// From now on SIGTERM does not end the process by itself.
    pub(crate) fn listen() -> Result<Self, UserError> {
        let terminate = signal(SignalKind::terminate())
            .map_err(|error| UserError::other(format!("Cannot listen for signals: {error}.")))?;
        Ok(Self { terminate })
    }

    /// Returns when one of them comes.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = ctrl_c() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
