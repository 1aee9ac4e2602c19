//! What must not be lost, in one SQLite file a vault: conversations, turns, tool calls, questions,
//! change sets, the ledger of effects, the hub's inbox and outbox, usage. All durable SQL is here.
//!
//! A table is a module. [`Store`]'s methods stand in the module of the table they are about; what
//! a turn stores, over several tables, stands in `transcript`; what the chat shows is put
//! together in [`chat_view`]. Each writing method is one commit that is durable when it returns and
//! that leaves nothing behind when it fails or is dropped. Times are handed in.

mod approvals;
mod branch;
mod change_columns;
mod change_set;
pub mod chat_view;
mod cjk_search;
mod compaction;
mod content;
mod conversation;
mod effect;
mod effect_history;
mod error;
mod export;
mod full_result;
mod fulltext;
mod inbox;
mod interrupted;
mod lifecycle;
mod loss_detection;
mod message;
mod message_queue;
mod open;
mod outbox;
mod planned_change;
mod provenance;
mod purged;
#[cfg(test)]
mod query_plans;
mod question;
mod read_state;
mod retention;
mod retention_stats;
mod reverts;
mod row_ext;
mod succession;
mod title_queue;
mod tool_call;
mod transaction;
mod transcript;
mod turn;
mod usage;
mod vacuum;
mod writer;

use std::path::Path;
use std::sync::Arc;

use sqlx::SqlitePool;
use writer::Writer;

pub use branch::OpenedTurn;
pub use change_set::{DecisionRow, OpenChangeSet};
pub use chat_view::OpenedConversation;
pub use compaction::CompactionRow;
pub use error::StoreError;
pub use export::{ConversationOutline, ExportedBranch, ExportedCall, ExportedTurn};
pub use inbox::{DeliveredMessage, DeliveryOutcome, InboxRow};
pub use loss_detection::LostDatabase;
pub use outbox::{ExpiredNotification, ForgottenReplies, OutboxPush, OutboxRow};
pub use planned_change::{ChangeSetDecision, PartialDecision, PlannedChangeRow};
pub use purged::{PurgeBatch, PurgeStats, PurgedEffect};
pub use question::AnswerableQuestion;
pub use retention::RetentionPolicy;
pub use retention_stats::RetentionStats;
pub use reverts::{RevertRow, UserChangeSet};
pub use title_queue::EndedConversation;

/// The database of one vault. Clones share it; one process at a time may hold it.
#[derive(Debug, Clone)]
pub struct Store {
    file: Arc<Path>,
    writer: Arc<Writer>,
    readers: SqlitePool,
}
