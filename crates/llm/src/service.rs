//! The service: takes messages in and runs their turns, one session task a conversation.

pub(crate) mod idle;
pub(crate) mod queue_retry;
pub(crate) mod session;
pub(crate) mod turn_driver;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{ConversationId, ErrorCode, NewTurn, OpenTurn, TitleRequest, UserError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::compaction::{CompactionResult, SummaryTrigger};
use crate::context::tokens::TokenCalibrations;
use crate::ports::change_applier::ChangeApplier;
use crate::ports::transcript::Transcript;
use crate::ports::turn_policy::TurnPolicy;
use crate::service::queue_retry::QueueRetry;
use crate::titles::{self, TitleOutcome};
use crate::tool_api::registry::ToolRegistry;
use crate::transport::time_scale::TimeScale;

/// How many conversations work at once; the turns of more wait.
const MAX_ACTIVE_CONVERSATIONS: usize = 4;

/// The parts of the service. Its owner joins `tasks` after it cancelled `cancel`.
pub struct ServiceParts {
    /// The tools there are.
    pub registry: Arc<ToolRegistry>,
    /// Where turns are kept.
    pub transcript: Arc<dyn Transcript>,
    /// Judges and applies plans.
    pub changes: Arc<dyn ChangeApplier>,
    /// Decides about the turns and receives their events.
    pub policy: Arc<dyn TurnPolicy>,
    /// Session tasks are spawned into it.
    pub tasks: TaskTracker,
    /// Ends the service. A turn that runs then stays `Running` in the transcript, for recovery.
    pub cancel: CancellationToken,
    /// How long a wait before a retry takes.
    pub time_scale: TimeScale,
}

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

pub(crate) struct ServiceInner {
    pub(crate) parts: ServiceParts,
    pub(crate) slots: Semaphore,
    /// The reports of the models about the size of their prompts.
    pub(crate) calibrations: TokenCalibrations,
    sessions: Mutex<ActiveSessions>,
}

#[derive(Default)]
struct ActiveSessions {
    /// Conversations that have work.
    working: HashMap<ConversationId, ConversationSession>,
    /// Conversations whose queue could not go on.
    retries: HashMap<ConversationId, QueueRetry>,
    /// Conversations that rest while something is done for them.
    idle: HashMap<ConversationId, IdleTask>,
    /// The request that runs while nothing else is done.
    background: Option<Aside>,
}

/// Something is asked while nothing else is done.
#[derive(Debug, Clone)]
struct Aside {
    /// The conversation that it is about; `None` for a request about none.
    about: Option<ConversationId>,
    /// Is cancelled when something else is done.
    undisturbed: CancellationToken,
    /// Is cancelled when nothing is asked any more.
    over: CancellationToken,
}

/// Whether a conversation that rests can be looked at.
enum Look {
    /// It can, until this is disturbed.
    Begun(IdleTask),
    /// Something is done for it until then.
    After(CancellationToken),
    /// It works, or the service ends.
    Needless,
}

/// Something is done for a conversation that rests.
#[derive(Debug, Clone)]
pub(crate) struct IdleTask {
    /// Is cancelled when the conversation has work.
    pub(crate) cancelled: CancellationToken,
    /// Is cancelled when nothing is done any more.
    finished: CancellationToken,
}

/// A conversation that has work.
struct ConversationSession {
    /// Stops the turn that runs, or the next one when none has begun.
    stop: CancellationToken,
    /// Is cancelled when the session task is gone.
    ended: CancellationToken,
    /// Whether work was announced since the task last looked.
    woken: bool,
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

    /// Stops the turn that runs in the conversation, or the one that is about to begin. An apply
    /// under way is finished first; no other effect follows. A queue that could not go on is looked
    /// at again at once. What is done for a conversation that rests is stopped too.
    pub fn stop(&self, conversation: &ConversationId) {
        self.inner.stop_turn(conversation);
    }

