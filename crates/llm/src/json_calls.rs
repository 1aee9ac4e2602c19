//! Calls as JSON in plain words, for models and servers that take no tools. Whether one does is
//! found out by asking, and remembered.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use protocol::ModelInfo;

use crate::model::{ModelError, ModelRequest};
use crate::provider::{ModelStream, Provider, ToolSet};

mod fits;
mod listen;
mod scan;
mod words;

/// Which models at which addresses are known to take no tools. Clones are the same memory.
#[derive(Clone, Default)]
pub struct NoTools(Arc<Memory>);

#[derive(Default)]
struct Memory {
    known: Mutex<BTreeSet<(String, String)>>,
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
        Self(Arc::new(Memory { known: Mutex::new(known), keep: Some(Box::new(keep)) }))
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

    /// The set is whole after each statement, so a panic elsewhere does not spoil it.
    fn known(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A provider whose models may take no tools. Asks with tools first.
pub struct JsonCalls {
    wire: Arc<dyn Provider>,
    address: String,
    no_tools: NoTools,
}

impl JsonCalls {
    /// Asks `wire`, which is at `address`.
    #[must_use]
    pub fn new(wire: Arc<dyn Provider>, address: String, no_tools: NoTools) -> Self {
        Self { wire, address, no_tools }
    }

    async fn speak(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let spoken = words::spoken(&request);
        let answer = self.wire.stream(spoken.clone()).await?;
        if request.tools.is_empty() {
            return Ok(answer);
        }
        Ok(listen::listen(Arc::clone(&self.wire), spoken, request.tools, answer))
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
        if self.no_tools.knows(&self.address, &request.model) {
            return self.speak(request).await;
        }
        let refused = match self.wire.stream(request.clone()).await {
            Err(refused @ ModelError::NoTools(_)) => refused,
            answer => return answer,
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

    async fn tool_set(&self, model: &str) -> ToolSet {
        self.wire.tool_set(model).await
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
