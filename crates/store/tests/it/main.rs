//! The store's methods against real SQLite with the real migrations, by what they are about.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod changes;
mod conversations;
mod hub;
mod interrupted;
mod lifecycle;
mod test_conversation;
mod turns;
mod usage;
