//! What requests to models have cost.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{MessageId, TokenUsage, TurnId};

/// What some requests cost together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelCost {
    /// How many requests reported what they used.
    pub requests: u32,
    /// Their tokens.
    pub usage: TokenUsage,
    /// What those with a known price cost, in billionths of a US dollar.
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

/// What one turn cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnCost {
    /// The turn.
    pub turn: TurnId,
    /// Its last words, if it said any.
    pub answer: Option<MessageId>,
    /// What it cost.
    pub spent: ModelCost,
}

/// What a month cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MonthCost {
    /// Year and month, `2026-11`.
    pub month: String,
    /// What it cost.
    pub spent: ModelCost,
}
