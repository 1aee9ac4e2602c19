//! Puts earlier messages together: plans, asks for a summary where one is needed, stores.

use protocol::fault_injection::point;
use protocol::{Compaction, OpenTurn, UserError, UtilityRequest};

use super::counted_request::{CollectedAnswer, CountedRequest};
use super::limits::{FACTS_SHARE, SUMMARY_THRESHOLD_PERCENT};
use super::plan::{CompactionPlan, KeptTurns};
use super::summary_request::{self, SummaryRequest};
use crate::context::token_budget::ContextBudget;
use crate::context::tokens::{self, TokenCalibrations};
use crate::ports::turn_policy::{Summarizer, TurnEvent};
use crate::service::parts::ServiceParts;

/// A conversation to summarize, and the model for it.
pub(crate) struct CompactionJob<'a> {
    pub(crate) parts: &'a ServiceParts,
    pub(crate) calibrations: &'a TokenCalibrations,
    pub(crate) turn: &'a OpenTurn,
    pub(crate) summarizer: &'a Summarizer,
    pub(crate) kept: KeptTurns<'a>,
    /// The budget of a request of the conversation, and the tokens that are not its history.
    pub(crate) budget: ContextBudget,
}

/// When a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SummaryTrigger {
    /// Only when one line for each exchange takes too much room.
    Needed,
    /// In any case: the user asked for it.
    Asked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompactionResult {
    /// From now on the model hears less.
    Room,
    /// There is nothing to summarize.
    Nothing,
    /// No model summarizes.
    NoModel,
    /// There was no summary, or none that is shorter, or nothing fit the model: nothing has changed.
    NoSummary,
}

/// The result, and the cost in billionths of a US dollar.
pub(crate) type CompactionCost = (Result<CompactionResult, UserError>, u64);

impl CompactionJob<'_> {
    /// Carries it out. Dropped half-way it has changed all or nothing, and what was asked is counted.
    pub(crate) async fn run(&self, trigger: SummaryTrigger) -> CompactionCost {
        let (conversation, turn) = (&self.turn.conversation, &self.turn.turn);
        let originals = match self.parts.transcript.full_history(conversation, turn).await {
            Ok(originals) => originals,
            Err(error) => return (Err(error), 0),
        };
        let Some(plan) = CompactionPlan::from_originals(originals, self.kept) else {
            return (Ok(CompactionResult::Nothing), 0);
        };
        let facts = self.budget.limit / FACTS_SHARE;
        let recorded = plan.outline_only(facts);
        let taken = [self.budget.overhead, plan.kept_tokens, tokens::of_text(&recorded.text)];
        let taken = taken.into_iter().fold(0, u32::saturating_add);
        if trigger == SummaryTrigger::Needed
            && self.budget.percent(taken) <= SUMMARY_THRESHOLD_PERCENT
            && plan.is_shorter(&recorded)
        {
            return (self.store(&recorded, &plan, None).await, 0);
        }
        self.summarize(&plan, facts).await
    }

    async fn summarize(&self, plan: &CompactionPlan, facts: u32) -> CompactionCost {
        let Self { parts, calibrations, turn, summarizer, .. } = self;
        let calibration = calibrations.for_model(&summarizer.model);
        let Some(SummaryRequest { request, shown }) =
            summary_request::request(plan, summarizer, calibration)
        else {
            tracing::warn!(
                model = summarizer.model,
                "no earlier message fits the model for summaries"
            );
            return (Ok(CompactionResult::NoSummary), 0);
        };
        let dropped = Some((*parts, &turn.turn));
        let asked = CountedRequest::ask(summarizer, request, calibration, dropped);
        let CollectedAnswer { text, asked } = match asked.await {
            Ok(answer) => answer,
            Err(error) => {
                let error = error.kind();
                tracing::warn!(error, "earlier messages were not summarized");
                return (Ok(CompactionResult::NoSummary), 0);
            }
        };
        let new = text.map(|words| plan.with_summary(&words, shown, facts));
        let made = match new.filter(|new| plan.is_shorter(new)) {
            Some(new) => self.store(&new, plan, Some(&asked)).await,
            None => {
                let charged = self.parts.transcript.record_usage(&self.turn.turn, &asked).await;
                charged.map(|()| CompactionResult::NoSummary)
            }
        };
        (made, asked.cost())
    }

    async fn store(
        &self,
        new: &Compaction,
        plan: &CompactionPlan,
        asked: Option<&UtilityRequest>,
    ) -> Result<CompactionResult, UserError> {
        point("llm.compaction.before");
        self.parts.transcript.compact(self.turn, new, &plan.privacy_view, asked).await?;
        point("llm.compaction.after");
        self.parts.policy.publish(self.turn, TurnEvent::Summarized);
        Ok(CompactionResult::Room)
    }
}
