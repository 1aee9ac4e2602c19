//! The rule book of a turn: a pure machine. It does no IO, reads no clock and rolls no dice.
//!
//! The driver feeds it [`TurnInput`]s and carries out its [`TurnEffect`]s in order. Whatever story
//! it is told: every stored call gets exactly one stored result, in call order; there is exactly
//! one [`TurnEffect::Finish`], and nothing after it. An input that does not fit the state changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{AnswerAuthor, CallId, CallResult, MessagePart, QuestionId, TokenUsage, UserError};

use crate::context::model_texts;
use crate::model::{ModelError, ModelEvent, ToolCall};
use crate::ports::change_applier::ChangeOutcome;
use crate::ports::turn_policy::TurnLimits;
use crate::tool_api::tool::{SourceLabels, ToolOutcome};
use crate::turn::spending_limit::SpendingLimit;

mod answer;
mod batch;
mod calling;
mod finish;
mod loop_guard;
#[cfg(test)]
mod property_tests;
mod receiving;
mod resume;
#[cfg(test)]
mod speech_tests;
pub(crate) mod spending_limit;
#[cfg(test)]
mod tests;
mod tool_kind;
#[cfg(test)]
mod usage_tests;

use answer::PartialAnswer;
use batch::CallBatch;
pub use finish::{Finish, TurnQuestion};
use loop_guard::LoopGuard;
pub use resume::ResumeState;
pub use tool_kind::ToolKind;

/// How often a paused answer is sent back in one turn.
pub const MAX_PAUSES: u32 = 5;

/// The rules of a turn, given before it begins.
#[derive(Debug, Clone)]
pub struct TurnRules {
    /// The limits on requests and calls.
    pub limits: TurnLimits,
    /// The limit on the cost; `None` if the model costs nothing, or its price is unknown.
    pub spending_limit: Option<SpendingLimit>,
    /// The provider and model that the answers are stored with.
    pub maker: AnswerAuthor,
    /// The tools on offer.
    pub kinds: BTreeMap<String, ToolKind>,
    /// The id of the question, should it end with one.
    pub question: QuestionId,
    /// Stretches waits before a retry; any value, best a random one.
    pub spread: u8,
    /// The work that it did before it was interrupted, if it was.
    pub resume: ResumeState,
}

/// The rules that follow from the model, when it is chosen again within a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct RenewedRules {
    /// The spending limit; it knows the cost of all that is stored.
    pub spending_limit: Option<SpendingLimit>,
    /// The provider and model that the answers from now on are stored with.
    pub maker: AnswerAuthor,
    /// The tools on offer.
    pub kinds: BTreeMap<String, ToolKind>,
}

/// An event of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnInput {
    /// It begins.
    Begun,
    /// The request is on its way, with a prompt of this many tokens, as estimated: from now on it
    /// counts, unless the server refuses it. Not told where no model is asked.
    Sent(u32),
    /// Before the request was sent, the model was chosen again: the turn goes on by these rules.
    Renewed(RenewedRules),
    /// An event of the model's answer.
    Event(ModelEvent),
    /// There is no (whole) answer.
    Failed(ModelError),
    /// The request was too long for the model. It can be built again so that it fits, which is no further attempt: the
    /// caller tells this a limited number of times in a turn.
    TooLong(ModelError),
    /// The stream ended without a stop.
    Severed,
    /// The step or the results of the last effect are durable.
    Stored,
    /// The request was not sent: the history has become too long for its budget.
    Full,
    /// Earlier messages were summarized, or could not be; the cost of it, in billionths of a US
    /// dollar.
    Compacted(u64),
    /// A call ran.
    Outcome(CallId, ToolOutcome),
    /// A plan was judged.
    Decision(CallId, ChangeOutcome),
    /// The wait is over.
    Waited,
    /// The user stops the turn.
    Cancel,
    /// A failure that ends the turn: no model to ask, or a step or results were not stored.
    Broke(UserError),
}

/// An action for the driver, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEffect {
    /// Ask the model with the stored history. Answer with events, `Failed` or `Severed`; once with
    /// `Full` instead.
    Ask(AskMode),
    /// Put earlier messages together. Answer with `Compacted`.
    Compact,
    /// Show more text of the answer.
    Show(String),
    /// Store an answer of the model. Answer with `Stored` or `Broke`.
    StoreStep {
        /// Text and calls, in order; each call has an id that is new in the turn.
        parts: Vec<MessagePart>,
        /// The tokens of the answer.
        usage: TokenUsage,
    },
    /// Run these calls, all stored, side by side. Answer with one `Outcome` each, in any order.
    Run(Vec<ToolCall>),
    /// Let this stored call plan, and have the plan judged. Answer with `Decision` or `Outcome`.
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
pub enum AskMode {
    /// With the history and all tools on offer.
    Plain,
    /// Also told that its last answer was empty.
    Nudged,
    /// Without tools, and told to close.
    Closing,
}

