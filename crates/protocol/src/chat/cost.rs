//! The cost of requests to models.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{MessageId, TokenUsage, TurnId};

/// The total cost of some requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelCost {
    /// How many requests reported what they used.
    pub requests: u32,
    /// Their tokens.
    pub usage: TokenUsage,
    /// The cost of those with a known price, in billionths of a US dollar.
    #[ts(type = "number")]
    pub cost: u64,
    /// How many have no known price.
    pub unpriced: u32,
}

impl std::ops::AddAssign for ModelCost {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.usage += other.usage;
        self.cost = self.cost.saturating_add(other.cost);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }
}

/// The cost of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnCost {
    /// The turn.
    pub turn: TurnId,
    /// Its last words, if it said any.
    pub answer: Option<MessageId>,
    /// Its cost.
    pub spent: ModelCost,
}

/// The cost of a month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MonthCost {
    /// Year and month, `2026-11`.
    pub month: String,
    /// Its cost.
    pub spent: ModelCost,
}
