//! A hub reduced to its frames, for what the local hub never does: the same message twice, a
//! connection that goes at a chosen moment, a name refused.

use futures_util::stream::SplitSink;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

use crate::stage::PATIENCE;

/// A port that waits for a link.
pub(crate) struct BareHub(TcpListener);

/// One registered link. Dropping it cuts the connection.
pub(crate) struct Line {
    to: SplitSink<WebSocketStream<TcpStream>, Message>,
    /// Read at once, as a hub does: a ping is answered whether or not the test looks.
    heard: mpsc::UnboundedReceiver<Value>,
    reading: JoinSet<()>,
}

/// What a link answered about a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    pub(crate) message: String,
    /// `ack`, `reject` or `notification`.
    pub(crate) kind: String,
    pub(crate) payload: Value,
}

impl BareHub {
    pub(crate) async fn bind() -> Self {
        Self(TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port"))
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.0.local_addr().expect("its address"))
    }

    /// Takes the next link and registers it.
    pub(crate) async fn accept(&self) -> Line {
        self.judge(&json!({ "success": true })).await
    }

    /// Takes the next link and refuses to register it.
    pub(crate) async fn decline(&self, code: &str) -> Line {
        self.judge(&json!({ "success": false, "code": code, "message": "no" })).await
    }

    async fn judge(&self, verdict: &Value) -> Line {
        let arrival = tokio::time::timeout(PATIENCE, self.0.accept()).await;
        let (stream, _) = arrival.expect("a link comes").expect("a connection");
        let mut line = Line::over(accept_async(stream).await.expect("a handshake"));
        assert_eq!(line.frame().await["type"], "registration");
        line.send(&json!({ "type": "registration_response", "payload": verdict })).await;
        line
    }
}

impl Line {
    fn over(socket: WebSocketStream<TcpStream>) -> Self {
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
        Self { to, heard, reading }
    }

    /// From now on it is a line that was cut without a word: nothing is read, no ping is answered.
    pub(crate) fn goes_dead(&mut self) {
        self.reading.abort_all();
    }

    /// Says something under an id of the test's choice.
    pub(crate) async fn say(&mut self, id: &str, text: &str) {
        let metadata = json!({ "inputMethod": "voice" });
        let payload =
            json!({ "id": id, "text": text, "timestamp": "2026-01-01", "metadata": metadata });
        self.send(&json!({ "type": "message", "payload": payload })).await;
    }

    /// The next thing the link answers.
    pub(crate) async fn answer(&mut self) -> Answered {
        let frame = self.frame().await;
        answered(&frame)
    }

    /// What the link still answers until it is gone.
    pub(crate) async fn rest(&mut self) -> Vec<Answered> {
        let mut answers = Vec::new();
        let ended = async {
            while let Some(frame) = self.heard.recv().await {
                answers.push(answered(&frame));
            }
        };
        tokio::time::timeout(PATIENCE, ended).await.expect("the link ends");
        answers
    }

    async fn send(&mut self, frame: &Value) {
        self.to.send(Message::text(frame.to_string())).await.expect("the link listens");
    }

    async fn frame(&mut self) -> Value {
        let next = tokio::time::timeout(PATIENCE, self.heard.recv()).await;
        next.expect("the link says something").expect("it is there")
    }
}

fn answered(frame: &Value) -> Answered {
    assert_eq!(frame["type"], "response", "{frame}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let payload = &frame["payload"];
    Answered {
        message: text(&payload["messageId"]),
        kind: text(&payload["type"]),
        payload: payload["payload"].clone(),
    }
}
