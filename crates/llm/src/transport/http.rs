//! The HTTP client that all providers share: one host, encrypted unless it is this computer, no
//! redirects, deadlines, and errors that never hold the key.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::model::{ModelError, user_texts};
use crate::provider::ModelStream;
use crate::transport::decoder::Decoder;
use crate::transport::tls;

mod address;
mod api_profile;
mod error;
mod error_body;
mod event_stream;
mod optional_path;
mod prompt_speed;

pub use address::{has_credentials, is_on_this_computer, server_of};
pub(crate) use api_profile::{ApiProfile, BasePath, KeylessServers};
pub(crate) use error::RequestErrors;
pub(crate) use error_body::ErrorBody;
use event_stream::StreamDeadlines;
pub(crate) use optional_path::OptionalReply;
use prompt_speed::{PromptSpeed, PromptTimer};

/// How much of an error's body is read, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// How much of an answer that is one value is read, in bytes.
const MAX_VALUE_BYTES: usize = 4 * 1024 * 1024;

/// How long the server may be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Until the connection stands.
    pub connect: Duration,
    /// From sending the request to the first event of the answer. A server on this computer is
    /// given more where the prompt is long, and each byte before the first event restarts the wait:
    /// it sends comments while it reads.
    pub first_event: Duration,
    /// Between two events; comments and pings are no events.
    pub idle: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_event: Duration::from_secs(120),
            idle: Duration::from_secs(60),
        }
    }
}

/// A server, and how to ask it. Never follows a redirect.
#[derive(Debug, Clone)]
pub(crate) struct ApiClient {
    api: &'static ApiProfile,
    client: reqwest::Client,
    base: Url,
    host: String,
    key: SecretString,
    header: Option<HeaderValue>,
    deadlines: Deadlines,
    /// How fast a server on this computer reads; `None` for others.
    speed: Option<Arc<PromptSpeed>>,
}

impl ApiClient {
    /// Names the provider and the origin of the base URL, without the rest of the URL.
    pub(crate) fn server_id(&self) -> String {
        format!("{} at {}", self.api.name, self.base.origin().ascii_serialization())
    }

    /// Refuses a base URL that would send the key or the notes unencrypted over a network, and a
    /// key that is missing where one is needed, or invalid. Sends no request.
    pub(crate) fn new(
        api: &'static ApiProfile,
        base_url: &str,
        key: SecretString,
        deadlines: Deadlines,
    ) -> Result<Self, ModelError> {
        let base = address::parse(api, base_url)?;
        let header = header(api, &key, &base)?;
        tls::install();
        let builder = reqwest::Client::builder()
            .user_agent(concat!("vaultmate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(deadlines.connect)
            .redirect(reqwest::redirect::Policy::none());
        // A proxy would see the key of an unencrypted request, and has a loopback of its own.
        let is_direct = base.scheme() == "http" || address::is_loopback(&base);
        let builder = if is_direct { builder.no_proxy() } else { builder };
        let client = builder.build().map_err(|_| ModelError::Unknown {
            message: user_texts::encryption_unavailable(),
            retryable: false,
        })?;
        let host = address::server_name(api, &base);
        let is_local = api.keyless == KeylessServers::Local && address::is_loopback(&base);
        let speed = is_local.then(Arc::default);
        Ok(Self { api, client, base, host, key, header, deadlines, speed })
    }

    /// Asks for an answer about `model` and reads it with `decoder`.
    pub(crate) async fn stream<D: Decoder + 'static>(
        &self,
        path: &str,
        model: &str,
        body: &(impl Serialize + Sync),
        decoder: D,
    ) -> Result<ModelStream, ModelError> {
        let failures = self.errors_for(model);
        let body = serde_json::to_vec(body).unwrap_or_default();
        let wait = self.first_event_timeout(body.len());
        let reading = self.speed.clone().map(|speed| PromptTimer::begin(speed, body.len()));
        let deadline = Instant::now() + wait;
        let request = self.client.post(self.url(path)).header(CONTENT_TYPE, "application/json");
        let mut response = self.send(request.body(body), &failures, deadline).await?;
        if !self.is_answer(&response) {
            let body = read_body(&mut response, MAX_ERROR_BYTES, deadline).await;
            return Err(failures.not_a_stream(&body));
        }
        let waits = StreamDeadlines { deadline, first: wait, idle: self.deadlines.idle, reading };
        Ok(event_stream::stream(response, failures, waits, decoder))
    }

    /// How long the first event of an answer to a prompt of `bytes` bytes may take.
    fn first_event_timeout(&self, bytes: usize) -> Duration {
        let usual = self.deadlines.first_event;
        self.speed.as_ref().map_or(usual, |speed| speed.first_event_timeout(bytes, usual))
    }

    /// Reads a JSON value.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, ModelError> {
        self.value(self.client.get(self.url(path)), "").await
    }

