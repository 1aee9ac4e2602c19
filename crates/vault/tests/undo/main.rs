//! Undo: case by case, and over random histories against an oracle that detects careless
//! implementations.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails where it cannot go on"
)]

mod answers;
mod cases;
mod expected;
mod folders;
mod identity_cases;
mod naive_identity;
mod naive_inverse;
mod one_path;
mod oracle;
mod other_programs;
mod random_histories;
mod simulation;
mod tally;
mod units;
