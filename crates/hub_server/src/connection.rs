//! One socket of the local hub: upgraded, pinged, and carried to and from the board.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hub::Token;
use hub::websocket::{close_gracefully, socket_config};
use hub::wire::FRAME_MAX;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, Interval, interval_at, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use crate::handshake::{HandshakeCheck, SocketCapacity, SocketPurpose};

type PeerSocket = WebSocketStream<TcpStream>;

const OUTGOING_CAPACITY: usize = 128;
/// The time after which a peer that reads nothing is cut.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The hub's commands for a line. When the hub drops it, it leaves with 1001.
#[derive(Debug)]
pub(crate) enum ToConnection {
    Text(String),
    Leave(CloseCode),
}

/// News of a line.
#[derive(Debug)]
pub(crate) struct FromConnection {
    pub(crate) line: u64,
    pub(crate) event: ConnectionEvent,
}

#[derive(Debug)]
pub(crate) enum ConnectionEvent {
    Opened { purpose: SocketPurpose, to_line: mpsc::Sender<ToConnection> },
    Client(String),
    Sender(String),
    Ended { code: Option<u16> },
}

/// A connection that was accepted, with all it needs to serve itself.
pub(crate) struct HubConnection {
    pub(crate) id: u64,
    pub(crate) peer: SocketAddr,
    /// Held while the line lives; `None` when the house was full.
    pub(crate) slot: Option<OwnedSemaphorePermit>,
    pub(crate) token: Option<Token>,
    pub(crate) handshake: Duration,
    pub(crate) ping_every: Duration,
    pub(crate) to_hub: mpsc::Sender<FromConnection>,
}

/// How a line ends.
enum ConnectionEnd {
    /// The peer's close frame.
    Closed(Option<u16>),
    /// We leave, with this code.
    Leave(CloseCode),
    /// Gone, or cut because it did not answer.
    Cut,
}

impl HubConnection {
    pub(crate) async fn run(self, stream: TcpStream) {
        let mut purpose = SocketPurpose::Client;
        let opened = timeout(self.handshake, self.upgrade(stream, &mut purpose)).await;
        let Ok(Some(mut socket)) = opened else { return };
        let (to_line, mut orders) = mpsc::channel(OUTGOING_CAPACITY);
        if !self.report(ConnectionEvent::Opened { purpose, to_line }).await {
            return;
        }
        let end = self.serve(&mut socket, purpose, &mut orders).await;
        let code = match end {
            ConnectionEnd::Closed(code) => code,
            ConnectionEnd::Leave(code) => {
                let _ = timeout(CLOSE_TIMEOUT, close_gracefully(&mut socket, code)).await;
                None
            }
            ConnectionEnd::Cut => None,
        };
        self.report(ConnectionEvent::Ended { code }).await;
    }

    async fn upgrade(&self, stream: TcpStream, purpose: &mut SocketPurpose) -> Option<PeerSocket> {
        stream.set_nodelay(true).ok()?;
        let check = HandshakeCheck {
            peer: self.peer.ip(),
            room: if self.slot.is_some() { SocketCapacity::Free } else { SocketCapacity::Full },
            token: self.token.as_ref(),
            purpose,
        };
        accept_hdr_async_with_config(stream, check, Some(socket_config(FRAME_MAX))).await.ok()
    }

    async fn serve(
        &self,
        socket: &mut PeerSocket,
        purpose: SocketPurpose,
        orders: &mut mpsc::Receiver<ToConnection>,
    ) -> ConnectionEnd {
        let mut pings = self.ping_interval();
        let mut answered = true;
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(ToConnection::Text(text)) => {
                        if !write(socket, Message::text(text)).await {
                            return ConnectionEnd::Cut;
                        }
                    }
                    Some(ToConnection::Leave(code)) => return ConnectionEnd::Leave(code),
                    None => return ConnectionEnd::Leave(CloseCode::Away),
                },
                _ = pings.tick() => {
                    if !answered || !write(socket, Message::Ping(Vec::new().into())).await {
                        return ConnectionEnd::Cut;
                    }
                    answered = false;
                }
                frame = socket.next() => match frame {
                    Some(Ok(Message::Text(text))) => {
                        let text = text.to_string();
                        let news = match purpose {
                            SocketPurpose::Client => ConnectionEvent::Client(text),
                            SocketPurpose::Sender => ConnectionEvent::Sender(text),
                        };
                        self.report(news).await;
                    }
                    Some(Ok(Message::Pong(_))) => answered = true,
                    Some(Ok(Message::Close(frame))) => {
                        let _ = timeout(CLOSE_TIMEOUT, socket.flush()).await;
                        return ConnectionEnd::Closed(frame.map(|frame| frame.code.into()));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(Error::Capacity(_))) => return ConnectionEnd::Leave(CloseCode::Size),
                    Some(Err(_)) | None => return ConnectionEnd::Cut,
                },
            }
        }
    }

    fn ping_interval(&self) -> Interval {
        interval_at(Instant::now() + self.ping_every, self.ping_every)
    }

    /// Whether the hub still listens.
    async fn report(&self, news: ConnectionEvent) -> bool {
        self.to_hub.send(FromConnection { line: self.id, event: news }).await.is_ok()
    }
}

async fn write(socket: &mut PeerSocket, message: Message) -> bool {
    matches!(timeout(WRITE_TIMEOUT, socket.send(message)).await, Ok(Ok(())))
}
