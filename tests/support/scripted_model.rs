//! A model with a script: a real HTTP server that streams answers as Anthropic's Messages API
//! does, and checks every request it ever receives.

mod api_rules;
mod gate;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri, header};
use futures_util::stream;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use api_rules::request_violations;
pub use gate::Gate;
pub use reply::Reply;
pub use request::{last_message_text, offered_tools, tool_results};

use reply::{ReplyContent, SseFrame};

/// The one key this model accepts; any other is answered with 401, as the provider does.
pub const KEY: &str = "sk-ant-test-0123456789abcdef";

/// A model server on loopback. Dropping it, or [`ScriptedModel::finish`], fails the test when any
/// request broke a rule of the API.
pub struct ScriptedModel {
    address: SocketAddr,
    state: Arc<ModelServerState>,
    _server: JoinSet<()>,
}

struct ModelServerState {
    port: u16,
    script: Mutex<ModelScript>,
    /// Answers what is asked beside the turns.
    utility_responder: Mutex<UtilityResponder>,
    log: watch::Sender<RequestLog>,
}

/// Answers one request after the other.
type UtilityResponder = Box<dyn FnMut(&Value) -> Reply + Send>;

enum ModelScript {
    Replies(VecDeque<Reply>),
    Responder(Box<dyn Fn(&Value) -> Reply + Send>),
}

/// The events so far.
#[derive(Debug, Clone, Default)]
struct RequestLog {
    requests: Vec<Value>,
    utility_requests: Vec<Value>,
    bodies: Vec<String>,
    refused_keys: usize,
    hang_ups: usize,
    violations: Vec<String>,
}

impl ScriptedModel {
    /// Answers request after request from `script`; one request more than replies is a violation.
    pub async fn start(script: Vec<Reply>) -> Self {
        Self::serve(ModelScript::Replies(script.into())).await
    }

    /// Answers each request by what it says, so that a restarted process can go on.
    pub async fn responder(answer: impl Fn(&Value) -> Reply + Send + 'static) -> Self {
        Self::serve(ModelScript::Responder(Box::new(answer))).await
    }

    async fn serve(script: ModelScript) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let log = watch::Sender::new(RequestLog::default());
        let aside = Mutex::new(Box::new(|_: &Value| Reply::status(503, "no titles")) as _);
        let state = Arc::new(ModelServerState {
            port: address.port(),
            script: Mutex::new(script),
            utility_responder: aside,
            log,
        });
        let router = Router::new().fallback(handle_request).with_state(Arc::clone(&state));
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, router).await.expect("the server runs") });
        Self { address, state, _server: server }
    }

    /// Answers requests for a title or a description from now on; before, each of them fails. They are no part of the
    /// script and not among the requests.
    pub fn answer_utility_requests(&self, answer: impl FnMut(&Value) -> Reply + Send + 'static) {
        *self.state.utility_responder.lock().unwrap_or_else(PoisonError::into_inner) =
            Box::new(answer);
    }

    /// The requests for a title, oldest first.
    #[must_use]
    pub fn utility_requests(&self) -> Vec<Value> {
        self.state.log.borrow().utility_requests.clone()
    }

    /// Resolves with the `number`th request for a title (from 1) once it has come.
    pub async fn wait_for_utility_request(&self, number: usize) -> Value {
        let mut log = self.state.log.subscribe();
        let arrived = log.wait_for(|log| log.utility_requests.len() >= number);
        let Ok(arrived) = tokio::time::timeout(crate::polling::TEST_TIMEOUT, arrived).await else {
            panic!("no title was asked for {number} times, but {}", self.utility_requests().len())
        };
        arrived.expect("the log is held by `self`").utility_requests[number - 1].clone()
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The bodies of all requests with the right key, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.state.log.borrow().requests.clone()
    }

    /// The same bodies, byte for byte.
    #[must_use]
    pub fn request_bodies(&self) -> Vec<String> {
        self.state.log.borrow().bodies.clone()
    }

    /// How many requests came with another key than [`KEY`].
    #[must_use]
    pub fn refused_key_count(&self) -> usize {
        self.state.log.borrow().refused_keys
    }

    /// Errors of the requests so far.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.state.log.borrow().violations.clone()
    }

    /// Resolves with the `number`th request (from 1) once it has come.
    pub async fn wait_for_request(&self, number: usize) -> Value {
        let mut log = self.state.log.subscribe();
        let arrived = log.wait_for(|log| log.requests.len() >= number);
        let Ok(arrived) = tokio::time::timeout(crate::polling::TEST_TIMEOUT, arrived).await else {
            panic!("request {number} did not come; there were {}", self.requests().len())
        };
        arrived.expect("the log is held by `self`").requests[number - 1].clone()
    }

    /// Resolves once the client has let go of `times` answers before their end.
    pub async fn wait_for_disconnects(&self, times: usize) {
        let mut log = self.state.log.subscribe();
        let left = log.wait_for(|log| log.hang_ups >= times);
        let waited = tokio::time::timeout(crate::polling::TEST_TIMEOUT, left).await;
        waited.expect("the client lets go of the answer").expect("the log is held by `self`");
    }

    /// Ends the server; panics when a request broke a rule, or a reply was never asked for.
    pub fn finish(self) {
        if let ModelScript::Replies(left) = &*self.state.script()
            && !left.is_empty()
        {
            self.state.add_violation(format!(
                "{} replies of the script were never asked for",
                left.len()
            ));
        }
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        let violations = self.violations();
        if !violations.is_empty() && !std::thread::panicking() {
            panic!("the model was asked wrongly:\n- {}", violations.join("\n- "));
        }
    }
}

