//! A request that is outdated before it is sent is built again, by a new setup.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::stream;
use llm::model::{ModelError, ModelEvent, ModelRequest, StopReason};
use llm::provider::{ModelStream, Provider};
use protocol::{ErrorCode, TokenUsage, TurnEnding, TurnStatus, UserError};

use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::ServiceWorld;

/// Refuses its first requests, then answers.
struct RefusingModel {
    refusals: usize,
    error: ModelError,
    asked: AtomicUsize,
}

#[async_trait]
impl Provider for RefusingModel {
    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        if self.asked.fetch_add(1, Ordering::SeqCst) < self.refusals {
            return Err(self.error.clone());
        }
        let stopped =
            ModelEvent::Stopped { reason: StopReason::EndTurn, usage: TokenUsage::default() };
        Ok(Box::pin(stream::iter([Ok(ModelEvent::Text("Yes.".into())), Ok(stopped)])))
    }
}

/// The end of a turn whose first requests are refused, and how often the model was asked. A setup that is
/// made again fails with `renewal`, if there is one.
async fn end_after(
    refusals: usize,
    error: ModelError,
    renewal: Option<UserError>,
) -> (TurnEnding, usize) {
    let model = Arc::new(RefusingModel { refusals, error, asked: AtomicUsize::default() });
    let mut world = ServiceWorld::asking(model.clone(), Arc::new(ScriptedProvider::default()));
    if let Some(renewal) = renewal {
        world.refresh_with(Err(renewal));
    }
    let ending = world.say("Is it there?").await;
    (ending, model.asked.load(Ordering::SeqCst))
}

fn outdated() -> ModelError {
    ModelError::Outdated("The rules were changed.".into())
}

#[tokio::test]
async fn an_outdated_request_is_built_again_a_few_times() {
    for refusals in 0..3 {
        let (ending, asked) = end_after(refusals, outdated(), None).await;
        assert_eq!((ending.status, asked), (TurnStatus::Done, refusals + 1), "{ending:?}");
    }
    let (ending, asked) = end_after(100, outdated(), None).await;
    let error = ending.error.expect("it says so");
    assert_eq!((ending.status, asked), (TurnStatus::Failed, 3), "not for ever");
    assert_eq!(error.message, "The rules were changed.");
    // The control: any other refusal is final.
    let refused = ModelError::InvalidRequest("No.".into());
    let (ending, asked) = end_after(1, refused, None).await;
    assert_eq!((ending.status, asked), (TurnStatus::Failed, 1), "{ending:?}");
}

#[tokio::test]
async fn an_outdated_request_is_built_by_a_new_setup() {
    let not_now = || Some(UserError::new(ErrorCode::Settings, "Not now."));
    let (ending, asked) = end_after(1, outdated(), not_now()).await;
    let error = ending.error.expect("it says so");
    assert_eq!((error.code, error.message.as_str(), asked), (ErrorCode::Settings, "Not now.", 1));
    // The control: a request that is sent needs no new one.
    let (ending, asked) = end_after(0, outdated(), not_now()).await;
    assert_eq!((ending.status, asked), (TurnStatus::Done, 1), "{ending:?}");
}
