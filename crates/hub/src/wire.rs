//! The frames of the hub's protocol: JSON text, `{ "type": string, "payload": object }`.
//!
//! A key without a value is omitted, never `null`. A frame that cannot be read is to be dropped, whatever it is. A hub
//! reads [`ToHub`] and writes [`FromHub`], a client does the opposite.

use protocol::Origin;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Priority;

mod lenient_values;
mod long_frame;
mod surrogates;

/// The largest frame that a client sends and a hub takes, in bytes.
pub const FRAME_MAX: usize = 1 << 20;
/// The largest message that we take, in bytes: a note has room for 10 MiB, and the message goes into the inbox note.
pub(crate) const RECEIVED_MAX: usize = 8 << 20;
/// Of a larger message, which is refused by its id, only this much of the end is read besides [`RECEIVED_MAX`] of the
/// beginning, in bytes.
pub(crate) const REFUSED_END: usize = 64 << 10;
const ID_MAX: usize = 256;

/// A frame from a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
pub enum ToHub {
    /// The first frame of a client. The hub answers it with [`FromHub::RegistrationResponse`].
    Registration(Registration),
    /// One of possibly several answers to a message.
    Response(ResponseFrame),
}

/// A client's request for a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// Unchecked, see [`check_name`](crate::check_name).
    pub name: String,
    /// Unchecked, see [`check_description`](crate::check_description).
    pub description: String,
    /// The version of the client's program.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Optional parts of the protocol that the client knows.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
}

/// An answer of a client, with the message it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseFrame {
    /// The hub's id of the message, as the client got it.
    pub message_id: String,
    /// Flattened: its `type` and `payload` stand beside the id.
    #[serde(flatten)]
    pub answer: ResponsePayload,
}

/// The three kinds of answers to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case", deny_unknown_fields)]
pub enum ResponsePayload {
    /// The client has stored the message.
    Ack {},
    /// The client cannot take the message; the hub tries other clients.
    Reject {
        /// Shown to the user in the end.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Text for the user. With neither a title nor a body the hub drops it.
    Notification {
        /// One line above the body.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The text below the title.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        /// [`Priority::Normal`] if it is missing.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        priority: Option<Priority>,
    },
}

/// A frame from the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
pub enum FromHub {
    /// The answer to [`ToHub::Registration`].
    RegistrationResponse(RegistrationResponse),
    /// Text of the user. The client answers it with [`ToHub::Response`].
    Message(MessageFrame),
}

/// Whether a client has the name that it asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationResponse {
    /// If `false`, the hub sends no messages over this socket.
    pub success: bool,
    /// The hub's own name for the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The reason of a failure, such as `DUPLICATE_NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// A sentence in the language of the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Of a message only id and text must be what they should; the rest may be anything or missing, and only what is
/// of use is kept of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageFrame {
    /// Not empty, without control characters, at most 256 bytes, or clients ignore the message.
    pub id: String,
    /// The words of the user; clients reject blank ones.
    pub text: String,
    /// When the user sent it, in RFC 3339; anything but a string is read as `null`.
    #[serde(
        default,
        deserialize_with = "lenient_values::string_or_null",
        skip_serializing_if = "Value::is_null"
    )]
    pub timestamp: Value,
    /// An object; of it, only `inputMethod` (`voice` or `text`) is read.
    #[serde(
        default,
        deserialize_with = "lenient_values::input_method",
        skip_serializing_if = "Value::is_null"
    )]
    pub metadata: Value,
}

/// A frame from the hub, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IncomingFrame {
    Registered,
    Declined {
        code: String,
    },
    Message {
        id: String,
        text: String,
        origin: Origin,
        raw_timestamp: Option<String>,
    },
    /// A message that cannot be taken; `why` is a sentence for the user.
    Unusable {
        id: String,
        why: &'static str,
    },
}

/// A frame that is not one of the protocol, or a message nothing can be done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InvalidFrame;

impl IncomingFrame {
    /// Reads a text frame.
    pub(crate) fn parse(frame: &str) -> Result<Self, InvalidFrame> {
        if frame.len() > RECEIVED_MAX {
            return Self::refuse_long(frame);
        }
        // Programs in JavaScript cut characters in two and write each part as an escape.
        let read = serde_json::from_str(frame)
            .or_else(|_| serde_json::from_str(&surrogates::replace_lone_surrogates(frame)));
        match read.map_err(|_| InvalidFrame)? {
            FromHub::RegistrationResponse(RegistrationResponse { success: true, .. }) => {
                Ok(Self::Registered)
            }
            FromHub::RegistrationResponse(declined) => {
                Ok(Self::Declined { code: declined.code.unwrap_or_default() })
            }
            FromHub::Message(message) => message.validate(),
        }
    }

    /// Refuses a message of which the middle may be missing. Nothing else that a hub sends is as
    /// long.
    fn refuse_long(frame: &str) -> Result<Self, InvalidFrame> {
        let is_whole = frame.len() < RECEIVED_MAX + REFUSED_END;
        let cut = if is_whole { frame.len() } else { frame.floor_char_boundary(RECEIVED_MAX) };
        let (beginning, end) = frame.split_at(cut);
        let id = long_frame::find_id(beginning, end).filter(|id| is_usable_id(id));
        let why = "The message is longer than 8 MiB. Send it in parts.";
        Ok(Self::Unusable { id: id.ok_or(InvalidFrame)?, why })
    }
}

impl MessageFrame {
    fn validate(self) -> Result<IncomingFrame, InvalidFrame> {
        if !is_usable_id(&self.id) {
            return Err(InvalidFrame);
        }
        if self.text.trim().is_empty() {
            let why = "The message is empty. Send it again.";
            return Ok(IncomingFrame::Unusable { id: self.id, why });
        }
        let spoken = self.metadata.get("inputMethod").and_then(Value::as_str) == Some("voice");
        Ok(IncomingFrame::Message {
            id: self.id,
            text: show_control_chars(self.text),
            origin: if spoken { Origin::HubVoice } else { Origin::HubText },
            raw_timestamp: self.timestamp.as_str().filter(|t| !t.is_empty()).map(str::to_owned),
        })
    }
}

impl ToHub {
    /// The frame's text.
    pub(crate) fn to_json(&self) -> String {
        to_json(self)
    }
}

impl FromHub {
    /// The frame's text.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_json(self)
    }
}

fn to_json(frame: &impl Serialize) -> String {
    // These types hold strings and plain values only, which always print.
    serde_json::to_string(frame).unwrap_or_default()
}

fn is_usable_id(id: &str) -> bool {
    (1..=ID_MAX).contains(&id.len()) && !id.contains(char::is_control)
}

/// Shows control characters as Unicode's symbols for them (U+2400…), so that no terminal and no
/// program ever obeys one. Line breaks and tabs stay.
fn show_control_chars(text: String) -> String {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(obeyed) {
        return text;
    }
    let symbol = |c: char| match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '␡',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(|c| if obeyed(c) { symbol(c) } else { c }).collect()
}

/// A value that may be missing but not `null`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    input: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(input).map(Some)
}

#[cfg(test)]
mod tests;
