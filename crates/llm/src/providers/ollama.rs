//! Ollama's own chat API, streaming. Its OpenAI-compatible endpoint cuts the prompt at a few
//! thousand tokens without an error; here the window is set, and the number of tokens that were
//! read is compared with what was sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use protocol::ModelInfo;
use reqwest::header::AUTHORIZATION;
use secrecy::SecretString;
use serde_json::Value;
use tokio::time::Instant;

use crate::model::{ModelError, ModelRequest};
use crate::provider::{CAPABILITIES_TTL, Capabilities, ModelStream, Provider};
use crate::providers::request_parameters::RequestParameters;
use crate::transport::http::{ApiClient, ApiProfile, BasePath, Deadlines, KeylessServers};

mod context_window;
mod decode;
pub(crate) mod model_list;
mod wire;

/// Its profile.
pub(crate) static API: ApiProfile = ApiProfile {
    name: "Ollama",
    hosts: &[("ollama.com", "Ollama")],
    base_url: "http://127.0.0.1:11434",
    root: BasePath::Always("/api"),
    api: "Ollama’s chat API",
    content_type: "application/x-ndjson",
    key: (AUTHORIZATION, "Bearer "),
    headers: &[],
    keyless: KeylessServers::Local,
};

/// Where to ask.
#[derive(Debug, Clone)]
pub struct OllamaConfig {
    /// The base URL, without `/api`; empty means this computer's port 11434.
    pub base_url: String,
    /// The key; may be empty on this computer. It is sent to the host of `base_url` only.
    pub key: SecretString,
    /// How long the server may be silent.
    pub deadlines: Deadlines,
    /// How the model is asked.
    pub parameters: RequestParameters,
}

/// Asks Ollama. Never retries.
#[derive(Debug)]
pub struct Ollama {
    client: ApiClient,
    parameters: RequestParameters,
    /// The server's description of each model, and when it was read.
    details: Mutex<BTreeMap<String, (Instant, Arc<Value>)>>,
}

impl Ollama {
    /// Refuses a base URL that would send notes unencrypted over a network. Sends no request.
    pub fn new(config: OllamaConfig) -> Result<Self, ModelError> {
        let OllamaConfig { base_url, key, deadlines, parameters } = config;
        let server = ApiClient::new(&API, &base_url, key, deadlines)?;
        Ok(Self { client: server, parameters, details: Mutex::default() })
    }

    /// The server's description of the model, at most half a minute old: the name may be given to another
    /// model meanwhile.
    async fn model_details(&self, model: &str) -> Result<Arc<Value>, ModelError> {
        let known = self.cached_details().get(model).cloned();
        if let Some((at, known)) = known
            && at.elapsed() < CAPABILITIES_TTL
        {
            return Ok(known);
        }
        self.fetch_details(model).await
    }

    /// The server's description of the model at this moment.
    async fn fetch_details(&self, model: &str) -> Result<Arc<Value>, ModelError> {
        let asked = Instant::now();
        let told =
            Arc::new(self.client.post("/show", model, &model_list::ShowRequest { model }).await?);
        self.cached_details().insert(model.to_owned(), (asked, Arc::clone(&told)));
        Ok(told)
    }

    /// The last description of the model, however old; null if there is none.
    fn showed(&self, model: &str) -> Arc<Value> {
        self.cached_details().get(model).map(|(_, told)| Arc::clone(told)).unwrap_or_default()
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn cached_details(&self) -> MutexGuard<'_, BTreeMap<String, (Instant, Arc<Value>)>> {
        self.details.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Provider for Ollama {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        // A server that does not tell is asked all the same; what it cannot do it will say then.
        let shown = self.model_details(&request.model).await;
        let shown = shown.unwrap_or_else(|_| self.showed(&request.model));
        let longest = model_list::window(&shown).filter(|tokens| *tokens > 0);
        let sent = context_window::prompt_size(&request);
        let window = context_window::choose_window(&sent, request.max_tokens, longest)?;
        let body = wire::OllamaRequest::new(&request, &self.parameters, window);
        let decoder = decode::LineDecoder::new(sent);
        self.client.stream("/chat", &request.model, &body, decoder).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        Ok(model_list::models(&self.client.get("/tags").await?))
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        // A server that cannot be asked now reports that when the turn asks. Where the model runs
        // is unknown then.
        let Ok(shown) = self.model_details(model).await else {
            return Capabilities { runs_elsewhere: true, ..Capabilities::default() };
        };
        let capabilities = model_list::capabilities(&shown, context_window::DEFAULT_WINDOW);
        if capabilities.parameters.is_some() {
            return capabilities;
        }
        let tags = self.client.get("/tags").await.unwrap_or_default();
        Capabilities { parameters: model_list::parameter_count(&tags, model), ..capabilities }
    }

    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        self.fetch_details(model).await.map(|shown| model_list::runs_elsewhere(&shown))
    }
}

/// A decoder of its answers to an empty request.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decoder() -> impl crate::transport::decoder::Decoder {
    decode::LineDecoder::new(context_window::prompt_size(&ModelRequest::default()))
}
