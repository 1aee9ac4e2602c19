//! From where on a history is made shorter, and by how much.

/// The number of newest exchanges that are always sent as they were.
pub(crate) const MIN_KEPT_EXCHANGES: usize = 6;

/// When a conversation rests, room is made from this part of the budget on, in percent.
pub(crate) const IDLE_THRESHOLD_PERCENT: u32 = 70;

/// The same before a request.
pub(crate) const REQUEST_THRESHOLD_PERCENT: u32 = 80;

/// While no more than this part of the budget is taken, no summary of a model is needed, in
/// percent.
pub(super) const SUMMARY_THRESHOLD_PERCENT: u32 = 50;

/// The tokens that a summary has at most.
pub(super) const MAX_SUMMARY_TOKENS: u32 = 2_000;

/// The facts that are kept word for word beside a summary take this part of the budget at most.
pub(super) const FACTS_SHARE: u32 = 8;
