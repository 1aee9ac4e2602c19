//! A server that answers in any way bytes can: cut, torn down, silent, too long.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;
use tokio::io::{self, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::answer::{Answer, End};

/// A server on loopback; dropped, it is gone.
pub(super) struct Server {
    address: SocketAddr,
    desk: Arc<Mutex<Desk>>,
    _serving: JoinSet<()>,
}

/// What was asked.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) at: Instant,
    /// The request line and the headers.
    pub(super) head: String,
    pub(super) body: Value,
}

struct Desk {
    requests: Vec<Request>,
    /// For the first request, or for each.
    first: Option<Answer>,
    repeats: Repeats,
    then: Answer,
}

/// Whether the first answer is given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeats {
    Yes,
    No,
}

impl Server {
    /// Answers each request with `then` until it is told otherwise.
    pub(super) async fn start(then: Answer) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let desk = Desk { requests: Vec::new(), first: None, repeats: Repeats::No, then };
        let desk = Arc::new(Mutex::new(desk));
        let mut serving = JoinSet::new();
        let shared = Arc::clone(&desk);
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let desk = Arc::clone(&shared);
                // A client that lets go of its answer is no matter.
                open.spawn(async move { drop(serve(stream, &desk).await) });
            }
        });
        Ok(Self { address, desk, _serving: serving })
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the next request is answered with, or each from now on.
    pub(super) fn next(&self, answer: Answer, repeats: Repeats) {
        let mut desk = lock(&self.desk);
        (desk.first, desk.repeats) = (Some(answer), repeats);
    }

    /// From now on everything is answered in few words.
    pub(super) fn calm(&self) {
        lock(&self.desk).first = None;
    }

    /// What was asked since this was asked last.
    pub(super) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut lock(&self.desk).requests)
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut stream: TcpStream, desk: &Mutex<Desk>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (head, body) = read(&mut stream).await?;
    let path = head.split(' ').nth(1).unwrap_or_default();
    crate::bodies::keep(path, &String::from_utf8_lossy(&body));
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let answer = {
        let mut desk = lock(desk);
        desk.requests.push(Request { at: Instant::now(), head, body });
        let first = match desk.repeats {
            Repeats::Yes => desk.first.clone(),
            Repeats::No => desk.first.take(),
        };
        first.unwrap_or_else(|| desk.then.clone())
    };
    write(&mut stream, &answer).await
}

async fn read(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
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

async fn write(stream: &mut TcpStream, answer: &Answer) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Answer\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let is_chunked = !matches!(answer.end, End::Fin | End::Short | End::GzipCut);
    match answer.end {
        End::Short => {
            let length: usize = answer.body.pieces().map(|piece| piece.len()).sum();
            head.push_str(&format!("content-length: {}\r\n", length + 1000));
        }
        End::GzipCut => head.push_str("content-encoding: gzip\r\n"),
        _ if is_chunked => head.push_str("transfer-encoding: chunked\r\n"),
        _ => {}
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    if answer.end == End::GzipCut {
        stream.write_all(&packed_in_part(answer)).await?;
        return stream.shutdown().await;
    }
    for piece in answer.body.pieces().filter(|piece| !piece.is_empty()) {
        put(stream, &piece, is_chunked).await?;
    }
    end(stream, answer, is_chunked).await
}

async fn put(stream: &mut TcpStream, piece: &[u8], is_chunked: bool) -> io::Result<()> {
    if !is_chunked {
        return stream.write_all(piece).await;
    }
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk).await
}

async fn end(stream: &mut TcpStream, answer: &Answer, is_chunked: bool) -> io::Result<()> {
    match answer.end {
        End::Whole if is_chunked => stream.write_all(b"0\r\n\r\n").await?,
        End::BadChunk => stream.write_all(b"zz\r\n").await?,
        End::Stall(pause) => tokio::time::sleep(pause).await,
        End::Repeat { every, all } => {
            let until = Instant::now() + all;
            while Instant::now() < until {
                tokio::time::sleep(every).await;
                for piece in answer.body.pieces() {
                    put(stream, &piece, is_chunked).await?;
                }
            }
        }
        End::Rst => {
            rustix::net::sockopt::set_socket_linger(&*stream, Some(std::time::Duration::ZERO))?
        }
        End::Whole | End::Fin | End::GzipCut | End::Short => {}
    }
    if answer.end == End::Rst { Ok(()) } else { stream.shutdown().await }
}

/// The beginning of a gzip file with the body in a block as it is (RFC 1951, 3.2.4), cut inside it.
fn packed_in_part(answer: &Answer) -> Vec<u8> {
    let body: Vec<u8> = answer.body.pieces().flatten().collect();
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    let length = u16::try_from(body.len() + 100).unwrap_or(u16::MAX);
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(body);
    packed
}
