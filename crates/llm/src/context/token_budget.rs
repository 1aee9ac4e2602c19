//! Cuts a history to the context window: the newest exchanges, whole, before the parts that must be there.
//!
//! The oldest exchanges go in large steps, so that the start of the next requests stays the same
//! for the provider's cache.

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::error::user_text::UserText;
use protocol::{Compaction, Message, MessageId, MessagePart, Role, TurnId};

use crate::context::exchange::{Exchange, group_into_exchanges, tokens_of};
use crate::context::model_texts;
use crate::context::tokens::{self, TokenCalibration};
use crate::model::{ModelError, ToolSpec, user_texts};
use crate::ports::transcript::History;
use crate::ports::turn_policy::{ContextCapacity, TurnSetup};

#[cfg(test)]
mod tests;

/// The least that is kept free for the answer, in tokens.
const MIN_ANSWER_TOKENS: u32 = 1_000;

/// Exchanges are dropped in steps of this part of the room, so that the beginning of the prompt,
/// and with it the provider's cache, holds for many turns.
const TRIM_STEPS: u32 = 4;

/// The parts of a request beside the history, and the turn that asks.
pub(crate) struct RequestFrame<'a> {
    pub(crate) capacity: ContextCapacity,
    /// Output cap in tokens.
    pub(crate) max_tokens: u32,
    /// The turn that asks.
    pub(crate) turn: &'a TurnId,
    /// Earlier turns that are heard in any case.
    pub(crate) kept: &'a BTreeSet<TurnId>,
    pub(crate) calibration: TokenCalibration,
    overhead: RequestOverhead,
}

impl<'a> RequestFrame<'a> {
    /// The frame of a turn's request.
    pub(crate) fn for_turn(
        setup: &'a TurnSetup,
        tools: &[ToolSpec],
        note: Option<&str>,
        turn: &'a TurnId,
        calibration: TokenCalibration,
    ) -> Self {
        let TurnSetup { capacity, max_tokens, system, kept_turns: kept, .. } = setup;
        let (capacity, max_tokens) = (*capacity, *max_tokens);
        let around = RequestOverhead::estimate(system, tools, note);
        Self { capacity, max_tokens, turn, kept, calibration, overhead: around }
    }
}

/// The rows that are sent, and what the whole request is estimated at.
#[derive(Debug, PartialEq)]
pub(crate) struct FittedHistory {
    pub(crate) rows: Vec<Arc<Message>>,
    pub(crate) estimated: u32,
}

/// A part without which the request makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mandatory {
    /// The system text.
    Instructions,
    /// The tools with their schemas.
    Tools,
    /// The user's message with its context block.
    Message,
    /// The steps of the turn so far.
    OpenTurn,
    /// The exchange whose question is open or is answered.
    Question,
}

/// The parts that must be sent do not fit: the largest of them, and the room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) part: Mandatory,
    pub(crate) tokens: u32,
    pub(crate) room: u32,
}

impl TooLarge {
    /// For the user: what does not fit the model, and what can be done about it.
    fn user_message(&self) -> UserText {
        let Self { part, tokens, room } = self;
        let (what, advice) = match part {
            Mandatory::Instructions => (
                "The instructions",
                "shorten the folder’s AGENTS.md and the text in Settings, or choose a model with \
                 a larger context window",
            ),
            Mandatory::Tools => {
                ("The descriptions of the tools", "choose a model with a larger context window")
            }
            Mandatory::Message => (
                "Your message with its context",
                "shorten it, or choose a model with a larger context window",
            ),
            Mandatory::OpenTurn => (
                "The notes read for this answer",
                "ask for less at once, or choose a model with a larger context window",
            ),
            Mandatory::Question => (
                "The exchange with the open question",
                "send a new message, or choose a model with a larger context window",
            ),
        };
        user_texts::request_over_window(room.to_string(), what, tokens.to_string(), advice)
    }
}

impl From<TooLarge> for ModelError {
    fn from(error: TooLarge) -> Self {
        Self::ContextExceeded { message: error.user_message(), window: None, prompt: None }
    }
}

/// The budget of the history, in estimated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextBudget {
    /// Of the whole request.
    pub(crate) limit: u32,
    /// Of it, what is not history.
    pub(crate) overhead: u32,
    /// The whole request, in tokens as the model counts them.
    pub(crate) room: u32,
}

