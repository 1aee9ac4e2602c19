//! The one socket of the link: dialled, read and written without ever blocking on one of them.

mod frame_shortener;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, SinkExt, StreamExt};
use http::header;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::error::{Error, UrlError};
use tokio_tungstenite::tungstenite::handshake::client::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use tokio_util::either::Either;

use self::frame_shortener::{FrameShortener, KeptBytes};
use crate::endpoint::Endpoint;
use crate::link_error::LinkError;
use crate::websocket::{close_frame, close_gracefully, socket_config, upgrade_request};
use crate::wire::{RECEIVED_MAX, REFUSED_END};
use crate::{LinkConfig, tls};

/// A connection to a hub on this computer, or to any other.
type LinkStream = Either<TcpStream, TlsStream<TcpStream>>;
type WebSocket = WebSocketStream<FrameShortener<LinkStream>>;
type DialFuture = Pin<Box<dyn Future<Output = Result<WebSocket, LinkError>> + Send>>;

/// Leaving politely must not keep anyone waiting.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A message that is taken is kept whole, and one that is refused still has its id.
const KEPT_BYTES: KeptBytes = KeptBytes { first: RECEIVED_MAX, last: REFUSED_END };

/// How a connection is protected.
enum LinkSecurity {
    Plain,
    /// The server proves to be `host`, a name or an IP address.
    Tls {
        trusting: Arc<ClientConfig>,
        host: String,
    },
}

/// Nothing, a dial, or an open socket.
pub(crate) enum LinkSocket {
    Closed,
    Dialling(DialFuture),
    Open(Box<WebSocket>),
}

#[derive(Debug)]
pub(crate) enum SocketEvent {
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
    Lost(LinkError),
}

/// Whether frames are read, or only written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadMode {
    Yes,
    No,
}

impl LinkSocket {
    /// Begins to open a socket; the outcome comes from [`LinkSocket::next`].
    pub(crate) fn dial(&mut self, config: LinkConfig) {
        *self = Self::Dialling(Box::pin(open(config)));
    }

    /// Waits for the next event and writes queued frames meanwhile. Cancel-safe. Pending for
    /// ever on a closed socket.
    pub(crate) async fn next(&mut self, listening: ReadMode) -> SocketEvent {
        poll_fn(|cx| self.poll(cx, listening)).await
    }

    /// Queues a text frame; [`LinkSocket::next`] writes it.
    pub(crate) fn write(&mut self, text: String) -> Result<(), LinkError> {
        self.queue(Message::text(text))
    }

    /// Queues a ping.
    pub(crate) fn ping(&mut self, bytes: Bytes) -> Result<(), LinkError> {
        self.queue(Message::Ping(bytes))
    }

    /// Leaves with code 1000 and waits a moment for the hub to see it.
    pub(crate) async fn close(&mut self) {
        if let Self::Open(mut socket) = std::mem::replace(self, Self::Closed) {
            let _ = timeout(CLOSE_TIMEOUT, close_gracefully(&mut socket, CloseCode::Normal)).await;
        }
    }

    /// Gives it up at once, with a code if that can be said without waiting.
    pub(crate) fn close_now(&mut self, code: CloseCode) {
        if let Self::Open(mut socket) = std::mem::replace(self, Self::Closed) {
            let _ = socket.send(close_frame(code)).now_or_never();
        }
    }

    /// Gives it up at once.
    pub(crate) fn discard(&mut self) {
        *self = Self::Closed;
    }

