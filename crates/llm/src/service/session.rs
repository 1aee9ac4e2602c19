//! The task of one conversation: runs its queued turns in order, then goes away.

use std::sync::Arc;

use protocol::{ConversationId, OpenTurn, UserError};
use tokio::sync::SemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::compaction::SummaryTrigger;
use crate::service::active_sessions::{IdleTask, ServiceInner, SessionExit};
use crate::service::queue_retry::QueueHealth;
use crate::service::turn_driver::{self, HistoryWeight, TurnExit};

/// Waits for a slot, then runs turns until none is queued or the service ends; a turn that is stopped before
/// there is a slot ends at once, and those behind it wait on. Where the transcript fails, another session does
/// so later. A conversation that has become long is summarized between its turns.
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
    let mut slot = acquire_slot(service, &service.next_turn(conversation)).await?;
    let mut heavy = None;
    loop {
        match next_step(service, conversation, &mut health).await? {
            SessionStep::Ran(turn, HistoryWeight::Heavy) => heavy = Some(turn),
            SessionStep::Ran(_, HistoryWeight::Light) => heavy = None,
            SessionStep::Again => {}
            SessionStep::Left(task) => return Ok((heavy, task)),
        }
        if slot.is_none() {
            let stop = service.next_turn(conversation);
            if !has_queued(service, conversation, health).await?
                && let SessionExit::Yes(task) = service.end_session_if_idle(conversation)
            {
                return Ok((heavy, task));
            }
            slot = acquire_slot(service, &stop).await?;
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
        Err(error) => return Err(queue_failed(service, conversation, *health, &error)),
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

/// Whether a turn of the conversation would begin now.
async fn has_queued(
    service: &ServiceInner,
    conversation: &ConversationId,
    health: QueueHealth,
) -> Result<bool, SessionEnd> {
    let looked = service.parts.transcript.has_queued(conversation).await;
    looked.map_err(|error| queue_failed(service, conversation, health, &error))
}

/// Tells the host once that the queue cannot be looked at.
fn queue_failed(
    service: &ServiceInner,
    conversation: &ConversationId,
    health: QueueHealth,
    error: &UserError,
) -> SessionEnd {
    tracing::error!(%conversation, %error, "cannot look for queued turns");
    if health != (QueueHealth::Failed { is_told: true }) {
        service.parts.policy.queue_failed(conversation, error);
    }
    SessionEnd::TriesAgain
}

/// A slot to work in; `None` when the turn that begins next is stopped first: to end, it needs none.
async fn acquire_slot<'a>(
    service: &'a ServiceInner,
    stop: &CancellationToken,
) -> Result<Option<SemaphorePermit<'a>>, SessionEnd> {
    tokio::select! {
        biased;
        () = service.parts.cancel.cancelled() => Err(SessionEnd::Leaves),
        () = stop.cancelled() => Ok(None),
        slot = service.slots.acquire() => slot.map(Some).map_err(|_| SessionEnd::Leaves),
    }
}
