//! An open question of the model to the user.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CallId, ConversationId, MessageId, QuestionId, Timestamp, TurnId};

/// The waiting state of a conversation: it survives restarts, for as long as it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Its id, which an answer names.
    pub id: QuestionId,
    /// Where it was asked.
    pub conversation: ConversationId,
    /// The turn that ended by asking.
    pub turn: TurnId,
    /// The call that asked.
    pub call: CallId,
    /// The user message that began the turn.
    pub original_message: MessageId,
    /// The question, as shown.
    pub text: String,
    /// Ready answers; may be empty.
    pub options: Vec<String>,
    /// Tool calls done in the turn before it asked.
    pub tool_calls_completed: u32,
    /// When the turn ended by asking.
    pub asked_at: Timestamp,
}
