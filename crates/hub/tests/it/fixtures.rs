//! Fixtures of the tests: a running link, and a hub that can misbehave.

mod running_link;

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hub::HubEvent;
use protocol::HubState;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

pub(crate) use running_link::{
    RunningLink, ServerSocket, any_local_port, close_code, config, within_timeout,
};

impl RunningLink {
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
}

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
