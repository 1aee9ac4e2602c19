//! Where a turn is kept and told: each thing is stored first and told then.

use std::collections::BTreeMap;

use protocol::fault::point;
use protocol::{
    CallId, CallResult, Ending, Message, OpenTurn, Part, Question, QuestionId, Role, Step,
    Timestamp, TurnStatus, Usage, UserError,
};

use super::{Answer, Ran};
use crate::host::{Capacity, TurnEvent, TurnSetup};
use crate::service::ServiceParts;
use crate::shorten;
use crate::tokens;
use crate::tool::{Effect, Shows};
use crate::turn::{Finish, Kind, Rules, SoFar, TurnInput};

/// Where a turn is kept and told.
pub(super) struct Place<'a> {
    pub(super) parts: &'a ServiceParts,
    pub(super) turn: &'a OpenTurn,
    /// The id of the question, should the turn end with one.
    pub(super) question: QuestionId,
    pub(super) results: Results,
    /// What the calls that ran have shown.
    pub(super) shows: BTreeMap<CallId, Shows>,
}

/// Of a window of fewer tokens a result takes no more than this part. In a larger one there is room for
/// several results as they come.
const SMALL_WINDOW: u32 = 20_000;
const PART_OF_A_RESULT: u32 = 4;

/// How results are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    Whole,
    /// The long ones cut, with a handle to read on.
    Shortened,
    /// Cut after so many bytes: the model has room for no more.
    Cut(usize),
}

impl Results {
    /// A model that can read on is given long results cut.
    pub(super) fn of(setup: &TurnSetup) -> Self {
        let reads_on = setup.tools.iter().any(|tool| tool == shorten::READ_RESULT);
        match setup.capacity {
            Capacity::Window(window) if window < SMALL_WINDOW => {
                Self::Cut(tokens::bytes_of(window / PART_OF_A_RESULT))
            }
            Capacity::Window(_) if reads_on => Self::Shortened,
            Capacity::Window(_) | Capacity::Unlimited | Capacity::OwnTurn => Self::Whole,
        }
    }
}

impl Results {
    /// How many bytes of a result a tool is to give.
    pub(super) fn room(self) -> usize {
        match self {
            Self::Whole | Self::Shortened => usize::MAX,
            Self::Cut(room) => room,
        }
    }
}

impl Place<'_> {
    pub(super) fn tell(&self, event: TurnEvent) {
        self.parts.host.tell(self.turn, event);
    }

    /// What the rule book is told; of a turn that was cut, with what it did before.
    pub(super) async fn rules(&self, setup: &TurnSetup) -> Result<Rules, UserError> {
        let registry = &self.parts.registry;
        let kind = |name: &str| match registry.effect(name) {
            _ if registry.changes_notes(name) => Kind::Change,
            Some(Effect::Read) | None => Kind::Read,
            Some(_) => Kind::Talk,
        };
        let kinds = setup.tools.iter().map(|name| (name.clone(), kind(name))).collect();
        let so_far = match self.turn.resumed {
            0 => SoFar::default(),
            _ => {
                let OpenTurn { conversation, turn, .. } = self.turn;
                let history = self.parts.transcript.history(conversation, turn).await?;
                SoFar::of(turn, &history.rows, &kinds)
            }
        };
        Ok(Rules {
            limits: setup.limits,
            purse: setup.purse.clone(),
            maker: setup.maker(),
            kinds,
            question: self.question.clone(),
            spread: fastrand::u8(..),
            so_far,
        })
    }

    pub(super) async fn store_step(
        &self,
        answer: &Answer,
        parts: Vec<Part>,
        usage: Usage,
    ) -> TurnInput {
        let step = Step { message: self.message(answer, parts), usage };
        point("llm.step.before");
        let stored = self.parts.transcript.step(&self.turn.turn, &step).await;
        point("llm.step.after");
        match stored {
            Ok(()) => {
                self.tell(TurnEvent::Stepped(step.message));
                TurnInput::Stored
            }
            Err(error) => TurnInput::Broke(error),
        }
    }

    /// Stores results as [`told`](Self::told) worded them.
    pub(super) async fn store_results(&self, results: Vec<CallResult>) -> TurnInput {
        point("llm.results.before");
        let stored = self.parts.transcript.results(&self.turn.turn, &results).await;
        point("llm.results.after");
        match stored {
            Ok(()) => {
                self.tell(TurnEvent::Answered(results));
                TurnInput::Stored
            }
            Err(error) => TurnInput::Broke(error),
        }
    }

    pub(super) async fn end(&self, answer: &Answer, finish: Finish) -> Ran {
        let ending = self.ending(answer, finish);
        point("llm.finish.before");
        let stored = self.parts.transcript.finish(&self.turn.turn, &ending).await;
        point("llm.finish.after");
        match stored {
            Ok(()) => {
                self.tell(TurnEvent::Ended(ending));
                Ran::Ended
            }
            Err(error) => {
                let (status, error) = (TurnStatus::Failed, Some(error));
                self.tell(TurnEvent::Ended(Ending { status, error, question: None, ..ending }));
                Ran::Unstored
            }
        }
    }

    /// The results as they are stored and told.
    pub(super) fn told(&self, results: Vec<CallResult>) -> Vec<CallResult> {
        let told = |result: CallResult| {
            let sources = self.shows.get(&result.call).map(Shows::all).unwrap_or_default();
            let result = CallResult { sources, ..result };
            match self.results {
                Results::Whole => result,
                Results::Shortened => shorten::shortened(result),
                Results::Cut(room) => shorten::cut(result, room),
            }
        };
        results.into_iter().map(told).collect()
    }

    fn ending(&self, answer: &Answer, finish: Finish) -> Ending {
        let at = now();
        let text = |text| self.message(answer, vec![Part::Text { text }]);
        let question = finish.question.map(|asked| Question {
            id: self.question.clone(),
            conversation: self.turn.conversation.clone(),
            turn: self.turn.turn.clone(),
            call: asked.call,
            original_message: self.turn.message.clone(),
            text: asked.message,
            options: asked.options,
            tool_calls_completed: asked.calls_before,
            asked_at: at,
        });
        Ending {
            status: finish.status,
            results: self.told(finish.results),
            message: finish.text.map(text),
            cut: finish.cut,
            question,
            ends_conversation: finish.ends_conversation,
            error: finish.error,
            usage: finish.usage,
            at,
        }
    }

    /// The answer behind what the model was told for it.
    fn message(&self, answer: &Answer, parts: Vec<Part>) -> Message {
        let told = answer.told.map(|told| Part::Context { text: told.to_owned() });
        let parts = told.into_iter().chain(parts).collect();
        Message {
            id: answer.id.clone(),
            conversation: self.turn.conversation.clone(),
            turn: self.turn.turn.clone(),
            role: Role::Assistant,
            parts,
            at: now(),
        }
    }
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