    /// Asks something about `model` that has one JSON value as its answer.
    pub(crate) async fn post(
        &self,
        path: &str,
        model: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<Value, ModelError> {
        self.value(self.client.post(self.url(path)).json(body), model).await
    }

    /// The server answered, with something that is no list of models.
    pub(crate) fn not_a_list(&self) -> ModelError {
        self.errors_for("").not_a_stream(&[])
    }

    async fn value(&self, request: RequestBuilder, model: &str) -> Result<Value, ModelError> {
        let failures = self.errors_for(model);
        let deadline = Instant::now() + self.deadlines.idle;
        let mut response = self.send(request, &failures, deadline).await?;
        let body = read_body(&mut response, MAX_VALUE_BYTES, deadline).await;
        serde_json::from_slice(&body).map_err(|_| failures.not_a_stream(&body))
    }

    /// The name of the server in errors.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Builds the errors of a request about `model`.
    fn errors_for(&self, model: &str) -> RequestErrors {
        RequestErrors {
            api: self.api,
            host: self.host.clone(),
            model: model.to_owned(),
            key: self.key.clone(),
            is_local: self.speed.is_some(),
        }
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }

    async fn send(
        &self,
        request: RequestBuilder,
        failures: &RequestErrors,
        deadline: Instant,
    ) -> Result<Response, ModelError> {
        match timeout_at(deadline, self.signed(request).send()).await {
            Err(_) => Err(failures.silent("took too long to answer")),
            Ok(Err(error)) => Err(failures.unreachable(&error)),
            Ok(Ok(response)) if response.status().is_success() => Ok(response),
            Ok(Ok(mut response)) => {
                let body = read_body(&mut response, MAX_ERROR_BYTES, deadline).await;
                Err(failures.status(response.status(), response.headers(), &body))
            }
        }
    }

    /// The request with the headers that every request to the provider has.
    fn signed(&self, mut request: RequestBuilder) -> RequestBuilder {
        for (name, value) in self.api.headers {
            request = request.header(*name, *value);
        }
        match &self.header {
            Some(header) => request.header(self.api.key.0.clone(), header.clone()),
            None => request,
        }
    }

    /// A server that says nothing about its content is given the benefit of the doubt.
    fn is_answer(&self, response: &Response) -> bool {
        let starts = |name, start: &str| {
            let value = response.headers().get(name)?;
            Some(value.to_str().is_ok_and(|value| value.to_ascii_lowercase().starts_with(start)))
        };
        starts(CONTENT_TYPE, self.api.content_type).unwrap_or(true)
            && starts(CONTENT_ENCODING, "identity").unwrap_or(true)
    }
}

/// The body as far as it is worth it, and as far as it comes before the deadline.
async fn read_body(response: &mut Response, most: usize, deadline: Instant) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > most {
            break;
        }
    }
    body
}

/// A server on this computer may want no key.
fn header(
    api: &ApiProfile,
    key: &SecretString,
    base: &Url,
) -> Result<Option<HeaderValue>, ModelError> {
    let key = key.expose_secret().trim();
    if key.is_empty() {
        if api.keyless == KeylessServers::Local && address::is_loopback(base) {
            return Ok(None);
        }
        return Err(ModelError::Auth(user_texts::no_key_for(api.name)));
    }
    let mut header = HeaderValue::from_str(&format!("{}{key}", api.key.1))
        .map_err(|_| ModelError::Auth(user_texts::key_unfit()))?;
    header.set_sensitive(true);
    Ok(Some(header))
}
