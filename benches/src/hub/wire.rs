//! A hub down to its bytes, so that what is measured is not its own.

use std::error::Error;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

type WireResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A registered client.
pub(super) struct WireConnection {
    stream: TcpStream,
    /// Bytes that were read and not taken apart.
    unread: Vec<u8>,
}

/// Kinds of frames.
const OPCODE_TEXT: u8 = 1;
const OPCODE_PING: u8 = 9;
const OPCODE_PONG: u8 = 10;
const FIN_BIT: u8 = 0x80;

/// A frame of a client stands behind a mask of so many bytes.
const MASK_BYTES: usize = 4;

/// Takes the next client and registers it.
pub(super) async fn accept(listener: &TcpListener) -> WireResult<WireConnection> {
    register(listener.accept().await?.0).await
}

/// Registers a client that has dialled.
pub(super) async fn register(stream: TcpStream) -> WireResult<WireConnection> {
    stream.set_nodelay(true)?;
    let mut socket = accept_async(stream).await?;
    while !matches!(socket.next().await.ok_or("it left")??, Message::Text(_)) {}
    let welcome = json!({ "type": "registration_response", "payload": { "success": true } });
    socket.send(Message::text(welcome.to_string())).await?;
    Ok(WireConnection { stream: socket.into_inner(), unread: Vec::new() })
}

/// The bytes in which a message is delivered.
pub(super) fn delivery(id: &str, text: &str) -> WireResult<Vec<u8>> {
    let payload = json!({ "id": id, "text": text, "timestamp": "2026-01-01T00:00:00Z" });
    encode_frame(
        OPCODE_TEXT,
        json!({ "type": "message", "payload": payload }).to_string().as_bytes(),
    )
}

fn encode_frame(kind: u8, payload: &[u8]) -> WireResult<Vec<u8>> {
    let mut bytes = vec![FIN_BIT | kind];
    match u8::try_from(payload.len()) {
        Ok(short) if short < 126 => bytes.push(short),
        _ => {
            bytes.push(126);
            bytes.extend(u16::try_from(payload.len())?.to_be_bytes());
        }
    }
    bytes.extend(payload);
    Ok(bytes)
}

impl WireConnection {
    /// Writes what was made before.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> WireResult<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// The next text frame; pings are answered.
    pub(super) async fn next_text_frame(&mut self) -> WireResult<Value> {
        loop {
            while let Some((kind, payload)) = self.take_frame() {
                match kind {
                    OPCODE_TEXT => return Ok(serde_json::from_slice(&payload)?),
                    OPCODE_PING => {
                        self.stream.write_all(&encode_frame(OPCODE_PONG, &payload)?).await?
                    }
                    _ => {}
                }
            }
            if self.stream.read_buf(&mut self.unread).await? == 0 {
                return Err("it left".into());
            }
        }
    }

    /// The next frame, if all of it is there.
    fn take_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let [first, second, ..] = *self.unread.as_slice() else { return None };
        let (begins, length) = match second & 0x7f {
            126 => {
                let long = self.unread.get(2..4)?;
                (4, usize::from(u16::from_be_bytes(long.try_into().ok()?)))
            }
            short => (2, usize::from(short)),
        };
        let ends = begins + MASK_BYTES + length;
        let mask = self.unread.get(begins..begins + MASK_BYTES)?.to_vec();
        let masked = self.unread.get(begins + MASK_BYTES..ends)?;
        let payload = masked.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask);
        let payload = payload.collect();
        self.unread.drain(..ends);
        Some((first & 0x0f, payload))
    }
}
