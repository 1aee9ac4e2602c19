//! Calls as JSON in plain words, for models and servers that take no tools. Whether one does is what
//! its server says of it, or found out by asking, and remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use protocol::ModelInfo;

use crate::model::{ModelError, ModelRequest};
use crate::provider::{Capabilities, ModelStream, Provider};

use quoted::Told;

mod fits;
mod listen;
mod native;
mod quoted;
mod scan;
mod words;
mod written;

/// Which models at which addresses are known to take no tools. Clones are the same memory.
#[derive(Clone, Default)]
pub struct NoTools(Arc<Memory>);

#[derive(Default)]
struct Memory {
    known: Mutex<BTreeSet<(String, String)>>,
    /// Those that were seen to take tools since the program began.
    takes: Mutex<BTreeSet<(String, String)>>,
    keep: Option<Box<Keep>>,
}

type Keep = dyn Fn(&str, &str) + Send + Sync;

impl NoTools {
    /// Begins with what was `known` (address and model) and hands what it learns to `keep`, where
    /// that may block.
    #[must_use]
    pub fn kept(
        known: BTreeSet<(String, String)>,
        keep: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Self {
        let (known, keep) = (Mutex::new(known), Some(Box::new(keep) as Box<Keep>));
        Self(Arc::new(Memory { known, takes: Mutex::default(), keep }))
    }

    fn knows(&self, address: &str, model: &str) -> bool {
        self.known().contains(&(address.to_owned(), model.to_owned()))
    }

    async fn learn(&self, address: &str, model: &str) {
        let (address, model) = (address.to_owned(), model.to_owned());
        self.known().insert((address.clone(), model.clone()));
        let memory = Arc::clone(&self.0);
        let keep = move || memory.keep.as_ref().map(|keep| keep(&address, &model));
        // It is known until the program ends, whatever becomes of the keeping.
        let _ = tokio::task::spawn_blocking(keep).await;
    }

    fn takes(&self, address: &str, model: &str) {
        self.seen().insert((address.to_owned(), model.to_owned()));
    }

    fn was_seen_to_take(&self, address: &str, model: &str) -> bool {
        self.seen().contains(&(address.to_owned(), model.to_owned()))
    }

    fn seen(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.takes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The set is whole after each statement, so a panic elsewhere does not spoil it.
    fn known(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A provider whose models may take no tools. Asks with tools first, unless the server said that they
/// are not passed on. Clones are the same.
#[derive(Clone)]
pub struct JsonCalls {
    wire: Arc<dyn Provider>,
    address: String,
    no_tools: NoTools,
    /// The server's last word on whether each of its models takes tools.
    said: Arc<Mutex<BTreeMap<String, Option<bool>>>>,
}

impl JsonCalls {
    /// Asks `wire`, which is at `address`.
    #[must_use]
    pub fn new(wire: Arc<dyn Provider>, address: String, no_tools: NoTools) -> Self {
        Self { wire, address, no_tools, said: Arc::default() }
    }

    async fn speak(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let (spoken, told) = (words::spoken(&request), Arc::new(Told::of(&request)));
        let answer = self.wire.stream(spoken.clone()).await?;
        if request.tools.is_empty() {
            return Ok(answer);
        }
        Ok(listen::listen(Arc::clone(&self.wire), spoken, request.tools, told, answer))
    }

    /// Whether the server says that this model takes tools; `None` until it was asked.
    fn said(&self, model: &str) -> Option<bool> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied().flatten()
    }

    /// Whether the first answer is to be held back until it shows whether tools reach the model.
    /// Servers of others report what they do not take.
    fn is_in_doubt(&self, request: &ModelRequest) -> bool {
        let Self { address, no_tools, .. } = self;
        !request.tools.is_empty()
            && crate::http::is_on_this_computer(address)
            && self.said(&request.model).is_none()
            && !no_tools.was_seen_to_take(address, &request.model)
    }
}

#[async_trait]
impl Provider for JsonCalls {
    fn vendor(&self) -> String {
        self.wire.vendor()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        if !words::is_about_tools(&request) {
            return self.wire.stream(request).await;
        }
        let is_dropped = self.said(&request.model) == Some(false);
        if is_dropped || self.no_tools.knows(&self.address, &request.model) {
            return self.speak(request).await;
        }
        let refused = match self.wire.stream(request.clone()).await {
            Err(refused @ ModelError::NoTools(_)) => refused,
            Err(error) => return Err(error),
            Ok(answer) => {
                let (calls, tools) = (self.clone(), request.tools.clone());
                let told = Told::of(&request);
                let doubt = self.is_in_doubt(&request).then(|| native::Doubt { calls, request });
                return Ok(native::listen(answer, tools, told, doubt));
            }
        };
        let model = request.model.clone();
        // Where the same without tools is refused too, the tools were not what was wrong.
        let answer = self.speak(request).await.map_err(|_| refused)?;
        self.no_tools.learn(&self.address, &model).await;
        Ok(answer)
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.wire.models().await
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        let capabilities = self.wire.capabilities(model).await;
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.insert(model.to_owned(), capabilities.tools);
        capabilities
    }
}

/// The call that stands in `text`, if there is one.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn call_in(
    text: &str,
    tools: Vec<crate::model::ToolSpec>,
) -> Option<(String, serde_json::Value)> {
    let mut scan = scan::Scan::new(tools);
    let mut found = scan.feed(text);
    found.extend(scan.end());
    found.into_iter().find_map(|found| match found {
        scan::Found::Call { tool, parameters } => Some((tool, parameters)),
        scan::Found::Words(_) | scan::Found::NoCall { .. } => None,
    })
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use fits::fits as fits_schema;
