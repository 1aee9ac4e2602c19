//! The traits that the application implements for a turn: which model answers it, where it is stored, how its changes are applied.

pub mod change_applier;
pub mod transcript;
pub mod turn_policy;
