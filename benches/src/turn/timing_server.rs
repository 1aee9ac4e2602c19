//! A model server on loopback that keeps time: how long after a call its result comes.
#![allow(clippy::indexing_slicing, reason = "what JSON lacks reads as null")]

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The note that is read in each turn.
pub(super) const NOTE: &str = "Note.md";

/// Answers until it is dropped.
pub(super) struct TimingServer {
    address: SocketAddr,
    timing: Arc<Mutex<RequestTiming>>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct RequestTiming {
    /// When the last byte of a call left, until its result comes.
    called: Option<Instant>,
    gaps: Vec<Duration>,
    last: Vec<u8>,
}

impl TimingServer {
    /// Gives each request the events that `reply` has for it.
    pub(super) async fn start(
        reply: impl Fn(&Value) -> String + Clone + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (seen, mut serving) = (Arc::<Mutex<RequestTiming>>::default(), JoinSet::new());
        let shared = Arc::clone(&seen);
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, reply) = (Arc::clone(&shared), reply.clone());
                // A client that leaves has what it wanted.
                open.spawn(async move { drop(serve(stream, &seen, reply).await) });
            }
        });
        Ok(Self { address, timing: seen, _serving: serving })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The measurements since the last call.
    pub(super) fn take_gaps(&self) -> Vec<Duration> {
        std::mem::take(&mut lock(&self.timing).gaps)
    }

    pub(super) fn last_body(&self) -> Vec<u8> {
        lock(&self.timing).last.clone()
    }
}

fn lock(seen: &Mutex<RequestTiming>) -> MutexGuard<'_, RequestTiming> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<RequestTiming>,
    reply: impl Fn(&Value) -> String,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::new();
    loop {
        let body = read_body(&mut stream, &mut bytes).await?;
        let came = Instant::now();
        {
            let mut seen = lock(seen);
            let called = seen.called.take();
            seen.gaps.extend(called.map(|called| came.duration_since(called)));
            seen.last.clone_from(&body);
        }
        let request = serde_json::from_slice(&body).unwrap_or_default();
        let events = reply(&request);
        let length = events.len();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        let answer = format!("{head}content-length: {length}\r\n\r\n{events}");
        stream.write_all(answer.as_bytes()).await?;
        if events.contains("\"tool_use\"") {
            lock(seen).called = Some(Instant::now());
        }
    }
}

/// The body of the next request; bytes beyond it stay in `bytes`.
async fn read_body(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            let whole = end + 4 + length.unwrap_or(0);
            while bytes.len() < whole {
                if stream.read_buf(bytes).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let after = bytes.split_off(whole);
            let body = bytes.split_off(end + 4);
            *bytes = after;
            return Ok(body);
        }
        if stream.read_buf(bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// A read of the note, and words after its result.
pub(super) fn read_call_reply(request: &Value) -> String {
    let last = request["messages"].as_array().and_then(|messages| messages.last());
    let blocks = last.and_then(|last| last["content"].as_array()).into_iter().flatten();
    if blocks.into_iter().any(|block| block["type"] == "tool_result") {
        return text_reply("Done.", 4);
    }
    let number = request["messages"].as_array().map_or(0, Vec::len);
    let id = format!("toolu_{number}");
    let block = json!({ "type": "tool_use", "id": id, "name": "read_file", "input": {} });
    let path = json!({ "path": NOTE }).to_string();
    let delta = json!({ "type": "input_json_delta", "partial_json": path });
    event_stream(&block, [delta], "tool_use")
}

/// This text, so many bytes at a time.
pub(super) fn text_reply(words: &str, piece: usize) -> String {
    let deltas = words
        .as_bytes()
        .chunks(piece)
        .map(|piece| json!({ "type": "text_delta", "text": String::from_utf8_lossy(piece) }));
    event_stream(&json!({ "type": "text", "text": "" }), deltas, "end_turn")
}

fn event_stream(block: &Value, deltas: impl IntoIterator<Item = Value>, reason: &str) -> String {
    let usage = json!({ "input_tokens": 5, "output_tokens": 1 });
    let message = json!({ "id": "msg_1", "role": "assistant", "content": [], "usage": usage });
    let mut events = vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
    ];
    let delta = |delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta });
    events.extend(deltas.into_iter().map(delta));
    let delta = json!({ "stop_reason": reason });
    events.extend([
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ]);
    let frame = |data: &Value| {
        format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
    };
    events.iter().map(frame).collect()
}
