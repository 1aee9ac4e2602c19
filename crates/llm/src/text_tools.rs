//! Calls as JSON in plain text, for models and servers that take no tools. Whether one does is
//! reported by its server, or found out by asking, and remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use protocol::ModelInfo;
use serde_json::json;

use crate::model::{ModelError, ModelRequest, ToolSpec};
use crate::provider::{Capabilities, ModelStream, Provider};

use native::CallPlace;
use quoted::QuotableText;

mod call_formats;
mod extract;
mod native;
mod prompt;
mod quoted;
mod schema;
mod stream;
mod thoughts;

pub(crate) use thoughts::{THOUGHT_END, THOUGHT_START};

/// How many bytes the declarations of these tools take in a request at most: as a provider's JSON, or as
/// text for a model that takes no tools.
#[must_use]
pub fn declaration_bytes(tools: &[ToolSpec]) -> usize {
    let as_json = tools.iter().map(|ToolSpec { name, description, input_schema }| {
        let function = json!({
            "name": name, "description": description, "parameters": input_schema
        });
        json!({ "type": "function", "function": function }).to_string().len() + 1
    });
    as_json.sum::<usize>().max(prompt::describe_tools(tools).len())
}

/// The models, by base URL, that are known to take no tools. Clones share them.
#[derive(Clone, Default)]
pub struct ToollessModels(Arc<ToolSupportCache>);

#[derive(Default)]
struct ToolSupportCache {
    toolless: Mutex<BTreeSet<(String, String)>>,
    /// Those that were seen to take tools since the program began.
    supported: Mutex<BTreeSet<(String, String)>>,
    persist: Option<Box<PersistFn>>,
}

type PersistFn = dyn Fn(&str, &str) + Send + Sync;

impl ToollessModels {
    /// Begins with what was `known` (base URL and model) and hands new ones to `keep`, which may
    /// block.
    #[must_use]
    pub fn with_known(
        known: BTreeSet<(String, String)>,
        keep: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Self {
        let (known, keep) = (Mutex::new(known), Some(Box::new(keep) as Box<PersistFn>));
        Self(Arc::new(ToolSupportCache {
            toolless: known,
            supported: Mutex::default(),
            persist: keep,
        }))
    }

    fn contains(&self, base_url: &str, model: &str) -> bool {
        self.toolless().contains(&(base_url.to_owned(), model.to_owned()))
    }

    async fn insert(&self, base_url: &str, model: &str) {
        let (base_url, model) = (base_url.to_owned(), model.to_owned());
        self.toolless().insert((base_url.clone(), model.clone()));
        let memory = Arc::clone(&self.0);
        let keep = move || memory.persist.as_ref().map(|keep| keep(&base_url, &model));
        // It is known until the program ends, whatever becomes of the keeping.
        let _ = tokio::task::spawn_blocking(keep).await;
    }

    fn mark_supported(&self, base_url: &str, model: &str) {
        self.supported().insert((base_url.to_owned(), model.to_owned()));
    }

    fn is_supported(&self, base_url: &str, model: &str) -> bool {
        self.supported().contains(&(base_url.to_owned(), model.to_owned()))
    }

    fn supported(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.supported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The set is whole after each statement, so a panic elsewhere does not spoil it.
    fn toolless(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.toolless.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A provider whose models may take no tools. Asks with tools first, unless the server reports that
/// they are not passed on. Clones share their state.
#[derive(Clone)]
pub struct TextToolProvider {
    inner: Arc<dyn Provider>,
    base_url: String,
    toolless: ToollessModels,
    /// The server's last report on whether each of its models takes tools.
    reported: Arc<Mutex<BTreeMap<String, Option<bool>>>>,
}

impl TextToolProvider {
    /// Asks `wire`, which is at `base_url`.
    #[must_use]
    pub fn new(wire: Arc<dyn Provider>, base_url: String, toolless_models: ToollessModels) -> Self {
        Self { inner: wire, base_url, toolless: toolless_models, reported: Arc::default() }
    }

    /// The same provider, and everything known of its models, with `gate` around the wire. So each request
    /// passes the gate, also one that is made here after another: a repair, or the same without tools.
    #[must_use]
    pub fn with_gate(&self, gate: impl FnOnce(Arc<dyn Provider>) -> Arc<dyn Provider>) -> Self {
        Self { inner: gate(Arc::clone(&self.inner)), ..self.clone() }
    }

    async fn stream_as_text(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let (spoken, told) =
            (prompt::as_text(&request), Arc::new(QuotableText::from_request(&request)));
        let answer = self.inner.stream(spoken.clone()).await?;
        if request.tools.is_empty() {
            return Ok(answer);
        }
        Ok(stream::text_tool_stream(Arc::clone(&self.inner), spoken, request.tools, told, answer))
    }

    /// Whether the server says that this model takes tools; `None` until it was asked.
    fn reported_support(&self, model: &str) -> Option<bool> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied().flatten()
    }

    fn call_place(&self) -> CallPlace {
        match crate::transport::http::is_on_this_computer(&self.base_url) {
            true => CallPlace::Anywhere,
            false => CallPlace::WholeAnswer,
        }
    }

    /// Whether the first answer is to be held back until it shows whether tools reach the model.
    /// Servers of others report what they do not take.
    fn is_support_unknown(&self, request: &ModelRequest) -> bool {
        let Self { base_url, toolless: no_tools, .. } = self;
        !request.tools.is_empty()
            && crate::transport::http::is_on_this_computer(base_url)
            && self.reported_support(&request.model).is_none()
            && !no_tools.is_supported(base_url, &request.model)
    }
}

#[async_trait]
impl Provider for TextToolProvider {
    fn server_id(&self) -> String {
        self.inner.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        if !prompt::uses_tools(&request) {
            return self.inner.stream(request).await;
        }
        let is_dropped = self.reported_support(&request.model) == Some(false);
        if is_dropped || self.toolless.contains(&self.base_url, &request.model) {
            return self.stream_as_text(request).await;
        }
        let refused = match self.inner.stream(request.clone()).await {
            Err(refused @ ModelError::NoTools(_)) => refused,
            Err(error) => return Err(error),
            Ok(answer) => {
                let (calls, tools) = (self.clone(), request.tools.clone());
                let told = QuotableText::from_request(&request);
                let place = self.call_place();
                let doubt = self
                    .is_support_unknown(&request)
                    .then(|| native::SupportProbe { calls, request });
                return Ok(native::native_tool_stream(answer, tools, told, place, doubt));
            }
        };
        let model = request.model.clone();
        // Where the same without tools is refused too, the tools were not what was wrong.
        let answer = self.stream_as_text(request).await.map_err(|error| match error {
            ModelError::NotSent(_) | ModelError::Outdated(_) => error,
            _ => refused,
        })?;
        self.toolless.insert(&self.base_url, &model).await;
        Ok(answer)
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.inner.models().await
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        let capabilities = self.inner.capabilities(model).await;
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.insert(model.to_owned(), capabilities.tools);
        capabilities
    }

    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        self.inner.runs_elsewhere(model).await
    }
}

/// The call that stands in `text`, if there is one.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn find_call(text: &str, tools: Vec<ToolSpec>) -> Option<(String, serde_json::Value)> {
    let mut scan = extract::CallScanner::new(tools);
    let mut found = scan.feed(text);
    found.extend(scan.end(false));
    found.into_iter().find_map(|found| match found {
        extract::ExtractedPart::Call { tool, parameters } => Some((tool, parameters)),
        extract::ExtractedPart::Text(_) | extract::ExtractedPart::NoCall { .. } => None,
    })
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use schema::validate as fits_schema;
