//! Handles the calls of a stored step.

use protocol::{CallId, Speech};

use super::batch::{CallBatch, NextCalls};
use super::{
    AfterStep, AskMode, Finish, ToolKind, Transition, Turn, TurnEffect, TurnQuestion, TurnState,
    finished, store_results,
};
use crate::context::model_texts;
use crate::tool_api::tool::ToolOutcome;

impl Turn {
    pub(super) fn step_stored(&mut self, batch: CallBatch, next: AfterStep) -> Transition {
        match next {
            AfterStep::Fail(error) => {
                let results = batch.close(|_| model_texts::CUT_CALL);
                finished(Finish { cut: true, ..Finish::failed(error) }.with_results(results))
            }
            AfterStep::Call => self.call_next(batch),
            AfterStep::AskAgain if self.stopped => finished(Finish::cancelled()),
            AfterStep::AskAgain => self.ask_within_limit(AskMode::Plain),
        }
    }

    pub(super) fn call_next(&mut self, mut batch: CallBatch) -> Transition {
        if self.stopped {
            let results = batch.close(|_| model_texts::CANCELLED);
            return finished(Finish::cancelled().with_results(results));
        }
        match batch.advance(&mut self.guard) {
            NextCalls::Side(calls) => (TurnState::Calling(batch), vec![TurnEffect::Run(calls)]),
            NextCalls::Alone(call, ToolKind::Change) => {
                (TurnState::Calling(batch), vec![TurnEffect::Plan(call)])
            }
            NextCalls::Alone(call, ToolKind::Read | ToolKind::Talk) => {
                (TurnState::Calling(batch), vec![TurnEffect::Run(vec![call])])
            }
            NextCalls::Refused => store_results(batch),
            NextCalls::Over => self.ask_next(),
        }
    }

    pub(super) fn call_finished(
        &mut self,
        mut batch: CallBatch,
        call: &CallId,
        mut outcome: ToolOutcome,
    ) -> Transition {
        let talks = batch.open_kind(call) == Some(ToolKind::Talk) && !outcome.is_error;
        outcome.speech = outcome.speech.take().filter(|_| talks);
        if let Some(Speech::Ask { .. }) = outcome.speech {
            outcome.output = model_texts::delivered(&self.question);
        }
        let speech = outcome.speech.clone();
        let Some(ran) = batch.record_outcome(call, outcome) else {
            return (TurnState::Calling(batch), Vec::new());
        };
        self.guard.learn(&ran.call, ran.is_error);
        match speech {
            Some(Speech::Ask { text: message, options }) => {
                let before = self.guard.ran().saturating_sub(1);
                let asked =
                    TurnQuestion { call: call.clone(), message, options, calls_before: before };
                let results = batch.close(|kind| match kind {
                    ToolKind::Talk => model_texts::SECOND_QUESTION,
                    ToolKind::Read | ToolKind::Change => model_texts::WAITING_FOR_USER,
                });
                finished(Finish::asked(asked).with_results(results))
            }
            Some(Speech::End { .. }) => {
                let results = batch.close(|_| model_texts::CONVERSATION_ENDED);
                finished(Finish::done().with_results(results).ending_the_conversation())
            }
            Some(Speech::Say { .. }) => {
                self.said = true;
                store_results(batch)
            }
            None if batch.is_idle() => store_results(batch),
            None => (TurnState::Calling(batch), Vec::new()),
        }
    }
}
