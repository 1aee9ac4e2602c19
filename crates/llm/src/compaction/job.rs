//! Puts earlier messages together: plans, asks for a summary where one is needed, stores.

use protocol::fault::point;
use protocol::{Compaction, OpenTurn, Timestamp, UserError, Utility};

use super::asking;
use super::plan::{Plan, Spared};
use super::{ENOUGH, FACTS};
use crate::budget::Budget;
use crate::host::{SummingUp, TurnEvent};
use crate::service::ServiceParts;
use crate::tokens::{self, Gauges};

/// Whose conversation, and who sums it up.
pub(crate) struct Job<'a> {
    pub(crate) parts: &'a ServiceParts,
    pub(crate) gauges: &'a Gauges,
    pub(crate) turn: &'a OpenTurn,
    pub(crate) by: &'a SummingUp,
    pub(crate) spared: Spared<'a>,
    /// What a request of the conversation may hold, and what of it is not its history.
    pub(crate) budget: Budget,
}

/// When a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Only when one line for each exchange takes too much room.
    Needed,
    /// In any case: the user asked for it.
    Asked,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// From now on the model hears less.
    Room,
    /// There is nothing that could be put together.
    Nothing,
    /// There is nobody who sums up.
    NoModel,
    /// There was no summary, or none that is shorter: nothing has changed.
    NoSummary,
}

/// What came of it, and what it cost in billionths of a US dollar.
pub(crate) type Outcome = (Result<Made, UserError>, u64);

impl Job<'_> {
    /// Carries it out. Dropped half-way it has changed all or nothing.
    pub(crate) async fn run(&self, when: When) -> Outcome {
        let (conversation, turn) = (&self.turn.conversation, &self.turn.turn);
        let originals = match self.parts.transcript.originals(conversation, turn).await {
            Ok(originals) => originals,
            Err(error) => return (Err(error), 0),
        };
        let Some(plan) = Plan::of(originals, self.spared) else { return (Ok(Made::Nothing), 0) };
        let facts = self.budget.most / FACTS;
        let recorded = plan.recorded(facts);
        let taken = [self.budget.around, plan.stays, tokens::of_text(&recorded.text)];
        let taken = taken.into_iter().fold(0, u32::saturating_add);
        if when == When::Needed
            && self.budget.percent(taken) <= ENOUGH
            && plan.is_shorter(&recorded)
        {
            return (self.store(&recorded, &plan, None).await, 0);
        }
        self.summed_up(&plan, facts).await
    }

    async fn summed_up(&self, plan: &Plan, facts: u32) -> Outcome {
        let request = asking::request(plan, self.by, self.gauges.of(&self.by.model));
        let answer = match self.by.provider.stream(request).await {
            Ok(stream) => asking::hear(stream).await,
            Err(error) => {
                tracing::warn!(%error, "earlier messages were not summed up");
                return (Ok(Made::NoSummary), 0);
            }
        };
        let SummingUp { model, price, .. } = self.by;
        let asked = Utility { model: model.clone(), price: *price, usage: answer.usage, at: now() };
        let new = answer.words.map(|words| plan.summed_up(&words, facts));
        let made = match new.filter(|new| plan.is_shorter(new)) {
            Some(new) => self.store(&new, plan, Some(&asked)).await,
            None => {
                let charged = self.parts.transcript.charge(&self.turn.turn, &asked).await;
                charged.map(|()| Made::NoSummary)
            }
        };
        (made, asked.cost())
    }

    async fn store(
        &self,
        new: &Compaction,
        plan: &Plan,
        asked: Option<&Utility>,
    ) -> Result<Made, UserError> {
        point("llm.compaction.before");
        self.parts.transcript.compact(self.turn, new, &plan.mark, asked).await?;
        point("llm.compaction.after");
        self.parts.host.tell(self.turn, TurnEvent::SummedUp);
        Ok(Made::Room)
    }
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
