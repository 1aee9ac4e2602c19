//! The spending limit of a turn.

use protocol::chat::model::Price;
use protocol::error::user_text::UserText;
use protocol::{ErrorCode, TokenUsage, UserError};

/// The amount that a turn may still cost, and the message when it is gone. Without a known price,
/// nothing can be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingLimit {
    /// The price of the model's tokens.
    pub price: Price,
    /// The rest of the limit, in billionths of a US dollar.
    pub left: u64,
    /// The message when nothing is left: the limit that was reached, and what to do.
    pub reached_message: UserText,
}

impl SpendingLimit {
    /// Pays for an answer.
    pub(crate) fn charge_usage(&mut self, usage: &TokenUsage) {
        self.charge(self.price.cost(usage));
    }

    /// Subtracts a cost in billionths of a US dollar; the rest is never below 0.
    pub(crate) fn charge(&mut self, cost: u64) {
        self.left = self.left.saturating_sub(cost);
    }

    /// Why nothing more can be asked; `None` while something is left.
    pub(crate) fn exhausted(&self) -> Option<UserError> {
        (self.left == 0).then(|| UserError::new(ErrorCode::Spending, self.reached_message.clone()))
    }
}
