//! The one socket of the link: dialled, read and written without ever blocking on one of them.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, SinkExt, StreamExt};
use http::header;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::handshake::client::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, client_async_tls_with_config};

use crate::trouble::Trouble;
use crate::way::Way;
use crate::wire::{FRAME_MAX, REFUSED_MAX};
use crate::{LinkConfig, Token, tls};

pub(crate) type WebSocket = WebSocketStream<MaybeTlsStream<TcpStream>>;
type Dial = Pin<Box<dyn Future<Output = Result<WebSocket, Trouble>> + Send>>;

/// Leaving politely must not keep anyone waiting.
const GOODBYE: Duration = Duration::from_secs(1);

/// Nothing, a dial, or an open socket.
pub(crate) enum Socket {
    Closed,
    Dialling(Dial),
    Open(Box<WebSocket>),
}

/// What came from the socket.
#[derive(Debug)]
pub(crate) enum Happened {
    Opened,
    /// A text frame.
    Text(Utf8Bytes),
    /// A ping, which the library answers.
    Ping,
    /// A pong, with the bytes of the ping that it answers.
    Pong(Bytes),
    /// A frame no hub sends.
    Junk,
    /// The dial failed or the socket ended; it is to be dropped.
    Lost(Trouble),
}

/// Whether frames are read, or only written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listening {
    Yes,
    No,
}

impl Socket {
    /// Begins to open a socket; the outcome comes from [`Socket::next`].
    pub(crate) fn dial(&mut self, config: LinkConfig) {
        *self = Self::Dialling(Box::pin(open(config)));
    }

    /// Waits for what comes next and writes what is queued meanwhile. Cancel-safe. Pending for
    /// ever on a closed socket.
    pub(crate) async fn next(&mut self, listening: Listening) -> Happened {
        poll_fn(|cx| self.poll(cx, listening)).await
    }

    /// Queues a text frame; [`Socket::next`] writes it.
    pub(crate) fn write(&mut self, text: String) -> Result<(), Trouble> {
        self.queue(Message::text(text))
    }

    /// Queues a ping.
    pub(crate) fn ping(&mut self, bytes: Bytes) -> Result<(), Trouble> {
        self.queue(Message::Ping(bytes))
    }

    /// Leaves with code 1000 and waits a moment for the hub to see it.
    pub(crate) async fn close(&mut self) {
        if let Self::Open(mut socket) = std::mem::replace(self, Self::Closed) {
            let _ = timeout(GOODBYE, farewell(&mut socket, CloseCode::Normal)).await;
        }
    }

    /// Gives it up at once, with a code if that can be said without waiting.
    pub(crate) fn break_off(&mut self, code: CloseCode) {
        if let Self::Open(mut socket) = std::mem::replace(self, Self::Closed) {
            let _ = socket.send(close_frame(code)).now_or_never();
        }
    }

    /// Gives it up at once.
    pub(crate) fn abandon(&mut self) {
        *self = Self::Closed;
    }

