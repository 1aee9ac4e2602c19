//! The file of frames, and the words in it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::websocket::{HubConnectionEnd, MAX_MESSAGE_BYTES, RawFrames, text_frame};

/// A file of frames.
#[derive(Debug, Deserialize)]
pub struct FrameCorpus {
    pub(super) cases: Vec<FrameCase>,
}

/// The frames of a hub, and the expected result.
#[derive(Debug, Clone, Deserialize)]
pub struct FrameCase {
    pub(super) id: String,
    pub(super) expect: String,
    /// Raw bytes; `<RST>` and `<FIN>` at the end say how the connection ends.
    hex: Option<String>,
    /// One text frame.
    text: Option<String>,
    /// One text frame that is too large to stand in the file.
    generate: Option<Map<String, Value>>,
}

/// The expected result of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameExpectation {
    AcceptOnce,
    IgnoreCount,
    CloseReconnect,
    IdleTimeout,
    TooBig,
    Refused,
    AcceptMarked,
    AcceptSanitised,
    FailStopAsk,
    FailBackoff,
    Untrusted,
}

/// A word that the runner does not know.
#[derive(Debug)]
pub(super) struct UnknownFrameWord(pub(super) String);

impl FrameCorpus {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl FrameCase {
    pub(super) fn expectation(&self) -> Result<FrameExpectation, UnknownFrameWord> {
        Ok(match self.expect.as_str() {
            "accept_once" => FrameExpectation::AcceptOnce,
            "ignore_count" if self.is_blank() => FrameExpectation::Refused,
            "ignore_count" => FrameExpectation::IgnoreCount,
            "close_reconnect" => FrameExpectation::CloseReconnect,
            "idle_timeout" => FrameExpectation::IdleTimeout,
            "too_big" => self.expectation_by_size()?,
            "refused" => FrameExpectation::Refused,
            "accept_marked" => FrameExpectation::AcceptMarked,
            "accept_sanitised" => FrameExpectation::AcceptSanitised,
            "fail_stop_ask" => FrameExpectation::FailStopAsk,
            "fail_backoff" => FrameExpectation::FailBackoff,
            "untrusted" => FrameExpectation::Untrusted,
            other => return Err(UnknownFrameWord(format!("expect {other}"))),
        })
    }

    /// A corpus may have been written when a message had room for 1 MiB: longer ones are taken now, or refused with
    /// a sentence, and only what no message can be ends the connection.
    fn expectation_by_size(&self) -> Result<FrameExpectation, UnknownFrameWord> {
        Ok(match self.raw_frames()?.decode().texts.first().map(String::len) {
            Some(length) if length <= MAX_MESSAGE_BYTES => FrameExpectation::AcceptOnce,
            Some(_) => FrameExpectation::Refused,
            None => FrameExpectation::TooBig,
        })
    }

    /// Whether it is a message without text, which is refused with an error and not ignored.
    fn is_blank(&self) -> bool {
        let frame: Option<Value> =
            self.text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        frame.is_some_and(|frame| {
            let payload = &frame["payload"];
            let is_known = payload["id"].as_str().is_some_and(|id| !id.is_empty());
            is_known && payload["text"].as_str().is_some_and(|text| text.trim().is_empty())
        })
    }

    /// The bytes on the wire.
    pub(super) fn raw_frames(&self) -> Result<RawFrames, UnknownFrameWord> {
        match (&self.hex, &self.text, &self.generate) {
            (Some(hex), None, None) => from_hex(hex),
            (None, Some(text), None) => Ok(RawFrames::whole(text_frame(text.as_bytes()))),
            (None, None, Some(recipe)) => {
                Ok(RawFrames::whole(text_frame(generate_text(recipe)?.as_bytes())))
            }
            _ => Err(UnknownFrameWord(
                "a case without exactly one of hex, text and generate".to_owned(),
            )),
        }
    }
}

impl FrameExpectation {
    /// Whether a message comes of it.
    pub(super) const fn accepts(self) -> bool {
        matches!(
            self,
            Self::AcceptOnce | Self::AcceptMarked | Self::AcceptSanitised | Self::Untrusted
        )
    }

