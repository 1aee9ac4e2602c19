//! A hub of bytes: a port, and lines over which anything can be sent.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::websocket::{HubConnectionEnd, RawFrames, text_frame};

/// A port that waits for a link.
pub(super) struct ByteHub(TcpListener);

/// One link. Dropped, its connection is gone.
pub(super) struct ByteHubConnection {
    writer: OwnedWriteHalf,
    received: watch::Receiver<ReceivedFrames>,
    reader: JoinSet<()>,
}

/// The frames that came over a line.
#[derive(Debug, Clone, Default)]
pub(super) struct ReceivedFrames {
    pub(super) frames: Vec<Value>,
    /// The code of a close frame.
    pub(super) close: Option<u16>,
    pub(super) ended: Option<Instant>,
}

impl ByteHub {
    pub(super) async fn bind() -> io::Result<Self> {
        Ok(Self(TcpListener::bind(("127.0.0.1", 0)).await?))
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// The next link, upgraded, when it comes in time.
    pub(super) async fn accept(&self, limit: Duration) -> Option<ByteHubConnection> {
        let upgraded = async {
            let (stream, _) = self.0.accept().await.ok()?;
            stream.set_nodelay(true).ok()?;
            // A client says nothing before it has seen the upgrade, so nothing is lost in between.
            Some(tokio_tungstenite::accept_async(stream).await.ok()?.into_inner())
        };
        timeout(limit, upgraded).await.ok()?.map(ByteHubConnection::new)
    }
}

impl ByteHubConnection {
    fn new(stream: TcpStream) -> Self {
        let (reading, writer) = stream.into_split();
        let (told, heard) = watch::channel(ReceivedFrames::default());
        let mut reader = JoinSet::new();
        reader.spawn(run_reader(reading, told));
        Self { writer, received: heard, reader }
    }

    /// Sends these bytes, and ends as they say. A peer that leaves in between is no matter.
    pub(super) async fn send(&mut self, sent: &RawFrames) {
        let _ = self.writer.write_all(&sent.bytes).await;
        match sent.end {
            HubConnectionEnd::Stays => {}
            HubConnectionEnd::Fin => drop(self.writer.shutdown().await),
            HubConnectionEnd::Rst => {
                let at_once = Some(Duration::ZERO);
                let _ = rustix::net::sockopt::set_socket_linger(self.writer.as_ref(), at_once);
                self.reader.shutdown().await;
            }
        }
    }

    /// Sends a frame of the protocol.
    pub(super) async fn send_json(&mut self, frame: &Value) {
        self.send(&RawFrames::whole(text_frame(frame.to_string().as_bytes()))).await;
    }

    /// The frames that came so far.
    pub(super) fn received(&self) -> ReceivedFrames {
        self.received.borrow().clone()
    }

    /// Resolves once `is_there`; `false` when that does not come in time.
    pub(super) async fn wait_until(
        &mut self,
        limit: Duration,
        is_there: impl Fn(&ReceivedFrames) -> bool,
    ) -> bool {
        matches!(timeout(limit, self.received.wait_for(is_there)).await, Ok(Ok(_)))
    }
}

async fn run_reader(mut reading: OwnedReadHalf, told: watch::Sender<ReceivedFrames>) {
    while let Ok((opcode, payload)) = read_frame(&mut reading).await {
        told.send_modify(|heard| match (opcode, payload.as_slice()) {
            (1, text) => heard.frames.push(serde_json::from_slice(text).unwrap_or_default()),
            (8, [high, low, ..]) => heard.close = Some(u16::from_be_bytes([*high, *low])),
            _ => {}
        });
    }
    told.send_modify(|heard| heard.ended = Some(Instant::now()));
    // Keeps the channel open until the last frames were read.
    told.closed().await;
}

/// A frame of a client, which are masked and in one piece.
async fn read_frame(reading: &mut OwnedReadHalf) -> io::Result<(u8, Vec<u8>)> {
    let [first, second] = read_array(reading).await?;
    let length = match second & 0x7f {
        126 => u64::from(u16::from_be_bytes(read_array(reading).await?)),
        127 => u64::from_be_bytes(read_array(reading).await?),
        short => u64::from(short),
    };
    let mask: [u8; 4] = read_array(reading).await?;
    let mut payload = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    reading.read_exact(&mut payload).await?;
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    Ok((first & 0x0f, payload))
}

async fn read_array<const N: usize>(reading: &mut OwnedReadHalf) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reading.read_exact(&mut bytes).await?;
    Ok(bytes)
}
