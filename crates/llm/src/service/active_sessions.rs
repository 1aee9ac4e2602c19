//! The work under way: the sessions of conversations, idle tasks, and the background request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::ConversationId;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::parts::ServiceParts;
use crate::context::tokens::TokenCalibrations;

/// The state that the service shares with its tasks.
pub(crate) struct ServiceInner {
    pub(crate) parts: ServiceParts,
    pub(crate) slots: Semaphore,
    /// The reports of the models about the size of their prompts.
    pub(crate) calibrations: TokenCalibrations,
    pub(super) sessions: Mutex<ActiveSessions>,
}

#[derive(Default)]
pub(super) struct ActiveSessions {
    /// Conversations with a turn that runs or is queued.
    pub(super) working: HashMap<ConversationId, ConversationSession>,
    /// Conversations whose queue could not go on.
    pub(super) retries: HashMap<ConversationId, QueueRetry>,
    /// Conversations without a turn, for which an idle task runs.
    pub(super) idle: HashMap<ConversationId, IdleTask>,
    /// Runs only while there is neither a session nor an idle task.
    pub(super) background: Option<BackgroundRequest>,
}

/// A request that runs while no conversation has a turn or an idle task.
#[derive(Debug, Clone)]
pub(super) struct BackgroundRequest {
    /// The conversation that it is about; `None` for a request about none.
    pub(super) about: Option<ConversationId>,
    /// Is cancelled when a turn or an idle task begins, or the service ends.
    pub(super) cancelled: CancellationToken,
    /// Is cancelled when the request has ended.
    pub(super) finished: CancellationToken,
}

/// Whether the context of a conversation can be measured.
pub(super) enum MeasurementStart {
    /// It can, until the task is cancelled.
    Started(IdleTask),
    /// Another task of the conversation runs until this is cancelled.
    WaitFor(CancellationToken),
    /// A turn runs, which measures by itself, or the service ends.
    NotNeeded,
}

/// A task for a conversation that has no turn.
#[derive(Debug, Clone)]
pub(crate) struct IdleTask {
    /// Is cancelled when a turn of the conversation or another idle task of it begins.
    pub(crate) cancelled: CancellationToken,
    /// Is cancelled when the task has ended.
    pub(super) finished: CancellationToken,
}

/// A conversation with a turn that runs or is queued.
pub(super) struct ConversationSession {
    /// Stops the turn that runs, or the next one when none has begun.
    pub(super) stop: CancellationToken,
    /// Is cancelled when the session task is gone.
    pub(super) ended: CancellationToken,
    /// Whether work was announced since the task last looked.
    pub(super) woken: bool,
}

/// A conversation whose queue could not go on, and is tried again.
pub(super) struct QueueRetry {
    /// Stops the turn that begins next.
    pub(super) stop: CancellationToken,
    /// Is cancelled when the queue is tried before its time.
    pub(super) over: CancellationToken,
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

    /// Begins an idle task of a conversation; `None` while a turn of it runs or is queued.
    pub(super) fn begin_idle_task(&self, conversation: &ConversationId) -> Option<IdleTask> {
        let mut sessions = self.sessions();
        let has_no_turn = !sessions.working.contains_key(conversation);
        has_no_turn.then(|| self.replace_idle_task(&mut sessions, conversation))
    }

    /// Is cancelled when one of the sessions or idle tasks ends; `None` when there are none, or the
    /// service ends.
    pub(super) fn current_work(&self) -> Option<CancellationToken> {
        let sessions = self.sessions();
        let working = sessions.working.values().map(|session| &session.ended);
        let mut all = working.chain(sessions.idle.values().map(|task| &task.finished));
        all.next().filter(|_| !self.parts.cancel.is_cancelled()).cloned()
    }

    /// Begins a background request in place of the one that runs; `None` while there is a session or
    /// an idle task.
    pub(super) fn begin_background(
        &self,
        about: Option<&ConversationId>,
    ) -> Option<BackgroundRequest> {
        let mut sessions = self.sessions();
        if !sessions.working.is_empty() || !sessions.idle.is_empty() {
            return None;
        }
        cancel_background(&mut sessions);
        let (cancelled, finished) = (self.parts.cancel.child_token(), CancellationToken::new());
        let request = BackgroundRequest { about: about.cloned(), cancelled, finished };
        sessions.background = Some(request.clone());
        Some(request)
    }

    /// Begins to measure the context of a conversation. A background request about another conversation
    /// goes on: measuring is short.
    pub(super) fn start_measurement(&self, conversation: &ConversationId) -> MeasurementStart {
        let mut sessions = self.sessions();
        if self.parts.cancel.is_cancelled() || sessions.working.contains_key(conversation) {
            return MeasurementStart::NotNeeded;
        }
        if let Some(task) = sessions.idle.get(conversation) {
            return MeasurementStart::WaitFor(task.finished.clone());
        }
        let is_about_it =
            |request: &&BackgroundRequest| request.about.as_ref() == Some(conversation);
        if let Some(request) = sessions.background.as_ref().filter(is_about_it)
            && !request.finished.is_cancelled()
        {
            return MeasurementStart::WaitFor(request.finished.clone());
        }
        MeasurementStart::Started(self.insert_idle_task(&mut sessions, conversation))
    }

    /// A conversation has one idle task at a time; a new one cancels the one before it.
    fn replace_idle_task(
        &self,
        sessions: &mut ActiveSessions,
        conversation: &ConversationId,
    ) -> IdleTask {
        cancel_idle_task(sessions, conversation);
        cancel_background(sessions);
        self.insert_idle_task(sessions, conversation)
    }

    fn insert_idle_task(
        &self,
        sessions: &mut ActiveSessions,
        conversation: &ConversationId,
    ) -> IdleTask {
        let cancelled = self.parts.cancel.child_token();
        let task = IdleTask { cancelled, finished: CancellationToken::new() };
        sessions.idle.insert(conversation.clone(), task.clone());
        task
    }

    /// Ends an idle task. One that was cancelled has been replaced or removed already.
    pub(crate) fn finish_idle_task(&self, conversation: &ConversationId, task: &IdleTask) {
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

    pub(super) fn session_ended(&self, conversation: &ConversationId) -> Option<CancellationToken> {
        self.sessions().working.get(conversation).map(|session| session.ended.clone())
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    pub(super) fn sessions(&self) -> MutexGuard<'_, ActiveSessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing was announced while the task looked.
#[derive(Debug)]
pub(crate) enum SessionExit {
    /// Nothing was; the idle task has begun.
    Yes(IdleTask),
    No,
}

fn remove_session(sessions: &mut ActiveSessions, conversation: &ConversationId) {
    if let Some(session) = sessions.working.remove(conversation) {
        session.ended.cancel();
    }
}

pub(super) fn cancel_background(sessions: &mut ActiveSessions) {
    if let Some(request) = sessions.background.take() {
        request.cancelled.cancel();
    }
}

pub(super) fn cancel_idle_task(sessions: &mut ActiveSessions, conversation: &ConversationId) {
    if let Some(task) = sessions.idle.remove(conversation) {
        task.cancelled.cancel();
    }
}
