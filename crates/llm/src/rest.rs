//! Puts the earlier messages of a conversation together while no turn of it runs.

use protocol::{OpenTurn, UserError};

use crate::budget::{Budget, Frame};
use crate::compaction::{self, Job, Made, Spared, When};
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
    let tools = parts.registry.specs(&setup.tools);
    let gauge = service.gauges.of(&setup.model);
    let frame = Frame::of(&setup, &tools, None, &turn.turn, gauge);
    let Some(budget) = Budget::of(&frame) else { return Ok(Made::Nothing) };
    if when == When::Needed {
        let history = parts.transcript.history(&turn.conversation, &turn.turn).await?;
        if budget.percent(budget.with(&history)) < compaction::AT_REST {
            return Ok(Made::Nothing);
        }
    }
    let spared = Spared { open: None, asked: &setup.kept };
    let job = Job { parts, gauges: &service.gauges, turn, by, spared, budget };
    job.run(when).await.0
}