/// A pure state machine of one turn: each input returns the effects to carry out, in order.
#[derive(Debug)]
pub struct Turn {
    state: TurnState,
    kinds: BTreeMap<String, ToolKind>,
    maker: AnswerAuthor,
    limits: TurnLimits,
    spending_limit: Option<SpendingLimit>,
    /// The usage of answers that left nothing to store, and of requests that broke off.
    owed: TokenUsage,
    question: QuestionId,
    spread: u8,
    guard: LoopGuard,
    ids: BTreeSet<CallId>,
    trips: u32,
    /// How often the server of this step's request was still loading the model.
    loading_waits: u32,
    pauses: u32,
    nudged: bool,
    said: bool,
    stopped: bool,
    compacted: bool,
}

#[derive(Debug)]
enum TurnState {
    New,
    Compacting {
        how: AskMode,
        attempt: u32,
    },
    Asking {
        how: AskMode,
        attempt: u32,
        answer: PartialAnswer,
    },
    /// Until the next attempt.
    Waiting {
        how: AskMode,
        attempt: u32,
    },
    StoringStep {
        batch: CallBatch,
        text: Option<String>,
        usage: TokenUsage,
        then: AfterStep,
    },
    Calling(CallBatch),
    StoringResults(CallBatch),
    Over,
}

/// The state after a stored step.
#[derive(Debug)]
enum AfterStep {
    Call,
    AskAgain,
    Fail(UserError),
}

type Transition = (TurnState, Vec<TurnEffect>);

impl Turn {
    /// A turn that has not begun.
    #[must_use]
    pub fn new(rules: TurnRules) -> Self {
        let ResumeState { trips, calls, said } = rules.resume;
        let ran = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        Self {
            state: TurnState::New,
            guard: LoopGuard::new(rules.limits.calls, ran),
            kinds: rules.kinds,
            maker: rules.maker,
            limits: rules.limits,
            spending_limit: rules.spending_limit,
            owed: TokenUsage::default(),
            question: rules.question,
            spread: rules.spread,
            ids: calls,
            trips,
            loading_waits: 0,
            pauses: 0,
            nudged: false,
            said,
            stopped: false,
            compacted: false,
        }
    }

    /// Takes in what happened and says what to do.
    pub fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        let state = std::mem::replace(&mut self.state, TurnState::Over);
        let (state, effects) = self.transition(state, input);
        self.state = state;
        effects
    }

    /// The tokens of its requests until now that no effect has told of: what is to be counted if the turn is
    /// left as it is.
    #[must_use]
    pub fn unstored_usage(&self) -> TokenUsage {
        let mut all = self.owed;
        if let TurnState::Asking { answer, .. } = &self.state {
            all += answer.usage.so_far();
        }
        all
    }

    fn transition(&mut self, state: TurnState, input: TurnInput) -> Transition {
        match (state, input) {
            (TurnState::Over, _) => (TurnState::Over, Vec::new()),
            (state, TurnInput::Cancel) => self.cancel(state),
            (state, TurnInput::Broke(error)) => self.fail(state, error),
            (TurnState::New, TurnInput::Begun) => self.ask_next(),
            (TurnState::Waiting { how, attempt }, TurnInput::Waited) => {
                self.begin_attempt(how, attempt)
            }
            (TurnState::Asking { how, attempt, answer }, TurnInput::Renewed(rules))
                if answer.is_empty() =>
            {
                self.renew(rules);
                self.begin_attempt(how, attempt)
            }
            (TurnState::Asking { how, attempt, answer }, TurnInput::Full)
                if !self.compacted && answer.is_empty() =>
            {
                self.compacted = true;
                (TurnState::Compacting { how, attempt }, vec![TurnEffect::Compact])
            }
            (TurnState::Compacting { how, attempt }, TurnInput::Compacted(cost)) => {
                if let Some(limit) = &mut self.spending_limit {
                    limit.charge(cost);
                }
                self.begin_attempt(how, attempt)
            }
            (TurnState::Asking { how, attempt, answer }, input) => {
                self.receive(how, attempt, answer, input)
            }
            (TurnState::StoringStep { batch, then, .. }, TurnInput::Stored) => {
                self.step_stored(batch, then)
            }
            (TurnState::Calling(batch), TurnInput::Outcome(call, outcome)) => {
                self.call_finished(batch, &call, outcome)
            }
            (TurnState::Calling(batch), TurnInput::Decision(call, outcome)) => {
                let outcome = ToolOutcome {
                    labels: SourceLabels::Complete,
                    output: outcome.output,
                    is_error: outcome.is_error,
                    speech: None,
                    reactions: outcome.reactions,
                    seen: outcome.seen,
                };
                self.call_finished(batch, &call, outcome)
            }
            (TurnState::StoringResults(mut batch), TurnInput::Stored) => {
                batch.mark_stored();
                self.call_next(batch)
            }
            (state, _) => (state, Vec::new()),
        }
    }

    /// Asks the model: at a limit only for its last text.
    fn ask_next(&mut self) -> Transition {
        let at_limit = self.trips >= self.limits.round_trips || self.guard.is_used_up();
        self.ask_within_limit(if at_limit { AskMode::Closing } else { AskMode::Plain })
    }

    fn cancel(&mut self, state: TurnState) -> Transition {
        match state {
            TurnState::New
            | TurnState::Compacting { .. }
            | TurnState::Waiting { .. }
            | TurnState::Over => {
                let owed = std::mem::take(&mut self.owed);
                finished(Finish::cancelled().with_usage(owed))
            }
            TurnState::Asking { answer, .. } => {
                let usage = self.charge(answer.usage.so_far());
                let finish = Finish::cancelled().with_cut_text(answer.text());
                finished(finish.with_usage(usage))
            }
            TurnState::Calling(batch) => {
                let results = batch.close(|_| model_texts::CANCELLED);
                finished(Finish::cancelled().with_results(results))
            }
            // Whether the calls are stored is known only when the store answers.
            storing @ (TurnState::StoringStep { .. } | TurnState::StoringResults(_)) => {
                self.stopped = true;
                (storing, Vec::new())
            }
        }
    }
}

