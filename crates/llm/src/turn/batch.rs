//! The calls of one answer: which run next, and which results are stored.

use protocol::{CallId, CallResult};

use super::loop_guard::LoopGuard;
use super::tool_kind::ToolKind;
use crate::context::model_texts;
use crate::model::ToolCall;
use crate::tool_api::tool::ToolOutcome;

/// Calls in order: results up to `stored` are durable, those up to `end` are under way.
#[derive(Debug, Default)]
pub(super) struct CallBatch {
    slots: Vec<CallSlot>,
    stored: usize,
    end: usize,
}

/// A call and, once it has one, its result.
#[derive(Debug)]
pub(super) struct CallSlot {
    call: ToolCall,
    kind: ToolKind,
    result: Option<CallResult>,
}

/// The calls to run next.
#[derive(Debug)]
pub(super) enum NextCalls {
    /// These reads, side by side.
    Side(Vec<ToolCall>),
    /// This call, while no other runs.
    Alone(ToolCall, ToolKind),
    /// Nothing, but there are refusals to store.
    Refused,
    /// Nothing: all results are stored.
    Over,
}

/// A call that has its result now.
#[derive(Debug)]
pub(super) struct FinishedCall {
    pub(super) call: ToolCall,
    pub(super) is_error: bool,
}

impl CallSlot {
    pub(super) fn new(call: ToolCall, kind: ToolKind, refusal: Option<String>) -> Self {
        let result = refusal.map(|why| model_texts::refused(call.id.clone(), why));
        Self { call, kind, result }
    }
}

impl CallBatch {
    pub(super) fn push(&mut self, slot: CallSlot) {
        self.slots.push(slot);
    }

    /// Selects the calls to run next. A read that repeats one beside it waits, so that the guard
    /// can learn from the first.
    pub(super) fn advance(&mut self, guard: &mut LoopGuard) -> NextCalls {
        let mut side: Vec<ToolCall> = Vec::new();
        for slot in self.slots.iter_mut().skip(self.end) {
            if slot.result.is_some() {
                self.end += 1;
                continue;
            }
            let alike = |other: &ToolCall| {
                other.tool == slot.call.tool && other.arguments == slot.call.arguments
            };
            if !side.is_empty() && (slot.kind != ToolKind::Read || side.iter().any(alike)) {
                break;
            }
            self.end += 1;
            match guard.admit(&slot.call) {
                Err(why) => slot.result = Some(model_texts::refused(slot.call.id.clone(), why)),
                Ok(()) if slot.kind == ToolKind::Read => side.push(slot.call.clone()),
                Ok(()) => return NextCalls::Alone(slot.call.clone(), slot.kind),
            }
        }
        if !side.is_empty() {
            NextCalls::Side(side)
        } else if self.stored < self.end {
            NextCalls::Refused
        } else {
            NextCalls::Over
        }
    }

    /// The kind of a call that is under way.
    pub(super) fn open_kind(&self, call: &CallId) -> Option<ToolKind> {
        let mut under_way = self.slots.iter().take(self.end).skip(self.stored);
        under_way.find(|slot| slot.call.id == *call && slot.result.is_none()).map(|slot| slot.kind)
    }

    /// Takes in the outcome of a call; `None` when it is not under way.
    pub(super) fn record_outcome(
        &mut self,
        call: &CallId,
        outcome: ToolOutcome,
    ) -> Option<FinishedCall> {
        let mut under_way = self.slots.iter_mut().take(self.end).skip(self.stored);
        let slot = under_way.find(|slot| slot.call.id == *call && slot.result.is_none())?;
        let is_error = outcome.is_error;
        slot.result = Some(CallResult {
            call: call.clone(),
            output: outcome.output,
            is_error,
            speech: outcome.speech,
            reactions: outcome.reactions,
            seen: outcome.seen,
            sources: Vec::new(),
            whole: None,
        });
        Some(FinishedCall { call: slot.call.clone(), is_error })
    }

    /// Whether nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.slots.iter().take(self.end).all(|slot| slot.result.is_some())
    }

    /// The results that are known and not stored, in call order.
    pub(super) fn to_store(&self) -> Vec<CallResult> {
        let unstored = self.slots.iter().take(self.end).skip(self.stored);
        unstored.filter_map(|slot| slot.result.clone()).collect()
    }

    /// Takes note that the results handed out are durable.
    pub(super) fn mark_stored(&mut self) {
        self.stored = self.end;
    }

    /// The results of all calls that have none stored; `why` for those that have none at all.
    pub(super) fn close(self, why: impl Fn(ToolKind) -> &'static str) -> Vec<CallResult> {
        let unstored = self.slots.into_iter().skip(self.stored);
        let close = |slot: CallSlot| {
            slot.result.unwrap_or_else(|| model_texts::refused(slot.call.id, why(slot.kind)))
        };
        unstored.map(close).collect()
    }
}
