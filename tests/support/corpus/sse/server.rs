//! A server that answers in any way bytes can: cut, torn down, silent, too long.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;
use tokio::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::response::{ResponseEnd, SseResponse};

/// The endpoints that answers are asked for at. Questions about models, such as the size of the context
/// window, go to other ones, which this server does not have.
const MODEL_ENDPOINTS: [&str; 2] = ["/messages", "/chat/completions"];

const NOT_FOUND: &[u8] =
    b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A server on loopback; dropped, it is gone.
pub(super) struct SseServer {
    address: SocketAddr,
    state: Arc<Mutex<SseServerState>>,
    _serving: JoinSet<()>,
}

/// A request that came.
#[derive(Debug, Clone)]
pub(super) struct SseRequest {
    pub(super) at: Instant,
    /// The request line and the headers.
    pub(super) head: String,
    pub(super) body: Value,
}

struct SseServerState {
    requests: Vec<SseRequest>,
    /// For the first request, or for each.
    first: Option<SseResponse>,
    repeats: ResponseRepeat,
    default_response: SseResponse,
}

/// Whether the first answer is given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseRepeat {
    Yes,
    No,
}

impl SseServer {
    /// Answers each request with `then` until it is told otherwise.
    pub(super) async fn start(then: SseResponse) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = SseServerState {
            requests: Vec::new(),
            first: None,
            repeats: ResponseRepeat::No,
            default_response: then,
        };
        let state = Arc::new(Mutex::new(state));
        let mut serving = JoinSet::new();
        let shared = Arc::clone(&state);
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                // A client that lets go of its answer is no matter.
                open.spawn(async move { drop(serve(stream, &state).await) });
            }
        });
        Ok(Self { address, state, _serving: serving })
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the answer to the next request, or to each from now on.
    pub(super) fn set_response(&self, answer: SseResponse, repeats: ResponseRepeat) {
        let mut state = lock(&self.state);
        (state.first, state.repeats) = (Some(answer), repeats);
    }

    /// From now on every request gets a short answer.
    pub(super) fn reset_response(&self) {
        lock(&self.state).first = None;
    }

    /// The requests since the last call of this.
    pub(super) fn take_requests(&self) -> Vec<SseRequest> {
        std::mem::take(&mut lock(&self.state).requests)
    }
}

fn lock(state: &Mutex<SseServerState>) -> MutexGuard<'_, SseServerState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut stream: TcpStream, state: &Mutex<SseServerState>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (head, body) = read_request(&mut stream).await?;
    let path = head.split(' ').nth(1).unwrap_or_default();
    if !MODEL_ENDPOINTS.iter().any(|endpoint| path.ends_with(endpoint)) {
        return stream.write_all(NOT_FOUND).await;
    }
    crate::conformance::request_bodies::record(path, &String::from_utf8_lossy(&body));
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let answer = {
        let mut state = lock(state);
        state.requests.push(SseRequest { at: Instant::now(), head, body });
        let first = match state.repeats {
            ResponseRepeat::Yes => state.first.clone(),
            ResponseRepeat::No => state.first.take(),
        };
        first.unwrap_or_else(|| state.default_response.clone())
    };
    write_response(&mut stream, &answer).await
}

async fn read_request(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let mut body = bytes.split_off(end + 4);
            let head = String::from_utf8_lossy(&bytes).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            while body.len() < length.unwrap_or(0) {
                if stream.read_buf(&mut body).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            return Ok((head, body));
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

async fn write_response(stream: &mut TcpStream, answer: &SseResponse) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Answer\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let is_chunked =
        !matches!(answer.end, ResponseEnd::Fin | ResponseEnd::Short | ResponseEnd::GzipCut);
    match answer.end {
        ResponseEnd::Short => {
            let length: usize = answer.body.pieces().map(|piece| piece.len()).sum();
            head.push_str(&format!("content-length: {}\r\n", length + 1000));
        }
        ResponseEnd::GzipCut => head.push_str("content-encoding: gzip\r\n"),
        _ if is_chunked => head.push_str("transfer-encoding: chunked\r\n"),
        _ => {}
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    if answer.end == ResponseEnd::GzipCut {
        stream.write_all(&truncated_gzip(answer)).await?;
        return stream.shutdown().await;
    }
    for piece in answer.body.pieces().filter(|piece| !piece.is_empty()) {
        write_chunk(stream, &piece, is_chunked).await?;
    }
    end_response(stream, answer, is_chunked).await
}

async fn write_chunk(stream: &mut TcpStream, piece: &[u8], is_chunked: bool) -> io::Result<()> {
    if !is_chunked {
        return stream.write_all(piece).await;
    }
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk).await
}

async fn end_response(
    stream: &mut TcpStream,
    answer: &SseResponse,
    is_chunked: bool,
) -> io::Result<()> {
    match answer.end {
        ResponseEnd::Whole if is_chunked => stream.write_all(b"0\r\n\r\n").await?,
        ResponseEnd::BadChunk => stream.write_all(b"zz\r\n").await?,
        ResponseEnd::Stall(pause) => tokio::time::sleep(pause).await,
        ResponseEnd::Repeat { every, all } => {
            let until = Instant::now() + all;
            while Instant::now() < until {
                tokio::time::sleep(every).await;
                for piece in answer.body.pieces() {
                    write_chunk(stream, &piece, is_chunked).await?;
                }
            }
        }
        ResponseEnd::Rst => {
            rustix::net::sockopt::set_socket_linger(&*stream, Some(std::time::Duration::ZERO))?
        }
        ResponseEnd::Whole | ResponseEnd::Fin | ResponseEnd::GzipCut | ResponseEnd::Short => {}
    }
    if answer.end == ResponseEnd::Rst { Ok(()) } else { stream.shutdown().await }
}

/// The beginning of a gzip file with the body in a block as it is (RFC 1951, 3.2.4), cut inside it.
fn truncated_gzip(answer: &SseResponse) -> Vec<u8> {
    let body: Vec<u8> = answer.body.pieces().flatten().collect();
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    let length = u16::try_from(body.len() + 100).unwrap_or(u16::MAX);
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(body);
    packed
}
