//! The amount of stored history, and its deletion.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Timestamp;

/// The history to delete: changes that are older than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HistoryAge {
    /// 90 days before now, each of 24 hours.
    NinetyDays,
    /// 30 days before now, each of 24 hours.
    ThirtyDays,
    /// All, however young.
    Any,
}

/// The amount of stored history of the notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryStats {
    /// How much room it takes, packed.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The time of the oldest change that can be undone; `None` if there is none.
    pub since: Option<Timestamp>,
    /// The loss by age, the longest first.
    pub older: Vec<HistoryAgeStats>,
}

/// The loss if changes of an age were deleted from the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryAgeStats {
    /// The age that the count is for.
    pub age: HistoryAge,
    /// How many changes could not be undone any more.
    pub changes: u32,
}

/// The loss from deleting history. The notes themselves are untouched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeletedHistory {
    /// How many changes cannot be undone any more.
    pub changes: u32,
    /// How much room it took, packed.
    #[ts(type = "number")]
    pub bytes: u64,
}