impl ModelServerState {
    fn script(&self) -> std::sync::MutexGuard<'_, ModelScript> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_violation(&self, violation: String) {
        self.log.send_modify(|log| log.violations.push(violation));
    }

    /// Checks and records a request; answers which one it is, counted from 1.
    fn record(&self, request: &Value, body: &str, violations: Vec<String>) -> usize {
        let mut number = 0;
        self.log.send_modify(|log| {
            log.requests.push(request.clone());
            log.bodies.push(body.to_owned());
            number = log.requests.len();
            let named = violations.into_iter().map(|what| format!("request {number}: {what}"));
            log.violations.extend(named);
        });
        number
    }

    /// The same for a request for a title.
    fn record_utility_request(&self, request: &Value, violations: Vec<String>) -> usize {
        let mut number = 0;
        self.log.send_modify(|log| {
            log.utility_requests.push(request.clone());
            number = log.utility_requests.len();
            let named = violations.into_iter().map(|what| format!("title {number}: {what}"));
            log.violations.extend(named);
        });
        number
    }

    fn next_reply(&self, request: &Value) -> Reply {
        let mut reply = match &mut *self.script() {
            _ if is_utility_request(request) => {
                self.utility_responder.lock().unwrap_or_else(PoisonError::into_inner)(request)
            }
            ModelScript::Replies(left) => left.pop_front().unwrap_or_else(|| {
                self.add_violation(format!(
                    "nothing left to answer to: {}",
                    last_message_text(request)
                ));
                Reply::status(500, "the script is at its end")
            }),
            ModelScript::Responder(answer) => answer(request),
        };
        while let ReplyContent::Computed(answer) = reply.content {
            reply = answer(request);
        }
        reply
    }
}

