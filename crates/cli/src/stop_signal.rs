//! The signals that stop a command which runs until it is stopped.

use protocol::UserError;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM.
#[derive(Debug)]
pub(crate) struct StopSignal {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignal {
    /// From now on neither ends the process by itself.
    pub(crate) fn listen() -> Result<Self, UserError> {
        let listen = |kind| {
            signal(kind)
                .map_err(|error| UserError::other(format!("Cannot listen for signals: {error}.")))
        };
        let (interrupt, terminate) =
            (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate })
    }

    /// Returns when one of them comes.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
