//! Where a turn is kept and told: each thing is stored first and told then.

use std::collections::BTreeMap;

use protocol::fault_injection::point;
use protocol::{
    CallId, CallResult, Message, MessagePart, OpenTurn, Question, QuestionId, Role, TokenUsage,
    TurnEnding, TurnStatus, TurnStep, UserError,
};

use super::{AnswerRecord, TurnExit};
use crate::context::{tokens, truncate};
use crate::ports::turn_policy::{ContextCapacity, TurnEvent, TurnSetup};
use crate::service::parts::ServiceParts;
use crate::tool_api::tool::{SourceLog, ToolEffect};
use crate::transport::clock::now;
use crate::turn::{Finish, RenewedRules, ResumeState, ToolKind, TurnInput, TurnRules};

/// Where a turn is kept and told.
pub(super) struct TurnRecorder<'a> {
    pub(super) parts: &'a ServiceParts,
    pub(super) turn: &'a OpenTurn,
    /// The id of the question, should the turn end with one.
    pub(super) question: QuestionId,
    pub(super) results: ResultStorage,
    /// The sources that the finished calls have read.
    pub(super) sources: BTreeMap<CallId, SourceLog>,
}

/// Of a window of fewer tokens a result takes no more than this part. In a larger one there is room for
/// several results as they come.
const SMALL_WINDOW: u32 = 20_000;
const RESULT_SHARE: u32 = 4;

/// How results are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultStorage {
    Whole,
    /// The long ones cut, with a handle to read on.
    Shortened,
    /// Cut after this many bytes: the model has room for no more.
    Cut(usize),
}

impl ResultStorage {
    /// A model that can read on is given long results cut.
    pub(super) fn of(setup: &TurnSetup) -> Self {
        let reads_on = setup.tools.iter().any(|tool| tool == truncate::READ_RESULT);
        match setup.capacity {
            ContextCapacity::Window(window) if window < SMALL_WINDOW => {
                Self::Cut(tokens::bytes_of(window / RESULT_SHARE))
            }
            ContextCapacity::Window(_) if reads_on => Self::Shortened,
            ContextCapacity::Window(_) | ContextCapacity::Unlimited | ContextCapacity::OwnTurn => {
                Self::Whole
            }
        }
    }
}

impl ResultStorage {
    /// How many bytes of a result a tool is to give.
    pub(super) fn max_output_bytes(self) -> usize {
        match self {
            Self::Whole | Self::Shortened => usize::MAX,
            Self::Cut(room) => room,
        }
    }
}

impl TurnRecorder<'_> {
    pub(super) fn publish(&self, event: TurnEvent) {
        self.parts.policy.publish(self.turn, event);
    }

    /// How the tools of this model are treated.
    fn tool_kinds(&self, setup: &TurnSetup) -> BTreeMap<String, ToolKind> {
        let registry = &self.parts.registry;
        let kind = |name: &str| match registry.effect(name) {
            _ if registry.changes_notes(name) => ToolKind::Change,
            Some(ToolEffect::Read) | None => ToolKind::Read,
            Some(_) => ToolKind::Talk,
        };
        setup.tools.iter().map(|name| (name.clone(), kind(name))).collect()
    }

    /// The rules that follow from the model, which was chosen again.
    pub(super) fn renewed_rules(&self, setup: &TurnSetup) -> RenewedRules {
        RenewedRules {
            spending_limit: setup.spending_limit.clone(),
            maker: setup.maker(),
            kinds: self.tool_kinds(setup),
        }
    }

    /// The rules for the turn; for one that was interrupted, with what it did before.
    pub(super) async fn rules(&self, setup: &TurnSetup) -> Result<TurnRules, UserError> {
        let kinds = self.tool_kinds(setup);
        let so_far = match self.turn.resumed {
            0 => ResumeState::default(),
            _ => {
                let OpenTurn { conversation, turn, .. } = self.turn;
                let history = self.parts.transcript.history(conversation, turn).await?;
                ResumeState::from_history(turn, &history.rows, &kinds)
            }
        };
        Ok(TurnRules {
            limits: setup.limits,
            spending_limit: setup.spending_limit.clone(),
            maker: setup.maker(),
            kinds,
            question: self.question.clone(),
            spread: fastrand::u8(..),
            resume: so_far,
        })
    }

    pub(super) async fn store_step(
        &self,
        answer: &AnswerRecord,
        parts: Vec<MessagePart>,
        usage: TokenUsage,
    ) -> TurnInput {
        let step = TurnStep { message: self.message(answer, parts), usage };
        point("llm.step.before");
        let stored = self.parts.transcript.step(&self.turn.turn, &step).await;
        point("llm.step.after");
        match stored {
            Ok(()) => {
                self.publish(TurnEvent::Stepped(step.message));
                TurnInput::Stored
            }
            Err(error) => TurnInput::Broke(error),
        }
    }

    /// Stores results as [`as_stored`](Self::as_stored) words them.
    pub(super) async fn store_results(&self, results: Vec<CallResult>) -> TurnInput {
        point("llm.results.before");
        let stored = self.parts.transcript.results(&self.turn.turn, &results).await;
        point("llm.results.after");
        match stored {
            Ok(()) => {
                self.publish(TurnEvent::Answered(results));
                TurnInput::Stored
            }
            Err(error) => TurnInput::Broke(error),
        }
    }

    pub(super) async fn end(&self, answer: &AnswerRecord, finish: Finish) -> TurnExit {
        let ending = self.ending(answer, finish);
        point("llm.finish.before");
        let stored = self.parts.transcript.finish(&self.turn.turn, &ending).await;
        point("llm.finish.after");
        match stored {
            Ok(()) => {
                self.publish(TurnEvent::Ended(ending));
                TurnExit::Ended
            }
            Err(error) => {
                let (status, error) = (TurnStatus::Failed, Some(error));
                self.publish(TurnEvent::Ended(TurnEnding {
                    status,
                    error,
                    question: None,
                    ..ending
                }));
                TurnExit::Unstored
            }
        }
    }

    /// The results as they are stored and told.
    pub(super) fn as_stored(&self, results: Vec<CallResult>) -> Vec<CallResult> {
        let told = |result: CallResult| {
            let sources = self.sources.get(&result.call).map(SourceLog::all).unwrap_or_default();
            let result = CallResult { sources, ..result };
            match self.results {
                ResultStorage::Whole => result,
                ResultStorage::Shortened => truncate::truncate_result(result),
                ResultStorage::Cut(room) => truncate::cut_result(result, room),
            }
        };
        results.into_iter().map(told).collect()
    }

    fn ending(&self, answer: &AnswerRecord, finish: Finish) -> TurnEnding {
        let at = now();
        let text = |text| self.message(answer, vec![MessagePart::Text { text }]);
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
        TurnEnding {
            status: finish.status,
            results: self.as_stored(finish.results),
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
    fn message(&self, answer: &AnswerRecord, parts: Vec<MessagePart>) -> Message {
        let told = answer.told.map(|told| MessagePart::Context { text: told.to_owned() });
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
