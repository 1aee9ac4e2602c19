//! The task of one conversation: runs its queued turns in order, then goes away.

use std::sync::Arc;

use protocol::{ConversationId, OpenTurn};
use tokio::sync::SemaphorePermit;

use crate::compaction::SummaryTrigger;
use crate::service::turn_driver::{self, HistoryWeight, TurnExit};
use crate::service::{IdleTask, ServiceInner, SessionExit};

/// Waits for room, then runs turns until none is queued, the transcript fails or the service
/// ends. A conversation that has become long is summarized between its turns.
pub(crate) async fn run_session(service: Arc<ServiceInner>, conversation: ConversationId) {
    match run_queued_turns(&service, &conversation).await {
        Some((Some(turn), rest)) => run_idle_task(&service, &turn, &rest).await,
        Some((None, rest)) => service.rested(&conversation, &rest),
        None => service.end_session(&conversation),
    }
}

/// Runs turns until none is queued. Then the session is over, and this is what to do about the last
/// of them; `None` when it cannot go on.
async fn run_queued_turns(
    service: &ServiceInner,
    conversation: &ConversationId,
) -> Option<(Option<OpenTurn>, IdleTask)> {
    let _room = acquire_slot(service).await?;
    let mut heavy = None;
    loop {
        match next_step(service, conversation).await {
            SessionStep::Ran(turn, HistoryWeight::Heavy) => heavy = Some(turn),
            SessionStep::Ran(_, HistoryWeight::Light) => heavy = None,
            SessionStep::Again => {}
            SessionStep::Left(rest) => return Some((heavy, rest)),
            SessionStep::Leave => return None,
        }
    }
}

/// Runs the idle task when nothing is queued; the next message ends it.
async fn run_idle_task(service: &ServiceInner, turn: &OpenTurn, task: &IdleTask) {
    if let Some(Err(error)) =
        crate::service::idle::compact_idle(service, turn, task, SummaryTrigger::Needed).await
    {
        tracing::warn!(conversation = %turn.conversation, %error, "not summarized between turns");
    }
}

enum SessionStep {
    /// A turn ended.
    Ran(OpenTurn, HistoryWeight),
    /// There may be another.
    Again,
    /// Nothing was queued: the session is over already.
    Left(IdleTask),
    /// It cannot go on.
    Leave,
}

async fn next_step(service: &ServiceInner, conversation: &ConversationId) -> SessionStep {
    if service.parts.cancel.is_cancelled() {
        return SessionStep::Leave;
    }
    let stop = service.next_turn(conversation);
    match service.parts.transcript.begin(conversation).await {
        Ok(Some(turn)) => {
            let (ran, weight) =
                turn_driver::drive_turn(&service.parts, &service.calibrations, &turn, &stop).await;
            service.turn_ended(conversation);
            if ran == TurnExit::Ended { SessionStep::Ran(turn, weight) } else { SessionStep::Leave }
        }
        Ok(None) => match service.end_session_if_idle(conversation) {
            SessionExit::Yes(rest) => SessionStep::Left(rest),
            SessionExit::No => SessionStep::Again,
        },
        Err(error) => {
            tracing::error!(%conversation, %error, "cannot look for queued turns");
            SessionStep::Leave
        }
    }
}

/// Room to work; `None` when the service ends.
async fn acquire_slot(service: &ServiceInner) -> Option<SemaphorePermit<'_>> {
    tokio::select! {
        biased;
        () = service.parts.cancel.cancelled() => None,
        room = service.slots.acquire() => room.ok(),
    }
}
