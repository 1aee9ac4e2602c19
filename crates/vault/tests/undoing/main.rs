//! Taking changes back: case by case, and over random histories against an oracle that
//! careless ways do not get past.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails where it cannot go on"
)]

mod careless;
mod cases;
mod expected;
mod guess;
mod histories;
mod oracle;
mod world;