    /// Puts the earlier messages of a conversation together, however long it is; `turn` is its last
    /// one and has ended. A message that comes meanwhile, and [`stop`](Self::stop), end it. Refused
    /// while a turn runs.
    pub async fn summarize(&self, turn: &OpenTurn) -> Result<SummarizeOutcome, UserError> {
        let Some(rest) = self.inner.begin_idle_task(&turn.conversation) else {
            let busy = "An answer is being written. Summarize when it is complete.";
            return Err(UserError::new(ErrorCode::Busy, busy));
        };
        match idle::compact_idle(&self.inner, turn, &rest, SummaryTrigger::Asked).await {
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
            match self.inner.begin_look(&turn.conversation) {
                Look::Begun(rest) => return idle::measure(&self.inner, turn, &rest).await,
                Look::After(over) => over.cancelled().await,
                Look::Needless => return Ok(()),
            }
        }
    }

    /// Asks for a title of a conversation, in one request; `turn` is its last one that ended. Only
    /// while nothing else is done: a message in any conversation ends it, so that nobody waits for
    /// it.
    pub async fn suggest_title(
        &self,
        turn: &OpenTurn,
        wanted: TitleRequest,
    ) -> Result<TitleOutcome, UserError> {
        let Some(aside) = self.inner.begin_background(Some(&turn.conversation)) else {
            return Ok(TitleOutcome::Disturbed);
        };
        let _over = aside.over.drop_guard();
        let asked = aside
            .undisturbed
            .run_until_cancelled(titles::request_title(&self.inner, turn, wanted))
            .await;
        self.inner.parts.policy.idle_finished(turn);
        asked.unwrap_or(Ok(TitleOutcome::Disturbed))
    }

    /// Resolves when nothing was done for any conversation during `wait`, or the service ends.
    pub async fn wait_until_idle_for(&self, wait: Duration) {
        let ServiceInner { parts, .. } = &*self.inner;
        while !parts.cancel.is_cancelled() {
            self.wait_until_all_idle().await;
            let Some(Aside { undisturbed, .. }) = self.inner.begin_background(None) else {
                continue;
            };
            if tokio::time::timeout(parts.time_scale.scale(wait), undisturbed.cancelled())
                .await
                .is_err()
            {
                return;
            }
        }
    }

    /// Resolves when no turn of any conversation runs or is queued to run, and nothing is done for
    /// one that rests.
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

    /// Resolves when nothing is done for the conversation while it rests.
    pub async fn wait_until_idle_task_done(&self, conversation: &ConversationId) {
        let rest = self.inner.sessions().idle.get(conversation).cloned();
        if let Some(rest) = rest {
            rest.finished.cancelled().await;
        }
    }

    /// Whether a turn of the conversation runs or is queued to run.
    #[must_use]
    pub fn is_working(&self, conversation: &ConversationId) -> bool {
        self.inner.sessions().working.contains_key(conversation)
    }
}

impl ServiceInner {
    /// The stop signal for the turn that begins next. Also takes note that the task now looks.
    pub(crate) fn next_turn(&self, conversation: &ConversationId) -> CancellationToken {
        let mut sessions = self.sessions();
        let Some(session) = sessions.working.get_mut(conversation) else {
            return CancellationToken::new();
        };
        session.woken = false;
        session.stop.clone()
    }

    /// Makes the stop signal of a turn that ended worthless for those after it.
    pub(crate) fn turn_ended(&self, conversation: &ConversationId) {
        if let Some(session) = self.sessions().working.get_mut(conversation) {
            session.stop = CancellationToken::new();
        }
    }

    /// Ends the session unless it was woken since the task last looked.
    pub(crate) fn end_session_if_idle(&self, conversation: &ConversationId) -> SessionExit {
        let mut sessions = self.sessions();
        if sessions.working.get(conversation).is_some_and(|session| session.woken) {
            return SessionExit::No;
        }
        remove_session(&mut sessions, conversation);
        SessionExit::Yes(self.replace_idle_task(&mut sessions, conversation))
    }

    /// Begins an idle task of a conversation; `None` while it works.
    fn begin_idle_task(&self, conversation: &ConversationId) -> Option<IdleTask> {
        let mut sessions = self.sessions();
        let rests = !sessions.working.contains_key(conversation);
        rests.then(|| self.replace_idle_task(&mut sessions, conversation))
    }

