//! Ollama's own chat API, streaming. Its OpenAI door cuts the prompt at a few thousand tokens in
//! silence; here the window is set, and what was read is compared with what was sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use protocol::ModelInfo;
use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;
use serde_json::Value;
use tokio::time::Instant;

use crate::http::{Deadlines, Keyless, Root, Server, Vendor};
use crate::model::{ModelError, ModelRequest};
use crate::parameters::Parameters;
use crate::provider::{Capabilities, HOLDS, ModelStream, Provider};

mod decode;
pub(crate) mod list;
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
    /// The server's description of each model, and when it was read.
    shown: Mutex<BTreeMap<String, (Instant, Arc<Value>)>>,
}

impl Ollama {
    /// Refuses an address that would send notes unencrypted over a network. Asks nobody.
    pub fn new(config: OllamaConfig) -> Result<Self, ModelError> {
        let OllamaConfig { base_url, key, deadlines, parameters } = config;
        let server = Server::new(&VENDOR, &base_url, key, deadlines)?;
        Ok(Self { server, parameters, shown: Mutex::default() })
    }

    /// The server's description of the model, at most half a minute old: the name may be given to another
    /// model meanwhile.
    async fn show(&self, model: &str) -> Result<Arc<Value>, ModelError> {
        let known = self.shown().get(model).cloned();
        if let Some((at, known)) = known
            && at.elapsed() < HOLDS
        {
            return Ok(known);
        }
        let asked = Instant::now();
        let told = Arc::new(self.server.ask("/show", model, &list::Show { model }).await?);
        self.shown().insert(model.to_owned(), (asked, Arc::clone(&told)));
        Ok(told)
    }

    /// The last description of the model, however old; null if there is none.
    fn showed(&self, model: &str) -> Arc<Value> {
        self.shown().get(model).map(|(_, told)| Arc::clone(told)).unwrap_or_default()
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn shown(&self) -> MutexGuard<'_, BTreeMap<String, (Instant, Arc<Value>)>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Provider for Ollama {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        // A server that does not tell is asked all the same; what it cannot do it will say then.
        let shown = self.show(&request.model).await;
        let shown = shown.unwrap_or_else(|_| self.showed(&request.model));
        let longest = list::window(&shown).filter(|tokens| *tokens > 0);
        let sent = window::sent(&request);
        let window = window::choose(&sent, request.max_tokens, longest)?;
        let body = wire::Request::new(&request, &self.parameters, window);
        let decoder = decode::LineDecoder::new(sent);
        self.server.stream("/chat", &request.model, &body, decoder).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        Ok(list::models(&self.server.look("/tags").await?))
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        // Whoever cannot be asked now says so when the turn asks. Where the model runs is not known then.
        let Ok(shown) = self.show(model).await else {
            return Capabilities { runs_elsewhere: true, ..Capabilities::default() };
        };
        let capabilities = list::capabilities(&shown, window::USUAL);
        if capabilities.parameters.is_some() {
            return capabilities;
        }
        let tags = self.server.look("/tags").await.unwrap_or_default();
        Capabilities { parameters: list::parameters_of(&tags, model), ..capabilities }
    }
}

/// What reads its answers to an empty request.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decoder() -> impl crate::decoding::Decoder {
    decode::LineDecoder::new(window::sent(&ModelRequest::default()))
}
