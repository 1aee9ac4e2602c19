//! The service: takes messages in and runs their turns, one session task a conversation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{ConversationId, NewTurn, UserError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::changes::Changes;
use crate::host::Host;
use crate::registry::ToolRegistry;
use crate::session;
use crate::tokens::Gauges;
use crate::transcript::Transcript;

/// How many conversations work at once; the turns of more wait.
const AT_ONCE: usize = 4;

/// How long a wait before a retry really takes. Tests shorten it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    divisor: u32,
}

impl Pace {
    /// A second is a second.
    pub const REAL: Self = Self { divisor: 1 };

    /// Waits are divided by `divisor`.
    #[must_use]
    pub fn divided_by(divisor: u32) -> Self {
        Self { divisor: divisor.max(1) }
    }

    /// How long `wait` takes.
    #[must_use]
    pub fn of(self, wait: Duration) -> Duration {
        wait / self.divisor
    }

    /// How long `real` counts as, where waits are divided.
    pub(crate) fn told(self, real: Duration) -> Duration {
        real * self.divisor
    }
}

/// What the service works with. Its owner joins `tasks` after it cancelled `cancel`.
pub struct ServiceParts {
    /// The tools there are.
    pub registry: Arc<ToolRegistry>,
    /// Where turns are kept.
    pub transcript: Arc<dyn Transcript>,
    /// Who judges and applies plans.
    pub changes: Arc<dyn Changes>,
    /// Who decides about the turns and is told of them.
    pub host: Arc<dyn Host>,
    /// Session tasks are spawned into it.
    pub tasks: TaskTracker,
    /// Ends the service. A turn that runs then stays `Running` in the transcript, for recovery.
    pub cancel: CancellationToken,
    /// How long a wait before a retry takes.
    pub pace: Pace,
}

/// Handle to the service; clones are the same service.
#[derive(Clone)]
pub struct LlmService {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) parts: ServiceParts,
    pub(crate) room: Semaphore,
    /// What the models reported about their prompts.
    pub(crate) gauges: Gauges,
    sessions: Mutex<HashMap<ConversationId, Session>>,
}

/// A conversation that has work.
struct Session {
    /// Stops the turn that runs, or the next one when none has begun.
    stop: CancellationToken,
    /// Is cancelled when the session task is gone.
    gone: CancellationToken,
    /// Whether work was announced since the task last looked.
    woken: bool,
}

impl LlmService {
    /// A service that runs nothing yet: [`wake`](Self::wake) conversations that have queued turns.
    #[must_use]
    pub fn new(parts: ServiceParts) -> Self {
        let room = Semaphore::new(AT_ONCE);
        let (gauges, sessions) = (Gauges::default(), Mutex::default());
        Self { inner: Arc::new(Inner { parts, room, gauges, sessions }) }
    }

    /// The tools there are.
    #[must_use]
    pub fn registry(&self) -> &Arc<ToolRegistry> {
        &self.inner.parts.registry
    }

    /// Stores the message and its turn, and sees to it that the turn runs. When it returns `Ok`
    /// the message is durable; the turn runs later, after those queued before it. `Err` means
    /// nothing was stored. Dropped half-way, it has stored the message or not; a stored one runs
    /// at the next wake.
    pub async fn submit(&self, new: NewTurn) -> Result<(), UserError> {
        self.inner.parts.transcript.submit(&new).await?;
        self.wake(&new.message.conversation);
        Ok(())
    }

    /// Runs the turns that are queued in the conversation, if any.
    pub fn wake(&self, conversation: &ConversationId) {
        if self.inner.parts.cancel.is_cancelled() {
            return;
        }
        let mut sessions = self.inner.sessions();
        if let Some(session) = sessions.get_mut(conversation) {
            session.woken = true;
            return;
        }
        let session =
            Session { stop: CancellationToken::new(), gone: CancellationToken::new(), woken: true };
        sessions.insert(conversation.clone(), session);
        let task = session::work(self.inner.clone(), conversation.clone());
        self.inner.parts.tasks.spawn(task);
    }

    /// Stops the turn that runs in the conversation, or the one that is about to begin. An apply
    /// under way is finished first; no other effect follows.
    pub fn stop(&self, conversation: &ConversationId) {
        if let Some(session) = self.inner.sessions().get(conversation) {
            session.stop.cancel();
        }
    }

    /// Resolves when no turn of the conversation runs or is queued to run.
    pub async fn idle(&self, conversation: &ConversationId) {
        loop {
            let Some(gone) = self.inner.gone(conversation) else { return };
            gone.cancelled().await;
        }
    }

    /// Whether a turn of the conversation runs or is queued to run.
    #[must_use]
    pub fn is_working(&self, conversation: &ConversationId) -> bool {
        self.inner.sessions().contains_key(conversation)
    }
}

impl Inner {
    /// The stop signal for the turn that begins next. Also takes note that the task now looks.
    pub(crate) fn next_turn(&self, conversation: &ConversationId) -> CancellationToken {
        let mut sessions = self.sessions();
        let Some(session) = sessions.get_mut(conversation) else { return CancellationToken::new() };
        session.woken = false;
        session.stop.clone()
    }

    /// Makes the stop signal of a turn that ended worthless for those after it.
    pub(crate) fn turn_ended(&self, conversation: &ConversationId) {
        if let Some(session) = self.sessions().get_mut(conversation) {
            session.stop = CancellationToken::new();
        }
    }

    /// Ends the session unless it was woken since the task last looked.
    pub(crate) fn leave_if_quiet(&self, conversation: &ConversationId) -> Quiet {
        let mut sessions = self.sessions();
        if sessions.get(conversation).is_some_and(|session| session.woken) {
            return Quiet::No;
        }
        forget(&mut sessions, conversation);
        Quiet::Yes
    }

    /// Ends the session whatever was announced.
    pub(crate) fn leave(&self, conversation: &ConversationId) {
        forget(&mut self.sessions(), conversation);
    }

    fn gone(&self, conversation: &ConversationId) -> Option<CancellationToken> {
        self.sessions().get(conversation).map(|session| session.gone.clone())
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn sessions(&self) -> MutexGuard<'_, HashMap<ConversationId, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing was announced while the task looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quiet {
    Yes,
    No,
}

fn forget(sessions: &mut HashMap<ConversationId, Session>, conversation: &ConversationId) {
    if let Some(session) = sessions.remove(conversation) {
        session.gone.cancel();
    }
}
