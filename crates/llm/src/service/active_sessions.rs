//! The work under way: the sessions of conversations, the tasks for those that rest, and the request that runs while
//! nothing else does.

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
    /// Conversations that have work.
    pub(super) working: HashMap<ConversationId, ConversationSession>,
    /// Conversations whose queue could not go on.
    pub(super) retries: HashMap<ConversationId, QueueRetry>,
    /// Conversations that rest while something is done for them.
    pub(super) idle: HashMap<ConversationId, IdleTask>,
    /// The request that runs while nothing else is done.
    pub(super) background: Option<Aside>,
}

/// Something is asked while nothing else is done.
#[derive(Debug, Clone)]
pub(super) struct Aside {
    /// The conversation that it is about; `None` for a request about none.
    pub(super) about: Option<ConversationId>,
    /// Is cancelled when something else is done.
    pub(super) undisturbed: CancellationToken,
    /// Is cancelled when nothing is asked any more.
    pub(super) over: CancellationToken,
}

/// Whether a conversation that rests can be looked at.
pub(super) enum Look {
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
    pub(super) finished: CancellationToken,
}

/// A conversation that has work.
pub(super) struct ConversationSession {
    /// Stops the turn that runs, or the next one when none has begun.
    pub(super) stop: CancellationToken,
    /// Is cancelled when the session task is gone.
    pub(super) ended: CancellationToken,
    /// Whether work was announced since the task last looked.
    pub(super) woken: bool,
}

/// The queue of a conversation could not go on, and is looked at again.
pub(super) struct QueueRetry {
    /// Stops the turn that begins next.
    pub(super) stop: CancellationToken,
    /// Is cancelled when the conversation is looked at before its time.
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

    /// Begins an idle task of a conversation; `None` while it works.
    pub(super) fn begin_idle_task(&self, conversation: &ConversationId) -> Option<IdleTask> {
        let mut sessions = self.sessions();
        let rests = !sessions.working.contains_key(conversation);
        rests.then(|| self.replace_idle_task(&mut sessions, conversation))
    }

    /// Is cancelled when something is over that is done now; `None` when nothing is, or the service
    /// ends: what rests then stays where it is.
    pub(super) fn current_work(&self) -> Option<CancellationToken> {
        let sessions = self.sessions();
        let working = sessions.working.values().map(|session| &session.ended);
        let mut all = working.chain(sessions.idle.values().map(|rest| &rest.finished));
        all.next().filter(|_| !self.parts.cancel.is_cancelled()).cloned()
    }

    /// Something is asked while nothing else is done; `None` while something is.
    pub(super) fn begin_background(&self, about: Option<&ConversationId>) -> Option<Aside> {
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
    pub(super) fn begin_look(&self, conversation: &ConversationId) -> Look {
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
    /// Nothing was: the conversation rests.
    Yes(IdleTask),
    No,
}

fn remove_session(sessions: &mut ActiveSessions, conversation: &ConversationId) {
    if let Some(session) = sessions.working.remove(conversation) {
        session.ended.cancel();
    }
}

pub(super) fn cancel_background(sessions: &mut ActiveSessions) {
    if let Some(aside) = sessions.background.take() {
        aside.undisturbed.cancel();
    }
}

pub(super) fn cancel_idle_task(sessions: &mut ActiveSessions, conversation: &ConversationId) {
    if let Some(rest) = sessions.idle.remove(conversation) {
        rest.cancelled.cancel();
    }
}
