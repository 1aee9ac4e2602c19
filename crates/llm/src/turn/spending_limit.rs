//! What a turn may still cost.

use protocol::chat::model::Price;
use protocol::{ErrorCode, TokenUsage, UserError};

/// What a turn may still cost, and what is said when it is gone. Where no price is known, nothing
/// can be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingLimit {
    /// What the model's tokens cost.
    pub price: Price,
    /// What is left, in billionths of a US dollar.
    pub left: u64,
    /// What is reached when nothing is left, and what to do.
    pub reached_message: String,
}

impl SpendingLimit {
    /// Pays for an answer.
    pub(crate) fn charge_usage(&mut self, usage: &TokenUsage) {
        self.charge(self.price.cost(usage));
    }

    /// Takes out so many billionths of a US dollar.
    pub(crate) fn charge(&mut self, cost: u64) {
        self.left = self.left.saturating_sub(cost);
    }

    /// Why nothing more can be asked; `None` while something is left.
    pub(crate) fn exhausted(&self) -> Option<UserError> {
        (self.left == 0).then(|| UserError::new(ErrorCode::Spending, self.reached_message.clone()))
    }
}
