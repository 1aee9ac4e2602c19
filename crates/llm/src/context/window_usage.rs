//! Estimates the tokens in the context window by kind: instructions, summary, messages, tool results, the open turn.
//!
//! The same estimate decides when earlier messages are summarized and is shown to the user.

use std::collections::BTreeSet;

use protocol::{ContextKind, ContextPart, ContextUse, MessagePart, TurnId};

use crate::compaction::MIN_KEPT_EXCHANGES;
use crate::context::token_budget::ContextBudget;
use crate::context::tokens::{self, TokenCalibration};
use crate::ports::transcript::History;

/// A request that holds a whole history, in tokens as they are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filling {
    budget: ContextBudget,
    summary: u32,
    earlier: Rows,
    /// Of the turn that runs.
    open: Rows,
    /// Whether earlier messages could be summarized once no turn runs.
    can_summarize: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Rows {
    messages: u32,
    results: u32,
}

impl Rows {
    fn all(self) -> u32 {
        self.messages.saturating_add(self.results)
    }

    /// Adds a message with these parts.
    fn add(&mut self, parts: &[MessagePart]) {
        let is_result = |part: &&MessagePart| matches!(part, MessagePart::Result { .. });
        let results = parts.iter().filter(is_result).map(tokens::of_part);
        let results = results.fold(0, u32::saturating_add);
        self.results = self.results.saturating_add(results);
        let messages = tokens::of_parts(parts).saturating_sub(results);
        self.messages = self.messages.saturating_add(messages);
    }
}

impl Filling {
    /// The history that is sent in `open`, or between turns if no turn is open. The turns in
    /// `asked` wait for an answer: nothing from there on is summarized.
    pub(crate) fn of(
        budget: ContextBudget,
        history: &History,
        open: Option<&TurnId>,
        asked: &BTreeSet<TurnId>,
    ) -> Self {
        let told = history.compaction.as_ref();
        let mut filling = Self {
            budget,
            summary: told.map_or(0, |told| tokens::of_text(&told.text)),
            earlier: Rows::default(),
            open: Rows::default(),
            can_summarize: false,
        };
        let (mut turns, mut held, mut last) = (0_usize, None, None);
        for row in &history.rows {
            let rows =
                if Some(&row.turn) == open { &mut filling.open } else { &mut filling.earlier };
            rows.add(&row.parts);
            if last != Some(&row.turn) {
                held = held.or_else(|| asked.contains(&row.turn).then_some(turns));
                turns += 1;
                last = Some(&row.turn);
            }
        }
        filling.can_summarize =
            turns.saturating_sub(MIN_KEPT_EXCHANGES).min(held.unwrap_or(turns)) > 0;
        filling
    }

    /// Tokens of the whole request.
    pub(crate) fn total(&self) -> u32 {
        let rows = self.earlier.all().saturating_add(self.open.all());
        self.budget.overhead.saturating_add(self.summary).saturating_add(rows)
    }

    /// How much of the budget it takes, in percent.
    pub(crate) fn percent(&self) -> u32 {
        self.budget.percent(self.total())
    }

    /// The turn that runs has stored a message with these parts as well.
    pub(crate) fn grow(&mut self, parts: &[MessagePart]) {
        self.open.add(parts);
    }

    /// The running turn has ended: its messages are earlier ones from now on.
    pub(crate) fn close(&mut self) {
        let Rows { messages, results } = std::mem::take(&mut self.open);
        self.earlier.messages = self.earlier.messages.saturating_add(messages);
        self.earlier.results = self.earlier.results.saturating_add(results);
    }

    /// The same in tokens as the model would count them.
    pub(crate) fn context_use(&self, calibration: TokenCalibration) -> ContextUse {
        let parts = [
            (ContextKind::Instructions, self.budget.overhead),
            (ContextKind::Summary, self.summary),
            (ContextKind::Messages, self.earlier.messages),
            (ContextKind::ToolResults, self.earlier.results),
            (ContextKind::OpenTurn, self.open.all()),
        ];
        let parts =
            parts.map(|(kind, tokens)| ContextPart { kind, tokens: calibration.corrected(tokens) });
        let parts: Vec<ContextPart> = parts.into_iter().filter(|part| part.tokens > 0).collect();
        ContextUse {
            used: parts.iter().map(|part| part.tokens).fold(0, u32::saturating_add),
            window: self.budget.room.max(1),
            parts,
            can_summarize: self.can_summarize,
        }
    }
}
