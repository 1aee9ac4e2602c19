//! The bytes of an answer, piece by piece, and how its connection ends.

use std::iter::once;
use std::time::Duration;

use serde_json::{Value, json};

use super::case::{Case, Generate, Unknown, Vendor};

/// What one request is answered with.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Body,
    pub(super) end: End,
}

/// What stands in it.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// These pieces, one write each.
    Pieces(Vec<Vec<u8>>),
    Generated(Generate),
}

/// How the connection ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum End {
    /// As HTTP wants it.
    Whole,
    /// The server closes; that alone ends the body.
    Fin,
    /// The connection is torn down.
    Rst,
    /// Nothing comes for so long, then the server closes.
    Stall(Duration),
    /// The body is packed, and the pack is not whole.
    GzipCut,
    /// A chunk has a size that is no number.
    BadChunk,
    /// The server closes before as many bytes have come as it said.
    Short,
    /// The body comes again and again.
    Repeat { every: Duration, all: Duration },
}

impl Answer {
    /// As the case has it; `clock` divides its times.
    pub(super) fn of(case: &Case, clock: u32) -> Result<Self, Unknown> {
        let end = match case.end.as_deref() {
            None => End::Whole,
            Some("FIN") => End::Fin,
            Some("RST") => End::Rst,
            Some("gzip_cut") => End::GzipCut,
            Some("chunked_bad_size") => End::BadChunk,
            Some("content_length_short") => End::Short,
            // To the reader it is the same as FIN without TLS: the body just ends.
            Some("TLS_close_without_notify") => End::Fin,
            Some(word) => timed(word, clock).ok_or_else(|| Unknown(format!("end {word}")))?,
        };
        let response = &case.response;
        let body = match response.generate {
            Some(generate) => Body::Generated(generate),
            None => Body::Pieces(vec![response.body.clone().into_bytes()]),
        };
        let mut headers: Vec<_> = response.headers.clone().into_iter().collect();
        if response.generate.is_some() {
            headers.push(("content-type".into(), "text/event-stream".into()));
        }
        Ok(Self { status: response.status, headers, body, end })
    }

    /// A few words, whole.
    pub(super) fn plain(vendor: Vendor, words: &str) -> Self {
        let body: Vec<u8> = match vendor {
            Vendor::Anthropic => {
                let text = |text: &str| json!({"type": "text", "text": text});
                let delta = json!({"type": "text_delta", "text": words});
                [
                    beginning(),
                    event(&json!({"type": "content_block_start", "index": 0, "content_block": text("")})),
                    event(&json!({"type": "content_block_delta", "index": 0, "delta": delta})),
                    event(&json!({"type": "content_block_stop", "index": 0})),
                    ending("end_turn"),
                ]
                .concat()
            }
            Vendor::OpenAi => {
                let choice =
                    json!({"index": 0, "delta": {"content": words}, "finish_reason": "stop"});
                format!("data: {}\n\ndata: [DONE]\n\n", json!({"id": "c", "choices": [choice]}))
                    .into()
            }
        };
        let headers = vec![("content-type".into(), "text/event-stream".into())];
        Self { status: 200, headers, body: Body::Pieces(vec![body]), end: End::Whole }
    }

    /// The same cut into these pieces.
    pub(super) fn cut(&self, pieces: Vec<Vec<u8>>) -> Self {
        Self { body: Body::Pieces(pieces), ..self.clone() }
    }
}

impl Body {
    /// Its pieces, made as they are wanted.
    pub(super) fn pieces(&self) -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
        match self {
            Self::Pieces(pieces) => Box::new(pieces.clone().into_iter()),
            Self::Generated(generate) => generated(*generate),
        }
    }
}

/// How much of a long line or value is sent at a time.
const PIECE: usize = 16 * 1024;

fn generated(what: Generate) -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
    match what {
        Generate::DataLineBytes(bytes) => {
            let line = (0..bytes.div_ceil(PIECE)).map(|_| vec![b'x'; PIECE]);
            Box::new(
                once(beginning())
                    .chain(once(b"data: ".to_vec()))
                    .chain(line)
                    .chain(once(b"\n\n".to_vec())),
            )
        }
        Generate::Nest(depth) => {
            let nested = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            let data = format!("event: content_block_delta\ndata: {nested}\n\n");
            Box::new(
                once(beginning()).chain(once(data.into_bytes())).chain(once(ending("end_turn"))),
            )
        }
        Generate::Deltas(count) => {
            let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
            let delta = event(
                &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}),
            );
            let some = PIECE / delta.len();
            let pieces = (0..count.div_ceil(some)).map(move |_| delta.repeat(some));
            let stop = event(&json!({"type": "content_block_stop", "index": 0}));
            Box::new(
                once(beginning())
                    .chain(once(event(&start)))
                    .chain(pieces)
                    .chain(once(stop))
                    .chain(once(ending("end_turn"))),
            )
        }
        Generate::ArgBytes(bytes) => {
            let delta = |text: String| {
                event(
                    &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}),
                )
            };
            let filler = (0..bytes.div_ceil(PIECE)).map(move |_| delta("x".repeat(PIECE)));
            let stop = event(&json!({"type": "content_block_stop", "index": 0}));
            Box::new(
                once(beginning())
                    .chain(once(call(0)))
                    .chain(once(delta("{\"path\": \"".into())))
                    .chain(filler)
                    .chain(once(delta("\"}".into())))
                    .chain(once(stop))
                    .chain(once(ending("tool_use"))),
            )
        }
        Generate::ToolCalls(count) => {
            let calls = (0..count).map(|index| {
                let path = json!({"path": format!("notes/n{index}.md")}).to_string();
                let delta = json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": path}});
                [call(index), event(&delta), event(&json!({"type": "content_block_stop", "index": index}))].concat()
            });
            Box::new(once(beginning()).chain(calls).chain(once(ending("tool_use"))))
        }
    }
}

fn beginning() -> Vec<u8> {
    let usage = json!({"input_tokens": 5, "output_tokens": 1});
    let message =
        json!({"id": "msg_1", "role": "assistant", "content": [], "model": "m", "usage": usage});
    event(&json!({"type": "message_start", "message": message}))
}

fn call(index: usize) -> Vec<u8> {
    let block = json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": "read_file", "input": {}});
    event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn ending(reason: &str) -> Vec<u8> {
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    let stop = json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}});
    [event(&stop), event(&json!({"type": "message_stop"}))].concat()
}

fn event(data: &Value) -> Vec<u8> {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default()).into_bytes()
}

/// `stall_61s`, `repeat_1s_for_600s`.
fn timed(word: &str, clock: u32) -> Option<End> {
    let seconds = |text: &str| -> Option<Duration> {
        Some(Duration::from_secs(text.strip_suffix('s')?.parse().ok()?) / clock)
    };
    if let Some(stall) = word.strip_prefix("stall_") {
        return Some(End::Stall(seconds(stall)?));
    }
    let (every, all) = word.strip_prefix("repeat_")?.split_once("_for_")?;
    Some(End::Repeat { every: seconds(every)?, all: seconds(all)? })
}
