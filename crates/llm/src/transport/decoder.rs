//! Shared by all decoders of answers, which turn pieces of a body into our events. Pure, and
//! bounded for any input.

use protocol::TokenUsage;
use serde_json::Value;
use thiserror::Error;

use crate::context::tokens;
use crate::model::{ModelEvent, ToolCall};
use crate::transport::http::ErrorBody;

/// The most text of one answer, and the most arguments of all its calls, in bytes.
pub(crate) const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// The longest line, and the most data of one event, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// A line or event is longer than any honest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a line of the answer is longer than 1 MiB")]
pub(crate) struct LineTooLong;

/// Why an answer cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum DecodeError {
    /// The server says that something failed.
    #[error("the server reports an error")]
    Reported(ErrorBody),
    /// It makes no sense.
    #[error("{0}")]
    Unreadable(&'static str),
    /// It is larger than any honest one.
    #[error("{0}")]
    TooLarge(&'static str),
    /// It answers a part of the prompt only.
    #[error("the prompt was cut from at least {sent} tokens to {read}")]
    Cut {
        /// Tokens that were sent, at least.
        sent: u32,
        /// Tokens that were read.
        read: u32,
    },
}

/// A frame of the stream, decoded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decoded {
    /// A part of the answer, with these events; it may be empty.
    Progress(Vec<ModelEvent>),
    /// It only says that the line is open.
    Ping,
}

/// Takes a body apart into frames, from bytes that come in any pieces.
pub(crate) trait Framing: Default + Send {
    /// A decoded frame.
    type Frame: Send;

    /// Accepts more bytes and gives out the frames they closed.
    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Self::Frame>, LineTooLong>;
}

/// Decodes one answer of one provider.
pub(crate) trait Decoder: Send {
    /// How the provider's body is cut.
    type Framing: Framing;

    /// Reads a frame. After [`ModelEvent::Stopped`] everything is ignored.
    fn decode(&mut self, frame: &<Self::Framing as Framing>::Frame)
    -> Result<Decoded, DecodeError>;

    /// The body is over, or silent past its deadline, before the stop was told: what still
    /// follows where the answer was whole already, else nothing.
    fn end(&mut self) -> Vec<ModelEvent>;

    /// How many bytes of text, thoughts and arguments the answer has until now. A frame that adds none does
    /// not bring it on.
    fn received(&self) -> usize;

    /// The tokens until now; those of the answer are estimated where they are not reported.
    fn usage(&self) -> TokenUsage;
}

/// Counts what an answer brings, up to [`MAX_ANSWER_BYTES`].
#[derive(Debug, Default)]
pub(crate) struct SizeLimit(usize);

impl SizeLimit {
    /// Takes `more` bytes in, or says what is too large.
    pub(crate) fn grow(&mut self, more: usize, what: &'static str) -> Result<(), DecodeError> {
        self.0 = self.0.saturating_add(more);
        if self.0 > MAX_ANSWER_BYTES { Err(DecodeError::TooLarge(what)) } else { Ok(()) }
    }
}

/// The bytes of an answer until now.
pub(crate) fn total_bytes(parts: &[&SizeLimit]) -> usize {
    parts.iter().map(|part| part.0).fold(0, usize::saturating_add)
}

/// `reported`, with at least as many tokens of the answer as `received` bytes have.
pub(crate) fn usage_so_far(reported: TokenUsage, received: usize) -> TokenUsage {
    TokenUsage { output: reported.output.max(tokens::of_bytes(received)), ..reported }
}

/// The error of [`SizeLimit::grow`] for text.
pub(crate) const TOO_MUCH_TEXT: &str = "it has more than 1 MiB of text";

/// The error of [`SizeLimit::grow`] for thoughts that nobody is shown.
pub(crate) const TOO_MANY_THOUGHTS: &str = "it has more than 1 MiB of thoughts";

/// The error of [`SizeLimit::grow`] for arguments.
pub(crate) const TOO_MANY_ARGUMENTS: &str = "its calls have more than 1 MiB of arguments";

/// The most parts of one answer.
pub(crate) const MAX_PARTS: usize = 1024;

/// The error for more than [`MAX_PARTS`].
pub(crate) const TOO_MANY_PARTS: &str = "it has more than 1024 parts";

/// The word for why an answer ended; some servers send an empty one, or `null` as text, with each part of an
/// answer that goes on.
pub(crate) fn given_reason(word: Option<&str>) -> Option<&str> {
    word.filter(|word| !matches!(*word, "" | "null"))
}

/// A call that is closed: it counts only when it names a tool and its arguments are an object.
pub(crate) fn close_call(
    id: String,
    tool: String,
    arguments: Result<Value, serde_json::Error>,
) -> ModelEvent {
    let problem = match arguments {
        Ok(arguments @ Value::Object(_)) if !tool.is_empty() => {
            return ModelEvent::Call(ToolCall { id: id.into(), tool, arguments });
        }
        Ok(Value::Object(_)) => "the call names no tool".to_owned(),
        Ok(_) => "they are another kind of value".to_owned(),
        Err(error) => error.to_string(),
    };
    ModelEvent::BrokenCall { id: id.into(), tool, problem }
}

/// A call that the answer's end cut off.
pub(crate) fn cut_call(id: String, tool: String) -> ModelEvent {
    ModelEvent::BrokenCall { id: id.into(), tool, problem: "they were cut off".to_owned() }
}

/// Everything that came of the bytes in these pieces, up to the first error or to the end.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn read_all<'a, D: Decoder>(
    mut decoder: D,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let mut framing = D::Framing::default();
    let mut read = Vec::new();
    for piece in pieces {
        let Ok(frames) = framing.feed(piece) else {
            return (read, Some(DecodeError::TooLarge("a line is too long")));
        };
        for frame in frames {
            match decoder.decode(&frame) {
                Ok(Decoded::Progress(events)) => read.extend(events),
                Ok(Decoded::Ping) => {}
                Err(error) => return (read, Some(error)),
            }
        }
    }
    read.extend(decoder.end());
    (read, None)
}