    /// Whether the frame stands in for the answer to our registration.
    pub(super) const fn is_about_registration(self) -> bool {
        matches!(self, Self::FailStopAsk | Self::FailBackoff)
    }
}

fn from_hex(hex: &str) -> Result<RawFrames, UnknownFrameWord> {
    let unknown = || UnknownFrameWord(format!("hex {hex}"));
    let (digits, end) = match hex.split_once('<') {
        None => (hex, HubConnectionEnd::Stays),
        Some((digits, "RST>")) => (digits, HubConnectionEnd::Rst),
        Some((digits, "FIN>" | "EOF>")) => (digits, HubConnectionEnd::Fin),
        Some(_) => return Err(unknown()),
    };
    let digits: Vec<char> = digits.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| match pair {
        [high, low] => u8::try_from(high.to_digit(16)? * 16 + low.to_digit(16)?).ok(),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    Ok(RawFrames { bytes: bytes.ok_or_else(unknown)?, end })
}

/// The text that a recipe makes.
fn generate_text(recipe: &Map<String, Value>) -> Result<String, UnknownFrameWord> {
    let unknown = || UnknownFrameWord(format!("generate {}", Value::Object(recipe.clone())));
    let number = |name: &str| recipe.get(name).and_then(Value::as_u64);
    let word = |name: &str| recipe.get(name).and_then(Value::as_str);
    let size = |number: u64| usize::try_from(number).map_err(|_| unknown());
    match (word("repeat"), word("nest"), number("n"), recipe.len()) {
        (Some(text), None, Some(n), 2) => return Ok(text.repeat(size(n)?)),
        (None, Some(field), Some(n), 2) => return Ok(nested(field, size(n)?)),
        _ => {}
    }
    let (name, n) = match recipe.iter().next() {
        Some((name, Value::Number(n))) if recipe.len() == 1 => (name.as_str(), n.as_u64()),
        _ => return Err(unknown()),
    };
    let n = size(n.ok_or_else(unknown)?)?;
    match name {
        "keys" => Ok(message_with_metadata(&json_keys(n))),
        "keylen" => Ok(message_with_metadata(&format!("{{\"{}\":0}}", "k".repeat(n)))),
        "text_bytes" => Ok(padded_message(n)),
        "id_bytes" => {
            let payload = json!({ "id": "i".repeat(n), "text": "hi" });
            Ok(json!({ "type": "message", "payload": payload }).to_string())
        }
        _ => Err(unknown()),
    }
}

fn message_with_metadata(metadata: &str) -> String {
    let rest = r#""id":"m1","text":"hi","timestamp":"2026-11-20T10:00:00Z""#;
    format!(r#"{{"type":"message","payload":{{{rest},"metadata":{metadata}}}}}"#)
}

fn json_keys(n: usize) -> String {
    let keys: Vec<String> = (0..n).map(|number| format!("\"k{number}\":0")).collect();
    format!("{{{}}}", keys.join(","))
}

fn nested(field: &str, depth: usize) -> String {
    let nest = format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    match field {
        "payload" => format!(r#"{{"type":"message","payload":{nest}}}"#),
        "metadata" => message_with_metadata(&nest),
        field => {
            format!(r#"{{"type":"message","payload":{{"id":"m1","text":"hi","{field}":{nest}}}}}"#)
        }
    }
}

/// A message whose frame has so many bytes.
fn padded_message(bytes: usize) -> String {
    let (before, after) = (
        r#"{"type":"message","payload":{"id":"m1","text":""#,
        r#"","timestamp":"2026-11-20T10:00:00Z","metadata":{}}}"#,
    );
    let room = bytes.saturating_sub(before.len() + after.len());
    format!("{before}{}{after}", "x".repeat(room))
}
