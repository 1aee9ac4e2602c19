//! Ollama's own chat API, streaming. Its OpenAI door cuts the prompt at a few thousand tokens in
//! silence; here the window is set, and what was read is compared with what was sent.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use protocol::ModelInfo;
use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;

use crate::http::{Deadlines, Keyless, Root, Server, Vendor};
use crate::model::{ModelError, ModelRequest};
use crate::parameters::Parameters;
use crate::provider::{ModelStream, Provider, ToolSet};

mod decode;
mod list;
mod window;
mod wire;

/// What sets it apart on the way to it.
pub(crate) static VENDOR: Vendor = Vendor {
    name: "Ollama",
    hosts: &[("ollama.com", "Ollama")],
    base_url: "http://127.0.0.1:11434",
    root: Root::Always("/api"),
    api: "Ollama's chat API",
    content_type: "application/x-ndjson",
    key: (AUTHORIZATION, "Bearer "),
    headers: &[],
    keyless: Keyless::Local,
};

/// Where to ask.
#[derive(Debug, Clone)]
pub struct OllamaConfig {
    /// The address, without `/api`; empty means this computer's port 11434.
    pub base_url: String,
    /// The key; may be empty on this computer. It goes to the host of `base_url` and nowhere else.
    pub key: SecretString,
    /// How long the server may be silent.
    pub deadlines: Deadlines,
    /// How the model is asked.
    pub parameters: Parameters,
}

/// Asks Ollama. Never retries.
#[derive(Debug)]
pub struct Ollama {
    server: Server,
    parameters: Parameters,
    /// How many tokens each model reads at most, as it says itself; 0 where it does not.
    windows: Mutex<BTreeMap<String, u32>>,
}

impl Ollama {
    /// Refuses an address that would send notes unencrypted over a network. Asks nobody.
    pub fn new(config: OllamaConfig) -> Result<Self, ModelError> {
        let OllamaConfig { base_url, key, deadlines, parameters } = config;
        let server = Server::new(&VENDOR, &base_url, key, deadlines)?;
        Ok(Self { server, parameters, windows: Mutex::default() })
    }

    /// How many tokens the model reads at most; asked once a model.
    async fn longest(&self, model: &str) -> Result<Option<u32>, ModelError> {
        let known = self.windows.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied();
        let tokens = match known {
            Some(tokens) => tokens,
            None => {
                let told = self.server.ask("/show", model, &list::Show { model }).await?;
                let tokens = list::window(&told).unwrap_or(0);
                let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
                windows.insert(model.to_owned(), tokens);
                tokens
            }
        };
        Ok((tokens > 0).then_some(tokens))
    }
}

#[async_trait]
impl Provider for Ollama {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        // A server that does not tell is asked all the same; what it cannot do it will say then.
        let longest = self.longest(&request.model).await.unwrap_or(None);
        let sent = window::sent(&request);
        let window = window::choose(&sent, request.max_tokens, longest)?;
        let body = wire::Request::new(&request, &self.parameters, window);
        let decoder = decode::LineDecoder::new(sent);
        self.server.stream("/chat", &request.model, &body, decoder).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        Ok(list::models(&self.server.look("/tags").await?))
    }

    async fn tool_set(&self, model: &str) -> ToolSet {
        match self.server.look("/tags").await {
            Ok(tags) => list::tool_set(&tags, model),
            // Whoever cannot be asked now says so when the turn asks.
            Err(_) => ToolSet::All,
        }
    }
}

/// What reads its answers to an empty request.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decoder() -> impl crate::decoding::Decoder {
    decode::LineDecoder::new(window::sent(&ModelRequest::default()))
}
