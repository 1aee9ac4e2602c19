//! The application without a window: owns every task, implements the seams of the crates below
//! over the store, and tells one numbered feed what happened. Knows no windows.

mod adapters;
mod app;
mod changes;
mod chat;
mod events;
mod hub;
mod models;
mod notes;
mod privacy;
mod settings;
mod support;
mod vault_session;
mod workspace;

pub use ::hub::{Token as HubToken, local as local_hub};
pub use adapters::ledger::StoreLedger;
pub use app::{App, Fallback};
pub use chat::export::{ExistingFile, ExportJob, export};
pub use chat::one_shot::{
    OneShotAnswer, OneShotQuestion, PriorCall, PriorMessage, SourcedText, UnappliedChange, ask_once,
};
pub use events::desktop_feed::DesktopFeed;
pub use events::feed::FeedListener;
pub use events::notifications::{
    AppNotification, NotificationChange, NotificationKind, TrayState, TrayStatus, WindowFocus,
};
pub use hub::token_source::hub_token;
pub use llm::TimeScale;
pub use settings::secrets::{
    pass_to_command as give_keys_to, take_from_environment as take_keys_from_environment,
};
pub use support::log::{LogGuard, start as start_log};
pub use support::process_memory::protect_memory as keep_memory_to_itself;
pub use vault::NoteImage;
pub use workspace::data_dir::DataDir;
pub use workspace::single_instance::{RunningInstance, notify_running};
pub use workspace::vault_registry::adopt;