impl Turn {
    /// Takes note of what an answer cost; says what is to be stored for it.
    fn charge(&mut self, usage: TokenUsage) -> TokenUsage {
        if let Some(limit) = &mut self.spending_limit {
            limit.charge_usage(&usage);
        }
        let mut all = std::mem::take(&mut self.owed);
        all += usage;
        all
    }

    /// Tokens that were spent and are not stored yet count against the new limit as well.
    fn renew(&mut self, rules: RenewedRules) {
        let RenewedRules { spending_limit, maker, kinds } = rules;
        (self.spending_limit, self.maker, self.kinds) = (spending_limit, maker, kinds);
        if let Some(limit) = &mut self.spending_limit {
            limit.charge_usage(&self.owed);
        }
    }

    /// Sends the next request, unless the limit of the turn is spent: then it ends as at a limit.
    fn ask_within_limit(&mut self, mode: AskMode) -> Transition {
        self.loading_waits = 0;
        self.begin_attempt(mode, 1)
    }

    fn fail(&mut self, state: TurnState, error: UserError) -> Transition {
        let finish = Finish::failed(error);
        finished(match state {
            TurnState::New
            | TurnState::Compacting { .. }
            | TurnState::Waiting { .. }
            | TurnState::Over => finish.with_usage(std::mem::take(&mut self.owed)),
            TurnState::Asking { answer, .. } => {
                let usage = self.charge(answer.usage.so_far());
                finish.with_cut_text(answer.text()).with_usage(usage)
            }
            // The step is not stored, so its calls need no results; its text was shown.
            TurnState::StoringStep { text, usage, .. } => {
                finish.with_cut_text(text).with_usage(usage)
            }
            TurnState::Calling(batch) | TurnState::StoringResults(batch) => {
                finish.with_results(batch.close(|_| model_texts::NO_RESULT))
            }
        })
    }

    fn begin_attempt(&mut self, mode: AskMode, attempt: u32) -> Transition {
        match self.spending_limit.as_ref().and_then(SpendingLimit::exhausted) {
            None => ask(mode, attempt),
            Some(reached) => {
                let owed = std::mem::take(&mut self.owed);
                finished(Finish::failed(reached).at_limit().with_usage(owed))
            }
        }
    }
}

fn ask(mode: AskMode, attempt: u32) -> Transition {
    (
        TurnState::Asking { how: mode, attempt, answer: PartialAnswer::default() },
        vec![TurnEffect::Ask(mode)],
    )
}

fn store_step(
    batch: CallBatch,
    parts: Vec<MessagePart>,
    text: Option<String>,
    usage: TokenUsage,
    next: AfterStep,
) -> Transition {
    let effect = TurnEffect::StoreStep { parts, usage };
    (TurnState::StoringStep { batch, text, usage, then: next }, vec![effect])
}

fn store_results(batch: CallBatch) -> Transition {
    let results = batch.to_store();
    (TurnState::StoringResults(batch), vec![TurnEffect::StoreResults(results)])
}

fn finished(finish: Finish) -> Transition {
    (TurnState::Over, vec![TurnEffect::Finish(finish)])
}
