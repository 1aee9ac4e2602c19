//! The service: takes messages in and runs their turns, one session task a conversation.

pub(crate) mod active_sessions;
pub(crate) mod idle;
pub(crate) mod parts;
pub(crate) mod queue_retry;
pub(crate) mod session;
pub(crate) mod turn_driver;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::{ConversationId, ErrorCode, NewTurn, OpenTurn, TitleRequest, UserError};
use tokio::sync::Semaphore;

use crate::compaction::{CompactionResult, SummaryTrigger};
use crate::context::tokens::TokenCalibrations;
use crate::model::user_texts;
use crate::titles::{self, TitleOutcome};
use crate::tool_api::registry::ToolRegistry;
use active_sessions::{BackgroundRequest, MeasurementStart, ServiceInner};
pub use parts::ServiceParts;

/// How many conversations work at once; the turns of more wait.
const MAX_ACTIVE_CONVERSATIONS: usize = 4;

/// The outcome of a summary that the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummarizeOutcome {
    /// A model hears less from now on.
    Done,
    /// There are no messages but those that are always heard.
    TooShort,
    /// There is nobody to ask.
    NoModel,
    /// There was no summary, or none that is shorter.
    NoSummary,
    /// Something else came first.
    Disturbed,
}

/// Handle to the service; clones are the same service.
#[derive(Clone)]
pub struct LlmService {
    inner: Arc<ServiceInner>,
}

impl LlmService {
    /// A service that runs nothing yet: [`wake`](Self::wake) conversations that have queued turns.
    #[must_use]
    pub fn new(parts: ServiceParts) -> Self {
        let room = Semaphore::new(MAX_ACTIVE_CONVERSATIONS);
        let (gauges, sessions) = (TokenCalibrations::default(), Mutex::default());
        Self {
            inner: Arc::new(ServiceInner { parts, slots: room, calibrations: gauges, sessions }),
        }
    }

    /// The tools there are.
    #[must_use]
    pub fn registry(&self) -> &Arc<ToolRegistry> {
        &self.inner.parts.registry
    }

    /// Stores the message and its turn, and makes sure that the turn runs. When it returns `Ok` the
    /// message is durable; the turn runs later, after those queued before it. `Err` means nothing
    /// was stored. If it is dropped half-way, the message is stored or not; a stored one runs at
    /// the next wake.
    pub async fn submit(&self, new: NewTurn) -> Result<(), UserError> {
        self.inner.parts.transcript.submit(&new).await?;
        self.wake(&new.message.conversation);
        Ok(())
    }

    /// Runs the turns that are queued in the conversation, if any. Where the transcript fails, it is
    /// tried again after a while.
    pub fn wake(&self, conversation: &ConversationId) {
        if self.inner.parts.cancel.is_cancelled() {
            return;
        }
        self.inner.wake_session(conversation);
    }

    /// Stops the turn that runs in the conversation, or the one that is about to begin, also while it
    /// waits for the turns of other conversations. An apply under way is finished first; no other
    /// effect follows. A queue that could not go on is tried again at once. An idle task of the
    /// conversation is stopped too.
    pub fn stop(&self, conversation: &ConversationId) {
        self.inner.stop_turn(conversation);
    }

    /// Summarizes the earlier messages of a conversation, however long it is; `turn` is its last
    /// one and has ended. A message that comes meanwhile, and [`stop`](Self::stop), end it. Refused
    /// while a turn runs.
    pub async fn summarize(&self, turn: &OpenTurn) -> Result<SummarizeOutcome, UserError> {
        let Some(task) = self.inner.begin_idle_task(&turn.conversation) else {
            return Err(UserError::new(ErrorCode::Busy, user_texts::answer_being_written()));
        };
        match idle::compact_idle(&self.inner, turn, &task, SummaryTrigger::Asked).await {
            Some(made) => made.map(|made| match made {
                CompactionResult::Room => SummarizeOutcome::Done,
                CompactionResult::NoModel => SummarizeOutcome::NoModel,
                CompactionResult::Nothing => SummarizeOutcome::TooShort,
                CompactionResult::NoSummary => SummarizeOutcome::NoSummary,
            }),
            None => Ok(SummarizeOutcome::Disturbed),
        }
    }

    /// Measures how full the context window is with a conversation, and tells the host; `turn` is
    /// its last one and has ended. Nothing is told while a turn runs, because the turn tells it
    /// itself. Waits for idle tasks of the conversation; a message that comes meanwhile ends it.
    pub async fn measure(&self, turn: &OpenTurn) -> Result<(), UserError> {
        loop {
            match self.inner.start_measurement(&turn.conversation) {
                MeasurementStart::Started(task) => {
                    return idle::measure(&self.inner, turn, &task).await;
                }
                MeasurementStart::WaitFor(finished) => finished.cancelled().await,
                MeasurementStart::NotNeeded => return Ok(()),
            }
        }
    }

    /// Asks for a title of a conversation, in one request; `turn` is its last one that ended. Runs only
    /// while no turn and no idle task runs: a message in any conversation ends it, so that nobody
    /// waits for it.
    pub async fn suggest_title(
        &self,
        turn: &OpenTurn,
        wanted: TitleRequest,
    ) -> Result<TitleOutcome, UserError> {
        let Some(request) = self.inner.begin_background(Some(&turn.conversation)) else {
            return Ok(TitleOutcome::Disturbed);
        };
        let _finished = request.finished.drop_guard();
        let asked = request
            .cancelled
            .run_until_cancelled(titles::request_title(&self.inner, turn, wanted))
            .await;
        self.inner.parts.policy.idle_finished(turn);
        asked.unwrap_or(Ok(TitleOutcome::Disturbed))
    }

    /// Resolves when no turn, idle task or background request ran during `wait`, or the service ends.
    pub async fn wait_until_idle_for(&self, wait: Duration) {
        let ServiceInner { parts, .. } = &*self.inner;
        while !parts.cancel.is_cancelled() {
            self.wait_until_all_idle().await;
            let Some(BackgroundRequest { cancelled, .. }) = self.inner.begin_background(None)
            else {
                continue;
            };
            if tokio::time::timeout(parts.time_scale.scale(wait), cancelled.cancelled())
                .await
                .is_err()
            {
                return;
            }
        }
    }

    /// Resolves when no turn of any conversation runs or is queued to run, and no idle task runs.
    async fn wait_until_all_idle(&self) {
        while let Some(over) = self.inner.current_work() {
            over.cancelled().await;
        }
    }

    /// Resolves when no turn of the conversation runs or is queued to run.
    pub async fn wait_until_idle(&self, conversation: &ConversationId) {
        loop {
            let Some(gone) = self.inner.session_ended(conversation) else { return };
            gone.cancelled().await;
        }
    }

    /// Resolves when no idle task of the conversation runs.
    pub async fn wait_until_idle_task_done(&self, conversation: &ConversationId) {
        let task = self.inner.sessions().idle.get(conversation).cloned();
        if let Some(task) = task {
            task.finished.cancelled().await;
        }
    }

    /// Whether a turn of the conversation runs or is queued to run.
    #[must_use]
    pub fn is_working(&self, conversation: &ConversationId) -> bool {
        self.inner.sessions().working.contains_key(conversation)
    }
}
