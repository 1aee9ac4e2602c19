//! What of the hub waits for the user.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Words that wait for the user: an answer to the hub, or a message of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PendingApproval {
    /// Its number.
    pub number: u32,
    /// The words.
    pub text: String,
    /// Why it waits.
    pub why: ApprovalReason,
}

/// Why something of the hub waits for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalReason {
    /// An answer that may come from notes outside the places that the hub may use.
    Outside,
    /// An answer that the hub never heard: it was away for too long.
    Unheard,
    /// A message that was neither worked on nor kept as it is.
    Failed {
        /// What went wrong last.
        error: String,
    },
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// The hub is told; a message is worked on again.
    Send,
    /// Nothing.
    Discard,
}
