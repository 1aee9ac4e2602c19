//! Stands between the application and a real model server: keeps what is sent for an answer and how it is
//! answered. On demand it hides how large the window of the server is, and that the weights are loaded.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Whether the application hears how large the window is, and which tools the template takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowDisclosure {
    /// As the server tells it.
    Told,
    /// The list of models has names alone, and `/props` does not exist. The first [`LOADING_REFUSALS`] requests for an
    /// answer come too early, as while the server loads its weights.
    Hidden,
}

/// More than a request that fails is sent again.
const LOADING_REFUSALS: u32 = 3;

/// A request for an answer, and its status.
#[derive(Debug, Clone)]
pub(super) struct RelayedChat {
    pub(super) body: Value,
    pub(super) status: u16,
    /// The tokens of the request as the server's own tokenizer counts them, once the answer tells them.
    pub(super) prompt_tokens: Option<u64>,
}

/// The proxy, until it is dropped.
pub(super) struct ModelProxy {
    url: String,
    chats: Arc<Mutex<Vec<RelayedChat>>>,
    _serving: JoinSet<()>,
}

impl ModelProxy {
    /// One for the server on this port of loopback, which need not listen yet.
    pub(super) async fn start(upstream: u16, window: WindowDisclosure) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let chats = Arc::<Mutex<Vec<RelayedChat>>>::default();
        let refusals = if window == WindowDisclosure::Hidden { LOADING_REFUSALS } else { 0 };
        let loading_refusals = Arc::new(AtomicU32::new(refusals));
        let relay = ChatRelay { upstream, window, loading_refusals, chats: Arc::clone(&chats) };
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let relay = relay.clone();
                // A client or a server that hangs up ends its own connection alone.
                connections.spawn(async move { drop(relay.serve(client).await) });
            }
        });
        Self { url, chats, _serving: serving }
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    /// The requests for an answer so far, in the order of their answers.
    pub(super) fn chats(&self) -> Vec<RelayedChat> {
        self.chats.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[derive(Clone)]
struct ChatRelay {
    upstream: u16,
    window: WindowDisclosure,
    /// How many of the next requests for an answer are refused as while the weights are loaded.
    loading_refusals: Arc<AtomicU32>,
    chats: Arc<Mutex<Vec<RelayedChat>>>,
}

impl ChatRelay {
    async fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let (head, body) = read_request(&mut client).await?;
        let target = head.split(' ').nth(1).unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default();
        if self.window == WindowDisclosure::Hidden
            && let Some(answer) = answer_without_window(path)
        {
            return client.write_all(answer.as_bytes()).await;
        }
        if path == CHAT_PATH && self.refuses_as_loading() {
            let refusal = loading_refusal();
            self.record(path, &body, refusal.as_bytes());
            return client.write_all(refusal.as_bytes()).await;
        }
        let mut server = TcpStream::connect(("127.0.0.1", self.upstream)).await?;
        server.write_all(closing(&head).as_bytes()).await?;
        server.write_all(&body).await?;
        let (mut from_client, mut to_client) = client.split();
        let (mut probe, mut begin) = ([0; 1], Vec::<u8>::with_capacity(4_096));
        let answered = async {
            server.read_buf(&mut begin).await?;
            let chat = self.record(path, &body, &begin);
            let (mut answer, mut relayed) = (begin, 0);
            loop {
                // Before the client has all of it, since it may hang up then.
                if let Some(chat) = chat {
                    self.lock_chats()[chat].prompt_tokens = prompt_tokens(&answer);
                }
                to_client.write_all(&answer[relayed..]).await?;
                relayed = answer.len();
                if server.read_buf(&mut answer).await? == 0 {
                    return Ok(());
                }
            }
        };
        // The server hears at once that the client hangs up.
        tokio::select! {
            copied = answered => copied,
            _ = from_client.read(&mut probe) => Ok(()),
        }
    }

    fn refuses_as_loading(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        self.loading_refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    /// Keeps a request for an answer; returns its place among them.
    fn record(&self, path: &str, body: &[u8], begin: &[u8]) -> Option<usize> {
        if path != CHAT_PATH {
            return None;
        }
        let line = String::from_utf8_lossy(begin);
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let body = serde_json::from_slice(body).unwrap_or_default();
        let mut chats = self.lock_chats();
        chats.push(RelayedChat { body, status, prompt_tokens: None });
        Some(chats.len() - 1)
    }

    fn lock_chats(&self) -> MutexGuard<'_, Vec<RelayedChat>> {
        self.chats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const CHAT_PATH: &str = "/v1/chat/completions";

/// The tokens of the request that the last usage of a stream tells.
fn prompt_tokens(answer: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(answer);
    let (_, rest) = text.rsplit_once("\"prompt_tokens\":")?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// As llama.cpp's server refuses while it loads the weights.
fn loading_refusal() -> String {
    let error = json!({ "code": 503, "message": "Loading model", "type": "unavailable_error" });
    let body = json!({ "error": error });
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{body}"
    )
}

/// The answer of a server that does not tell its window, where one would ask for it.
fn answer_without_window(path: &str) -> Option<String> {
    let (status, body) = match path {
        "/v1/models" => ("200 OK", json!({ "object": "list", "data": [{ "id": "tiny" }] })),
        "/props" => ("404 Not Found", json!({ "error": { "message": "File Not Found" } })),
        _ => return None,
    };
    Some(format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// The same head for a connection that ends with its answer.
fn closing(head: &str) -> String {
    let is_kept = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:");
    let lines: Vec<&str> = head.split("\r\n").filter(is_kept).collect();
    format!("{}\r\nconnection: close\r\n\r\n", lines.join("\r\n"))
}

/// Reads a request: its head without the empty line, and its body.
async fn read_request(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::<u8>::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let body = &bytes[end + 4..];
            let lower = head.to_ascii_lowercase();
            let length = lower.split("\r\n").find_map(|line| line.strip_prefix("content-length: "));
            let length = length.and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
            if body.len() >= length {
                return Ok((head, body.to_vec()));
            }
        }
        if client.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// The JSON at this path of the server, or null where it tells none.
pub(super) async fn fetch_json(port: u16, path: &str) -> Value {
    let read = async {
        let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        server.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        server.read_to_string(&mut answer).await?;
        Ok::<_, io::Error>(answer)
    };
    let answer = read.await.unwrap_or_default();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).unwrap_or_default()
}

#[tokio::test]
async fn what_a_server_tells_of_its_window_is_hidden_on_demand_alone_and_chats_are_kept() {
    let upstream = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let port = upstream.local_addr().expect("its address").port();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        while let Ok((mut client, _)) = upstream.accept().await {
            let (head, _) = read_request(&mut client).await.expect("a request");
            assert!(head.ends_with("\r\nconnection: close"), "{head}");
            let answer = "HTTP/1.1 400 Bad Request\r\n\r\n{\"n_ctx\":2048,\"prompt_tokens\":7}";
            client.write_all(answer.as_bytes()).await.expect("it is taken");
        }
    });
    for (window, is_told) in [(WindowDisclosure::Told, true), (WindowDisclosure::Hidden, false)] {
        let proxy = ModelProxy::start(port, window).await;
        let url = proxy.url();
        let (_, own) = url.rsplit_once(':').expect("a port");
        let own = own.parse().expect("a number");
        let props = fetch_json(own, "/props").await;
        assert_eq!(props["n_ctx"] == 2048, is_told, "{props}");
        assert!(proxy.chats().is_empty());
        for _ in 0..=LOADING_REFUSALS {
            fetch_json(own, CHAT_PATH).await;
        }
        let told = |chat: &RelayedChat| (chat.status, chat.prompt_tokens);
        let chats: Vec<_> = proxy.chats().iter().map(told).collect();
        let first = if is_told { (400, Some(7)) } else { (503, None) };
        assert_eq!(chats, [first, first, first, (400, Some(7))]);
    }
}
