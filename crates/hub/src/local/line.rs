//! One socket of the local hub: upgraded, pinged, and carried to and from the board.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, Interval, interval_at, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use super::door::{Door, Purpose, Room};
use crate::Token;
use crate::socket::{farewell, limits};
use crate::wire::FRAME_MAX;

type Peer = WebSocketStream<TcpStream>;

const OUTGOING: usize = 128;
/// A peer that reads nothing for so long is cut.
const WRITE: Duration = Duration::from_secs(10);
const GOODBYE: Duration = Duration::from_secs(1);

/// What the hub asks of a line. When the hub lets go of it, it leaves with 1001.
#[derive(Debug)]
pub(super) enum ToLine {
    Text(String),
    Leave(CloseCode),
}

/// News of a line.
#[derive(Debug)]
pub(super) struct FromLine {
    pub(super) line: u64,
    pub(super) news: News,
}

#[derive(Debug)]
pub(super) enum News {
    Opened { purpose: Purpose, to_line: mpsc::Sender<ToLine> },
    Client(String),
    Sender(String),
    Ended { code: Option<u16> },
}

/// A connection that was accepted, with all it needs to serve itself.
pub(super) struct Line {
    pub(super) id: u64,
    pub(super) peer: SocketAddr,
    /// Held while the line lives; `None` when the house was full.
    pub(super) place: Option<OwnedSemaphorePermit>,
    pub(super) token: Option<Token>,
    pub(super) handshake: Duration,
    pub(super) ping_every: Duration,
    pub(super) to_hub: mpsc::Sender<FromLine>,
}

/// How a line ends.
enum End {
    /// The peer's close frame.
    Closed(Option<u16>),
    /// We leave, with this code.
    Leave(CloseCode),
    /// Gone, or cut because it did not answer.
    Cut,
}

impl Line {
    pub(super) async fn run(self, stream: TcpStream) {
        let mut purpose = Purpose::Client;
        let opened = timeout(self.handshake, self.upgrade(stream, &mut purpose)).await;
        let Ok(Some(mut socket)) = opened else { return };
        let (to_line, mut orders) = mpsc::channel(OUTGOING);
        if !self.tell(News::Opened { purpose, to_line }).await {
            return;
        }
        let end = self.serve(&mut socket, purpose, &mut orders).await;
        let code = match end {
            End::Closed(code) => code,
            End::Leave(code) => {
                let _ = timeout(GOODBYE, farewell(&mut socket, code)).await;
                None
            }
            End::Cut => None,
        };
        self.tell(News::Ended { code }).await;
    }

    async fn upgrade(&self, stream: TcpStream, purpose: &mut Purpose) -> Option<Peer> {
        stream.set_nodelay(true).ok()?;
        let door = Door {
            peer: self.peer.ip(),
            room: if self.place.is_some() { Room::Free } else { Room::Full },
            token: self.token.as_ref(),
            purpose,
        };
        accept_hdr_async_with_config(stream, door, Some(limits(FRAME_MAX))).await.ok()
    }

    async fn serve(
        &self,
        socket: &mut Peer,
        purpose: Purpose,
        orders: &mut mpsc::Receiver<ToLine>,
    ) -> End {
        let mut pings = self.pings();
        let mut answered = true;
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(ToLine::Text(text)) => {
                        if !write(socket, Message::text(text)).await {
                            return End::Cut;
                        }
                    }
                    Some(ToLine::Leave(code)) => return End::Leave(code),
                    None => return End::Leave(CloseCode::Away),
                },
                _ = pings.tick() => {
                    if !answered || !write(socket, Message::Ping(Vec::new().into())).await {
                        return End::Cut;
                    }
                    answered = false;
                }
                frame = socket.next() => match frame {
                    Some(Ok(Message::Text(text))) => {
                        let text = text.to_string();
                        let news = match purpose {
                            Purpose::Client => News::Client(text),
                            Purpose::Sender => News::Sender(text),
                        };
                        self.tell(news).await;
                    }
                    Some(Ok(Message::Pong(_))) => answered = true,
                    Some(Ok(Message::Close(frame))) => {
                        let _ = timeout(GOODBYE, socket.flush()).await;
                        return End::Closed(frame.map(|frame| frame.code.into()));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(Error::Capacity(_))) => return End::Leave(CloseCode::Size),
                    Some(Err(_)) | None => return End::Cut,
                },
            }
        }
    }

    fn pings(&self) -> Interval {
        interval_at(Instant::now() + self.ping_every, self.ping_every)
    }

    /// Whether the hub still listens.
    async fn tell(&self, news: News) -> bool {
        self.to_hub.send(FromLine { line: self.id, news }).await.is_ok()
    }
}

async fn write(socket: &mut Peer, message: Message) -> bool {
    matches!(timeout(WRITE, socket.send(message)).await, Ok(Ok(())))
}