    fn queue(&mut self, message: Message) -> Result<(), Trouble> {
        match self {
            Self::Open(socket) => socket.start_send_unpin(message).map_err(|_| Trouble::Lost),
            Self::Closed | Self::Dialling(_) => Err(Trouble::Lost),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>, listening: Listening) -> Poll<Happened> {
        match self {
            Self::Closed => Poll::Pending,
            Self::Dialling(dial) => Poll::Ready(match ready!(dial.as_mut().poll(cx)) {
                Ok(socket) => {
                    *self = Self::Open(Box::new(socket));
                    Happened::Opened
                }
                Err(trouble) => {
                    *self = Self::Closed;
                    Happened::Lost(trouble)
                }
            }),
            Self::Open(socket) => {
                if let Poll::Ready(Err(_)) = socket.poll_flush_unpin(cx) {
                    return Poll::Ready(Happened::Lost(Trouble::Lost));
                }
                match listening {
                    Listening::Yes => poll_frame(socket, cx),
                    Listening::No => Poll::Pending,
                }
            }
        }
    }
}

fn poll_frame(socket: &mut WebSocket, cx: &mut Context<'_>) -> Poll<Happened> {
    let happened = match ready!(socket.poll_next_unpin(cx)) {
        Some(Ok(Message::Text(text))) => Happened::Text(text),
        Some(Ok(Message::Ping(_))) => Happened::Ping,
        Some(Ok(Message::Pong(bytes))) => Happened::Pong(bytes),
        Some(Ok(Message::Binary(_) | Message::Frame(_))) => Happened::Junk,
        Some(Ok(Message::Close(frame))) => {
            // The library has queued the reply. One try is enough: the hub is leaving.
            let _ = socket.poll_flush_unpin(cx);
            let code = frame.map_or(CloseCode::Status, |frame| frame.code);
            Happened::Lost(Trouble::Closed { code: code.into() })
        }
        Some(Err(error)) => {
            let (code, trouble) = broken(&error);
            if let Some(code) = code {
                let _ = socket.start_send_unpin(close_frame(code));
                let _ = socket.poll_flush_unpin(cx);
            }
            Happened::Lost(trouble)
        }
        None => Happened::Lost(Trouble::Lost),
    };
    Poll::Ready(happened)
}

/// What a read error means, and the code to leave with if the hub may still listen.
fn broken(error: &Error) -> (Option<CloseCode>, Trouble) {
    match error {
        Error::Capacity(_) => (Some(CloseCode::Size), Trouble::Broken),
        Error::Utf8(_) => (Some(CloseCode::Invalid), Trouble::Broken),
        Error::Protocol(problem) if !is_reset(problem) => {
            (Some(CloseCode::Protocol), Trouble::Broken)
        }
        _ => (None, Trouble::Lost),
    }
}

const fn is_reset(problem: &tokio_tungstenite::tungstenite::error::ProtocolError) -> bool {
    use tokio_tungstenite::tungstenite::error::ProtocolError;
    matches!(problem, ProtocolError::ResetWithoutClosingHandshake)
}

/// Sends a close frame and reads on until the other side has closed too.
pub(crate) async fn farewell<S>(socket: &mut WebSocketStream<S>, code: CloseCode)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if socket.send(close_frame(code)).await.is_ok() {
        while let Some(Ok(_)) = socket.next().await {}
    }
}

fn close_frame(code: CloseCode) -> Message {
    Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::default() }))
}

/// The bounds of a socket that takes frames of so many bytes.
pub(crate) fn limits(received: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(16 << 10)
        .max_write_buffer_size(2 * FRAME_MAX)
        .max_message_size(Some(received))
        .max_frame_size(Some(received))
}

/// Opens a socket without deadline: the machine has one. No redirect is followed.
async fn open(config: LinkConfig) -> Result<WebSocket, Trouble> {
    let url = config.way.url(&config.path);
    let request = request(&url, config.token.as_ref()).map_err(|_| Trouble::NotAHub)?;
    let (connected, over) = match &config.way {
        Way::Plain(address) => {
            let connected = TcpStream::connect(address).await;
            (connected.map_err(|_| Trouble::NotListening), Connector::Plain)
        }
        Way::Tls { host, port } => {
            let trusting = tls::trusting().map_err(|why| Trouble::Untrusted { why })?;
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let connected = TcpStream::connect((bare, *port)).await;
            (connected.map_err(|_| Trouble::NoAnswer), Connector::Rustls(trusting))
        }
    };
    let shaken = handshake(request, connected?, over).await;
    let (socket, response) = shaken.map_err(|error| refusal(&error))?;
    // We offer no extension, so a server that has chosen one will send what we cannot read.
    if response.headers().contains_key(header::SEC_WEBSOCKET_EXTENSIONS) {
        return Err(Trouble::NotAHub);
    }
    Ok(socket)
}

/// An upgrade request for `url`, which carries the token in a header and nowhere else.
pub(crate) fn request(url: &str, token: Option<&Token>) -> Result<Request, Box<Error>> {
    let mut request = url.into_client_request()?;
    if let Some(token) = token {
        request.headers_mut().insert(header::AUTHORIZATION, token.header().clone());
    }
    Ok(request)
}

pub(crate) async fn handshake(
    request: Request,
    stream: TcpStream,
    over: Connector,
) -> Result<(WebSocket, Response), Box<Error>> {
    // Frames are small and answered: waiting to fill a packet would only delay them.
    stream.set_nodelay(true).map_err(Error::from)?;
    Ok(client_async_tls_with_config(request, stream, Some(limits(REFUSED_MAX)), Some(over)).await?)
}

fn refusal(error: &Error) -> Trouble {
    match error {
        Error::Http(response) => match response.status().as_u16() {
            status @ (401 | 403) => Trouble::Forbidden { status },
            429 | 503 => Trouble::Busy { retry_after: retry_after(response.headers()) },
            _ => Trouble::NotAHub,
        },
        Error::Io(error) => match tls::distrust(error) {
            Some(why) => Trouble::Untrusted { why },
            None if tls::is_none(error) => Trouble::NotAHub,
            None => Trouble::Lost,
        },
        _ => Trouble::NotAHub,
    }
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
