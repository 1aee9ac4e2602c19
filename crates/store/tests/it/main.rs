//! The store's methods against real SQLite with the real migrations, by what they are about.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod branches;
mod changes;
mod compaction;
mod conversation_search;
mod conversations;
mod effect_history;
mod hub;
mod interrupted;
mod ledger;
mod lifecycle;
mod message_queue;
mod provenance;
mod purge;
mod questions;
mod test_conversation;
mod titles;
mod turns;
mod usage;
