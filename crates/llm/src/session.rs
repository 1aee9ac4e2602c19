//! The task of one conversation: runs its queued turns in order, then goes away.

use std::sync::Arc;

use protocol::ConversationId;
use tokio::sync::SemaphorePermit;

use crate::run::{self, Ran};
use crate::service::{Inner, Quiet};

/// Waits for room, then runs turns until none is queued, the transcript fails or the service
/// ends.
pub(crate) async fn work(service: Arc<Inner>, conversation: ConversationId) {
    if let Some(_room) = room(&service).await {
        loop {
            match next(&service, &conversation).await {
                Next::Again => {}
                Next::Left => return,
                Next::Leave => break,
            }
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
    if service.parts.cancel.is_cancelled() {
        return Next::Leave;
    }
    let stop = service.next_turn(conversation);
    match service.parts.transcript.begin(conversation).await {
        Ok(Some(turn)) => {
            let ran = run::run(&service.parts, &service.gauges, &turn, &stop).await;
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

/// Room to work; `None` when the service ends.
async fn room(service: &Inner) -> Option<SemaphorePermit<'_>> {
    tokio::select! {
        biased;
        () = service.parts.cancel.cancelled() => None,
        room = service.room.acquire() => room.ok(),
    }
}
