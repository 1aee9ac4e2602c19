//! The task of one conversation: runs its queued turns in order, then goes away.

use std::sync::Arc;

use protocol::{ConversationId, OpenTurn};
use tokio::sync::SemaphorePermit;

use crate::compaction::SummaryTrigger;
use crate::service::active_sessions::{IdleTask, ServiceInner, SessionExit};
use crate::service::queue_retry::QueueHealth;
use crate::service::turn_driver::{self, HistoryWeight, TurnExit};

/// Waits for room, then runs turns until none is queued or the service ends; where the transcript fails,
/// another session does so later. A conversation that has become long is summarized between its turns.
pub(crate) async fn run_session(
    service: Arc<ServiceInner>,
    conversation: ConversationId,
    health: QueueHealth,
) {
    match run_queued_turns(&service, &conversation, health).await {
        Ok((Some(turn), task)) => run_idle_task(&service, &turn, &task).await,
        Ok((None, task)) => service.finish_idle_task(&conversation, &task),
        Err(SessionEnd::Leaves) => service.end_session(&conversation),
        Err(SessionEnd::TriesAgain) => service.retry_session_later(conversation).await,
    }
}

/// Runs turns until none is queued. Then the session is over, and this is what to do about the last
/// of them.
async fn run_queued_turns(
    service: &ServiceInner,
    conversation: &ConversationId,
    mut health: QueueHealth,
) -> Result<(Option<OpenTurn>, IdleTask), SessionEnd> {
    let _room = acquire_slot(service).await.ok_or(SessionEnd::Leaves)?;
    let mut heavy = None;
    loop {
        match next_step(service, conversation, &mut health).await? {
            SessionStep::Ran(turn, HistoryWeight::Heavy) => heavy = Some(turn),
            SessionStep::Ran(_, HistoryWeight::Light) => heavy = None,
            SessionStep::Again => {}
            SessionStep::Left(task) => return Ok((heavy, task)),
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
}

/// Why a session ends although something may be queued.
enum SessionEnd {
    /// The service ends, or a turn was begun after a failure and failed as well: its answer may have cost
    /// something, so it is not asked for again until the user does something.
    Leaves,
    /// The transcript failed.
    TriesAgain,
}

async fn next_step(
    service: &ServiceInner,
    conversation: &ConversationId,
    health: &mut QueueHealth,
) -> Result<SessionStep, SessionEnd> {
    if service.parts.cancel.is_cancelled() {
        return Err(SessionEnd::Leaves);
    }
    let stop = service.next_turn(conversation);
    let begun = match service.parts.transcript.begin(conversation).await {
        Ok(begun) => begun,
        Err(error) => {
            tracing::error!(%conversation, %error, "cannot look for queued turns");
            if *health != (QueueHealth::Failed { is_told: true }) {
                service.parts.policy.queue_failed(conversation, &error);
            }
            return Err(SessionEnd::TriesAgain);
        }
    };
    if matches!(health, QueueHealth::Failed { .. }) {
        *health = QueueHealth::Unproven;
        service.parts.policy.queue_recovered(conversation);
    }
    let Some(turn) = begun else {
        return Ok(match service.end_session_if_idle(conversation) {
            SessionExit::Yes(task) => SessionStep::Left(task),
            SessionExit::No => SessionStep::Again,
        });
    };
    let (ran, weight) =
        turn_driver::drive_turn(&service.parts, &service.calibrations, &turn, &stop).await;
    service.turn_ended(conversation);
    match ran {
        TurnExit::Ended => {
            *health = QueueHealth::Sound;
            Ok(SessionStep::Ran(turn, weight))
        }
        TurnExit::Unstored if *health == QueueHealth::Sound => Err(SessionEnd::TriesAgain),
        TurnExit::Unstored | TurnExit::Left => Err(SessionEnd::Leaves),
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
