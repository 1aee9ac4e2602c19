//! Messages as they are stored and replayed to a model.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CallId, ConversationId, MessageId, NotePath, QuestionId, Speech, Timestamp, TurnId};

/// The channel something came through. Trust follows it, never the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Typed in our window.
    Window,
    /// Typed text that came over the hub.
    HubText,
    /// A spoken message that came over the hub.
    HubVoice,
    /// `vaultmate-cli ask`.
    Cli,
    /// A channel that another version knows. Its messages may do nothing.
    #[serde(other)]
    Unknown,
}

impl Origin {
    /// Whether it came over the hub.
    #[must_use]
    pub const fn is_hub(self) -> bool {
        matches!(self, Self::HubText | Self::HubVoice)
    }
}

/// The sender. Tool results stand in messages of the user, as the providers want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or results of tools.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessagePart {
    /// Text to show.
    Text {
        /// Markdown.
        text: String,
    },
    /// The context block as it was sent with the user's words; before an answer, what the model was
    /// told for that answer alone. Not shown in the chat.
    Context {
        /// The block, ready to send.
        text: String,
    },
    /// A tool call of the model.
    Call {
        /// The model's id for it.
        id: CallId,
        /// The tool's name.
        tool: String,
        /// The arguments, a JSON object.
        arguments: serde_json::Value,
    },
    /// The one result of a call.
    Result {
        /// The call that it answers.
        call: CallId,
        /// Text for the model.
        output: String,
        /// Whether it reports a failure.
        is_error: bool,
        /// The words for the user, if the call talked. A model reads them in its own call and is not sent these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speech: Option<Speech>,
    },
    /// This text answers a question.
    Answers {
        /// The answered question.
        question: QuestionId,
    },
    /// This text is in the chat already: the turn before could not process it.
    Repeated,
    /// A program passed this text, from other sources than the user. Messages that were stored before
    /// this part existed do not have it.
    Passed,
    /// The open note that was sent with this text. Tools and rules read it; it is sent to nobody.
    OpenNote {
        /// The note; `None` when one was open and the user excluded it.
        note: Option<OpenNote>,
    },
    /// Opaque provider content kept verbatim while its turn is open.
    Verbatim {
        /// As it came.
        content: serde_json::Value,
        /// Its model: no other model gets it back. Not known for old messages.
        #[serde(default)]
        maker: Option<AnswerAuthor>,
    },
}

/// The one who chose the note that is open beside the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoteOpener {
    /// The user, by a click, a link or an argument.
    User,
    /// A tool, which is a choice of the model.
    Tool,
    /// An earlier version did not record it, or another version knows it. It counts as a tool.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The note that was open when a message was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenNote {
    /// Its path when the message was sent.
    pub path: NotePath,
    /// The selected text in it; empty for none.
    #[serde(default)]
    pub selected: String,
    /// The heading that the selection stood under.
    #[serde(default)]
    pub heading: Option<String>,
    /// The one who chose it.
    #[serde(default)]
    pub opened_by: NoteOpener,
}

/// The provider and model of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AnswerAuthor {
    /// The server, by its kind and where it stands; empty where nothing is kept verbatim.
    #[serde(rename = "vendor")]
    pub server: String,
    /// The model's id or alias.
    pub model: String,
}

/// One stored message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id; the chat item has the same one.
    pub id: MessageId,
    /// Where it belongs.
    pub conversation: ConversationId,
    /// The turn it opened or belongs to.
    pub turn: TurnId,
    /// The sender.
    pub role: Role,
    /// Its pieces, in order.
    pub parts: Vec<MessagePart>,
    /// When it was stored.
    pub at: Timestamp,
}

impl Message {
    /// All text parts, joined by blank lines.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                MessagePart::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n\n")
    }

    /// The open note that was sent with it: the inner `None` when the user excluded it, the outer
    /// one when none was open.
    #[must_use]
    pub fn open_note(&self) -> Option<Option<&OpenNote>> {
        self.parts.iter().find_map(|part| match part {
            MessagePart::OpenNote { note } => Some(note.as_ref()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{MessagePart, NoteOpener};

    fn opener_of(stored: &str) -> NoteOpener {
        match serde_json::from_str(stored).expect("a part") {
            MessagePart::OpenNote { note: Some(note) } => note.opened_by,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_opener_of_a_note_is_the_user_only_where_that_is_stored() {
        let former = r#"{"type":"open_note","note":{"path":"Alpha.md"}}"#;
        assert_eq!(opener_of(former), NoteOpener::Unknown);
        let later = r#"{"type":"open_note","note":{"path":"Alpha.md","opened_by":"plugin"}}"#;
        assert_eq!(opener_of(later), NoteOpener::Unknown);
        for opener in [NoteOpener::User, NoteOpener::Tool, NoteOpener::Unknown] {
            let word = serde_json::to_string(&opener).expect("JSON");
            let stored = later.replace("\"plugin\"", &word);
            assert_eq!(opener_of(&stored), opener, "{stored}");
        }
    }
}
