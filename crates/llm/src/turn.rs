//! The rule book of a turn: a pure machine. It does no IO, reads no clock and rolls no dice.
//!
//! The driver feeds it [`TurnInput`]s and carries out its [`TurnEffect`]s in order. Whatever story
//! it is told: every stored call gets exactly one stored result, in call order; there is exactly
//! one [`TurnEffect::Finish`], and nothing after it. An input that does not fit the state changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{CallId, CallResult, Maker, Part, QuestionId, Usage, UserError};

use crate::changes::Verdict;
use crate::host::Limits;
use crate::model::{ModelError, ModelEvent, ToolCall};
use crate::purse::Purse;
use crate::tool::{Labels, ToolOutcome};
use crate::wording;

mod answer;
mod asking;
mod batch;
mod calling;
mod finish;
mod guard;
#[cfg(test)]
mod law;
mod so_far;
#[cfg(test)]
mod tests;

use answer::Answer;
use batch::Batch;
pub use finish::{Asked, Finish};
use guard::Guard;
pub use so_far::SoFar;

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
    /// What the turn may cost.
    pub purse: Option<Purse>,
    /// Who answers.
    pub maker: Maker,
    /// The tools on offer.
    pub kinds: BTreeMap<String, Kind>,
    /// The id of the question, should it end with one.
    pub question: QuestionId,
    /// Stretches waits before a retry; any value, best a random one.
    pub spread: u8,
    /// What it did before it was cut, if it was.
    pub so_far: SoFar,
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
    /// The request was not sent: the history has become too long for its budget.
    Full,
    /// Earlier messages were put together, or could not be; what trying cost, in billionths of a US
    /// dollar.
    Compacted(u64),
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
    /// Ask the model with the stored history. Answer with events, `Failed` or `Severed`; once with
    /// `Full` instead.
    Ask(How),
    /// Put earlier messages together. Answer with `Compacted`.
    Compact,
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
    maker: Maker,
    limits: Limits,
    purse: Option<Purse>,
    /// What answers cost that left nothing to store.
    owed: Usage,
    question: QuestionId,
    spread: u8,
    guard: Guard,
    ids: BTreeSet<CallId>,
    trips: u32,
    pauses: u32,
    nudged: bool,
    said: bool,
    stopped: bool,
    compacted: bool,
}

#[derive(Debug)]
enum State {
    New,
    Compacting { how: How, attempt: u32 },
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
        let SoFar { trips, calls, said } = rules.so_far;
        let ran = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        Self {
            state: State::New,
            guard: Guard::new(rules.limits.calls, ran),
            kinds: rules.kinds,
            maker: rules.maker,
            limits: rules.limits,
            purse: rules.purse,
            owed: Usage::default(),
            question: rules.question,
            spread: rules.spread,
            ids: calls,
            trips,
            pauses: 0,
            nudged: false,
            said,
            stopped: false,
            compacted: false,
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
            (State::New, TurnInput::Begun) => self.go_on(),
            (State::Waiting { how, attempt }, TurnInput::Waited) => ask(how, attempt + 1),
            (State::Asking { how, attempt, answer }, TurnInput::Full)
                if !self.compacted && answer.is_empty() =>
            {
                self.compacted = true;
                (State::Compacting { how, attempt }, vec![TurnEffect::Compact])
            }
            (State::Compacting { how, attempt }, TurnInput::Compacted(cost)) => {
                if let Some(purse) = &mut self.purse {
                    purse.take(cost);
                }
                self.ask_again(how, attempt)
            }
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
                    labels: Labels::Complete,
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

    /// Asks the model: at a limit only for its last words.
    fn go_on(&mut self) -> Next {
        let at_limit = self.trips >= self.limits.round_trips || self.guard.is_used_up();
        self.ask_on(if at_limit { How::Closing } else { How::Plain })
    }

    fn cancel(&mut self, state: State) -> Next {
        match state {
            State::New | State::Compacting { .. } | State::Waiting { .. } | State::Over => {
                over(Finish::cancelled())
            }
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

impl Turn {
    /// Takes note of what an answer cost; says what is to be stored for it.
    fn pay(&mut self, usage: Usage) -> Usage {
        if let Some(purse) = &mut self.purse {
            purse.pay(&usage);
        }
        let mut all = std::mem::take(&mut self.owed);
        all += usage;
        all
    }

    /// Asks again, unless what the turn may cost is spent: then it ends as at a limit.
    fn ask_on(&mut self, how: How) -> Next {
        self.ask_again(how, 1)
    }

    fn ask_again(&mut self, how: How, attempt: u32) -> Next {
        match self.purse.as_ref().and_then(Purse::empty) {
            None => ask(how, attempt),
            Some(reached) => {
                let owed = std::mem::take(&mut self.owed);
                over(Finish::failed(reached).at_limit().costing(owed))
            }
        }
    }
}

fn broke(state: State, error: UserError) -> Next {
    let finish = Finish::failed(error);
    over(match state {
        State::New | State::Compacting { .. } | State::Waiting { .. } | State::Over => finish,
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
