//! What of a history fits the model: the newest exchanges, whole, in front of what must be there.

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::{Compaction, Message, MessageId, Part, Role, TurnId};

use crate::exchange::{Exchange, exchanges, tokens_of};
use crate::host::{Capacity, TurnSetup};
use crate::model::{ModelError, ToolSpec};
use crate::tokens::{self, Gauge};
use crate::transcript::History;
use crate::wording;

#[cfg(test)]
mod tests;

/// The least that is kept free for the answer, in tokens.
const LEAST_ANSWER: u32 = 1_000;

/// What is left out goes in steps of this part of the room: so the beginning of the prompt, and
/// with it the vendor's cache, holds for many turns.
const STEPS: u32 = 4;

/// What a request holds beside the history, and whose it is.
pub(crate) struct Frame<'a> {
    pub(crate) capacity: Capacity,
    /// Output cap in tokens.
    pub(crate) max_tokens: u32,
    /// The turn that asks.
    pub(crate) turn: &'a TurnId,
    /// Earlier turns that are heard in any case.
    pub(crate) kept: &'a BTreeSet<TurnId>,
    pub(crate) gauge: Gauge,
    around: Around,
}

impl<'a> Frame<'a> {
    /// The frame of a turn's request.
    pub(crate) fn of(
        setup: &'a TurnSetup,
        tools: &[ToolSpec],
        note: Option<&str>,
        turn: &'a TurnId,
        gauge: Gauge,
    ) -> Self {
        let TurnSetup { capacity, max_tokens, system, kept, .. } = setup;
        let (capacity, max_tokens) = (*capacity, *max_tokens);
        let around = Around::of(system, tools, note);
        Self { capacity, max_tokens, turn, kept, gauge, around }
    }
}

/// The rows that are sent, and what the whole request is estimated at.
#[derive(Debug, PartialEq)]
pub(crate) struct Fitting {
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
    /// The exchange whose question waits or is answered.
    Question,
}

/// What must be there alone does not fit: the largest part of it, and what there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) part: Mandatory,
    pub(crate) tokens: u32,
    pub(crate) room: u32,
}

impl TooLarge {
    /// For the user: what does not fit the model, and what can be done about it.
    fn sentence(&self) -> String {
        let Self { part, tokens, room } = self;
        let (what, advice) = match part {
            Mandatory::Instructions => (
                "The instructions",
                "shorten the folder's AGENTS.md and the text in Settings, or choose a model that \
                 takes in more",
            ),
            Mandatory::Tools => {
                ("The descriptions of the tools", "choose a model that takes in more")
            }
            Mandatory::Message => (
                "Your message with its context",
                "shorten it, or choose a model that takes in more",
            ),
            Mandatory::OpenTurn => (
                "What this turn has read so far",
                "ask for less at once, or choose a model that takes in more",
            ),
            Mandatory::Question => (
                "The exchange with the open question",
                "ask anew, or choose a model that takes in more",
            ),
        };
        format!(
            "The request does not fit the model, which has room for {room} tokens. {what} alone: \
             about {tokens} tokens. To go on, {advice}."
        )
    }
}

impl From<TooLarge> for ModelError {
    fn from(error: TooLarge) -> Self {
        Self::ContextExceeded { message: error.sentence(), window: None }
    }
}

/// What the history may take, in tokens as they are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Of the whole request.
    pub(crate) most: u32,
    /// Of it, what is not history.
    pub(crate) around: u32,
    /// The whole request, in tokens as the model counts them.
    pub(crate) room: u32,
}

impl Budget {
    /// The budget of a request; `None` where everything is heard whole.
    pub(crate) fn of(frame: &Frame<'_>) -> Option<Self> {
        let Capacity::Window(window) = frame.capacity else { return None };
        let room = room(window, frame);
        Some(Self { most: frame.gauge.estimate_within(room), around: frame.around.tokens(), room })
    }

    /// How much of it a request takes that is estimated at so many tokens, in percent.
    pub(crate) fn percent(self, estimated: u32) -> u32 {
        let percent = u64::from(estimated) * 100 / u64::from(self.most.max(1));
        u32::try_from(percent).unwrap_or(u32::MAX)
    }
}

/// How much of the window a request may take. The answer has a thousand tokens at least, or a
/// quarter of a window with fewer than four thousand, and half of it at most.
fn room(window: u32, frame: &Frame<'_>) -> u32 {
    let answer = frame.max_tokens.max(LEAST_ANSWER.min(window / 4)).min(window / 2);
    window.saturating_sub(answer)
}

