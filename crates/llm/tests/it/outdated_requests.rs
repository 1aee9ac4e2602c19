//! A request that is outdated before it is sent, or too long for the model, is built again, by a new setup.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::stream;
use llm::model::{ModelError, ModelEvent, ModelRequest, StopReason};
use llm::provider::{ModelStream, Provider};
use protocol::{ErrorCode, TokenUsage, TurnEnding, TurnStatus, UserError};

use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::ServiceWorld;

/// When a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusalTime {
    AtOnce,
    /// In the answer, before any text.
    InAnswer,
    AfterText,
}

/// Refuses its first requests, then answers.
struct RefusingModel {
    refusals: usize,
    /// The error of the request that comes after so many others.
    error: fn(usize) -> ModelError,
    time: RefusalTime,
    asked: AtomicUsize,
}

impl RefusingModel {
    fn new(refusals: usize, error: fn(usize) -> ModelError, time: RefusalTime) -> Arc<Self> {
        Arc::new(Self { refusals, error, time, asked: AtomicUsize::default() })
    }
}

#[async_trait]
impl Provider for RefusingModel {
    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        if before < self.refusals {
            let error = (self.error)(before);
            let text = match self.time {
                RefusalTime::AtOnce => return Err(error),
                RefusalTime::InAnswer => None,
                RefusalTime::AfterText => Some(Ok(ModelEvent::Text("It is".into()))),
            };
            return Ok(Box::pin(stream::iter(text.into_iter().chain([Err(error)]))));
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
    error: fn(usize) -> ModelError,
    renewal: Option<UserError>,
) -> (TurnEnding, usize) {
    let model = RefusingModel::new(refusals, error, RefusalTime::AtOnce);
    let mut world = ServiceWorld::asking(model.clone(), Arc::new(ScriptedProvider::default()));
    if let Some(renewal) = renewal {
        world.refresh_with(Err(renewal));
    }
    let ending = world.say("Is it there?").await;
    (ending, model.asked.load(Ordering::SeqCst))
}

/// The end of a turn whose first requests are too long, and how often the model was asked.
async fn end_after_too_long(refusals: usize, time: RefusalTime) -> (TurnEnding, usize) {
    let model = RefusingModel::new(refusals, too_long, time);
    let mut world = ServiceWorld::asking(model.clone(), Arc::new(ScriptedProvider::default()));
    let ending = world.say("Is it there?").await;
    (ending, model.asked.load(Ordering::SeqCst))
}

fn outdated(_: usize) -> ModelError {
    ModelError::Outdated("The rules were changed.".into())
}

/// Of a server that tells a window smaller by one each time.
fn too_long(before: usize) -> ModelError {
    let window = u32::try_from(20_000 - before).ok();
    ModelError::ContextExceeded { message: "Too long.".into(), window, prompt: None }
}

#[tokio::test]
async fn an_outdated_request_is_built_again_a_few_times() {
    for refusals in 0..3 {
        let (ending, asked) = end_after(refusals, outdated, None).await;
        assert_eq!((ending.status, asked), (TurnStatus::Done, refusals + 1), "{ending:?}");
    }
    let (ending, asked) = end_after(100, outdated, None).await;
    let error = ending.error.expect("it says so");
    assert_eq!((ending.status, asked), (TurnStatus::Failed, 3), "not for ever");
    assert_eq!(error.message, "The rules were changed.");
    // The control: any other refusal is final.
    let refused = |_: usize| ModelError::InvalidRequest("No.".into());
    let (ending, asked) = end_after(1, refused, None).await;
    assert_eq!((ending.status, asked), (TurnStatus::Failed, 1), "{ending:?}");
}

#[tokio::test]
async fn an_outdated_request_is_built_by_a_new_setup() {
    let not_now = || Some(UserError::new(ErrorCode::Settings, "Not now."));
    let (ending, asked) = end_after(1, outdated, not_now()).await;
    let error = ending.error.expect("it says so");
    assert_eq!((error.code, error.message.as_str(), asked), (ErrorCode::Settings, "Not now.", 1));
    // The control: a request that is sent needs no new one.
    let (ending, asked) = end_after(0, outdated, not_now()).await;
    assert_eq!((ending.status, asked), (TurnStatus::Done, 1), "{ending:?}");
}

#[tokio::test]
async fn a_request_that_is_too_long_is_built_again_a_few_times_in_a_turn() {
    for refusals in 0..5 {
        let (ending, asked) = end_after_too_long(refusals, RefusalTime::AtOnce).await;
        assert_eq!((ending.status, asked), (TurnStatus::Done, refusals + 1), "{ending:?}");
    }
    let (ending, asked) = end_after_too_long(10_000, RefusalTime::AtOnce).await;
    let code = ending.error.map(|error| error.code);
    assert_eq!((code, asked), (Some(ErrorCode::TooLarge), 5), "not for each token");
}

#[tokio::test]
async fn a_turn_that_ends_with_a_request_that_is_too_long_says_so() {
    for (time, refusals, text, requests) in [
        // Text that was shown is not requested again.
        (RefusalTime::AfterText, 1, Some("It is"), 1),
        (RefusalTime::InAnswer, 10, None, 5),
    ] {
        let (ending, asked) = end_after_too_long(refusals, time).await;
        assert_eq!((ending.status, asked), (TurnStatus::Failed, requests), "{time:?}");
        let error = ending.error.unwrap();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::TooLarge, "Too long."));
        let said = ending.message.map(|message| message.text());
        assert_eq!(said.as_deref(), text, "{time:?}");
    }
    // The control: what was not shown is requested again, and answered.
    let (ending, asked) = end_after_too_long(2, RefusalTime::InAnswer).await;
    assert_eq!((ending.status, asked), (TurnStatus::Done, 3), "{ending:?}");
}

/// No request fits it.
fn tiny(_: usize) -> ModelError {
    ModelError::ContextExceeded { message: "Too long.".into(), window: Some(1), prompt: None }
}

#[tokio::test]
async fn the_window_of_a_refusal_is_not_that_of_a_model_that_was_chosen_meanwhile() {
    for (model, base_url, requests) in [
        ("another", "http://here", 2),
        ("model", "http://elsewhere", 2),
        // The control: the model that refused the request.
        ("model", "http://here", 1),
    ] {
        let asked = RefusingModel::new(1, tiny, RefusalTime::AtOnce);
        let mut world = ServiceWorld::asking(asked.clone(), Arc::new(ScriptedProvider::default()));
        world.switch_to(model, base_url);
        let ending = world.say("Is it there?").await;
        let is_done = ending.status == TurnStatus::Done;
        assert_eq!(is_done, requests == 2, "{model}, {base_url}: {ending:?}");
        assert_eq!(asked.asked.load(Ordering::SeqCst), requests, "{model}, {base_url}");
    }
}
