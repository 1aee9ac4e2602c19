//! The answers of the scripted model, and their server-sent events.

use serde_json::{Value, json};

use super::Gate;

/// How many characters come at once by default.
const DEFAULT_CHUNK_CHARS: usize = 12;

/// One answer of the model.
pub struct Reply {
    pub(super) content: ReplyContent,
    pub(super) chunk_chars: usize,
    pub(super) gate: Option<Gate>,
    pub(super) cut_after: Option<usize>,
    pub(super) input_tokens: usize,
}

pub(super) enum ReplyContent {
    Message { pieces: Vec<ReplyBlock>, stop_reason: String },
    Status { code: u16, body: Value, retry_after: Option<u32> },
    Hang,
    Computed(Box<dyn FnOnce(&Value) -> Reply + Send>),
}

pub(super) enum ReplyBlock {
    Text(String),
    Call { id: Option<String>, tool: String, input: Value },
}

impl Reply {
    /// Text, in small pieces.
    #[must_use]
    pub fn text(words: &str) -> Self {
        Self::message(vec![ReplyBlock::Text(words.into())], "end_turn")
    }

    /// Tool calls, by tool and input.
    #[must_use]
    pub fn calls(calls: Vec<(&str, Value)>) -> Self {
        Self::message(calls.into_iter().map(ReplyBlock::call).collect(), "tool_use")
    }

    /// Text, then tool calls.
    #[must_use]
    pub fn text_and_calls(words: &str, calls: Vec<(&str, Value)>) -> Self {
        let calls = calls.into_iter().map(ReplyBlock::call);
        let pieces = std::iter::once(ReplyBlock::Text(words.into())).chain(calls).collect();
        Self::message(pieces, "tool_use")
    }

    /// An error instead of an answer; `message` stands in an error body as the provider writes it.
    #[must_use]
    pub fn status(code: u16, message: &str) -> Self {
        let kind = match code {
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..500 => "invalid_request_error",
            _ => "api_error",
        };
        let body = json!({ "type": "error", "error": { "type": kind, "message": message } });
        Self::from(ReplyContent::Status { code, body, retry_after: None })
    }

    /// Begins an answer and never goes on.
    #[must_use]
    pub fn hang() -> Self {
        Self::from(ReplyContent::Hang)
    }

    /// An answer made from the request.
    #[must_use]
    pub fn computed(answer: impl FnOnce(&Value) -> Self + Send + 'static) -> Self {
        Self::from(ReplyContent::Computed(Box::new(answer)))
    }

    /// The same answer, its text in pieces of so many characters.
    #[must_use]
    pub fn in_chunks_of(mut self, characters: usize) -> Self {
        self.chunk_chars = characters;
        self
    }

    /// The same answer, held at `gate` before each piece after the first.
    #[must_use]
    pub fn gated(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// The same answer, the connection dropped after this many events.
    #[must_use]
    pub fn cut_after(mut self, events: usize) -> Self {
        self.cut_after = Some(events);
        self
    }

    /// The same answer with another stop reason, such as `max_tokens`.
    #[must_use]
    pub fn stopping_with(mut self, reason: &str) -> Self {
        if let ReplyContent::Message { stop_reason, .. } = &mut self.content {
            reason.clone_into(stop_reason);
        }
        self
    }

    /// The same answer, its calls with this id.
    #[must_use]
    pub fn with_call_id(mut self, call_id: &str) -> Self {
        if let ReplyContent::Message { pieces, .. } = &mut self.content {
            for piece in pieces {
                if let ReplyBlock::Call { id, .. } = piece {
                    *id = Some(call_id.to_owned());
                }
            }
        }
        self
    }

    /// The same error with a `Retry-After` header.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        if let ReplyContent::Status { retry_after, .. } = &mut self.content {
            *retry_after = Some(seconds);
        }
        self
    }

    /// The same answer, the request counted as so many tokens.
    #[must_use]
    pub fn counting(mut self, input_tokens: usize) -> Self {
        self.input_tokens = input_tokens;
        self
    }

    fn message(pieces: Vec<ReplyBlock>, stop_reason: &str) -> Self {
        Self::from(ReplyContent::Message { pieces, stop_reason: stop_reason.into() })
    }
}

impl From<ReplyContent> for Reply {
    fn from(answer: ReplyContent) -> Self {
        Self {
            content: answer,
            chunk_chars: DEFAULT_CHUNK_CHARS,
            gate: None,
            cut_after: None,
            input_tokens: 100,
        }
    }
}

impl ReplyBlock {
    fn call((tool, input): (&str, Value)) -> Self {
        Self::Call { id: None, tool: tool.into(), input }
    }
}

/// One server-sent event.
#[derive(Debug, Clone)]
pub(super) struct SseFrame {
    /// Name and data, ready to send.
    pub(super) frame: String,
    /// Whether a gate stands before it.
    pub(super) gated: bool,
}

fn event(data: &Value) -> SseFrame {
    let name = data["type"].as_str().expect("an event has a type");
    SseFrame { frame: format!("event: {name}\ndata: {data}\n\n"), gated: false }
}

/// The first events of every answer.
pub(super) fn first_events(answer: &str, model: &Value, input_tokens: usize) -> Vec<SseFrame> {
    let usage = json!({ "input_tokens": input_tokens, "output_tokens": 1 });
    let message = json!({
        "id": format!("msg_{answer}"), "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    vec![
        event(&json!({ "type": "message_start", "message": message })),
        event(&json!({ "type": "ping" })),
    ]
}

/// A whole answer after its opening, text `piece` characters at a time; `answer` makes the ids of
/// its calls unique.
pub(super) fn remaining_events(
    answer: &str,
    piece: usize,
    pieces: &[ReplyBlock],
    stop_reason: &str,
) -> Vec<SseFrame> {
    let mut events = Vec::new();
    let mut deltas = 0;
    for (index, part) in pieces.iter().enumerate() {
        let (start, steps) = match part {
            ReplyBlock::Text(text) => {
                (json!({ "type": "text", "text": "" }), text_deltas(text, piece))
            }
            ReplyBlock::Call { id, tool, input } => {
                let id = id.clone().unwrap_or_else(|| format!("toolu_{answer}_{index}"));
                (
                    json!({ "type": "tool_use", "id": id, "name": tool, "input": {} }),
                    input_deltas(input),
                )
            }
        };
        events.push(event(
            &json!({ "type": "content_block_start", "index": index, "content_block": start }),
        ));
        for delta in steps {
            let step =
                event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            events.push(SseFrame { gated: deltas > 0, ..step });
            deltas += 1;
        }
        events.push(event(&json!({ "type": "content_block_stop", "index": index })));
    }
    let delta = json!({ "stop_reason": stop_reason, "stop_sequence": null });
    let usage = json!({ "output_tokens": deltas + 1 });
    events.push(event(&json!({ "type": "message_delta", "delta": delta, "usage": usage })));
    events.push(event(&json!({ "type": "message_stop" })));
    events
}

fn text_deltas(text: &str, piece: usize) -> Vec<Value> {
    chunks(text, piece).iter().map(|text| json!({ "type": "text_delta", "text": text })).collect()
}

fn input_deltas(input: &Value) -> Vec<Value> {
    chunks(&input.to_string(), 24)
        .iter()
        .map(|json| json!({ "type": "input_json_delta", "partial_json": json }))
        .collect()
}

fn chunks(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|chunk| chunk.iter().collect()).collect()
}
