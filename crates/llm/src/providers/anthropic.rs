//! Anthropic's Messages API, streaming.

use async_trait::async_trait;
use protocol::ModelInfo;
use reqwest::header::HeaderName;
use secrecy::SecretString;

use crate::model::{ModelError, ModelRequest};
use crate::provider::{ModelStream, Provider};
use crate::providers::request_parameters::RequestParameters;
use crate::transport::http::{ApiClient, ApiProfile, BasePath, Deadlines, KeylessServers};

mod decode;
mod wire;

/// Its profile. The version is that of the API which [`wire`] mirrors.
pub(crate) static API: ApiProfile = ApiProfile {
    name: "Anthropic",
    hosts: &[("api.anthropic.com", "Anthropic")],
    base_url: "https://api.anthropic.com",
    root: BasePath::Always("/v1"),
    api: "Anthropic’s Messages API",
    content_type: "text/event-stream",
    key: (HeaderName::from_static("x-api-key"), ""),
    headers: &[("anthropic-version", "2023-06-01")],
    keyless: KeylessServers::Never,
};

/// Where to ask and with what key.
#[derive(Debug, Clone)]
pub struct AnthropicConfig {
    /// The base URL, without `/v1/messages`; empty means Anthropic's own.
    pub base_url: String,
    /// The key. It is sent to the host of `base_url` only.
    pub key: SecretString,
    /// How long the server may be silent.
    pub deadlines: Deadlines,
    /// How the model is asked.
    pub parameters: RequestParameters,
}

/// Asks Anthropic, or a server with the same API. Never retries.
#[derive(Debug)]
pub struct Anthropic {
    server: ApiClient,
    parameters: RequestParameters,
}

impl Anthropic {
    /// Refuses a base URL that would send the key unencrypted over a network, and a key that is
    /// empty or invalid. Sends no request.
    pub fn new(config: AnthropicConfig) -> Result<Self, ModelError> {
        let AnthropicConfig { base_url, key, deadlines, parameters } = config;
        let server = ApiClient::new(&API, &base_url, key, deadlines)?;
        Ok(Self { server, parameters })
    }
}

#[async_trait]
impl Provider for Anthropic {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let body = wire::AnthropicRequest::new(&request, &self.parameters);
        let decoder = decode::MessagesDecoder::default();
        self.server.stream("/messages", &request.model, &body, decoder).await
    }

    fn server_id(&self) -> String {
        self.server.server_id()
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        // The list has OpenAI's outer shape.
        let list = self.server.get("/models").await?;
        crate::providers::openai::model_list::models(&list).ok_or_else(|| self.server.not_a_list())
    }
}

/// A decoder of its answers.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decoder() -> impl crate::transport::decoder::Decoder {
    decode::MessagesDecoder::default()
}
