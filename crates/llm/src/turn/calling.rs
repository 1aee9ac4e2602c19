//! What the turn does with the calls of a stored step.

use protocol::CallId;

use super::batch::{Batch, Segment};
use super::{Asked, Finish, How, Kind, Next, State, Then, Turn, TurnEffect};
use super::{over, store_results};
use crate::tool::{Control, ToolOutcome};
use crate::wording;

impl Turn {
    pub(super) fn step_stored(&mut self, batch: Batch, then: Then) -> Next {
        match then {
            Then::Fail(error) => {
                let results = batch.close(|_| wording::CUT_CALL);
                over(Finish { cut: true, ..Finish::failed(error) }.with_results(results))
            }
            Then::Call => self.call_next(batch),
            Then::AskAgain if self.stopped => over(Finish::cancelled()),
            Then::AskAgain => self.ask_on(How::Plain),
        }
    }

    pub(super) fn call_next(&mut self, mut batch: Batch) -> Next {
        if self.stopped {
            let results = batch.close(|_| wording::CANCELLED);
            return over(Finish::cancelled().with_results(results));
        }
        match batch.advance(&mut self.guard) {
            Segment::Side(calls) => (State::Calling(batch), vec![TurnEffect::Run(calls)]),
            Segment::Alone(call, Kind::Change) => {
                (State::Calling(batch), vec![TurnEffect::Plan(call)])
            }
            Segment::Alone(call, Kind::Read | Kind::Talk) => {
                (State::Calling(batch), vec![TurnEffect::Run(vec![call])])
            }
            Segment::Refused => store_results(batch),
            Segment::Over => self.go_on(),
        }
    }

    pub(super) fn ran(
        &mut self,
        mut batch: Batch,
        call: &CallId,
        mut outcome: ToolOutcome,
    ) -> Next {
        let control = outcome.control.take();
        if let (Some(Control::Ask { .. }), Some(Kind::Talk)) = (&control, batch.open_kind(call)) {
            outcome.output = wording::delivered(&self.question);
        }
        let Some((ran, kind)) = batch.settle(call, outcome) else {
            return (State::Calling(batch), Vec::new());
        };
        self.guard.learn(&ran.call, ran.is_error);
        match control.filter(|_| kind == Kind::Talk) {
            Some(Control::Ask { message, options }) => {
                let before = self.guard.ran().saturating_sub(1);
                let asked = Asked { call: call.clone(), message, options, calls_before: before };
                let results = batch.close(|kind| match kind {
                    Kind::Talk => wording::SECOND_QUESTION,
                    Kind::Read | Kind::Change => wording::WAITING_FOR_USER,
                });
                over(Finish::asked(asked).with_results(results))
            }
            Some(Control::End { .. }) => {
                let results = batch.close(|_| wording::CONVERSATION_ENDED);
                over(Finish::done().with_results(results).ending_the_conversation())
            }
            Some(Control::Say(_)) => {
                self.said = true;
                store_results(batch)
            }
            None if batch.is_settled() => store_results(batch),
            None => (State::Calling(batch), Vec::new()),
        }
    }
}
