//! What can end a wait: the user stops the turn, or the service ends.

use std::ops::ControlFlow;

use tokio_util::sync::CancellationToken;

use super::{Flow, Ran};
use crate::turn::TurnInput;

/// Listens for both.
pub(super) struct Halt<'a> {
    pub(super) shutdown: &'a CancellationToken,
    pub(super) stop: &'a CancellationToken,
}

/// Why a wait ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halted {
    Shutdown,
    Stopped,
}

impl Halt<'_> {
    /// Waits for `work`, and drops it when a halt comes first.
    pub(super) async fn or<F: Future>(&self, work: F) -> Result<F::Output, Halted> {
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => Err(Halted::Shutdown),
            () = self.stop.cancelled() => Err(Halted::Stopped),
            done = work => Ok(done),
        }
    }
}

impl From<Halted> for Flow {
    fn from(halted: Halted) -> Self {
        match halted {
            Halted::Shutdown => ControlFlow::Break(Ran::Left),
            Halted::Stopped => ControlFlow::Continue(vec![TurnInput::Cancel]),
        }
    }
}
