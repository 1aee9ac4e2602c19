//! The interface that each provider's folder implements.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use protocol::ModelInfo;

use crate::model::{ModelError, ModelEvent, ModelRequest};

/// The events of one answer. Dropping it cancels the request.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Translates and nothing else: never retries, runs tools or keeps history.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Opens one streamed answer. `Err` means nothing was shown to the user yet.
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;

    /// Names the server by its kind and its base URL: verbatim content is sent back to no other
    /// one. Empty if there is none.
    fn server_id(&self) -> String {
        String::new()
    }

    /// The models there are, as the provider lists them; none where it keeps no list.
    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        Ok(Vec::new())
    }

    /// The capabilities of one of the models, as the server reports them now. May ask the server. A
    /// server that cannot be asked, or reports nothing, is no error.
    async fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities::default()
    }

    /// Whether the server hands what is sent for this model on to a server elsewhere, or may do so, at this
    /// moment: what it reported before does not count. A server that reports it is asked once; `Err` where it could not be asked.
    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        Ok(self.capabilities(model).await.runs_elsewhere)
    }
}

/// How long the reported capabilities of a model hold: the server may be restarted with another
/// window, and the name may be given to another model.
pub(crate) const CAPABILITIES_TTL: Duration = Duration::from_secs(30);

/// The capabilities of a model that its server reports; `None` for those that it does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// How many tokens it reads and writes together, as the server was started. Never the number that
    /// it was trained with.
    pub window: Option<u32>,
    /// Whether the server passes tools on to it. Some drop them without an error.
    pub tools: Option<bool>,
    /// The number of weights of the model.
    pub parameters: Option<u64>,
    /// Whether the server hands what it is sent on to a server elsewhere, or may do so: Ollama does with
    /// the models that its maker runs.
    pub runs_elsewhere: bool,
}

impl Capabilities {
    /// `self`, with the gaps filled from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            window: self.window.or(other.window),
            tools: self.tools.or(other.tools),
            parameters: self.parameters.or(other.parameters),
            runs_elsewhere: self.runs_elsewhere || other.runs_elsewhere,
        }
    }
}
