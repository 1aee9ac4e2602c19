//! The file of frames, and the words in it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::bytes::{End, MESSAGE_MAX, Sent, text_frame};

/// A file of frames.
#[derive(Debug, Deserialize)]
pub struct Corpus {
    pub(super) cases: Vec<Case>,
}

/// What a hub sends, and what must come of it.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub(super) id: String,
    pub(super) expect: String,
    /// Raw bytes; `<RST>` and `<FIN>` at the end say how the connection ends.
    hex: Option<String>,
    /// One text frame.
    text: Option<String>,
    /// One text frame that is too large to stand in the file.
    generate: Option<Map<String, Value>>,
}

/// What must come of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
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
pub(super) struct Unknown(pub(super) String);

impl Corpus {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Case {
    pub(super) fn expect(&self) -> Result<Expect, Unknown> {
        Ok(match self.expect.as_str() {
            "accept_once" => Expect::AcceptOnce,
            "ignore_count" if self.is_blank() => Expect::Refused,
            "ignore_count" => Expect::IgnoreCount,
            "close_reconnect" => Expect::CloseReconnect,
            "idle_timeout" => Expect::IdleTimeout,
            "too_big" => self.by_size()?,
            "refused" => Expect::Refused,
            "accept_marked" => Expect::AcceptMarked,
            "accept_sanitised" => Expect::AcceptSanitised,
            "fail_stop_ask" => Expect::FailStopAsk,
            "fail_backoff" => Expect::FailBackoff,
            "untrusted" => Expect::Untrusted,
            other => return Err(Unknown(format!("expect {other}"))),
        })
    }

    /// A corpus may have been written when a message had room for 1 MiB: longer ones are taken now, or refused with
    /// a sentence, and only what no message can be ends the connection.
    fn by_size(&self) -> Result<Expect, Unknown> {
        Ok(match self.sent()?.content().texts.first().map(String::len) {
            Some(length) if length <= MESSAGE_MAX => Expect::AcceptOnce,
            Some(_) => Expect::Refused,
            None => Expect::TooBig,
        })
    }

    /// Whether it is a message without words, which is refused with a sentence and not ignored.
    fn is_blank(&self) -> bool {
        let frame: Option<Value> =
            self.text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        frame.is_some_and(|frame| {
            let payload = &frame["payload"];
            let is_known = payload["id"].as_str().is_some_and(|id| !id.is_empty());
            is_known && payload["text"].as_str().is_some_and(|text| text.trim().is_empty())
        })
    }

    /// What goes over the wire.
    pub(super) fn sent(&self) -> Result<Sent, Unknown> {
        match (&self.hex, &self.text, &self.generate) {
            (Some(hex), None, None) => raw(hex),
            (None, Some(text), None) => Ok(Sent::whole(text_frame(text.as_bytes()))),
            (None, None, Some(recipe)) => {
                Ok(Sent::whole(text_frame(generated(recipe)?.as_bytes())))
            }
            _ => Err(Unknown("a case without exactly one of hex, text and generate".to_owned())),
        }
    }
}

impl Expect {
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

fn raw(hex: &str) -> Result<Sent, Unknown> {
    let unknown = || Unknown(format!("hex {hex}"));
    let (digits, end) = match hex.split_once('<') {
        None => (hex, End::Stays),
        Some((digits, "RST>")) => (digits, End::Rst),
        Some((digits, "FIN>" | "EOF>")) => (digits, End::Fin),
        Some(_) => return Err(unknown()),
    };
    let digits: Vec<char> = digits.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| match pair {
        [high, low] => u8::try_from(high.to_digit(16)? * 16 + low.to_digit(16)?).ok(),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    Ok(Sent { bytes: bytes.ok_or_else(unknown)?, end })
}

/// The text that a recipe makes.
fn generated(recipe: &Map<String, Value>) -> Result<String, Unknown> {
    let unknown = || Unknown(format!("generate {}", Value::Object(recipe.clone())));
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
        "keys" => Ok(with_metadata(&keys(n))),
        "keylen" => Ok(with_metadata(&format!("{{\"{}\":0}}", "k".repeat(n)))),
        "text_bytes" => Ok(padded(n)),
        "id_bytes" => {
            let payload = json!({ "id": "i".repeat(n), "text": "hi" });
            Ok(json!({ "type": "message", "payload": payload }).to_string())
        }
        _ => Err(unknown()),
    }
}

fn with_metadata(metadata: &str) -> String {
    let rest = r#""id":"m1","text":"hi","timestamp":"2026-11-20T10:00:00Z""#;
    format!(r#"{{"type":"message","payload":{{{rest},"metadata":{metadata}}}}}"#)
}

fn keys(n: usize) -> String {
    let keys: Vec<String> = (0..n).map(|number| format!("\"k{number}\":0")).collect();
    format!("{{{}}}", keys.join(","))
}

fn nested(field: &str, depth: usize) -> String {
    let nest = format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    match field {
        "payload" => format!(r#"{{"type":"message","payload":{nest}}}"#),
        "metadata" => with_metadata(&nest),
        field => {
            format!(r#"{{"type":"message","payload":{{"id":"m1","text":"hi","{field}":{nest}}}}}"#)
        }
    }
}

/// A message whose frame has so many bytes.
fn padded(bytes: usize) -> String {
    let (before, after) = (
        r#"{"type":"message","payload":{"id":"m1","text":""#,
        r#"","timestamp":"2026-11-20T10:00:00Z","metadata":{}}}"#,
    );
    let room = bytes.saturating_sub(before.len() + after.len());
    format!("{before}{}{after}", "x".repeat(room))
}