async fn handle_request(
    State(state): State<Arc<ModelServerState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let text = String::from_utf8_lossy(&body);
    if headers.get("x-api-key").is_some_and(|key| key != KEY) {
        state.log.send_modify(|log| log.refused_keys += 1);
        return json_response(401, &error_body(), None);
    }
    let violations = api_rules::violations(&method, &uri.to_string(), &headers, &text);
    let request = serde_json::from_str(&text).unwrap_or_default();
    crate::conformance::request_bodies::record(uri.path(), &text);
    let number = match is_utility_request(&request) {
        true => 1_000 + state.record_utility_request(&request, violations),
        false => state.record(&request, &text, violations),
    };
    let reply = state.next_reply(&request);
    let name = format!("{}_{number}", state.port);
    let opening = reply::first_events(&name, &request["model"], reply.input_tokens);
    let (events, ends) = match reply.content {
        ReplyContent::Status { code, body, retry_after } => {
            return json_response(code, &body, retry_after);
        }
        ReplyContent::Computed(_) => return json_response(500, &Value::Null, None),
        ReplyContent::Hang => (opening, StreamEnd::Never),
        ReplyContent::Message { pieces, stop_reason } => (
            opening
                .into_iter()
                .chain(reply::remaining_events(&name, reply.chunk_chars, &pieces, &stop_reason))
                .collect(),
            StreamEnd::Clean,
        ),
    };
    let (events, ends) = match reply.cut_after {
        Some(kept) => (events.into_iter().take(kept).collect(), StreamEnd::Cut),
        None => (events, ends),
    };
    sse_response(events, ends, reply.gate, DisconnectGuard { state, at_end: false })
}

/// Whether a title, or a description for a hub, is asked for: no tools, and told so.
fn is_utility_request(request: &Value) -> bool {
    let told = request["system"][0]["text"].as_str().unwrap_or_default();
    let wanted = ["Write a title for it", "Describe the assistant that keeps"];
    request["tools"].is_null() && wanted.iter().any(|words| told.contains(words))
}

fn error_body() -> Value {
    let error =
        serde_json::json!({ "type": "authentication_error", "message": "invalid x-api-key" });
    serde_json::json!({ "type": "error", "error": error })
}

fn json_response(code: u16, body: &Value, retry_after: Option<u32>) -> Response<Body> {
    let mut response =
        Response::builder().status(code).header(header::CONTENT_TYPE, "application/json");
    if let Some(seconds) = retry_after {
        response = response.header(header::RETRY_AFTER, seconds);
    }
    response.body(Body::from(body.to_string())).expect("a plain response")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamEnd {
    Clean,
    Cut,
    Never,
}

/// Notices, by being dropped, that the client let go before the end.
struct DisconnectGuard {
    state: Arc<ModelServerState>,
    at_end: bool,
}

impl Drop for DisconnectGuard {
    fn drop(&mut self) {
        if !self.at_end {
            self.state.log.send_modify(|log| log.hang_ups += 1);
        }
    }
}

fn sse_response(
    events: Vec<SseFrame>,
    end: StreamEnd,
    gate: Option<Gate>,
    watch: DisconnectGuard,
) -> Response<Body> {
    let frames = stream::unfold((VecDeque::from(events), watch), move |(mut left, mut watch)| {
        let gate = gate.clone();
        async move {
            // The server sends its data whenever the body pauses: each event is sent alone.
            tokio::task::yield_now().await;
            let Some(event) = left.pop_front() else {
                if end == StreamEnd::Never {
                    std::future::pending::<()>().await;
                }
                // An error in the body makes the server drop the connection mid-answer.
                let cut = (end == StreamEnd::Cut)
                    .then(|| Err(std::io::ErrorKind::ConnectionReset.into()));
                return cut.map(|cut| (cut, (left, watch)));
            };
            if let Some(gate) = gate.filter(|_| event.gated) {
                gate.pass().await;
            }
            watch.at_end = left.is_empty() && end != StreamEnd::Never;
            Some((Ok::<_, std::io::Error>(Bytes::from(event.frame)), (left, watch)))
        }
    });
    let body = Body::from_stream(frames);
    Response::builder()
        .header(header::CONTENT_TYPE, "text/event-stream")
        .body(body)
        .expect("a streaming response")
}
