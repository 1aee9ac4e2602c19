//! WebSockets as both ends need them: the request that opens one, its limits, and how it is closed.

use futures_util::{SinkExt, StreamExt};
use http::header;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::Token;
use crate::wire::FRAME_MAX;

/// An upgrade request for `url`, which carries the token in a header and in no other place. `Err` for a URL that cannot
/// be read or names no host.
pub fn upgrade_request(url: &str, token: Option<&Token>) -> Result<Request, Box<Error>> {
    let mut request = url.into_client_request()?;
    if let Some(token) = token {
        request.headers_mut().insert(header::AUTHORIZATION, token.header().clone());
    }
    Ok(request)
}

/// The bounds of a socket that takes frames and messages of at most `received` bytes. Frames that wait to be written
/// have room for twice [`FRAME_MAX`].
#[must_use]
pub fn socket_config(received: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(16 << 10)
        .max_write_buffer_size(2 * FRAME_MAX)
        .max_message_size(Some(received))
        .max_frame_size(Some(received))
}

/// Sends a close frame and reads on until the other side has closed too. That may never happen: the caller sets the
/// deadline.
pub async fn close_gracefully<S>(socket: &mut WebSocketStream<S>, code: CloseCode)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if socket.send(close_frame(code)).await.is_ok() {
        while let Some(Ok(_)) = socket.next().await {}
    }
}

pub(crate) fn close_frame(code: CloseCode) -> Message {
    Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::default() }))
}
