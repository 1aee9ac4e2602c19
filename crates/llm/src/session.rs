//! The task of one conversation: runs its queued turns in order, then goes away.

use std::sync::Arc;

use protocol::{ConversationId, OpenTurn};
use tokio::sync::SemaphorePermit;

use crate::compaction::When;
use crate::run::{self, Ran, Weight};
use crate::service::{Inner, Quiet, Rest};

/// Waits for room, then runs turns until none is queued, the transcript fails or the service
/// ends. A conversation that has become long is put together when it rests.
pub(crate) async fn work(service: Arc<Inner>, conversation: ConversationId) {
    match turns(&service, &conversation).await {
        Some((Some(turn), rest)) => at_rest(&service, &turn, &rest).await,
        Some((None, rest)) => service.rested(&conversation, &rest),
        None => service.leave(&conversation),
    }
}

/// Runs turns until none is queued. Then the session is over, and this is what to do about the last
/// of them; `None` when it cannot go on.
async fn turns(service: &Inner, conversation: &ConversationId) -> Option<(Option<OpenTurn>, Rest)> {
    let _room = room(service).await?;
    let mut heavy = None;
    loop {
        match next(service, conversation).await {
            Next::Ran(turn, Weight::Heavy) => heavy = Some(turn),
            Next::Ran(_, Weight::Light) => heavy = None,
            Next::Again => {}
            Next::Left(rest) => return Some((heavy, rest)),
            Next::Leave => return None,
        }
    }
}

/// What is done when nothing is queued; the next message ends it.
async fn at_rest(service: &Inner, turn: &OpenTurn, rest: &Rest) {
    if let Some(Err(error)) = crate::rest::sum_up(service, turn, rest, When::Needed).await {
        tracing::warn!(conversation = %turn.conversation, %error, "not put together at rest");
    }
}

enum Next {
    /// A turn ended.
    Ran(OpenTurn, Weight),
    /// There may be another.
    Again,
    /// Nothing was queued: the session is over already.
    Left(Rest),
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
            let (ran, weight) = run::run(&service.parts, &service.gauges, &turn, &stop).await;
            service.turn_ended(conversation);
            if ran == Ran::Ended { Next::Ran(turn, weight) } else { Next::Leave }
        }
        Ok(None) => match service.leave_if_quiet(conversation) {
            Quiet::Yes(rest) => Next::Left(rest),
            Quiet::No => Next::Again,
        },
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
