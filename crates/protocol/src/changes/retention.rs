//! How much of the notes' past is kept, and what the user wants forgotten of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Timestamp;

/// Which changes to forget: those that are older than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HistoryAge {
    /// Ninety days.
    NinetyDays,
    /// Thirty days.
    ThirtyDays,
    /// All, however young.
    Any,
}

/// What is kept of earlier versions of the notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryStats {
    /// How much room it takes, packed.
    #[ts(type = "number")]
    pub bytes: u64,
    /// When the oldest change was made that can be taken back; `None` if there is none.
    pub since: Option<Timestamp>,
    /// What would be lost, by age, the longest first.
    pub older: Vec<HistoryAgeStats>,
}

/// What would be lost if changes of an age were forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryAgeStats {
    /// The age.
    pub age: HistoryAge,
    /// How many changes could not be taken back any more.
    pub changes: u32,
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeletedHistory {
    /// How many changes cannot be taken back any more.
    pub changes: u32,
    /// How much room it took, packed.
    #[ts(type = "number")]
    pub bytes: u64,
}
