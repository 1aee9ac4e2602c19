//! What a vendor's folder implements.

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

    /// Whose server it asks, by its kind and where it stands: content kept verbatim goes back there
    /// and nowhere else. Empty where there is none.
    fn vendor(&self) -> String {
        String::new()
    }

    /// The models there are, as the provider lists them; none where it keeps no list.
    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        Ok(Vec::new())
    }

    /// Which tools the model finds its way among.
    async fn tool_set(&self, _model: &str) -> ToolSet {
        ToolSet::All
    }
}

/// Which tools a model is offered, of those that may be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    /// All.
    All,
    /// Few, for a model that loses its way among many.
    Small,
}
