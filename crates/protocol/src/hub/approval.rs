//! Text for or from the hub that needs the user's approval.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A text that needs approval: an answer to the hub, or a message of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PendingApproval {
    /// Its number, by which the user's decision names it; unique in the vault.
    pub number: u32,
    /// The text that is sent or processed once it is approved.
    pub text: String,
    /// The rule that holds it back.
    pub why: ApprovalReason,
}

/// The reason why it needs approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalReason {
    /// An answer that may come from notes outside the places that the hub may use.
    Outside,
    /// An answer that the hub never heard: it was away for too long.
    Unheard,
    /// A message that was neither worked on nor kept as it is.
    Failed {
        /// The last error.
        error: String,
    },
}

/// The user's decision about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// The hub is told; a message is worked on again.
    Send,
    /// Nothing.
    Discard,
}
