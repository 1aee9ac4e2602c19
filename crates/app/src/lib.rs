//! The application without a window: owns every task, implements the seams of the crates below
//! over the store, and tells one numbered feed what happened. Knows no windows.

mod announce;
mod app;
mod applied;
mod aside;
mod ask;
mod capture;
mod clock;
mod config;
mod context;
mod data_dir;
mod diff;
mod feed;
mod history;
mod home;
mod inbox;
mod indexing;
mod link;
mod lock;
mod log;
mod open_vault;
mod outbox;
mod overwritten;
mod policy;
mod ports;
mod privacy;
mod provider;
mod purpose;
mod recover;
mod relink;
mod review;
mod sample;
mod secrets;
mod shown;
mod submit;
mod trouble;
mod undo;
mod view;
mod watching;

pub use app::{App, Fallback};
pub use ask::{Asked, Question, ask};
pub use data_dir::DataDir;
pub use feed::Listener;
pub use hub::{Token as HubToken, local as local_hub};
pub use log::{LogGuard, start as start_log};
pub use ports::ledger::StoreLedger;
