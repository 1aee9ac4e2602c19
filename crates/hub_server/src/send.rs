//! Gives a running local hub a text, and hears what becomes of it.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hub::Token;
use hub::websocket::{socket_config, upgrade_request};
use hub::wire::FRAME_MAX;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::DeliveryReport;
use crate::handshake::SEND_PATH;

/// The largest report, in bytes: it repeats the words of one frame of a client and adds a few.
const REPORT_MAX: usize = 2 * FRAME_MAX;

/// The time for the handshake, and for each report: the hub itself waits 30 s for a client.
const REPORT_TIMEOUT: Duration = Duration::from_secs(60);

/// How the user entered the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputMethod {
    /// Spoken.
    Voice,
    /// Typed.
    Text,
}

/// How long to listen for reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportsWanted {
    /// Until it is known whether the text went out.
    Delivery,
    /// Until a client has taken the text, or none is left to ask.
    Acceptance,
    /// Until nobody is left to take it, or the caller drops the reports.
    Responses,
}

/// Why a text could not be given to a hub.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendProblem {
    /// Nobody listens.
    #[error("No hub answers at {0}. Start one with `vaultmate-cli hub`.")]
    NoHub(SocketAddr),
    /// It wants a token, or another one.
    #[error("The hub at {0} refused the connection. Pass the token it was started with.")]
    Refused(SocketAddr),
    /// It is no local hub, or it ended.
    #[error("The server at {0} isn’t a local hub, or it was closed. Start it again.")]
    Lost(SocketAddr),
    /// It does not report the fate of the text.
    #[error(
        "The hub at {0} doesn’t say whether a client took the message. Look there before you send it again."
    )]
    Silent(SocketAddr),
}

/// The one message of a sender.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendRequest {
    pub(crate) text: String,
    pub(crate) input_method: InputMethod,
}

/// Gives `text` to the hub at `address`, which passes it on: to its only client, or with several
/// to the one the text begins with (`name: text`).
pub async fn send(
    address: SocketAddr,
    token: Option<&Token>,
    text: &str,
    how: InputMethod,
    reports: ReportsWanted,
) -> Result<DeliveryReports, SendProblem> {
    let lost = || SendProblem::Lost(address);
    let url = format!("ws://{address}{SEND_PATH}");
    let request = upgrade_request(&url, token).map_err(|_| lost())?;
    let stream = TcpStream::connect(address).await.map_err(|_| SendProblem::NoHub(address))?;
    // The only frame is small: waiting to fill a packet would only delay it.
    stream.set_nodelay(true).map_err(|_| lost())?;
    let upgrade = client_async_with_config(request, stream, Some(socket_config(REPORT_MAX)));
    let upgraded = timeout(REPORT_TIMEOUT, upgrade).await.map_err(|_| lost())?;
    let (mut socket, _) = upgraded.map_err(|error| match error {
        SocketError::Http(response) if matches!(response.status().as_u16(), 401 | 403) => {
            SendProblem::Refused(address)
        }
        _ => lost(),
    })?;
    let outgoing = SendRequest { text: text.into(), input_method: how };
    let frame = serde_json::to_string(&outgoing).map_err(|_| lost())?;
    let sent = timeout(REPORT_TIMEOUT, socket.send(Message::text(frame))).await;
    sent.map_err(|_| lost())?.map_err(|_| lost())?;
    Ok(DeliveryReports { socket, address, wait: reports, over: false })
}

/// The progress of a text, in order.
#[derive(Debug)]
pub struct DeliveryReports {
    socket: WebSocketStream<TcpStream>,
    address: SocketAddr,
    wait: ReportsWanted,
    over: bool,
}

impl DeliveryReports {
    /// The next report; `None` when there is no more to wait for. [`SendProblem::Silent`] if the hub reports nothing for
    /// a minute, unless responses are wanted, which may take any time. Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<DeliveryReport, SendProblem>> {
        // Pings are no reports and prolong nothing.
        let deadline = Instant::now() + REPORT_TIMEOUT;
        while !self.over {
            let frame = match self.wait {
                ReportsWanted::Responses => Ok(self.socket.next().await),
                _ => timeout_at(deadline, self.socket.next()).await,
            };
            let Ok(frame) = frame else {
                self.over = true;
                return Some(Err(SendProblem::Silent(self.address)));
            };
            match frame {
                Some(Ok(Message::Text(text))) => {
                    let Ok(report) = serde_json::from_str::<DeliveryReport>(&text) else {
                        continue;
                    };
                    self.over = self.is_last(&report);
                    return Some(Ok(report));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => {
                    self.over = true;
                    return Some(Err(SendProblem::Lost(self.address)));
                }
            }
        }
        None
    }

    fn is_last(&self, report: &DeliveryReport) -> bool {
        match report {
            DeliveryReport::Undelivered { .. } => true,
            DeliveryReport::Delivered { .. } => self.wait == ReportsWanted::Delivery,
            DeliveryReport::Acked { .. } | DeliveryReport::Notified { .. } => {
                self.wait == ReportsWanted::Acceptance
            }
            _ => false,
        }
    }
}
