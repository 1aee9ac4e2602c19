//! The store's methods against real SQLite with the real migrations, by what they are about.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod branches;
mod changes;
mod compaction;
mod conversations;
mod forgotten;
mod gist;
mod hub;
mod ledger;
mod questions;
mod queued;
mod said;
mod shelf;
mod sources;
mod spending;
mod story;
mod taken_back;
mod taken_up;
mod turns;
