//! What a turn may still cost.

use protocol::model::Price;
use protocol::{ErrorCode, Usage, UserError};

/// What a turn may still cost, and what is said when it is gone. Where no price is known, nothing
/// can be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purse {
    /// What the model's tokens cost.
    pub price: Price,
    /// What is left, in billionths of a US dollar.
    pub left: u64,
    /// What is reached when nothing is left, and what to do.
    pub reached: String,
}

impl Purse {
    /// Pays for an answer.
    pub(crate) fn pay(&mut self, usage: &Usage) {
        self.take(self.price.of(usage));
    }

    /// Takes out so many billionths of a US dollar.
    pub(crate) fn take(&mut self, cost: u64) {
        self.left = self.left.saturating_sub(cost);
    }

    /// Why nothing more can be asked; `None` while something is left.
    pub(crate) fn empty(&self) -> Option<UserError> {
        (self.left == 0).then(|| UserError::new(ErrorCode::Spending, self.reached.clone()))
    }
}
