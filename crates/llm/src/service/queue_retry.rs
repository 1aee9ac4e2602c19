//! Looks at the queue of a conversation again, some time after it could not go on: a full disk has room again
//! sooner or later.

use std::sync::Arc;
use std::time::Duration;

use protocol::ConversationId;
use tokio_util::sync::CancellationToken;

use super::active_sessions::{
    ActiveSessions, ConversationSession, QueueRetry, ServiceInner, cancel_background,
    cancel_idle_task,
};
use super::session;

/// The time after which a queue that could not go on is looked at again.
const QUEUE_RETRY_DELAY: Duration = Duration::from_secs(30);

/// Whether the queue of a conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueHealth {
    /// It does, as far as anybody knows.
    Sound,
    /// It did not when it was looked at last.
    Failed {
        /// Whether the host was told why.
        is_told: bool,
    },
    /// A turn could be begun since, and none has ended.
    Unproven,
}

impl ServiceInner {
    /// Ends the session, and begins another one after a while. Meanwhile the conversation counts as one that
    /// does not work: what was stored of it can be changed. A message, or [`stop_turn`](Self::stop_turn),
    /// begins the session at once.
    pub(super) async fn retry_session_later(self: Arc<Self>, conversation: ConversationId) {
        let Some(over) = self.begin_retry(&conversation) else { return };
        let wait = self.parts.time_scale.scale(QUEUE_RETRY_DELAY);
        tokio::select! {
            biased;
            () = self.parts.cancel.cancelled() => return,
            () = over.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        let mut sessions = self.sessions();
        if !over.is_cancelled()
            && let Some(stop) = take_retry(&mut sessions, &conversation)
        {
            let health = QueueHealth::Failed { is_told: true };
            self.start_session(&mut sessions, &conversation, stop, health);
        }
    }

    /// `None` when the session is gone already.
    fn begin_retry(&self, conversation: &ConversationId) -> Option<CancellationToken> {
        let mut sessions = self.sessions();
        let ConversationSession { stop, ended, .. } = sessions.working.remove(conversation)?;
        let over = CancellationToken::new();
        sessions.retries.insert(conversation.clone(), QueueRetry { stop, over: over.clone() });
        ended.cancel();
        Some(over)
    }

    /// Makes sure that the turns that are queued in the conversation run.
    pub(super) fn wake_session(self: &Arc<Self>, conversation: &ConversationId) {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.working.get_mut(conversation) {
            session.woken = true;
            return;
        }
        let (stop, health) = match take_retry(&mut sessions, conversation) {
            Some(stop) => (stop, QueueHealth::Failed { is_told: false }),
            None => (CancellationToken::new(), QueueHealth::Sound),
        };
        self.start_session(&mut sessions, conversation, stop, health);
    }

    /// Stops the turn that runs in the conversation, or the one that begins next. A queue that could not go
    /// on is looked at again at once.
    pub(super) fn stop_turn(self: &Arc<Self>, conversation: &ConversationId) {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.working.get(conversation) {
            session.stop.cancel();
        } else if let Some(stop) = take_retry(&mut sessions, conversation) {
            stop.cancel();
            let health = QueueHealth::Failed { is_told: false };
            self.start_session(&mut sessions, conversation, stop, health);
        }
        cancel_idle_task(&mut sessions, conversation);
    }

    fn start_session(
        self: &Arc<Self>,
        sessions: &mut ActiveSessions,
        conversation: &ConversationId,
        stop: CancellationToken,
        health: QueueHealth,
    ) {
        cancel_idle_task(sessions, conversation);
        cancel_background(sessions);
        let session = ConversationSession { stop, ended: CancellationToken::new(), woken: true };
        sessions.working.insert(conversation.clone(), session);
        let task = session::run_session(self.clone(), conversation.clone(), health);
        self.parts.tasks.spawn(task);
    }
}

/// The stop signal of a conversation that is looked at again, which now is done at once.
fn take_retry(
    sessions: &mut ActiveSessions,
    conversation: &ConversationId,
) -> Option<CancellationToken> {
    let QueueRetry { stop, over } = sessions.retries.remove(conversation)?;
    over.cancel();
    Some(stop)
}
