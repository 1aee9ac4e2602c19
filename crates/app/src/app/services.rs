//! The services that the application shares with every vault that it opens.

use std::sync::{Arc, OnceLock};

use desktop::Keyring;
use llm::TimeScale;
use tokio::sync::Notify;

use crate::adapters::active_note::ActiveNoteState;
use crate::events::feed::Feed;
use crate::events::jobs::Jobs;
use crate::models::selection::ModelSelector;
use crate::settings::config::Config;
use crate::settings::run_mode::RunMode;
use crate::workspace::data_dir::DataDir;

/// The services of the application that a vault needs.
pub(crate) struct AppServices {
    pub(crate) data: DataDir,
    pub(crate) keyring: Keyring,
    pub(crate) config: Config,
    pub(crate) feed: Feed,
    pub(crate) active_note: ActiveNoteState,
    pub(crate) model_selector: ModelSelector,
    pub(crate) run_mode: RunMode,
    /// Of the clocks of models, of the hub, and of what is noticed.
    pub(crate) pace: TimeScale,
    /// Notified when a second window is started on the vault; a host without a window has none.
    pub(crate) second_start: OnceLock<Arc<Notify>>,
    pub(crate) jobs: Jobs,
}
