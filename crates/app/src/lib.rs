//! The application without a window. It joins the crates below and knows no windows.
//!
//! [`App`] is the one value that a host holds: it owns every task, opens and closes the vault, and answers each request
//! with a plain method. Events go up through one numbered feed. `adapters` implements the traits of the crates below
//! over the store, the vault and the settings; each other folder is one part of the product (`chat`, `changes`, `notes`,
//! `hub`, `models`, `privacy`, `settings`, `workspace`, `events`).
//!
//! ```no_run
//! use std::path::Path;
//!
//! use app::{App, DataDir};
//!
//! # async fn example() -> Result<(), protocol::UserError> {
//! let app = App::start(DataDir::locate()?);
//! app.open_vault(Path::new("Notes")).await?;
//! for passage in app.find_passages("green tea").await? {
//!     println!("{}", passage.path);
//! }
//! app.shutdown().await;
//! # Ok(())
//! # }
//! ```

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
mod user_texts;
mod vault_session;
mod workspace;

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
use protocol::error::user_text::CatalogEntry;
pub use settings::secrets::{
    pass_to_command as give_keys_to, take_from_environment as take_keys_from_environment,
};
pub use support::log::{LogGuard, start as start_log};
pub use support::process_memory::protect_memory as keep_memory_to_itself;
pub use vault::NoteImage;
pub use workspace::data_dir::DataDir;
pub use workspace::single_instance::{RunningInstance, notify_running};
pub use workspace::vault_registry::adopt;

/// The texts for the user that have an entry of the catalog, of this crate and of those below.
pub fn catalog_entries() -> impl Iterator<Item = &'static CatalogEntry> {
    let below = [llm::USER_TEXTS, vault::USER_TEXTS, store::USER_TEXTS, ::hub::USER_TEXTS];
    user_texts::TEXTS.iter().chain(below.into_iter().flatten())
}
