//! The calls of one answer: which run next, and which results are stored.

use protocol::{CallId, CallResult};

use super::Kind;
use super::guard::Guard;
use crate::model::ToolCall;
use crate::tool::ToolOutcome;
use crate::wording;

/// Calls in order: results up to `stored` are durable, those up to `end` are under way.
#[derive(Debug, Default)]
pub(super) struct Batch {
    slots: Vec<Slot>,
    stored: usize,
    end: usize,
}

/// A call and, once it has one, its result.
#[derive(Debug)]
pub(super) struct Slot {
    call: ToolCall,
    kind: Kind,
    result: Option<CallResult>,
}

/// What runs next.
#[derive(Debug)]
pub(super) enum Segment {
    /// These reads, side by side.
    Side(Vec<ToolCall>),
    /// This call, alone.
    Alone(ToolCall, Kind),
    /// Nothing, but there are refusals to store.
    Refused,
    /// Nothing: all results are stored.
    Over,
}

/// A call that has its result now.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) call: ToolCall,
    pub(super) is_error: bool,
}

impl Slot {
    pub(super) fn new(call: ToolCall, kind: Kind, refusal: Option<String>) -> Self {
        let result = refusal.map(|why| wording::refused(call.id.clone(), why));
        Self { call, kind, result }
    }
}

impl Batch {
    pub(super) fn push(&mut self, slot: Slot) {
        self.slots.push(slot);
    }

    /// Picks what runs next. A read that repeats one beside it waits, so that the guard can learn
    /// from the first.
    pub(super) fn advance(&mut self, guard: &mut Guard) -> Segment {
        let mut side: Vec<ToolCall> = Vec::new();
        for slot in self.slots.iter_mut().skip(self.end) {
            if slot.result.is_some() {
                self.end += 1;
                continue;
            }
            let alike = |other: &ToolCall| {
                other.tool == slot.call.tool && other.arguments == slot.call.arguments
            };
            if !side.is_empty() && (slot.kind != Kind::Read || side.iter().any(alike)) {
                break;
            }
            self.end += 1;
            match guard.admit(&slot.call) {
                Err(why) => slot.result = Some(wording::refused(slot.call.id.clone(), why)),
                Ok(()) if slot.kind == Kind::Read => side.push(slot.call.clone()),
                Ok(()) => return Segment::Alone(slot.call.clone(), slot.kind),
            }
        }
        if !side.is_empty() {
            Segment::Side(side)
        } else if self.stored < self.end {
            Segment::Refused
        } else {
            Segment::Over
        }
    }

    /// The kind of a call that is under way.
    pub(super) fn open_kind(&self, call: &CallId) -> Option<Kind> {
        let mut under_way = self.slots.iter().take(self.end).skip(self.stored);
        under_way.find(|slot| slot.call.id == *call && slot.result.is_none()).map(|slot| slot.kind)
    }

    /// Takes in the outcome of a call; `None` when it is not under way.
    pub(super) fn settle(&mut self, call: &CallId, outcome: ToolOutcome) -> Option<(Ran, Kind)> {
        let mut under_way = self.slots.iter_mut().take(self.end).skip(self.stored);
        let slot = under_way.find(|slot| slot.call.id == *call && slot.result.is_none())?;
        let is_error = outcome.is_error;
        slot.result = Some(CallResult {
            call: call.clone(),
            output: outcome.output,
            is_error,
            reactions: outcome.reactions,
            seen: outcome.seen,
            sources: Vec::new(),
            whole: None,
        });
        Some((Ran { call: slot.call.clone(), is_error }, slot.kind))
    }

    /// Whether nothing is under way.
    pub(super) fn is_settled(&self) -> bool {
        self.slots.iter().take(self.end).all(|slot| slot.result.is_some())
    }

    /// The results that are known and not stored, in call order.
    pub(super) fn to_store(&self) -> Vec<CallResult> {
        let unstored = self.slots.iter().take(self.end).skip(self.stored);
        unstored.filter_map(|slot| slot.result.clone()).collect()
    }

    /// Takes note that the results handed out are durable.
    pub(super) fn stored(&mut self) {
        self.stored = self.end;
    }

    /// The results of all calls that have none stored; `why` for those that have none at all.
    pub(super) fn close(self, why: impl Fn(Kind) -> &'static str) -> Vec<CallResult> {
        let unstored = self.slots.into_iter().skip(self.stored);
        let close = |slot: Slot| {
            slot.result.unwrap_or_else(|| wording::refused(slot.call.id, why(slot.kind)))
        };
        unstored.map(close).collect()
    }
}
