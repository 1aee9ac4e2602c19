//! Chat Completions, streaming: OpenAI, and servers with the same API (OpenRouter, LM Studio,
//! llama.cpp, vLLM).

use async_trait::async_trait;
use protocol::ModelInfo;
use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;

use crate::model::{ModelError, ModelRequest};
use crate::provider::{Capabilities, ModelStream, Provider};
use crate::providers::request_parameters::RequestParameters;
use crate::transport::http::{ApiClient, ApiProfile, BasePath, Deadlines, KeylessServers};

mod capabilities;
mod decode;
pub(crate) mod model_list;
mod wire;

/// Its profile.
pub(crate) static API: ApiProfile = ApiProfile {
    name: "OpenAI",
    hosts: &[("api.openai.com", "OpenAI"), ("openrouter.ai", "OpenRouter")],
    base_url: "https://api.openai.com/v1",
    root: BasePath::UnlessGiven("/v1"),
    api: "OpenAI's Chat Completions API",
    content_type: "text/event-stream",
    key: (AUTHORIZATION, "Bearer "),
    headers: &[],
    keyless: KeylessServers::Local,
};

/// Where to ask and with what key.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
    /// The base URL, up to `/chat/completions`; without a path it is that of `/v1`. Empty means
    /// OpenAI's own.
    pub base_url: String,
    /// The key; may be empty for a server on this computer. It is sent to the host of `base_url`
    /// only.
    pub key: SecretString,
    /// How long the server may be silent.
    pub deadlines: Deadlines,
    /// How the model is asked.
    pub parameters: RequestParameters,
}

/// Asks OpenAI, or a server with the same API. Never retries.
#[derive(Debug)]
pub struct OpenAi {
    client: ApiClient,
    parameters: RequestParameters,
    cap: wire::OutputCapField,
    capability_cache: capabilities::CapabilityCache,
}

impl OpenAi {
    /// Refuses a base URL that would send the key unencrypted over a network, and a key that is
    /// missing or invalid. Sends no request.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let OpenAiConfig { base_url, key, deadlines, parameters } = config;
        let server = ApiClient::new(&API, &base_url, key, deadlines)?;
        // OpenAI's newer models refuse the older name; other servers do not know the newer one.
        let cap = match server.host() {
            "OpenAI" => wire::OutputCapField::MaxCompletionTokens,
            _ => wire::OutputCapField::MaxTokens,
        };
        Ok(Self {
            client: server,
            parameters,
            cap,
            capability_cache: capabilities::CapabilityCache::default(),
        })
    }
}

#[async_trait]
impl Provider for OpenAi {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let body = wire::ChatRequest::new(&request, &self.parameters, self.cap);
        let decoder = decode::ChatDecoder::default();
        let answer = self.client.stream("/chat/completions", &request.model, &body, decoder).await;
        if let Err(ModelError::ContextExceeded { window: Some(window), .. }) = &answer {
            self.capability_cache.refused(&request.model, *window);
        }
        answer
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        let list = self.client.get("/models").await?;
        model_list::models(&list).ok_or_else(|| self.client.not_a_list())
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        // Of those that many use the windows are listed or known, and tools are taken.
        if ["OpenAI", "OpenRouter"].contains(&self.client.host()) {
            return Capabilities::default();
        }
        self.capability_cache.get(&self.client, model).await
    }

    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        if ["OpenAI", "OpenRouter"].contains(&self.client.host()) {
            return Ok(false);
        }
        Ok(self.capability_cache.runs_elsewhere(&self.client, model).await)
    }
}

/// A decoder of its answers.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decoder() -> impl crate::transport::decoder::Decoder {
    decode::ChatDecoder::default()
}
