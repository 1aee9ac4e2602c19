//! Anthropic's Messages API, streaming.

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use reqwest::{Response, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout_at};

use crate::model::{ModelError, ModelRequest};
use crate::provider::{ModelStream, Provider};
use crate::tls;

mod answer;
mod decode;
mod failure;
mod wire;

use failure::Failures;

/// Where Anthropic answers unless the user says otherwise.
pub const BASE_URL: &str = "https://api.anthropic.com";

/// The version of the API that [`wire`] mirrors.
const VERSION: &str = "2023-06-01";

/// How much of an error's body is read, in bytes.
const LARGEST_ERROR: usize = 64 * 1024;

/// How long the server may be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Until the connection stands.
    pub connect: Duration,
    /// From sending the request to the first event of the answer.
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

/// Where to ask and with what key.
#[derive(Debug, Clone)]
pub struct AnthropicConfig {
    /// The address, without `/v1/messages`; empty means [`BASE_URL`].
    pub base_url: String,
    /// The key. It goes to the host of `base_url` and nowhere else.
    pub key: SecretString,
    /// How long the server may be silent.
    pub deadlines: Deadlines,
}

/// Asks Anthropic, or who speaks like it. Never retries.
#[derive(Debug)]
pub struct Anthropic {
    client: reqwest::Client,
    messages: Url,
    host: String,
    key: SecretString,
    header: HeaderValue,
    deadlines: Deadlines,
}

impl Anthropic {
    /// Refuses an address that would send the key unencrypted over a network, and a key that is
    /// empty or cannot be one. Asks nobody.
    pub fn new(config: AnthropicConfig) -> Result<Self, ModelError> {
        let messages = address(&config.base_url)?;
        let header = header(&config.key)?;
        tls::install();
        let builder = reqwest::Client::builder()
            .user_agent(concat!("vaultmate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(config.deadlines.connect)
            .redirect(reqwest::redirect::Policy::none());
        // A proxy would see the key of an unencrypted request.
        let builder = if messages.scheme() == "http" { builder.no_proxy() } else { builder };
        let client = builder.build().map_err(|_| ModelError::Unknown {
            message: "Cannot set up encrypted connections: check the system's certificates.".into(),
            retryable: false,
        })?;
        let host = match (messages.host_str().unwrap_or_default(), messages.port()) {
            ("api.anthropic.com", None) => "Anthropic".to_owned(),
            (host, None) => host.to_owned(),
            (host, Some(port)) => format!("{host}:{port}"),
        };
        let AnthropicConfig { key, deadlines, .. } = config;
        Ok(Self { client, messages, host, key, header, deadlines })
    }

    async fn send(
        &self,
        request: &ModelRequest,
        failures: &Failures,
        deadline: Instant,
    ) -> Result<Response, ModelError> {
        let request = self
            .client
            .post(self.messages.clone())
            .header("x-api-key", self.header.clone())
            .header("anthropic-version", VERSION)
            .json(&wire::Request::from(request));
        match timeout_at(deadline, request.send()).await {
            Err(_) => Err(failures.network("took too long to answer")),
            Ok(Err(error)) => Err(failures.unreached(&error)),
            Ok(Ok(response)) if response.status().is_success() => Ok(response),
            Ok(Ok(response)) => Err(refusal(response, failures, deadline).await),
        }
    }
}

#[async_trait]
impl Provider for Anthropic {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let failures = Failures {
            host: self.host.clone(),
            model: request.model.clone(),
            key: self.key.clone(),
        };
        let deadline = Instant::now() + self.deadlines.first_event;
        let response = self.send(&request, &failures, deadline).await?;
        if !is_event_stream(&response) {
            return Err(failures.not_a_stream());
        }
        Ok(answer::stream(response, failures, deadline, self.deadlines.idle))
    }
}

/// Reads the body of an error, as far as it is worth it.
async fn refusal(mut response: Response, failures: &Failures, deadline: Instant) -> ModelError {
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST_ERROR {
            break;
        }
    }
    failures.status(response.status(), response.headers(), &body)
}

/// A server that says nothing about its content is given the benefit of the doubt.
fn is_event_stream(response: &Response) -> bool {
    let starts = |name, start: &str| {
        let value = response.headers().get(name)?;
        Some(value.to_str().is_ok_and(|value| value.to_ascii_lowercase().starts_with(start)))
    };
    starts(CONTENT_TYPE, "text/event-stream").unwrap_or(true)
        && starts(CONTENT_ENCODING, "identity").unwrap_or(true)
}

fn address(base_url: &str) -> Result<Url, ModelError> {
    let base = match base_url.trim().trim_end_matches('/') {
        "" => BASE_URL,
        base => base.strip_suffix("/v1").unwrap_or(base),
    };
    let refused = |why: &str| {
        ModelError::InvalidRequest(format!("The provider's address {why}: correct it in Settings."))
    };
    let url = Url::parse(&format!("{base}/v1/messages"))
        .map_err(|_| refused("is not a web address such as https://api.anthropic.com"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("holds a user name or password"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(refused("must begin with https://, or the key would travel unencrypted")),
        _ => Err(refused("must begin with https://")),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn header(key: &SecretString) -> Result<HeaderValue, ModelError> {
    let key = key.expose_secret().trim();
    if key.is_empty() {
        return Err(ModelError::Auth("There is no key for Anthropic: add one in Settings.".into()));
    }
    let mut header = HeaderValue::from_str(key).map_err(|_| {
        ModelError::Auth("The key holds characters that no key has: check it in Settings.".into())
    })?;
    header.set_sensitive(true);
    Ok(header)
}
