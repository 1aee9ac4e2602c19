//! What must not be lost, in one SQLite file a vault: conversations, turns, tool calls, questions,
//! change sets, the ledger of effects, the hub's inbox and outbox, usage. All durable SQL is here.
//!
//! A table is a module. [`Store`]'s methods stand in the module of the table they are about; what
//! a turn stores, over several tables, stands in `transcript`; what the chat shows is put
//! together in [`view`]. Each writing method is one commit that is durable when it returns and
//! that leaves nothing behind when it fails or is dropped. Times are handed in.

mod act;
mod branch;
mod change_set;
mod column;
mod commit;
mod compact;
mod compaction;
mod conversation;
mod effect;
mod emptied;
mod error;
mod export;
mod forgotten;
mod gist;
mod held;
mod history;
mod image;
mod inbox;
mod keep;
mod message;
mod open;
mod outbox;
mod passage;
mod past;
mod planned_change;
#[cfg(test)]
mod plans;
mod question;
mod queued;
mod seen;
mod shelf;
mod source;
mod succession;
mod taken_up;
mod tool_call;
mod transcript;
mod turn;
mod undoing;
mod unspaced;
mod usage;
pub mod view;
mod whole_result;
mod writer;

use std::path::Path;
use std::sync::Arc;

use sqlx::SqlitePool;
use writer::Writer;

pub use branch::Opened;
pub use change_set::{OpenChangeSet, VerdictRow};
pub use compaction::CompactionRow;
pub use emptied::Emptied;
pub use error::StoreError;
pub use export::{Branch, Outline, ToldCall, ToldTurn};
pub use forgotten::{Gone, Losing, Part};
pub use gist::EndedRow;
pub use history::Kept;
pub use inbox::{Delivered, InboxRow, Taken};
pub use keep::Keep;
pub use outbox::{Forgotten, OutboxPush, OutboxRow, Unheard};
pub use planned_change::{PlannedParts, PlannedRow, Verdict};
pub use question::AskedRow;
pub use undoing::{OwnSet, UndoingRow};
pub use view::OpenedConversation;

/// The database of one vault. Clones share it; one process at a time may hold it.
#[derive(Debug, Clone)]
pub struct Store {
    file: Arc<Path>,
    writer: Arc<Writer>,
    readers: SqlitePool,
}
