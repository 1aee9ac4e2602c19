//! Fixtures of the tests: a running link, a running local hub, and a hub that can misbehave.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hub::local::{LocalHub, LocalHubEvent, LocalHubLimits};
use hub::{HubEvent, HubHandle, IncomingMessage, LinkConfig, LinkTiming, Token};
use protocol::{HubState, HubStatus};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Nothing a test waits for takes so long, unless it never comes.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Waits for `what`, and fails the test if it does not come.
pub(crate) async fn within_timeout<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(TEST_TIMEOUT, what).await.expect("it never came")
}

pub(crate) fn any_local_port() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

pub(crate) fn config(address: SocketAddr) -> LinkConfig {
    named(address, "Notes")
}

pub(crate) fn named(address: SocketAddr, name: &str) -> LinkConfig {
    LinkConfig::new(&format!("ws://{address}"), name, "Keeps my notes.").unwrap()
}

pub(crate) struct RunningLink {
    pub(crate) handle: HubHandle,
    pub(crate) events: mpsc::Receiver<HubEvent>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

impl RunningLink {
    pub(crate) fn start(config: LinkConfig) -> Self {
        Self::start_timed(Some(config), LinkTiming::default())
    }

    pub(crate) fn start_timed(config: Option<LinkConfig>, timing: LinkTiming) -> Self {
        let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
        let (handle, events) = hub::start_timed(&tasks, cancel.clone(), config, timing);
        Self { handle, events, tasks, cancel }
    }

    /// Skips to the next status with `state`.
    pub(crate) async fn wait_for_state(&mut self, state: HubState) -> HubStatus {
        within_timeout(async {
            loop {
                match self.events.recv().await.expect("the link ended") {
                    HubEvent::Status(status) if status.state == state => return status,
                    _ => {}
                }
            }
        })
        .await
    }

    /// The error text with which the link reaches `state`.
    pub(crate) async fn trouble(&mut self, state: HubState) -> String {
        self.wait_for_state(state).await.trouble.expect("a trouble")
    }

    /// Skips to the next message.
    pub(crate) async fn message(&mut self) -> IncomingMessage {
        within_timeout(async {
            loop {
                if let HubEvent::Message(message) =
                    self.events.recv().await.expect("the link ended")
                {
                    return message;
                }
            }
        })
        .await
    }

    /// Skips to the next count of ignored frames.
    pub(crate) async fn ignored(&mut self) -> u32 {
        within_timeout(async {
            loop {
                if let HubEvent::Ignored { count } =
                    self.events.recv().await.expect("the link ended")
                {
                    return count;
                }
            }
        })
        .await
    }

    /// Cancels it and waits until its task has ended.
    pub(crate) async fn stop(self) {
        self.cancel.cancel();
        self.tasks.close();
        within_timeout(self.tasks.wait()).await;
    }
}

/// A local hub, running.
pub(crate) struct RunningHub {
    pub(crate) address: SocketAddr,
    seen: broadcast::Receiver<LocalHubEvent>,
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl RunningHub {
    pub(crate) async fn start() -> Self {
        Self::start_with(any_local_port(), None, LocalHubLimits::default()).await
    }

    pub(crate) async fn start_with(
        address: SocketAddr,
        token: Option<Token>,
        rules: LocalHubLimits,
    ) -> Self {
        let hub = LocalHub::bind_with(address, token, rules).await.unwrap();
        let (address, seen, cancel) = (hub.address(), hub.events(), CancellationToken::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(hub.run(cancel.clone()));
        Self { address, seen, cancel, tasks }
    }

    /// The next event of the hub that `select` accepts.
    pub(crate) async fn wait_for_event<T>(
        &mut self,
        select: impl Fn(LocalHubEvent) -> Option<T>,
    ) -> T {
        within_timeout(async {
            loop {
                if let Some(selected) = select(self.seen.recv().await.expect("the hub ended")) {
                    return selected;
                }
            }
        })
        .await
    }

    /// Ends it and frees its port.
    pub(crate) async fn stop(mut self) {
        self.cancel.cancel();
        while let Some(ended) = within_timeout(self.tasks.join_next()).await {
            ended.unwrap();
        }
    }
}

pub(crate) type ServerSocket = WebSocketStream<TcpStream>;

/// A hub that does what the test tells it, right or wrong.
pub(crate) struct MisbehavingHub {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl MisbehavingHub {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind(any_local_port()).await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    /// The next connection, not yet upgraded.
    pub(crate) async fn connection(&self) -> TcpStream {
        within_timeout(self.listener.accept()).await.unwrap().0
    }

    /// Whether a connection waits right now.
    pub(crate) async fn is_dialled(&self) -> bool {
        tokio::select! {
            biased;
            _ = self.listener.accept() => true,
            () = std::future::ready(()) => false,
        }
    }

    /// The next connection as a WebSocket, and the registration that came over it.
    pub(crate) async fn registration(&self) -> (ServerSocket, Value) {
        let mut socket = within_timeout(accept_async(self.connection().await)).await.unwrap();
        let registration = next_frame(&mut socket).await;
        (socket, registration)
    }

    /// The next client, registered.
    pub(crate) async fn client(&self) -> ServerSocket {
        let (mut socket, _) = self.registration().await;
        let accepted = json!({ "success": true, "clientId": "c1", "message": "Welcome" });
        send_frame(&mut socket, "registration_response", accepted).await;
        socket
    }
}

pub(crate) async fn send_frame(socket: &mut ServerSocket, kind: &str, payload: Value) {
    let frame = json!({ "type": kind, "payload": payload }).to_string();
    socket.send(Message::text(frame)).await.unwrap();
}

pub(crate) async fn send_message(socket: &mut ServerSocket, id: &str, text: &str) {
    send_frame(socket, "message", json!({ "id": id, "text": text })).await;
}

/// Sends a frame that begins and ends so and has `length` bytes in all, as a hub that streams it. `first` is the first
/// byte of its header.
pub(crate) async fn send_long_frame(
    socket: &mut ServerSocket,
    first: u8,
    (begin, end): (&str, &str),
    length: usize,
) {
    let stream = socket.get_mut();
    stream.write_all(&[&[first, 127][..], &(length as u64).to_be_bytes()].concat()).await.unwrap();
    stream.write_all(begin.as_bytes()).await.unwrap();
    let mut left = length - begin.len() - end.len();
    let part = [b'x'; 64 << 10];
    while left > 0 {
        let size = left.min(part.len());
        stream.write_all(&part[..size]).await.unwrap();
        left -= size;
    }
    stream.write_all(end.as_bytes()).await.unwrap();
}

/// The next text frame of a client.
pub(crate) async fn next_frame(socket: &mut ServerSocket) -> Value {
    within_timeout(async {
        loop {
            if let Message::Text(text) = socket.next().await.expect("a frame").unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    })
    .await
}

/// Sends these bytes one at a time, and fails unless the link leaves before the last: such a hub counts as silent.
pub(crate) async fn assert_left_while_dripping(
    link: &mut RunningLink,
    stream: &mut TcpStream,
    bytes: &[u8],
) {
    let dripping = async {
        let mut drops = tokio::time::interval(Duration::from_millis(20));
        for byte in bytes {
            drops.tick().await;
            if stream.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = dripping => panic!("it waited to the end"),
        trouble = link.trouble(HubState::Waiting) => {
            assert!(trouble.contains("stopped responding"), "{trouble}");
        }
    }
}

/// The code a client leaves with.
pub(crate) async fn close_code(socket: &mut ServerSocket) -> Option<u16> {
    within_timeout(async {
        loop {
            match socket.next().await? {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    })
    .await
}