/// Leaves out the oldest exchanges until the rest fits. An exchange is heard whole or not at all;
/// the asking turn and those in `kept` are always heard. What stands in for earlier turns is the
/// last to be left out.
pub(crate) fn fit(history: History, frame: &Frame<'_>) -> Result<Fitting, TooLarge> {
    let around = &frame.around;
    let told = history.compaction.as_ref().map_or(0, |told| tokens::of_text(&told.text));
    let mut units = exchanges(history.rows);
    let total = tokens_of(&units).saturating_add(around.tokens()).saturating_add(told);
    let Capacity::Window(window) = frame.capacity else {
        return Ok(joined(history.compaction, units, total, Whole::Yes));
    };
    let room = room(window, frame);
    let most = frame.gauge.estimate_within(room);
    if total <= most {
        return Ok(joined(history.compaction, units, total, Whole::Yes));
    }
    let must = |unit: &Exchange| unit.turn == *frame.turn || frame.kept.contains(&unit.turn);
    let marker = tokens::of_text(wording::LEFT_OUT);
    let needed = units.iter().filter(|unit| must(unit)).map(|unit| unit.tokens);
    let needed = needed.fold(around.tokens() + marker, u32::saturating_add);
    let over = needed.saturating_sub(most);
    let forgotten = forget_oldest_results(&mut units, frame.turn, over);
    if forgotten < over {
        return Err(around.largest(frame, &units, room));
    }
    let (needed, total) = (needed - forgotten, total.saturating_sub(forgotten));
    let fits = needed.saturating_add(told) <= most;
    let (compaction, lost) = if fits { (history.compaction, 0) } else { (None, told) };
    let left = total.saturating_add(marker).saturating_sub(lost);
    let all = units.len();
    let (kept, left) = without_oldest(units, must, left, most, (room / STEPS).max(1));
    let is_whole = kept.len() == all && lost == 0;
    Ok(joined(compaction, kept, left, if is_whole { Whole::Yes } else { Whole::No }))
}

/// Leaves out what the steps of the open turn have read, from the oldest on, until `over` tokens are
/// saved; what the last step read stays. Says how many are saved.
fn forget_oldest_results(units: &mut [Exchange], turn: &TurnId, over: u32) -> u32 {
    let Some(open) = units.iter_mut().find(|unit| unit.turn == *turn) else { return 0 };
    let is_result = |part: &Part| matches!(part, Part::Result { .. });
    let last = open.rows.iter().rposition(|row| row.parts.iter().any(is_result)).unwrap_or(0);
    let least = tokens::of_text(wording::FORGOTTEN_RESULT);
    let mut saved = 0_u32;
    for row in open.rows.iter_mut().take(last) {
        if saved >= over {
            break;
        }
        if !row.parts.iter().any(is_result) {
            continue;
        }
        for part in &mut Arc::make_mut(row).parts {
            let Part::Result { output, .. } = part else { continue };
            let tokens = tokens::of_text(output);
            if saved < over && tokens > least {
                saved = saved.saturating_add(tokens - least);
                wording::FORGOTTEN_RESULT.clone_into(output);
            }
        }
    }
    open.tokens = open.tokens.saturating_sub(saved);
    saved
}

/// Leaves out exchanges from the oldest on until no more than `most` is left, and on as far as the
/// next whole `step` of what was left out. Says what is left then.
fn without_oldest(
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
enum Whole {
    Yes,
    No,
}

fn joined(
    compaction: Option<Compaction>,
    units: Vec<Exchange>,
    estimated: u32,
    whole: Whole,
) -> Fitting {
    let mut rows: Vec<Arc<Message>> = units.into_iter().flat_map(|unit| unit.rows).collect();
    if whole == Whole::No
        && let Some(first) = rows.first_mut().filter(|row| row.role == Role::User)
    {
        Arc::make_mut(first).parts.insert(0, Part::Context { text: wording::LEFT_OUT.to_owned() });
    }
    if let Some(compaction) = compaction
        && let Some(first) = rows.first()
    {
        let told = told(compaction, first);
        rows.insert(0, Arc::new(told));
    }
    Fitting { rows, estimated }
}

/// What stands in for earlier turns, as a message before the first that is heard.
fn told(compaction: Compaction, first: &Message) -> Message {
    Message {
        id: MessageId::from(format!("{}:compaction", compaction.until)),
        conversation: first.conversation.clone(),
        turn: compaction.until,
        role: Role::User,
        parts: vec![Part::Context { text: compaction.text }],
        at: first.at,
    }
}

/// What stands around the history, in tokens.
pub(crate) struct Around {
    system: u32,
    tools: u32,
    note: u32,
}

impl Around {
    fn of(system: &str, tools: &[ToolSpec], note: Option<&str>) -> Self {
        let tools = tools.iter().map(tokens::of_tool).fold(0, u32::saturating_add);
        Self { system: tokens::of_text(system), tools, note: note.map_or(0, tokens::of_text) }
    }

    fn tokens(&self) -> u32 {
        self.system.saturating_add(self.tools).saturating_add(self.note)
    }

    fn largest(&self, frame: &Frame<'_>, units: &[Exchange], room: u32) -> TooLarge {
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
        TooLarge { part, tokens: frame.gauge.corrected(tokens), room }
    }
}