impl ContextBudget {
    /// The budget of a request; `None` where everything is heard whole.
    pub(crate) fn for_frame(frame: &RequestFrame<'_>) -> Option<Self> {
        let ContextCapacity::Window(window) = frame.capacity else { return None };
        let room = usable_window(window, frame);
        Some(Self {
            limit: frame.calibration.estimate_within(room),
            overhead: frame.overhead.tokens(),
            room,
        })
    }

    /// How much of it, in percent, a request of `estimated` tokens takes.
    pub(crate) fn percent(self, estimated: u32) -> u32 {
        let percent = u64::from(estimated) * 100 / u64::from(self.limit.max(1));
        u32::try_from(percent).unwrap_or(u32::MAX)
    }
}

/// How much of the window a request may take. The answer has a thousand tokens at least, or a
/// quarter of a window with fewer than four thousand, and half of it at most.
fn usable_window(window: u32, frame: &RequestFrame<'_>) -> u32 {
    let answer = frame.max_tokens.max(MIN_ANSWER_TOKENS.min(window / 4)).min(window / 2);
    window.saturating_sub(answer)
}

/// Drops the oldest exchanges until the rest fits. An exchange is sent whole or not at all; the
/// asking turn and those in `kept` are always sent. The summary of earlier turns is dropped last.
pub(crate) fn fit(history: History, frame: &RequestFrame<'_>) -> Result<FittedHistory, TooLarge> {
    let around = &frame.overhead;
    let told = history.compaction.as_ref().map_or(0, |told| tokens::of_text(&told.text));
    let mut units = group_into_exchanges(history.rows);
    let total = tokens_of(&units).saturating_add(around.tokens()).saturating_add(told);
    let ContextCapacity::Window(window) = frame.capacity else {
        return Ok(assemble(history.compaction, units, total, Completeness::Yes));
    };
    let room = usable_window(window, frame);
    let most = frame.calibration.estimate_within(room);
    if total <= most {
        return Ok(assemble(history.compaction, units, total, Completeness::Yes));
    }
    let must = |unit: &Exchange| unit.turn == *frame.turn || frame.kept.contains(&unit.turn);
    let marker = tokens::of_text(model_texts::OMITTED_MESSAGES);
    let needed = units.iter().filter(|unit| must(unit)).map(|unit| unit.tokens);
    let needed = needed.fold(around.tokens() + marker, u32::saturating_add);
    let over = needed.saturating_sub(most);
    let dropped = drop_oldest_results(&mut units, frame.turn, over);
    if dropped < over {
        return Err(around.too_large(frame, &units, room));
    }
    let (needed, total) = (needed - dropped, total.saturating_sub(dropped));
    let fits = needed.saturating_add(told) <= most;
    let (compaction, lost) = if fits { (history.compaction, 0) } else { (None, told) };
    let left = total.saturating_add(marker).saturating_sub(lost);
    let all = units.len();
    let (kept, left) = drop_oldest(units, must, left, most, (room / TRIM_STEPS).max(1));
    let is_whole = kept.len() == all && lost == 0;
    Ok(assemble(
        compaction,
        kept,
        left,
        if is_whole { Completeness::Yes } else { Completeness::No },
    ))
}

/// Drops the results of the open turn, from the oldest on, until `over` tokens are saved; those of
/// the last step stay. Returns the number of saved tokens.
fn drop_oldest_results(units: &mut [Exchange], turn: &TurnId, over: u32) -> u32 {
    let Some(open) = units.iter_mut().find(|unit| unit.turn == *turn) else { return 0 };
    let is_result = |part: &MessagePart| matches!(part, MessagePart::Result { .. });
    let last = open.rows.iter().rposition(|row| row.parts.iter().any(is_result)).unwrap_or(0);
    let least = tokens::of_text(model_texts::DROPPED_RESULT);
    let mut saved = 0_u32;
    for row in open.rows.iter_mut().take(last) {
        if saved >= over {
            break;
        }
        if !row.parts.iter().any(is_result) {
            continue;
        }
        for part in &mut Arc::make_mut(row).parts {
            let MessagePart::Result { output, .. } = part else { continue };
            let tokens = tokens::of_text(output);
            if saved < over && tokens > least {
                saved = saved.saturating_add(tokens - least);
                model_texts::DROPPED_RESULT.clone_into(output);
            }
        }
    }
    open.tokens = open.tokens.saturating_sub(saved);
    saved
}

