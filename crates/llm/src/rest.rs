//! Puts the earlier messages of a conversation together while no turn of it runs.

use protocol::{OpenTurn, UserError};

use crate::budget::{Budget, Frame};
use crate::compaction::{self, Job, Made, Spared, When};
use crate::filling::Filling;
use crate::host::{TurnEvent, TurnSetup};
use crate::service::{Inner, Rest};

/// Does so when it is needed, or was asked for; `None` when it was disturbed. `turn` is the last one
/// of the conversation, and has ended.
pub(crate) async fn sum_up(
    service: &Inner,
    turn: &OpenTurn,
    rest: &Rest,
    when: When,
) -> Option<Result<Made, UserError>> {
    let made = rest.disturbed.run_until_cancelled(undisturbed(service, turn, when)).await;
    service.parts.host.rested(turn);
    service.rested(&turn.conversation, rest);
    made
}

async fn undisturbed(service: &Inner, turn: &OpenTurn, when: When) -> Result<Made, UserError> {
    let parts = &service.parts;
    let setup = parts.host.at_rest(turn).await?;
    let Some(by) = &setup.summing_up else { return Ok(Made::NoModel) };
    if let Some(reached) = setup.purse.as_ref().and_then(crate::Purse::empty) {
        return Err(reached);
    }
    let Some(budget) = budget(service, turn, &setup) else { return Ok(Made::Nothing) };
    if when == When::Needed
        && filling(service, turn, &setup, budget).await?.percent() < compaction::AT_REST
    {
        return Ok(Made::Nothing);
    }
    let spared = Spared { open: None, asked: &setup.kept };
    let job = Job { parts, gauges: &service.gauges, turn, by, spared, budget };
    let made = job.run(when).await.0?;
    if made == Made::Room {
        tell_context(service, turn, &setup).await?;
    }
    Ok(made)
}

/// Tells how full the context window is; `turn` is the last one of the conversation, and has ended. Told
/// is nothing when it was disturbed.
pub(crate) async fn measure(
    service: &Inner,
    turn: &OpenTurn,
    rest: &Rest,
) -> Result<(), UserError> {
    let measured = rest.disturbed.run_until_cancelled(async {
        let setup = service.parts.host.at_rest(turn).await?;
        tell_context(service, turn, &setup).await
    });
    let measured = measured.await;
    service.parts.host.rested(turn);
    service.rested(&turn.conversation, rest);
    measured.unwrap_or(Ok(()))
}

async fn tell_context(
    service: &Inner,
    turn: &OpenTurn,
    setup: &TurnSetup,
) -> Result<(), UserError> {
    let told = match budget(service, turn, setup) {
        Some(budget) => {
            let filling = filling(service, turn, setup, budget).await?;
            Some(filling.told(service.gauges.of(&setup.model)))
        }
        None => None,
    };
    service.parts.host.tell(turn, TurnEvent::Context(told));
    Ok(())
}

fn budget(service: &Inner, turn: &OpenTurn, setup: &TurnSetup) -> Option<Budget> {
    let tools = setup.specs(&service.parts.registry);
    let gauge = service.gauges.of(&setup.model);
    Budget::of(&Frame::of(setup, &tools, None, &turn.turn, gauge))
}

async fn filling(
    service: &Inner,
    turn: &OpenTurn,
    setup: &TurnSetup,
    budget: Budget,
) -> Result<Filling, UserError> {
    let transcript = &service.parts.transcript;
    let history = transcript.history(&turn.conversation, &turn.turn).await?;
    Ok(Filling::of(budget, &history, None, &setup.kept))
}
