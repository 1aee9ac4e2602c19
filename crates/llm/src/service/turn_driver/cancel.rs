//! The events that can end a wait: the user stops the turn, or the service ends.

use std::ops::ControlFlow;

use tokio_util::sync::CancellationToken;

use super::{DriverFlow, TurnExit};
use crate::turn::TurnInput;

/// Listens for both.
pub(super) struct CancelSignals<'a> {
    pub(super) shutdown: &'a CancellationToken,
    pub(super) stop: &'a CancellationToken,
}

/// Why a wait ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CancelReason {
    Shutdown,
    Stopped,
}

impl CancelSignals<'_> {
    /// Waits for `work`, and drops it when a halt comes first.
    pub(super) async fn unless_cancelled<F: Future>(
        &self,
        work: F,
    ) -> Result<F::Output, CancelReason> {
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => Err(CancelReason::Shutdown),
            () = self.stop.cancelled() => Err(CancelReason::Stopped),
            done = work => Ok(done),
        }
    }
}

impl From<CancelReason> for DriverFlow {
    fn from(halted: CancelReason) -> Self {
        match halted {
            CancelReason::Shutdown => ControlFlow::Break(TurnExit::Left),
            CancelReason::Stopped => ControlFlow::Continue(vec![TurnInput::Cancel]),
        }
    }
}
