//! The words of a tool call for the user: a message, a question, or the end of the conversation.

use serde::{Deserialize, Serialize};

/// A tool that ran made it; a text that only looks like a call never becomes one. Stored as JSON beside the result
/// of its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Speech {
    /// A message. The turn goes on.
    Say {
        /// The message, Markdown.
        text: String,
    },
    /// A question. It ends the turn.
    Ask {
        /// The question, Markdown.
        text: String,
        /// Ready answers; may be empty.
        options: Vec<String>,
    },
    /// Ends turn and conversation.
    End {
        /// The reason, as text.
        reason: Option<String>,
    },
}
