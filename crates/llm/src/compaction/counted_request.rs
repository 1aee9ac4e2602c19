//! A request whose answer belongs to no turn: a summary, or a title. It is counted however it ends.

use std::sync::Arc;

use futures_util::StreamExt as _;
use protocol::{TokenUsage, TurnId, UtilityRequest};
use tokio::runtime::Handle;

use crate::context::request_usage::RequestUsage;
use crate::context::tokens::{self, TokenCalibration};
use crate::model::{ModelError, ModelEvent, ModelRequest, StopReason};
use crate::ports::turn_policy::Summarizer;
use crate::provider::ModelStream;
use crate::service::parts::ServiceParts;
use crate::transport::clock::now;

/// The answer of a model.
pub(crate) struct CollectedAnswer {
    /// Its text; `None` when there is none, or it is incomplete.
    pub(crate) text: Option<String>,
    /// The tokens that it took; the caller counts them.
    pub(crate) asked: UtilityRequest,
}

/// Where a request is counted that is dropped before its end, and for which turn.
pub(crate) type DroppedRequests<'a> = (&'a ServiceParts, &'a TurnId);

/// A request that was sent. Dropped before its end, it is counted as far as it came.
pub(crate) struct CountedRequest<'a> {
    dropped: Option<DroppedRequests<'a>>,
    summarizer: &'a Summarizer,
    /// `None` once the caller counts it, or nobody has to.
    open: Option<RequestUsage>,
}

impl<'a> CountedRequest<'a> {
    /// Sends `request` to `summarizer` and reads the answer to its end. `Err` if the server refused
    /// it: then it costs nothing.
    pub(crate) async fn ask(
        summarizer: &'a Summarizer,
        request: ModelRequest,
        calibration: TokenCalibration,
        dropped: Option<DroppedRequests<'a>>,
    ) -> Result<CollectedAnswer, ModelError> {
        let prompt = calibration.corrected(tokens::of_request(&request));
        let open = Some(RequestUsage::sent(prompt));
        let mut sent = Self { dropped, summarizer, open };
        match summarizer.provider.stream(request).await {
            Ok(stream) => Ok(sent.collect(stream).await),
            Err(error @ ModelError::Silent(_)) => {
                let error = error.kind();
                tracing::warn!(error, "nobody answered a request that no turn waits for");
                let usage = sent.take().so_far();
                Ok(CollectedAnswer { text: None, asked: sent.counted(usage) })
            }
            Err(error) => {
                sent.take();
                Err(error)
            }
        }
    }

    /// Calls are no matter: no tool was offered.
    async fn collect(&mut self, mut stream: ModelStream) -> CollectedAnswer {
        let mut words = String::new();
        while let Some(event) = stream.next().await {
            match event {
                Ok(ModelEvent::Stopped { reason, usage }) => {
                    let usage = self.take().at_end(usage);
                    let whole = matches!(reason, StopReason::EndTurn | StopReason::StopSequence);
                    let words = words.trim();
                    let text = (whole && !words.is_empty()).then(|| words.to_owned());
                    return CollectedAnswer { text, asked: self.counted(usage) };
                }
                Ok(event) => {
                    if let Some(open) = &mut self.open {
                        open.observe(&event);
                    }
                    if let ModelEvent::Text(text) = event {
                        words.push_str(&text);
                    }
                }
                Err(error) => {
                    tracing::warn!(error = error.kind(), "an answer that nobody waits for was cut");
                    let usage = self.take().after(&error);
                    return CollectedAnswer { text: None, asked: self.counted(usage) };
                }
            }
        }
        let usage = self.take().so_far();
        CollectedAnswer { text: None, asked: self.counted(usage) }
    }

    fn take(&mut self) -> RequestUsage {
        self.open.take().unwrap_or_default()
    }

    fn counted(&self, usage: TokenUsage) -> UtilityRequest {
        let Summarizer { model, price, .. } = self.summarizer;
        UtilityRequest { model: model.clone(), price: *price, usage, at: now() }
    }
}

impl Drop for CountedRequest<'_> {
    fn drop(&mut self) {
        let (Some(open), Some((parts, turn))) = (self.open.take(), self.dropped) else { return };
        // Without a runtime the process ends.
        let Ok(runtime) = Handle::try_current() else { return };
        let transcript = Arc::clone(&parts.transcript);
        let (turn, asked) = (turn.clone(), self.counted(open.so_far()));
        let count = async move {
            if let Err(error) = transcript.record_usage(&turn, &asked).await {
                tracing::warn!(%error, "a request that was given up was not counted");
            }
        };
        parts.tasks.spawn_on(count, &runtime);
    }
}