/// Drops exchanges from the oldest on until no more than `most` is left, then on to the next whole
/// `step`. Returns the rest and its size.
fn drop_oldest(
    units: Vec<Exchange>,
    must: impl Fn(&Exchange) -> bool,
    mut left: u32,
    most: u32,
    step: u32,
) -> (Vec<Exchange>, u32) {
    let (mut out, mut enough) = (0_u32, u32::MAX);
    let mut kept = Vec::new();
    for unit in units {
        if left <= most {
            enough = enough.min(out.div_ceil(step).saturating_mul(step));
        }
        if must(&unit) {
            kept.push(unit);
        } else if out.saturating_add(unit.tokens) > enough {
            enough = 0;
            kept.push(unit);
        } else {
            left = left.saturating_sub(unit.tokens);
            out = out.saturating_add(unit.tokens);
        }
    }
    (kept, left)
}

/// Whether everything is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Completeness {
    Yes,
    No,
}

fn assemble(
    compaction: Option<Compaction>,
    units: Vec<Exchange>,
    estimated: u32,
    whole: Completeness,
) -> FittedHistory {
    let mut rows: Vec<Arc<Message>> = units.into_iter().flat_map(|unit| unit.rows).collect();
    if whole == Completeness::No
        && let Some(first) = rows.first_mut().filter(|row| row.role == Role::User)
    {
        Arc::make_mut(first)
            .parts
            .insert(0, MessagePart::Context { text: model_texts::OMITTED_MESSAGES.to_owned() });
    }
    if let Some(compaction) = compaction
        && let Some(first) = rows.first()
    {
        let told = compaction_message(compaction, first);
        rows.insert(0, Arc::new(told));
    }
    FittedHistory { rows, estimated }
}

/// The summary of earlier turns, as a message before the first that is sent.
fn compaction_message(compaction: Compaction, first: &Message) -> Message {
    Message {
        id: MessageId::from(format!("{}:compaction", compaction.until)),
        conversation: first.conversation.clone(),
        turn: compaction.until,
        role: Role::User,
        parts: vec![MessagePart::Context { text: compaction.text }],
        at: first.at,
    }
}

/// The parts of a request around the history, in tokens.
pub(crate) struct RequestOverhead {
    system: u32,
    tools: u32,
    note: u32,
}

impl RequestOverhead {
    fn estimate(system: &str, tools: &[ToolSpec], note: Option<&str>) -> Self {
        let tools = tools.iter().map(tokens::of_tool).fold(0, u32::saturating_add);
        Self { system: tokens::of_text(system), tools, note: note.map_or(0, tokens::of_text) }
    }

    fn tokens(&self) -> u32 {
        self.system.saturating_add(self.tools).saturating_add(self.note)
    }

    fn too_large(&self, frame: &RequestFrame<'_>, units: &[Exchange], room: u32) -> TooLarge {
        let of = |wanted: &dyn Fn(&Exchange) -> bool| {
            let rows = units.iter().filter(|unit| wanted(unit)).flat_map(|unit| &unit.rows);
            rows.map(|row| tokens::of_message(row)).collect::<Vec<u32>>()
        };
        let open = of(&|unit| unit.turn == *frame.turn);
        let (message, steps) = open.split_first().map_or((0, &[][..]), |(m, steps)| (*m, steps));
        let sum = |tokens: &[u32]| tokens.iter().copied().fold(0, u32::saturating_add);
        let question = of(&|unit| unit.turn != *frame.turn && frame.kept.contains(&unit.turn));
        let parts = [
            (Mandatory::Instructions, self.system),
            (Mandatory::Tools, self.tools),
            (Mandatory::Question, sum(&question)),
            (Mandatory::Message, message),
            (Mandatory::OpenTurn, sum(steps)),
        ];
        let largest = parts.into_iter().max_by_key(|(_, tokens)| *tokens);
        let (part, tokens) = largest.unwrap_or((Mandatory::Message, 0));
        TooLarge { part, tokens: frame.calibration.corrected(tokens), room }
    }
}
