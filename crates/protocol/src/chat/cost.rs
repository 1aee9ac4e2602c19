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
    /// The sum of the tokens they reported.
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

/// The cost of all requests of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnCost {
    /// The turn that the requests belong to.
    pub turn: TurnId,
    /// Its last words, if it said any.
    pub answer: Option<MessageId>,
    /// The sum over its requests, also those that were cut or sent again.
    pub spent: ModelCost,
}

/// The cost of all requests of a calendar month in the user's time zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MonthCost {
    /// Year and month, `2026-11`.
    pub month: String,
    /// The sum over its requests.
    pub spent: ModelCost,
}
