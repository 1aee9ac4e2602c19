//! A model on this computer that lets itself be waited for: the wait is told, and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{self, StreamExt as _};
use llm::model::{ModelError, ModelEvent, ModelRequest, StopReason};
use llm::provider::{ModelStream, Provider};
use llm::{SpendingLimit, TurnEvent};
use protocol::chat::model::Price;
use protocol::event::ModelWait;
use protocol::{ErrorCode, TokenUsage, TurnEnding, TurnStatus, UserError};

use crate::fixtures::scripted_provider::ScriptedProvider;
use crate::fixtures::service_world::ServiceWorld;

/// Where a slow model takes its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlowPhase {
    Never,
    /// Before the server answers at all.
    Headers,
    /// Between the server's first sign and the first word.
    FirstWord,
    /// The server loads the model first.
    Loading,
}

/// Longer than the wait after which it is told, a thousandth of three seconds here.
const LONGER_THAN_NOTICE: Duration = Duration::from_millis(100);

struct SlowModel {
    slow: SlowPhase,
    asked: AtomicUsize,
}

#[async_trait]
impl Provider for SlowModel {
    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        match self.slow {
            SlowPhase::Headers => tokio::time::sleep(LONGER_THAN_NOTICE).await,
            SlowPhase::Loading if asked == 0 => {
                return Err(ModelError::Loading("the model is being loaded".into()));
            }
            _ => {}
        }
        let is_late = self.slow == SlowPhase::FirstWord;
        let first = stream::once(async move {
            if is_late {
                tokio::time::sleep(LONGER_THAN_NOTICE).await;
            }
            Ok(ModelEvent::Text("Yes.".into()))
        });
        let stopped =
            ModelEvent::Stopped { reason: StopReason::EndTurn, usage: TokenUsage::default() };
        Ok(Box::pin(first.chain(stream::iter([Ok(stopped)]))))
    }
}

/// The waits that are told of a turn, in order.
async fn waits(slow: SlowPhase, runs_here: bool) -> Vec<Option<ModelWait>> {
    let model = SlowModel { slow, asked: AtomicUsize::default() };
    let mut world = ServiceWorld::asking(Arc::new(model), Arc::new(ScriptedProvider::default()));
    if runs_here {
        world.runs_here();
    }
    let ending = world.say("Is it there?").await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    let waits = world.told().into_iter().filter_map(|event| match event {
        TurnEvent::Waits(wait) => Some(wait),
        _ => None,
    });
    waits.collect()
}

#[tokio::test]
async fn the_wait_for_a_model_on_this_computer_is_told_with_its_end() {
    for slow in [SlowPhase::Headers, SlowPhase::FirstWord] {
        let told = waits(slow, true).await;
        let [Some(ModelWait::Reading { tokens }), None] = told.as_slice() else {
            panic!("{slow:?}: {told:?}");
        };
        assert!(*tokens > 0, "{slow:?}");
    }
    assert_eq!(waits(SlowPhase::Loading, true).await, [Some(ModelWait::Loading), None]);
    assert_eq!(waits(SlowPhase::Never, true).await, [], "a quick one is not waited for");
    assert_eq!(waits(SlowPhase::Headers, false).await, [], "another computer reads at once");
}

/// The end of a turn that had no limit until its server loaded the model, and got this instead then;
/// and how often the model was asked.
async fn end_after_loading(refreshed: Result<SpendingLimit, UserError>) -> (TurnEnding, usize) {
    let model = Arc::new(SlowModel { slow: SlowPhase::Loading, asked: AtomicUsize::default() });
    let mut world = ServiceWorld::asking(model.clone(), Arc::new(ScriptedProvider::default()));
    world.refresh_with(refreshed);
    let ending = world.say("Is it there?").await;
    (ending, model.asked.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_model_chosen_while_the_server_loads_has_its_own_limit() {
    let limit = |left| {
        Ok(SpendingLimit { price: Price::default(), left, reached_message: "Enough.".into() })
    };
    let (ending, asked) = end_after_loading(limit(0)).await;
    let error = ending.error.expect("it says so");
    assert_eq!((ending.status, error.code), (TurnStatus::Limit, ErrorCode::Spending));
    assert_eq!((error.message.as_str(), asked), ("Enough.", 1));
    // The control: something is left.
    let (ending, asked) = end_after_loading(limit(1)).await;
    assert_eq!((ending.status, asked), (TurnStatus::Done, 2), "{ending:?}");
}

#[tokio::test]
async fn a_turn_ends_when_no_model_may_be_used_once_its_server_has_loaded() {
    for code in [ErrorCode::Spending, ErrorCode::Other] {
        let (ending, asked) = end_after_loading(Err(UserError::new(code, "Not now."))).await;
        let error = ending.error.expect("it says so");
        assert_eq!((ending.status, error.code), (TurnStatus::Failed, code));
        assert_eq!((error.message.as_str(), asked), ("Not now.", 1));
    }
}
