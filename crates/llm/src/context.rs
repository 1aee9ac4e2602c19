//! The content of a model's context window: stored history as messages, token estimates, the budget
//! and truncation.

pub(crate) mod exchange;
pub mod history;
pub(crate) mod model_texts;
pub(crate) mod request_usage;
pub(crate) mod token_budget;
pub(crate) mod tokens;
pub mod truncate;
pub(crate) mod visible_text;
pub(crate) mod window_usage;
