//! What a hub is not told before the user has said so.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Words that wait to be sent to the hub: they may come from notes outside the places it may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HeldNotice {
    /// Its number.
    pub number: u32,
    /// The words.
    pub text: String,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HeldVerdict {
    /// The hub is told.
    Send,
    /// Nobody is.
    Discard,
}
