//! What the turn does while it hears an answer, and when the answer ends.

use protocol::{Part, Usage};

use super::answer::Answer;
use super::batch::Batch;
use super::{Finish, How, Next, PAUSES, State, Then, Turn, TurnEffect, TurnInput};
use super::{finish, over, store_step};
use crate::model::{ModelError, ModelEvent, StopReason};
use crate::retry;

impl Turn {
    pub(super) fn hear(
        &mut self,
        how: How,
        attempt: u32,
        mut answer: Answer,
        input: TurnInput,
    ) -> Next {
        match input {
            TurnInput::Event(ModelEvent::Stopped { reason, usage }) => {
                let usage = self.pay(usage);
                self.answered(how, &answer, reason, usage)
            }
            TurnInput::Event(event) => {
                let shown = answer.hear(event).map(TurnEffect::Show);
                (State::Asking { how, attempt, answer }, shown.into_iter().collect())
            }
            TurnInput::Failed(error) => self.failed(how, attempt, &answer, error),
            TurnInput::Severed => {
                let error = ModelError::Network(
                    "The answer broke off before its end: check the network, then try again."
                        .into(),
                );
                self.failed(how, attempt, &answer, error)
            }
            _ => (State::Asking { how, attempt, answer }, Vec::new()),
        }
    }

    fn failed(&self, how: How, attempt: u32, answer: &Answer, error: ModelError) -> Next {
        if !answer.is_shown()
            && let Some(wait) = retry::decide(&error, attempt, self.spread)
        {
            return (State::Waiting { how, attempt }, vec![TurnEffect::Wait(wait)]);
        }
        let finish = Finish::failed(error.into()).saying_cut(answer.text());
        over(if how == How::Closing { finish.at_limit() } else { finish })
    }

    fn answered(&mut self, how: How, answer: &Answer, reason: StopReason, usage: Usage) -> Next {
        if how == How::Closing {
            let finish = Finish::done().at_limit().costing(usage);
            return over(match reason {
                StopReason::EndTurn | StopReason::StopSequence => finish.saying(answer.text()),
                _ => finish.saying_cut(answer.text()),
            });
        }
        match reason {
            StopReason::ToolUse if answer.has_calls() => self.call(answer, usage),
            StopReason::EndTurn | StopReason::StopSequence | StopReason::ToolUse => {
                self.done(answer, usage)
            }
            StopReason::MaxTokens if answer.has_calls() => self.cut_in_calls(answer, usage),
            StopReason::MaxTokens if answer.text().is_some() => {
                over(Finish::done().saying_cut(answer.text()).costing(usage))
            }
            StopReason::PauseTurn => self.pause(answer, usage),
            StopReason::MaxTokens
            | StopReason::Refusal
            | StopReason::ContextExceeded
            | StopReason::Unknown => {
                let finish = Finish::failed(finish::stopped_by(reason));
                over(finish.saying_cut(answer.text()).costing(usage))
            }
        }
    }

    /// The answer is whole and calls nothing.
    fn done(&mut self, answer: &Answer, usage: Usage) -> Next {
        let text = answer.text();
        if text.is_some() || self.said {
            return over(Finish::done().saying(text).costing(usage));
        }
        if std::mem::replace(&mut self.nudged, true) {
            return over(Finish::failed(finish::empty_twice()).costing(usage));
        }
        self.owed = usage;
        self.ask_on(How::Nudged)
    }

    fn pause(&mut self, answer: &Answer, usage: Usage) -> Next {
        self.pauses += 1;
        if self.pauses > PAUSES {
            let finish = Finish::failed(finish::paused_too_often());
            return over(finish.saying_cut(answer.text()).costing(usage));
        }
        if answer.text().is_none() {
            self.owed = usage;
            return self.ask_on(How::Plain);
        }
        self.said = true;
        store_step(Batch::default(), answer.words(&self.maker), None, usage, Then::AskAgain)
    }

    fn call(&mut self, answer: &Answer, usage: Usage) -> Next {
        self.trips += 1;
        let (batch, parts) = self.batch(answer);
        store_step(batch, parts, answer.text(), usage, Then::Call)
    }

    /// Its calls are stored, because the user saw the turn work towards them, and none runs.
    fn cut_in_calls(&mut self, answer: &Answer, usage: Usage) -> Next {
        let (batch, parts) = self.batch(answer);
        store_step(batch, parts, answer.text(), usage, Then::Fail(finish::cut_in_calls()))
    }

    fn batch(&mut self, answer: &Answer) -> (Batch, Vec<Part>) {
        let cap = self.limits.calls_per_message;
        answer.batch(&self.kinds, &self.maker, cap, &mut self.ids)
    }
}
