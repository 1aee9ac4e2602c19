//! What a vendor's folder implements.

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::model::{ModelError, ModelEvent, ModelRequest};

/// The events of one answer. Dropping it cancels the request.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Translates and nothing else: never retries, runs tools or keeps history.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Opens one streamed answer. `Err` means nothing was shown to the user yet.
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;
}
