//! Summarizes the earlier messages of a conversation, and measures its context, while no turn of it runs.

use protocol::{OpenTurn, UserError};

use crate::compaction::{self, CompactionJob, CompactionResult, KeptTurns, SummaryTrigger};
use crate::context::token_budget::{ContextBudget, RequestFrame};
use crate::context::window_usage::Filling;
use crate::ports::turn_policy::{TurnEvent, TurnSetup};
use crate::service::active_sessions::{IdleTask, ServiceInner};

/// Summarizes earlier messages when that is needed, or was asked for; `None` when the task was
/// cancelled. `turn` is the last one of the conversation, and has ended.
pub(crate) async fn compact_idle(
    service: &ServiceInner,
    turn: &OpenTurn,
    task: &IdleTask,
    trigger: SummaryTrigger,
) -> Option<Result<CompactionResult, UserError>> {
    let made = task.cancelled.run_until_cancelled(compact(service, turn, trigger)).await;
    service.parts.policy.idle_finished(turn);
    service.finish_idle_task(&turn.conversation, task);
    made
}

async fn compact(
    service: &ServiceInner,
    turn: &OpenTurn,
    trigger: SummaryTrigger,
) -> Result<CompactionResult, UserError> {
    let parts = &service.parts;
    // Without its spending limit: that is of the last answer, which has ended.
    let setup = parts.policy.idle_setup(turn).await?;
    let Some(by) = &setup.summarizer else { return Ok(CompactionResult::NoModel) };
    let Some(budget) = budget(service, turn, &setup) else { return Ok(CompactionResult::Nothing) };
    if trigger == SummaryTrigger::Needed
        && filling(service, turn, &setup, budget).await?.percent()
            < compaction::IDLE_THRESHOLD_PERCENT
    {
        return Ok(CompactionResult::Nothing);
    }
    let spared = KeptTurns { open: None, asking: &setup.kept_turns };
    let job = CompactionJob {
        parts,
        calibrations: &service.calibrations,
        turn,
        summarizer: by,
        kept: spared,
        budget,
    };
    let made = job.run(trigger).await.0?;
    if made == CompactionResult::Room {
        tell_context(service, turn, &setup).await?;
    }
    Ok(made)
}

/// Tells how full the context window is; `turn` is the last one of the conversation, and has ended. A
/// task that was cancelled tells nothing.
pub(crate) async fn measure(
    service: &ServiceInner,
    turn: &OpenTurn,
    task: &IdleTask,
) -> Result<(), UserError> {
    let measured = task.cancelled.run_until_cancelled(async {
        let setup = service.parts.policy.idle_setup(turn).await?;
        tell_context(service, turn, &setup).await
    });
    let measured = measured.await;
    service.parts.policy.idle_finished(turn);
    service.finish_idle_task(&turn.conversation, task);
    measured.unwrap_or(Ok(()))
}

async fn tell_context(
    service: &ServiceInner,
    turn: &OpenTurn,
    setup: &TurnSetup,
) -> Result<(), UserError> {
    let told = match budget(service, turn, setup) {
        Some(budget) => {
            let filling = filling(service, turn, setup, budget).await?;
            Some(filling.context_use(service.calibrations.for_model(&setup.model)))
        }
        None => None,
    };
    service.parts.policy.publish(turn, TurnEvent::Context(told));
    Ok(())
}

fn budget(service: &ServiceInner, turn: &OpenTurn, setup: &TurnSetup) -> Option<ContextBudget> {
    let tools = setup.specs(&service.parts.registry);
    let calibration = service.calibrations.for_model(&setup.model);
    ContextBudget::for_frame(&RequestFrame::for_turn(setup, &tools, None, &turn.turn, calibration))
}

async fn filling(
    service: &ServiceInner,
    turn: &OpenTurn,
    setup: &TurnSetup,
    budget: ContextBudget,
) -> Result<Filling, UserError> {
    let transcript = &service.parts.transcript;
    let history = transcript.history(&turn.conversation, &turn.turn).await?;
    Ok(Filling::of(budget, &history, None, &setup.kept_turns))
}
