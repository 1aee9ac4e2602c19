//! Builds the request for a turn's model, and makes room when the history has become too long.

use protocol::{Role, UserError};

use super::recorder::TurnRecorder;
use super::{DriverFlow, HistoryWeight, TurnDriver, next_input};
use crate::compaction::{self, CompactionJob, KeptTurns, SummaryTrigger};
use crate::context::history;
use crate::context::token_budget::{self, ContextBudget, RequestFrame};
use crate::context::visible_text::visible_request;
use crate::context::window_usage::Filling;
use crate::model::{ContentBlock, ModelMessage, ModelRequest, ToolSpec};
use crate::ports::transcript::History;
use crate::ports::turn_policy::ContextCapacity;
use crate::turn::{AskMode, TurnInput};

impl TurnDriver<'_> {
    // `&mut`, as in all that awaits here: a stream is not `Sync`, so a shared borrow is not `Send`.
    pub(super) async fn request(&mut self, mode: AskMode) -> Result<ModelRequest, TurnInput> {
        let history = self.history().await.map_err(TurnInput::Broke)?;
        let tools = match mode {
            AskMode::Plain | AskMode::Nudged => self.tools(),
            AskMode::Closing => Vec::new(),
        };
        let setup = &self.setup;
        let frame = self.frame(&tools);
        let budget = ContextBudget::for_frame(&frame);
        let open = &self.recorder.turn.turn;
        let filled =
            budget.map(|budget| Filling::of(budget, &history, Some(open), &setup.kept_turns));
        if setup.summarizer.is_some()
            && !self.postponed
            && filled
                .is_some_and(|filling| filling.percent() >= compaction::REQUEST_THRESHOLD_PERCENT)
        {
            self.postponed = true;
            return Err(TurnInput::Full);
        }
        let fitting =
            token_budget::fit(history, &frame).map_err(|error| TurnInput::Failed(error.into()))?;
        let answered = fitting.estimated.saturating_add(setup.max_tokens);
        self.weight = match budget.map(|budget| budget.percent(answered)) {
            Some(percent) if percent >= compaction::IDLE_THRESHOLD_PERCENT => HistoryWeight::Heavy,
            Some(_) | None => HistoryWeight::Light,
        };
        self.estimated = fitting.estimated;
        self.filling = filled;
        self.tell_context();
        let mut messages = history::request_messages(&fitting.rows, &setup.maker());
        if let Some(note) = self.answer.told {
            add_note(&mut messages, note);
        }
        let request = ModelRequest {
            model: setup.model.clone(),
            system: setup.system.clone(),
            tools,
            messages,
            max_tokens: setup.max_tokens,
        };
        Ok(match setup.capacity {
            ContextCapacity::Window(_) => visible_request(request),
            ContextCapacity::Unlimited | ContextCapacity::OwnTurn => request,
        })
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.setup.specs(&self.recorder.parts.registry)
    }

    fn frame(&self, tools: &[ToolSpec]) -> RequestFrame<'_> {
        let setup = &self.setup;
        let calibration = self.calibrations.for_model(&setup.model);
        RequestFrame::for_turn(
            setup,
            tools,
            self.answer.told,
            &self.recorder.turn.turn,
            calibration,
        )
    }

    async fn history(&mut self) -> Result<History, UserError> {
        let TurnRecorder { parts, turn, .. } = &self.recorder;
        let (conversation, turn) = (&turn.conversation, &turn.turn);
        match self.setup.capacity {
            ContextCapacity::Window(_) => parts.transcript.history(conversation, turn).await,
            // Everything is heard as it was.
            ContextCapacity::Unlimited => {
                let all = parts.transcript.full_history(conversation, turn).await?;
                Ok(History::of(all.rows))
            }
            ContextCapacity::OwnTurn => {
                Ok(History::of(parts.transcript.messages_of_turn(turn).await?))
            }
        }
    }

    /// Summarizes earlier messages. A failure does not keep the turn from asking: the oldest
    /// messages are dropped.
    pub(super) async fn compact(&mut self) -> DriverFlow {
        let TurnRecorder { parts, turn, .. } = self.recorder;
        let tools = self.tools();
        let Some(budget) = ContextBudget::for_frame(&self.frame(&tools)) else {
            return next_input(TurnInput::Compacted(0));
        };
        let Some(by) = &self.setup.summarizer else { return next_input(TurnInput::Compacted(0)) };
        let spared = KeptTurns { open: Some(&turn.turn), asking: &self.setup.kept_turns };
        let job = CompactionJob {
            parts,
            calibrations: self.calibrations,
            turn,
            summarizer: by,
            kept: spared,
            budget,
        };
        match self.cancel.unless_cancelled(job.run(SummaryTrigger::Needed)).await {
            Ok((made, cost)) => {
                if let Err(error) = made {
                    tracing::warn!(%error, "earlier messages could not be summarized");
                }
                next_input(TurnInput::Compacted(cost))
            }
            Err(halted) => halted.into(),
        }
    }
}

fn add_note(messages: &mut Vec<ModelMessage>, note: &str) {
    let note = ContentBlock::Text(note.to_owned());
    match messages.last_mut() {
        Some(last) if last.role == Role::User => last.blocks.push(note),
        _ => messages.push(ModelMessage { role: Role::User, blocks: vec![note] }),
    }
}
