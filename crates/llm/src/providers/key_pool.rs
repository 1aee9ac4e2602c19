//! Several keys of one provider, as one provider. A key that is refused or used up gives way to the
//! next at once; a call is sent once with each of them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use protocol::ModelInfo;
use protocol::settings::KeyPolicy;
use tokio::time::Instant;

use crate::model::{ContentBlock, ModelError, ModelRequest, user_texts};
use crate::provider::{Capabilities, ModelStream, Provider};
use crate::transport::time_scale::TimeScale;

mod rotation;

use rotation::{KeyChoice, KeyFallback, KeyFault, KeyRotation};

/// One provider a key.
pub struct KeyPool {
    first: Arc<dyn Provider>,
    all: Vec<Arc<dyn Provider>>,
    states: Arc<KeyStates>,
}

/// How the keys stand.
struct KeyStates {
    keys: Mutex<KeyRotation>,
    began: Instant,
    time_scale: TimeScale,
}

impl KeyPool {
    /// Asks `first` and `others`, which differ in their keys only.
    #[must_use]
    pub fn new(
        policy: KeyPolicy,
        pace: TimeScale,
        first: Arc<dyn Provider>,
        others: Vec<Arc<dyn Provider>>,
    ) -> Self {
        let all: Vec<_> = std::iter::once(Arc::clone(&first)).chain(others).collect();
        let keys = Mutex::new(KeyRotation::new(policy, all.len()));
        Self {
            first,
            all,
            states: Arc::new(KeyStates { keys, began: Instant::now(), time_scale: pace }),
        }
    }
}

#[async_trait]
impl Provider for KeyPool {
    fn server_id(&self) -> String {
        self.first.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let call = request_hash(&request);
        let choice = self.states.keys().select(call, self.states.now());
        let key = match choice {
            KeyChoice::Key(key) => key,
            KeyChoice::Wait(wait) => {
                let (message, retry_after) = (user_texts::all_keys_limited(), Some(wait));
                return Err(ModelError::RateLimit { message, retry_after });
            }
        };
        let provider = self.all.get(key).unwrap_or(&self.first);
        let stream = provider.stream(request).await;
        let book = Arc::clone(&self.states);
        let stream = stream.map_err(|error| book.failed(call, key, error))?;
        Ok(stream.map(move |event| event.map_err(|error| book.failed(call, key, error))).boxed())
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.first.models().await
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        self.first.capabilities(model).await
    }

    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        self.first.runs_elsewhere(model).await
    }
}

impl KeyStates {
    /// Takes a failure in; tells it as one of the key where another key is ready.
    fn failed(&self, call: u64, key: usize, error: ModelError) -> ModelError {
        let fault = match &error {
            ModelError::Auth(_) => KeyFault::Refused,
            ModelError::RateLimit { retry_after, .. } => KeyFault::Limited(*retry_after),
            _ => KeyFault::Other,
        };
        match self.keys().failed(call, key, fault, self.now()) {
            KeyFallback::Another => ModelError::KeyFailed(error.into_text()),
            KeyFallback::Nothing => error,
        }
    }

    /// Rests pass at the pace of the waits that follow from them.
    fn now(&self) -> Duration {
        self.time_scale.unscale(self.began.elapsed())
    }

    /// The machine is whole after each step, so a panic elsewhere does not spoil it.
    fn keys(&self) -> MutexGuard<'_, KeyRotation> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that is sent again has the same name.
fn request_hash(request: &ModelRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.model.hash(&mut hasher);
    request.messages.len().hash(&mut hasher);
    for block in request.messages.iter().rev().take(2).flat_map(|message| &message.blocks) {
        match block {
            ContentBlock::Text(text) => text.hash(&mut hasher),
            ContentBlock::Call(call) => call.id.as_str().hash(&mut hasher),
            ContentBlock::Result { call, output, .. } => (call.as_str(), output).hash(&mut hasher),
            ContentBlock::Verbatim(_) => {}
        }
    }
    hasher.finish()
}
