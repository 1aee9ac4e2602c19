//! Earlier turns of a conversation in fewer words, told to a model in their place.

use crate::chat::model::Price;
use crate::{Timestamp, TokenUsage, TurnId};

/// What stands in for the first turns of a branch. The turns themselves stay where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// The last turn it stands in for: with it all that were heard before it.
    pub until: TurnId,
    /// What a model is told in their place, ready to send.
    pub text: String,
    /// What a model made of them, or of the first of them.
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

/// A request that belongs to no answer: who was asked, and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UtilityRequest {
    /// The model's id or alias.
    pub model: String,
    /// What its tokens cost, where that is known.
    pub price: Option<Price>,
    /// Its tokens.
    pub usage: TokenUsage,
    /// When.
    pub at: Timestamp,
}

impl UtilityRequest {
    /// What it cost, in billionths of a US dollar; nothing where no price is known.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.price.map_or(0, |price| price.cost(&self.usage))
    }
}
