//! Chat Completions, streaming: OpenAI, and who speaks like it (OpenRouter, LM Studio, llama.cpp,
//! vLLM).

use async_trait::async_trait;
use protocol::ModelInfo;
use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;

use crate::http::{Deadlines, Keyless, Root, Server, Vendor};
use crate::model::{ModelError, ModelRequest};
use crate::parameters::Parameters;
use crate::provider::{Capabilities, ModelStream, Provider};

mod capabilities;
mod decode;
pub(crate) mod list;
mod wire;

/// What sets it apart on the way to it.
pub(crate) static VENDOR: Vendor = Vendor {
    name: "OpenAI",
    hosts: &[("api.openai.com", "OpenAI"), ("openrouter.ai", "OpenRouter")],
    base_url: "https://api.openai.com/v1",
    root: Root::UnlessGiven("/v1"),
    api: "OpenAI's Chat Completions API",
    content_type: "text/event-stream",
    key: (AUTHORIZATION, "Bearer "),
    headers: &[],
    keyless: Keyless::Local,
};

/// Where to ask and with what key.
#[derive(Debug, Clone)]
pub struct OpenAiConfig {
    /// The address, as far as before `/chat/completions`; without a path it is that of `/v1`.
    /// Empty means OpenAI's own.
    pub base_url: String,
    /// The key; may be empty for a server on this computer. It goes to the host of `base_url` and
    /// nowhere else.
    pub key: SecretString,
    /// How long the server may be silent.
    pub deadlines: Deadlines,
    /// How the model is asked.
    pub parameters: Parameters,
}

/// Asks OpenAI, or who speaks like it. Never retries.
#[derive(Debug)]
pub struct OpenAi {
    server: Server,
    parameters: Parameters,
    cap: wire::Cap,
    known: capabilities::Known,
}

impl OpenAi {
    /// Refuses an address that would send the key unencrypted over a network, and a key that is
    /// missing or cannot be one. Asks nobody.
    pub fn new(config: OpenAiConfig) -> Result<Self, ModelError> {
        let OpenAiConfig { base_url, key, deadlines, parameters } = config;
        let server = Server::new(&VENDOR, &base_url, key, deadlines)?;
        // OpenAI's newer models refuse the older name; other servers do not know the newer one.
        let cap = match server.host() {
            "OpenAI" => wire::Cap::MaxCompletionTokens,
            _ => wire::Cap::MaxTokens,
        };
        Ok(Self { server, parameters, cap, known: capabilities::Known::default() })
    }
}

#[async_trait]
impl Provider for OpenAi {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let body = wire::Request::new(&request, &self.parameters, self.cap);
        let decoder = decode::ChatDecoder::default();
        let answer = self.server.stream("/chat/completions", &request.model, &body, decoder).await;
        if let Err(ModelError::ContextExceeded { window: Some(window), .. }) = &answer {
            self.known.refused(&request.model, *window);
        }
        answer
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        let list = self.server.look("/models").await?;
        list::models(&list).ok_or_else(|| self.server.not_a_list())
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        // Of those that many use the windows are listed or known, and tools are taken.
        if ["OpenAI", "OpenRouter"].contains(&self.server.host()) {
            return Capabilities::default();
        }
        self.known.of(&self.server, model).await
    }
}

/// What reads its answers.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decoder() -> impl crate::decoding::Decoder {
    decode::ChatDecoder::default()
}
