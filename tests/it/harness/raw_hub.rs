//! A hub reduced to its frames, for what the local hub never does: the same message twice, a
//! connection that goes at a chosen moment, a name refused.

use futures_util::stream::SplitSink;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::{WebSocketStream, accept_async, accept_hdr_async};

use crate::harness::test_app::TEST_TIMEOUT;

/// A port that waits for a link.
pub(crate) struct RawHub(TcpListener);

/// One registered link. Dropping it cuts the connection.
pub(crate) struct RawHubLink {
    sink: SplitSink<WebSocketStream<TcpStream>, Message>,
    /// Read at once, as a hub does: a ping is answered whether or not the test looks.
    received: mpsc::UnboundedReceiver<Value>,
    reading: JoinSet<()>,
}

/// The answer of a link about a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinkResponse {
    pub(crate) message: String,
    /// `ack`, `reject` or `notification`.
    pub(crate) kind: String,
    pub(crate) payload: Value,
}

impl RawHub {
    pub(crate) async fn bind() -> Self {
        Self(TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port"))
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.0.local_addr().expect("its address"))
    }

    /// Takes the next link and registers it.
    pub(crate) async fn accept(&self) -> RawHubLink {
        self.answer_registration(&json!({ "success": true })).await
    }

    /// Takes the next link and refuses to register it.
    pub(crate) async fn refuse_registration(&self, code: &str) -> RawHubLink {
        self.answer_registration(&json!({ "success": false, "code": code, "message": "no" })).await
    }

    /// Takes the next program that sends a message, if it presents this token, and tells it that the
    /// message was delivered. Returns the message; `Err` with the refused header otherwise.
    pub(crate) async fn accept_sender(&self, token: &str) -> Result<Value, Option<String>> {
        let delivered = json!({ "type": "delivered", "to": "Notes", "id": "m-1" });
        self.report_to_sender(token, &[delivered]).await
    }

    /// As `accept_sender`, with these reports.
    pub(crate) async fn report_to_sender(
        &self,
        token: &str,
        reports: &[Value],
    ) -> Result<Value, Option<String>> {
        let arrival = tokio::time::timeout(TEST_TIMEOUT, self.0.accept()).await;
        let (stream, _) = arrival.expect("a sender comes").expect("a connection");
        let mut presented = None;
        #[allow(clippy::result_large_err, reason = "the library gives the type of the refusal")]
        let check = |request: &Request, response: Response| {
            let header = request.headers().get("authorization");
            presented = header.map(|value| value.to_str().expect("text").to_owned());
            if presented.as_deref() == Some(&format!("Bearer {token}")) {
                return Ok(response);
            }
            let mut refused = ErrorResponse::new(None);
            *refused.status_mut() = StatusCode::UNAUTHORIZED;
            Err(refused)
        };
        let Ok(mut socket) = accept_hdr_async(stream, check).await else { return Err(presented) };
        let frame = tokio::time::timeout(TEST_TIMEOUT, socket.next()).await;
        let frame = frame.expect("it sends").expect("a frame").expect("a whole one");
        for report in reports {
            socket.send(Message::text(report.to_string())).await.expect("it listens");
        }
        // Until it has read them and goes.
        let _ = tokio::time::timeout(TEST_TIMEOUT, socket.next()).await;
        Ok(serde_json::from_str(frame.to_text().expect("text")).expect("JSON"))
    }

    pub(crate) fn port(&self) -> String {
        self.0.local_addr().expect("its address").port().to_string()
    }

    async fn answer_registration(&self, response: &Value) -> RawHubLink {
        let arrival = tokio::time::timeout(TEST_TIMEOUT, self.0.accept()).await;
        let (stream, _) = arrival.expect("a link comes").expect("a connection");
        let mut line = RawHubLink::new(accept_async(stream).await.expect("a handshake"));
        assert_eq!(line.next_frame().await["type"], "registration");
        line.send(&json!({ "type": "registration_response", "payload": response })).await;
        line
    }
}

impl RawHubLink {
    fn new(socket: WebSocketStream<TcpStream>) -> Self {
        let (to, mut from) = socket.split();
        let (hears, heard) = mpsc::unbounded_channel();
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            while let Some(Ok(message)) = from.next().await {
                if let Message::Text(text) = message {
                    let _ = hears.send(serde_json::from_str(&text).expect("JSON"));
                }
            }
        });
        Self { sink: to, received: heard, reading }
    }

    /// From now on it is a line that was cut silently: nothing is read, no ping is answered.
    pub(crate) fn stop_responding(&mut self) {
        self.reading.abort_all();
    }

    /// Sends a message under an id of the test's choice.
    pub(crate) async fn deliver(&mut self, id: &str, text: &str) {
        self.deliver_sent_at(id, text, "2026-01-01").await;
    }

    /// Sends a message under an id of the test's choice, as sent at this time.
    pub(crate) async fn deliver_sent_at(&mut self, id: &str, text: &str, sent_at: &str) {
        let metadata = json!({ "inputMethod": "voice" });
        let payload = json!({ "id": id, "text": text, "timestamp": sent_at, "metadata": metadata });
        self.send(&json!({ "type": "message", "payload": payload })).await;
    }

    /// The next thing the link answers.
    pub(crate) async fn next_response(&mut self) -> LinkResponse {
        let frame = self.next_frame().await;
        parse_response(&frame)
    }

    /// The answers of the link until it is gone.
    pub(crate) async fn remaining_responses(&mut self) -> Vec<LinkResponse> {
        let mut answers = Vec::new();
        let ended = async {
            while let Some(frame) = self.received.recv().await {
                answers.push(parse_response(&frame));
            }
        };
        tokio::time::timeout(TEST_TIMEOUT, ended).await.expect("the link ends");
        answers
    }

    async fn send(&mut self, frame: &Value) {
        self.sink.send(Message::text(frame.to_string())).await.expect("the link listens");
    }

    async fn next_frame(&mut self) -> Value {
        let next = tokio::time::timeout(TEST_TIMEOUT, self.received.recv()).await;
        next.expect("the link says something").expect("it is there")
    }
}

fn parse_response(frame: &Value) -> LinkResponse {
    assert_eq!(frame["type"], "response", "{frame}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let payload = &frame["payload"];
    LinkResponse {
        message: text(&payload["messageId"]),
        kind: text(&payload["type"]),
        payload: payload["payload"].clone(),
    }
}
