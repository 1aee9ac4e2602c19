//! The task of one conversation: runs its queued turns in order, then goes away.

use std::sync::Arc;

use protocol::ConversationId;
use tokio::sync::SemaphorePermit;

use crate::run::{self, Ran};
use crate::service::{Inner, Quiet};

/// Runs turns until none is queued, the transcript fails or the service ends.
pub(crate) async fn work(service: Arc<Inner>, conversation: ConversationId) {
    while let Some(slot) = slot(&service).await {
        match next(&service, &conversation).await {
            Next::Again => drop(slot),
            Next::Left => return,
            Next::Leave => break,
        }
    }
    service.leave(&conversation);
}

enum Next {
    /// A turn ended, or there may be another.
    Again,
    /// Nothing was queued: the session is over already.
    Left,
    /// It cannot go on.
    Leave,
}

async fn next(service: &Inner, conversation: &ConversationId) -> Next {
    let stop = service.next_turn(conversation);
    match service.parts.transcript.begin(conversation).await {
        Ok(Some(turn)) => {
            let ran = run::run(&service.parts, &turn, &stop).await;
            service.turn_ended(conversation);
            if ran == Ran::Ended { Next::Again } else { Next::Leave }
        }
        Ok(None) if service.leave_if_quiet(conversation) == Quiet::Yes => Next::Left,
        Ok(None) => Next::Again,
        Err(error) => {
            tracing::error!(%conversation, %error, "cannot look for queued turns");
            Next::Leave
        }
    }
}

/// Room to run a turn; `None` when the service ends.
async fn slot(service: &Inner) -> Option<SemaphorePermit<'_>> {
    tokio::select! {
        biased;
        () = service.parts.cancel.cancelled() => None,
        slot = service.slots.acquire() => slot.ok(),
    }
}
