//! The rule book of a turn: a pure machine. It does no IO, reads no clock and rolls no dice.
//!
//! The driver feeds it [`TurnInput`]s and carries out its [`TurnEffect`]s in order. Whatever story
//! it is told: every stored call gets exactly one stored result, in call order; there is exactly
//! one [`TurnEffect::Finish`], and nothing after it. An input that does not fit the state changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{CallId, CallResult, Part, QuestionId, Usage, UserError};

use crate::changes::Verdict;
use crate::host::Limits;
use crate::model::{ModelError, ModelEvent, StopReason, ToolCall};
use crate::retry;
use crate::tool::{Control, ToolOutcome};
use crate::wording;

mod answer;
mod batch;
mod finish;
mod guard;
#[cfg(test)]
mod law;
#[cfg(test)]
mod tests;

use answer::Answer;
use batch::{Batch, Segment};
pub use finish::{Asked, Finish};
use guard::Guard;

/// How often a paused answer is sent back in one turn.
pub const PAUSES: u32 = 5;

/// How the turn treats a tool's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Runs beside other reads. Calls of unknown tools count as reads: they only get an error.
    Read,
    /// Plans changes, alone and in call order.
    Change,
    /// Talks or ends, alone and in call order.
    Talk,
}

/// What a turn is told before it begins.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The limits.
    pub limits: Limits,
    /// The tools on offer.
    pub kinds: BTreeMap<String, Kind>,
    /// The id of the question, should it end with one.
    pub question: QuestionId,
    /// Stretches waits before a retry; any value, best a random one.
    pub spread: u8,
}

/// What happens to a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnInput {
    /// It begins.
    Begun,
    /// The model said something.
    Event(ModelEvent),
    /// There is no (whole) answer.
    Failed(ModelError),
    /// The stream ended without a stop.
    Severed,
    /// The step or the results of the last effect are durable.
    Stored,
    /// A call ran.
    Outcome(CallId, ToolOutcome),
    /// A plan was judged.
    Verdict(CallId, Verdict),
    /// The wait is over.
    Waited,
    /// The user stops the turn.
    Cancel,
    /// What the turn stands on failed: nobody to ask, or a step or results were not stored.
    Broke(UserError),
}

/// What the driver does next, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEffect {
    /// Ask the model with the stored history. Answer with events, `Failed` or `Severed`.
    Ask(How),
    /// Show more words of the answer.
    Show(String),
    /// Store an answer of the model. Answer with `Stored` or `Broke`.
    StoreStep {
        /// Text and calls, in order; each call has an id that is new in the turn.
        parts: Vec<Part>,
        /// What the answer cost.
        usage: Usage,
    },
    /// Run these calls, all stored, side by side. Answer with one `Outcome` each, in any order.
    Run(Vec<ToolCall>),
    /// Let this stored call plan, and have the plan judged. Answer with `Verdict` or `Outcome`.
    Plan(ToolCall),
    /// Store results, in call order. Answer with `Stored` or `Broke`.
    StoreResults(Vec<CallResult>),
    /// Wait. Answer with `Waited`.
    Wait(Duration),
    /// End the turn. Nothing follows.
    Finish(Finish),
}

/// How the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// With the history and all tools on offer.
    Plain,
    /// Also told that its last answer was empty.
    Nudged,
    /// Without tools, and told to close.
    Closing,
}

/// One turn.
#[derive(Debug)]
pub struct Turn {
    state: State,
    kinds: BTreeMap<String, Kind>,
    limits: Limits,
    question: QuestionId,
    spread: u8,
    guard: Guard,
    ids: BTreeSet<CallId>,
    trips: u32,
    pauses: u32,
    nudged: bool,
    said: bool,
    stopped: bool,
}

#[derive(Debug)]
enum State {
    New,
    Asking { how: How, attempt: u32, answer: Answer },
    Waiting { how: How, attempt: u32 },
    StoringStep { batch: Batch, text: Option<String>, then: Then },
    Calling(Batch),
    StoringResults(Batch),
    Over,
}

/// What follows a stored step.
#[derive(Debug)]
enum Then {
    Call,
    AskAgain,
    Fail(UserError),
}

type Next = (State, Vec<TurnEffect>);

