//! A real HTTP server on loopback that answers with exactly the bytes a test wrote down.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What follows the bytes of an answer.
pub(crate) enum AfterBytes {
    /// The connection is closed.
    Close,
    /// Nothing, until the client hangs up.
    Hold,
    /// These bytes again and again, until the client hangs up.
    Repeat(&'static str),
}

/// One answer.
pub(crate) struct CannedAnswer {
    pub(crate) bytes: String,
    /// How many bytes are written at a time.
    pub(crate) at_a_time: usize,
    pub(crate) then: AfterBytes,
}

/// A request as it came.
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Serves one connection an answer, in order; dropping it closes everything.
pub(crate) struct ByteServer {
    pub(crate) address: SocketAddr,
    pub(crate) requests: mpsc::UnboundedReceiver<ReceivedRequest>,
    /// One message for each client that hung up.
    pub(crate) hung_up: mpsc::UnboundedReceiver<()>,
    _tasks: JoinSet<()>,
}

impl ByteServer {
    pub(crate) async fn serving(answers: Vec<CannedAnswer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (heard, requests) = mpsc::unbounded_channel();
        let (left, hung_up) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            for answer in answers {
                let (stream, _) = listener.accept().await.unwrap();
                let request = serve(stream, answer, &heard).await;
                if request.is_none() {
                    let _ = left.send(());
                }
            }
        });
        Self { address, requests, hung_up, _tasks: tasks }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// `None` when the client hung up first.
async fn serve(
    mut stream: TcpStream,
    answer: CannedAnswer,
    heard: &mpsc::UnboundedSender<ReceivedRequest>,
) -> Option<()> {
    let request = read(&mut stream).await?;
    let _ = heard.send(request);
    for piece in answer.bytes.as_bytes().chunks(answer.at_a_time.max(1)) {
        stream.write_all(piece).await.ok()?;
        stream.flush().await.ok()?;
    }
    match answer.then {
        AfterBytes::Close => Some(()),
        AfterBytes::Hold => {
            let _ = stream.read(&mut [0; 64]).await;
            None
        }
        AfterBytes::Repeat(bytes) => loop {
            stream.write_all(bytes.as_bytes()).await.ok()?;
        },
    }
}

async fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                crate::request_bodies::record(head.split(' ').nth(1).unwrap_or_default(), body);
                let body = serde_json::from_str(body).unwrap_or(Value::Null);
                return Some(ReceivedRequest { head, body });
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// A response that says it is an event stream and ends when the connection does.
pub(crate) fn stream(body: &str) -> CannedAnswer {
    respond("200 OK", "content-type: text/event-stream\r\n", body)
}

pub(crate) fn respond(status: &str, headers: &str, body: &str) -> CannedAnswer {
    let bytes = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n{body}");
    CannedAnswer { bytes, at_a_time: usize::MAX, then: AfterBytes::Close }
}

/// The events of an answer that says `text`, up to but without its end.
pub(crate) fn words(text: &str) -> String {
    let delta = serde_json::json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": text}});
    format!(
        "data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{{\"input_tokens\":5}}}}}}\n\n\
         data: {{\"type\":\"content_block_start\",\"index\":0,\
         \"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n\
         data: {delta}\n\n"
    )
}

/// A call in block 1.
pub(crate) fn call(id: &str, tool: &str, arguments: &Value) -> String {
    let start = serde_json::json!({"type": "content_block_start", "index": 1,
        "content_block": {"type": "tool_use", "id": id, "name": tool, "input": {}}});
    let delta = serde_json::json!({"type": "content_block_delta", "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": arguments.to_string()}});
    format!(
        "data: {start}\n\ndata: {delta}\n\ndata: {{\"type\":\"content_block_stop\",\"index\":1}}\n\n"
    )
}

/// The end of an answer.
pub(crate) fn stop(reason: &str) -> String {
    format!(
        "data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}},\
         \"usage\":{{\"output_tokens\":9}}}}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
    )
}
