//! Earlier turns of a conversation in fewer words, told to a model in their place.

use crate::chat::model::Price;
use crate::{Timestamp, TokenUsage, TurnId};

/// The summary that replaces the first turns of a branch for a model. The turns themselves are
/// kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// The last turn it stands in for: with it all that were heard before it.
    pub until: TurnId,
    /// The text for the model in their place, ready to send.
    pub text: String,
    /// The summary by a model of them, or of the first of them.
    pub summary: Option<Summary>,
}

/// A model's summary of the first turns of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The model's words.
    pub words: String,
    /// The last turn that they tell of.
    pub until: TurnId,
}

/// A request that belongs to no answer: its model and its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UtilityRequest {
    /// The model's id or alias.
    pub model: String,
    /// The price of its tokens, where that is known.
    pub price: Option<Price>,
    /// The tokens that the provider reported, or an estimate.
    pub usage: TokenUsage,
    /// The time of the request; it decides the month whose costs it counts for.
    pub at: Timestamp,
}

impl UtilityRequest {
    /// Its cost, in billionths of a US dollar; 0 where no price is known.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.price.map_or(0, |price| price.cost(&self.usage))
    }
}
