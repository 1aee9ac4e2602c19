//! One SQLite file per vault: conversations, turns, tool calls, questions, change sets, the ledger of effects,
//! the hub's inbox and outbox, usage. All durable SQL is here.
//!
//! A table is a module, and [`Store`]'s methods stand in the module of their table. `turns::transcript` holds the
//! commits of a turn that touch several tables; [`chat_view`] builds the items that the chat shows. Each writing
//! method is one commit. It is durable when the method returns, and it leaves nothing behind when it fails or is
//! dropped. Times are passed in.
//!
//! ```
//! use protocol::{ConversationId, Timestamp};
//! use store::Store;
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let folder = tempfile::tempdir().unwrap();
//! let store = Store::open(&folder.path().join("vault.db")).await.unwrap();
//!
//! let id = ConversationId::from("c1");
//! store.create_conversation(&id, "Garden", None, Timestamp(0)).await.unwrap();
//! let stored = store.conversation(&id).await.unwrap().unwrap();
//! assert_eq!(stored.title, "Garden");
//! # });
//! ```

mod changes;
pub mod chat_view;
mod conversations;
mod db;
mod error;
mod hub;
mod turns;

pub use changes::change_set::{DecisionRow, OpenChangeSet};
pub use changes::earlier_plan::EarlierPlan;
pub use changes::effect::CallEffect;
pub use changes::planned_change::{ChangeSetDecision, PartialDecision, PlannedChangeRow};
pub use changes::planned_name::{PlannedName, PlannedNote};
pub use changes::purged::{PurgeBatch, PurgeStats, PurgedEffect};
pub use changes::retention::RetentionPolicy;
pub use changes::retention_stats::RetentionStats;
pub use changes::reverts::{RevertRow, UnitMember, UserChangeSet};
pub use chat_view::OpenedConversation;
pub use conversations::branch::{OpenedTurn, ShownVersion, TurnPlace};
pub use conversations::export::{ConversationOutline, ExportedBranch, ExportedCall, ExportedTurn};
pub use conversations::title_queue::EndedConversation;
pub use db::loss_detection::LostDatabase;
pub use db::store::Store;
pub use error::StoreError;
pub use error::user_texts::TEXTS as USER_TEXTS;
pub use hub::approvals::ApprovalOutcome;
pub use hub::inbox::{DeliveredMessage, DeliveryOutcome, InboxRow, id_at_hub};
pub use hub::outbox::{ExpiredNotification, ExpiredReplies, OutboxPush, OutboxRow};
pub use turns::compaction::CompactionRow;
pub use turns::message::TurnTimes;
pub use turns::message_queue::RemovedMessage;
pub use turns::question::AnswerableQuestion;
pub use turns::tool_call::CallRow;
pub use turns::turn::TurnChanges;