impl Turn {
    /// A turn that has not begun.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            state: State::New,
            guard: Guard::new(rules.limits.calls),
            kinds: rules.kinds,
            limits: rules.limits,
            question: rules.question,
            spread: rules.spread,
            ids: BTreeSet::new(),
            trips: 0,
            pauses: 0,
            nudged: false,
            said: false,
            stopped: false,
        }
    }

    /// Takes in what happened and says what to do.
    pub fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        let state = std::mem::replace(&mut self.state, State::Over);
        let (state, effects) = self.next(state, input);
        self.state = state;
        effects
    }

    fn next(&mut self, state: State, input: TurnInput) -> Next {
        match (state, input) {
            (State::Over, _) => (State::Over, Vec::new()),
            (state, TurnInput::Cancel) => self.cancel(state),
            (state, TurnInput::Broke(error)) => broke(state, error),
            (State::New, TurnInput::Begun) => ask(How::Plain, 1),
            (State::Waiting { how, attempt }, TurnInput::Waited) => ask(how, attempt + 1),
            (State::Asking { how, attempt, answer }, input) => {
                self.hear(how, attempt, answer, input)
            }
            (State::StoringStep { batch, then, .. }, TurnInput::Stored) => {
                self.step_stored(batch, then)
            }
            (State::Calling(batch), TurnInput::Outcome(call, outcome)) => {
                self.ran(batch, &call, outcome)
            }
            (State::Calling(batch), TurnInput::Verdict(call, verdict)) => {
                let outcome = ToolOutcome {
                    output: verdict.output,
                    is_error: verdict.is_error,
                    control: None,
                    reactions: verdict.reactions,
                    seen: verdict.seen,
                };
                self.ran(batch, &call, outcome)
            }
            (State::StoringResults(mut batch), TurnInput::Stored) => {
                batch.stored();
                self.call_next(batch)
            }
            (state, _) => (state, Vec::new()),
        }
    }

    fn hear(&mut self, how: How, attempt: u32, mut answer: Answer, input: TurnInput) -> Next {
        match input {
            TurnInput::Event(ModelEvent::Stopped { reason, usage }) => {
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
        ask(How::Nudged, 1)
    }

    fn pause(&mut self, answer: &Answer, usage: Usage) -> Next {
        self.pauses += 1;
        if self.pauses > PAUSES {
            let finish = Finish::failed(finish::paused_too_often());
            return over(finish.saying_cut(answer.text()).costing(usage));
        }
        let Some(text) = answer.text() else { return ask(How::Plain, 1) };
        self.said = true;
        store_step(Batch::default(), vec![Part::Text { text }], None, usage, Then::AskAgain)
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
        answer.batch(&self.kinds, self.limits.calls_per_message, &mut self.ids)
    }

    fn step_stored(&mut self, batch: Batch, then: Then) -> Next {
        match then {
            Then::Fail(error) => {
                let results = batch.close(|_| wording::CUT_CALL);
                over(Finish { cut: true, ..Finish::failed(error) }.with_results(results))
            }
            Then::Call => self.call_next(batch),
            Then::AskAgain if self.stopped => over(Finish::cancelled()),
            Then::AskAgain => ask(How::Plain, 1),
        }
    }

    fn call_next(&mut self, mut batch: Batch) -> Next {
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
            Segment::Over if self.trips >= self.limits.round_trips || self.guard.is_used_up() => {
                ask(How::Closing, 1)
            }
            Segment::Over => ask(How::Plain, 1),
        }
    }

    fn ran(&mut self, mut batch: Batch, call: &CallId, mut outcome: ToolOutcome) -> Next {
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

    fn cancel(&mut self, state: State) -> Next {
        match state {
            State::New | State::Waiting { .. } | State::Over => over(Finish::cancelled()),
            State::Asking { answer, .. } => over(Finish::cancelled().saying_cut(answer.text())),
            State::Calling(batch) => {
                let results = batch.close(|_| wording::CANCELLED);
                over(Finish::cancelled().with_results(results))
            }
            // Whether the calls are stored is known only when the store answers.
            storing @ (State::StoringStep { .. } | State::StoringResults(_)) => {
                self.stopped = true;
                (storing, Vec::new())
            }
        }
    }
}

fn broke(state: State, error: UserError) -> Next {
    let finish = Finish::failed(error);
    over(match state {
        State::New | State::Waiting { .. } | State::Over => finish,
        State::Asking { answer, .. } => finish.saying_cut(answer.text()),
        // The step is not stored, so its calls need no results; its words were shown.
        State::StoringStep { text, .. } => finish.saying_cut(text),
        State::Calling(batch) | State::StoringResults(batch) => {
            finish.with_results(batch.close(|_| wording::NO_RESULT))
        }
    })
}

fn ask(how: How, attempt: u32) -> Next {
    (State::Asking { how, attempt, answer: Answer::default() }, vec![TurnEffect::Ask(how)])
}

fn store_step(
    batch: Batch,
    parts: Vec<Part>,
    text: Option<String>,
    usage: Usage,
    then: Then,
) -> Next {
    let effect = TurnEffect::StoreStep { parts, usage };
    (State::StoringStep { batch, text, then }, vec![effect])
}

fn store_results(batch: Batch) -> Next {
    let results = batch.to_store();
    (State::StoringResults(batch), vec![TurnEffect::StoreResults(results)])
}

fn over(finish: Finish) -> Next {
    (State::Over, vec![TurnEffect::Finish(finish)])
}