    /// Is cancelled when something is over that is done now; `None` when nothing is, or the service
    /// ends: what rests then stays where it is.
    fn current_work(&self) -> Option<CancellationToken> {
        let sessions = self.sessions();
        let working = sessions.working.values().map(|session| &session.ended);
        let mut all = working.chain(sessions.idle.values().map(|rest| &rest.finished));
        all.next().filter(|_| !self.parts.cancel.is_cancelled()).cloned()
    }

    /// Something is asked while nothing else is done; `None` while something is.
    fn begin_background(&self, about: Option<&ConversationId>) -> Option<Aside> {
        let mut sessions = self.sessions();
        if !sessions.working.is_empty() || !sessions.idle.is_empty() {
            return None;
        }
        cancel_background(&mut sessions);
        let (undisturbed, over) = (self.parts.cancel.child_token(), CancellationToken::new());
        let aside = Aside { about: about.cloned(), undisturbed, over };
        sessions.background = Some(aside.clone());
        Some(aside)
    }

    /// A look at a conversation begins. What is asked meanwhile about another one goes on: the look is
    /// short.
    fn begin_look(&self, conversation: &ConversationId) -> Look {
        let mut sessions = self.sessions();
        if self.parts.cancel.is_cancelled() || sessions.working.contains_key(conversation) {
            return Look::Needless;
        }
        if let Some(rest) = sessions.idle.get(conversation) {
            return Look::After(rest.finished.clone());
        }
        let about = |aside: &&Aside| aside.about.as_ref() == Some(conversation);
        if let Some(aside) = sessions.background.as_ref().filter(about)
            && !aside.over.is_cancelled()
        {
            return Look::After(aside.over.clone());
        }
        Look::Begun(self.resting(&mut sessions, conversation))
    }

    /// One thing at a time is done for a conversation that rests.
    fn replace_idle_task(
        &self,
        sessions: &mut ActiveSessions,
        conversation: &ConversationId,
    ) -> IdleTask {
        cancel_idle_task(sessions, conversation);
        cancel_background(sessions);
        self.resting(sessions, conversation)
    }

    fn resting(&self, sessions: &mut ActiveSessions, conversation: &ConversationId) -> IdleTask {
        let disturbed = self.parts.cancel.child_token();
        let rest = IdleTask { cancelled: disturbed, finished: CancellationToken::new() };
        sessions.idle.insert(conversation.clone(), rest.clone());
        rest
    }

    /// Nothing is done for it any more. What was disturbed has been replaced or removed already.
    pub(crate) fn rested(&self, conversation: &ConversationId, task: &IdleTask) {
        let mut sessions = self.sessions();
        if !task.cancelled.is_cancelled() {
            sessions.idle.remove(conversation);
        }
        task.finished.cancel();
    }

    /// Ends the session whatever was announced.
    pub(crate) fn end_session(&self, conversation: &ConversationId) {
        remove_session(&mut self.sessions(), conversation);
    }

    fn session_ended(&self, conversation: &ConversationId) -> Option<CancellationToken> {
        self.sessions().working.get(conversation).map(|session| session.ended.clone())
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn sessions(&self) -> MutexGuard<'_, ActiveSessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing was announced while the task looked.
#[derive(Debug)]
pub(crate) enum SessionExit {
    /// Nothing was: the conversation rests.
    Yes(IdleTask),
    No,
}

fn remove_session(sessions: &mut ActiveSessions, conversation: &ConversationId) {
    if let Some(session) = sessions.working.remove(conversation) {
        session.ended.cancel();
    }
}

fn cancel_background(sessions: &mut ActiveSessions) {
    if let Some(aside) = sessions.background.take() {
        aside.undisturbed.cancel();
    }
}

fn cancel_idle_task(sessions: &mut ActiveSessions, conversation: &ConversationId) {
    if let Some(rest) = sessions.idle.remove(conversation) {
        rest.cancelled.cancel();
    }
}
