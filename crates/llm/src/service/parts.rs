//! The dependencies of the service.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ports::change_applier::ChangeApplier;
use crate::ports::transcript::Transcript;
use crate::ports::turn_policy::TurnPolicy;
use crate::tool_api::registry::ToolRegistry;
use crate::transport::time_scale::TimeScale;

/// The parts of the service. Its owner joins `tasks` after it cancelled `cancel`.
pub struct ServiceParts {
    /// The tools there are.
    pub registry: Arc<ToolRegistry>,
    /// Where turns are kept.
    pub transcript: Arc<dyn Transcript>,
    /// Judges and applies plans.
    pub changes: Arc<dyn ChangeApplier>,
    /// Decides about the turns and receives their events.
    pub policy: Arc<dyn TurnPolicy>,
    /// Session tasks are spawned into it.
    pub tasks: TaskTracker,
    /// Ends the service. A turn that runs then stays `Running` in the transcript, for recovery.
    pub cancel: CancellationToken,
    /// How long a wait before a retry takes.
    pub time_scale: TimeScale,
}
