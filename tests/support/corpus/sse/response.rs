//! The bytes of an answer, piece by piece, and how its connection ends.

use std::iter::once;
use std::time::Duration;

use serde_json::{Value, json};

use super::case::{GeneratedBody, SseCase, SseProvider, UnknownSseWord};

/// The answer to one request.
#[derive(Debug, Clone)]
pub(super) struct SseResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: SseBody,
    pub(super) end: ResponseEnd,
}

/// The content of it.
#[derive(Debug, Clone)]
pub(super) enum SseBody {
    /// These pieces, one write each.
    Pieces(Vec<Vec<u8>>),
    Generated(GeneratedBody),
}

/// How the connection ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ResponseEnd {
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
    /// The server closes before it has sent as many bytes as it announced.
    Short,
    /// The body comes again and again.
    Repeat { every: Duration, all: Duration },
}

impl SseResponse {
    /// As the case has it; `clock` divides its times.
    pub(super) fn from_case(case: &SseCase, clock: u32) -> Result<Self, UnknownSseWord> {
        let end = match case.end.as_deref() {
            None => ResponseEnd::Whole,
            Some("FIN") => ResponseEnd::Fin,
            Some("RST") => ResponseEnd::Rst,
            Some("gzip_cut") => ResponseEnd::GzipCut,
            Some("chunked_bad_size") => ResponseEnd::BadChunk,
            Some("content_length_short") => ResponseEnd::Short,
            // To the reader it is the same as FIN without TLS: the body just ends.
            Some("TLS_close_without_notify") => ResponseEnd::Fin,
            Some(word) => {
                parse_timed_end(word, clock).ok_or_else(|| UnknownSseWord(format!("end {word}")))?
            }
        };
        let response = &case.response;
        let body = match response.generate {
            Some(generate) => SseBody::Generated(generate),
            None => SseBody::Pieces(vec![response.body.clone().into_bytes()]),
        };
        let mut headers: Vec<_> = response.headers.clone().into_iter().collect();
        if response.generate.is_some() {
            headers.push(("content-type".into(), "text/event-stream".into()));
        }
        Ok(Self { status: response.status, headers, body, end })
    }

    /// A short text, whole.
    pub(super) fn with_text(provider: SseProvider, words: &str) -> Self {
        let body: Vec<u8> = match provider {
            SseProvider::Anthropic => {
                let text = |text: &str| json!({"type": "text", "text": text});
                let delta = json!({"type": "text_delta", "text": words});
                [
                    first_event(),
                    data_event(&json!({"type": "content_block_start", "index": 0, "content_block": text("")})),
                    data_event(&json!({"type": "content_block_delta", "index": 0, "delta": delta})),
                    data_event(&json!({"type": "content_block_stop", "index": 0})),
                    last_events("end_turn"),
                ]
                .concat()
            }
            SseProvider::OpenAi => {
                let choice =
                    json!({"index": 0, "delta": {"content": words}, "finish_reason": "stop"});
                format!("data: {}\n\ndata: [DONE]\n\n", json!({"id": "c", "choices": [choice]}))
                    .into()
            }
        };
        let headers = vec![("content-type".into(), "text/event-stream".into())];
        Self { status: 200, headers, body: SseBody::Pieces(vec![body]), end: ResponseEnd::Whole }
    }

    /// The same cut into these pieces.
    pub(super) fn with_chunks(&self, pieces: Vec<Vec<u8>>) -> Self {
        Self { body: SseBody::Pieces(pieces), ..self.clone() }
    }
}

impl SseBody {
    /// Its pieces, made as they are wanted.
    pub(super) fn pieces(&self) -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
        match self {
            Self::Pieces(pieces) => Box::new(pieces.clone().into_iter()),
            Self::Generated(generate) => generated_chunks(*generate),
        }
    }
}

/// How much of a long line or value is sent at a time.
const CHUNK_BYTES: usize = 16 * 1024;

fn generated_chunks(what: GeneratedBody) -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
    match what {
        GeneratedBody::DataLineBytes(bytes) => {
            let line = (0..bytes.div_ceil(CHUNK_BYTES)).map(|_| vec![b'x'; CHUNK_BYTES]);
            Box::new(
                once(first_event())
                    .chain(once(b"data: ".to_vec()))
                    .chain(line)
                    .chain(once(b"\n\n".to_vec())),
            )
        }
        GeneratedBody::Nest(depth) => {
            let nested = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            let data = format!("event: content_block_delta\ndata: {nested}\n\n");
            Box::new([first_event(), data.into_bytes(), last_events("end_turn")].into_iter())
        }
        GeneratedBody::Deltas(count) => {
            let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
            let delta = data_event(
                &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}),
            );
            let some = CHUNK_BYTES / delta.len();
            let pieces = (0..count.div_ceil(some)).map(move |_| delta.repeat(some));
            let stop = data_event(&json!({"type": "content_block_stop", "index": 0}));
            Box::new(
                once(first_event())
                    .chain(once(data_event(&start)))
                    .chain(pieces)
                    .chain(once(stop))
                    .chain(once(last_events("end_turn"))),
            )
        }
        GeneratedBody::ArgBytes(bytes) => {
            let delta = |text: String| {
                data_event(
                    &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}),
                )
            };
            let filler =
                (0..bytes.div_ceil(CHUNK_BYTES)).map(move |_| delta("x".repeat(CHUNK_BYTES)));
            let stop = data_event(&json!({"type": "content_block_stop", "index": 0}));
            Box::new(
                once(first_event())
                    .chain(once(tool_call_event(0)))
                    .chain(once(delta("{\"path\": \"".into())))
                    .chain(filler)
                    .chain(once(delta("\"}".into())))
                    .chain(once(stop))
                    .chain(once(last_events("tool_use"))),
            )
        }
        GeneratedBody::ToolCalls(count) => {
            let calls = (0..count).map(|index| {
                let path = json!({"path": format!("notes/n{index}.md")}).to_string();
                let delta = json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": path}});
                [tool_call_event(index), data_event(&delta), data_event(&json!({"type": "content_block_stop", "index": index}))].concat()
            });
            Box::new(once(first_event()).chain(calls).chain(once(last_events("tool_use"))))
        }
    }
}

fn first_event() -> Vec<u8> {
    let usage = json!({"input_tokens": 5, "output_tokens": 1});
    let message =
        json!({"id": "msg_1", "role": "assistant", "content": [], "model": "m", "usage": usage});
    data_event(&json!({"type": "message_start", "message": message}))
}

fn tool_call_event(index: usize) -> Vec<u8> {
    let block = json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": "read_file", "input": {}});
    data_event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn last_events(reason: &str) -> Vec<u8> {
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    let stop = json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}});
    [data_event(&stop), data_event(&json!({"type": "message_stop"}))].concat()
}

fn data_event(data: &Value) -> Vec<u8> {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default()).into_bytes()
}

/// `stall_61s`, `repeat_1s_for_600s`.
fn parse_timed_end(word: &str, clock: u32) -> Option<ResponseEnd> {
    let seconds = |text: &str| -> Option<Duration> {
        Some(Duration::from_secs(text.strip_suffix('s')?.parse().ok()?) / clock)
    };
    if let Some(stall) = word.strip_prefix("stall_") {
        return Some(ResponseEnd::Stall(seconds(stall)?));
    }
    let (every, all) = word.strip_prefix("repeat_")?.split_once("_for_")?;
    Some(ResponseEnd::Repeat { every: seconds(every)?, all: seconds(all)? })
}