    fn queue(&mut self, message: Message) -> Result<(), LinkError> {
        match self {
            Self::Open(socket) => socket.start_send_unpin(message).map_err(|_| LinkError::Lost),
            Self::Closed | Self::Dialling(_) => Err(LinkError::Lost),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>, listening: ReadMode) -> Poll<SocketEvent> {
        match self {
            Self::Closed => Poll::Pending,
            Self::Dialling(dial) => Poll::Ready(match ready!(dial.as_mut().poll(cx)) {
                Ok(socket) => {
                    *self = Self::Open(Box::new(socket));
                    SocketEvent::Opened
                }
                Err(trouble) => {
                    *self = Self::Closed;
                    SocketEvent::Lost(trouble)
                }
            }),
            Self::Open(socket) => {
                if let Poll::Ready(Err(_)) = socket.poll_flush_unpin(cx) {
                    return Poll::Ready(SocketEvent::Lost(LinkError::Lost));
                }
                match listening {
                    ReadMode::Yes => poll_frame(socket, cx),
                    ReadMode::No => Poll::Pending,
                }
            }
        }
    }
}

fn poll_frame(socket: &mut WebSocket, cx: &mut Context<'_>) -> Poll<SocketEvent> {
    let happened = match ready!(socket.poll_next_unpin(cx)) {
        Some(Ok(Message::Text(text))) => SocketEvent::Text(text),
        Some(Ok(Message::Ping(_))) => SocketEvent::Ping,
        Some(Ok(Message::Pong(bytes))) => SocketEvent::Pong(bytes),
        Some(Ok(Message::Binary(_) | Message::Frame(_))) => SocketEvent::Junk,
        Some(Ok(Message::Close(frame))) => {
            // The library has queued the reply. One try is enough: the hub is leaving.
            let _ = socket.poll_flush_unpin(cx);
            let code = frame.map_or(CloseCode::Status, |frame| frame.code);
            SocketEvent::Lost(LinkError::Closed { code: code.into() })
        }
        Some(Err(error)) => {
            let (code, trouble) = read_error(&error);
            if let Some(code) = code {
                let _ = socket.start_send_unpin(close_frame(code));
                let _ = socket.poll_flush_unpin(cx);
            }
            SocketEvent::Lost(trouble)
        }
        None => SocketEvent::Lost(LinkError::Lost),
    };
    Poll::Ready(happened)
}

/// The meaning of a read error, and the code to leave with if the hub may still listen.
fn read_error(error: &Error) -> (Option<CloseCode>, LinkError) {
    match error {
        Error::Capacity(_) => (Some(CloseCode::Size), LinkError::Broken),
        Error::Utf8(_) => (Some(CloseCode::Invalid), LinkError::Broken),
        Error::Protocol(problem) if !is_reset(problem) => {
            (Some(CloseCode::Protocol), LinkError::Broken)
        }
        _ => (None, LinkError::Lost),
    }
}

const fn is_reset(problem: &tokio_tungstenite::tungstenite::error::ProtocolError) -> bool {
    use tokio_tungstenite::tungstenite::error::ProtocolError;
    matches!(problem, ProtocolError::ResetWithoutClosingHandshake)
}

/// Opens a socket without deadline: the machine has one. No redirect is followed.
async fn open(config: LinkConfig) -> Result<WebSocket, LinkError> {
    let url = config.endpoint.url(&config.path);
    let request = upgrade_request(&url, config.token.as_ref()).map_err(|_| LinkError::NotAHub)?;
    let (connected, over) = match &config.endpoint {
        Endpoint::Plain(address) => {
            let connected = TcpStream::connect(address).await;
            (connected.map_err(|_| LinkError::NotListening), LinkSecurity::Plain)
        }
        Endpoint::Tls { host, port } => {
            let trusting = tls::client_config().map_err(|why| LinkError::Untrusted { why })?;
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let connected = TcpStream::connect((bare, *port)).await;
            let over = LinkSecurity::Tls { trusting, host: bare.to_owned() };
            (connected.map_err(|_| LinkError::NoAnswer), over)
        }
    };
    let shaken = handshake(request, connected?, over).await;
    let (socket, response) = shaken.map_err(|error| handshake_error(&error))?;
    // We offer no extension, so a server that has chosen one will send what we cannot read.
    if response.headers().contains_key(header::SEC_WEBSOCKET_EXTENSIONS) {
        return Err(LinkError::NotAHub);
    }
    Ok(socket)
}

async fn handshake(
    request: Request,
    stream: TcpStream,
    over: LinkSecurity,
) -> Result<(WebSocket, Response), Box<Error>> {
    // Frames are small and answered: waiting to fill a packet would only delay them.
    stream.set_nodelay(true).map_err(Error::from)?;
    let stream = match over {
        LinkSecurity::Plain => Either::Left(stream),
        LinkSecurity::Tls { trusting, host } => {
            let name = ServerName::try_from(host).map_err(|_| Error::Url(UrlError::NoHostName))?;
            let encrypted = TlsConnector::from(trusting).connect(name, stream).await;
            Either::Right(encrypted.map_err(Error::from)?)
        }
    };
    let stream = FrameShortener::new(stream, KEPT_BYTES);
    let config = socket_config(KEPT_BYTES.longest_message());
    Ok(client_async_with_config(request, stream, Some(config)).await?)
}

fn handshake_error(error: &Error) -> LinkError {
    match error {
        Error::Http(response) => match response.status().as_u16() {
            status @ (401 | 403) => LinkError::Forbidden { status },
            429 | 503 => LinkError::Busy { retry_after: retry_after(response.headers()) },
            _ => LinkError::NotAHub,
        },
        Error::Io(error) => match tls::certificate_error(error) {
            Some(why) => LinkError::Untrusted { why },
            None if tls::is_not_tls(error) => LinkError::NotAHub,
            None => LinkError::Lost,
        },
        _ => LinkError::NotAHub,
    }
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
