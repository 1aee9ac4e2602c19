//! Handles the events of an answer, and its end.

use std::time::Duration;

use protocol::{MessagePart, TokenUsage};

use super::answer::PartialAnswer;
use super::batch::CallBatch;
use super::{
    AfterStep, AskMode, Finish, MAX_PAUSES, Transition, Turn, TurnEffect, TurnInput, TurnState,
    finish, finished, store_step,
};
use crate::context::request_usage::RequestUsage;
use crate::model::{ModelError, ModelEvent, StopReason, user_texts};
use crate::transport::retry;

impl Turn {
    pub(super) fn receive(
        &mut self,
        mode: AskMode,
        attempt: u32,
        mut answer: PartialAnswer,
        input: TurnInput,
    ) -> Transition {
        match input {
            TurnInput::Event(ModelEvent::Stopped { reason, usage }) => {
                let usage = self.charge(answer.usage.at_end(usage));
                self.answered(mode, &answer, reason, usage)
            }
            TurnInput::Sent(tokens) => {
                answer.usage = RequestUsage::sent(tokens);
                (TurnState::Asking { how: mode, attempt, answer }, Vec::new())
            }
            TurnInput::Event(event) => {
                let shown = answer.receive(event).map(TurnEffect::Show);
                (TurnState::Asking { how: mode, attempt, answer }, shown.into_iter().collect())
            }
            TurnInput::Failed(error @ ModelError::Loading(_)) => {
                // A server that loads its model has not failed: its errors after that are tried again as often as ever.
                self.loading_waits += 1;
                let wait = retry::next_delay(&error, self.loading_waits, self.spread);
                self.failed(mode, attempt, &answer, error, wait)
            }
            TurnInput::Failed(error) => {
                let wait = retry::next_delay(&error, attempt, self.spread);
                self.failed(mode, attempt + 1, &answer, error, wait)
            }
            TurnInput::TooLong(error) => {
                self.failed(mode, attempt, &answer, error, Some(Duration::ZERO))
            }
            TurnInput::Severed => {
                let error = ModelError::Network(user_texts::answer_severed());
                let wait = retry::next_delay(&error, attempt, self.spread);
                self.failed(mode, attempt + 1, &answer, error, wait)
            }
            _ => (TurnState::Asking { how: mode, attempt, answer }, Vec::new()),
        }
    }

    /// Asks again after the wait, if there is one and nothing was shown: the attempt with this number.
    fn failed(
        &mut self,
        mode: AskMode,
        next_attempt: u32,
        answer: &PartialAnswer,
        error: ModelError,
        wait: Option<Duration>,
    ) -> Transition {
        let usage = self.charge(answer.usage.after(&error));
        if let Some(wait) = wait.filter(|_| !answer.is_shown()) {
            self.owed = usage;
            let waiting = TurnState::Waiting { how: mode, attempt: next_attempt };
            return (waiting, vec![TurnEffect::Wait(wait)]);
        }
        let finish = Finish::failed(error.into()).with_cut_text(answer.text()).with_usage(usage);
        finished(if mode == AskMode::Closing { finish.at_limit() } else { finish })
    }

    fn answered(
        &mut self,
        mode: AskMode,
        answer: &PartialAnswer,
        reason: StopReason,
        usage: TokenUsage,
    ) -> Transition {
        if mode == AskMode::Closing {
            let finish = Finish::done().at_limit().with_usage(usage);
            return finished(match reason {
                StopReason::EndTurn | StopReason::StopSequence => finish.with_text(answer.text()),
                _ => finish.with_cut_text(answer.text()),
            });
        }
        match reason {
            StopReason::ToolUse if answer.has_calls() => self.call(answer, usage),
            StopReason::EndTurn | StopReason::StopSequence | StopReason::ToolUse => {
                self.done(answer, usage)
            }
            StopReason::MaxTokens if answer.has_calls() => self.cut_in_calls(answer, usage),
            StopReason::MaxTokens if answer.text().is_some() => {
                finished(Finish::done().with_cut_text(answer.text()).with_usage(usage))
            }
            StopReason::PauseTurn => self.pause(answer, usage),
            StopReason::MaxTokens
            | StopReason::Refusal
            | StopReason::ContextExceeded
            | StopReason::Unknown => {
                let finish = Finish::failed(finish::stopped_by(reason));
                finished(finish.with_cut_text(answer.text()).with_usage(usage))
            }
        }
    }

    /// The answer is whole and calls nothing.
    fn done(&mut self, answer: &PartialAnswer, usage: TokenUsage) -> Transition {
        let text = answer.text();
        if text.is_some() || self.said {
            return finished(Finish::done().with_text(text).with_usage(usage));
        }
        if std::mem::replace(&mut self.nudged, true) {
            return finished(Finish::failed(finish::empty_twice()).with_usage(usage));
        }
        self.owed = usage;
        self.ask_within_limit(AskMode::Nudged)
    }

    fn pause(&mut self, answer: &PartialAnswer, usage: TokenUsage) -> Transition {
        self.pauses += 1;
        if self.pauses > MAX_PAUSES {
            let finish = Finish::failed(finish::paused_too_often());
            return finished(finish.with_cut_text(answer.text()).with_usage(usage));
        }
        if answer.text().is_none() {
            self.owed = usage;
            return self.ask_within_limit(AskMode::Plain);
        }
        self.said = true;
        store_step(
            CallBatch::default(),
            answer.parts_without_calls(&self.maker),
            None,
            usage,
            AfterStep::AskAgain,
        )
    }

    fn call(&mut self, answer: &PartialAnswer, usage: TokenUsage) -> Transition {
        self.trips += 1;
        let (batch, parts) = self.batch(answer);
        store_step(batch, parts, answer.text(), usage, AfterStep::Call)
    }

    /// Its calls are stored, because the user saw the turn work towards them, and none runs.
    fn cut_in_calls(&mut self, answer: &PartialAnswer, usage: TokenUsage) -> Transition {
        let (batch, parts) = self.batch(answer);
        store_step(batch, parts, answer.text(), usage, AfterStep::Fail(finish::cut_in_calls()))
    }

    fn batch(&mut self, answer: &PartialAnswer) -> (CallBatch, Vec<MessagePart>) {
        let cap = self.limits.calls_per_message;
        answer.batch(&self.kinds, &self.maker, cap, &mut self.ids)
    }
}
