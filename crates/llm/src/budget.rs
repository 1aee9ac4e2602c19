//! What of a history fits the model: the newest exchanges, whole, in front of what must be there.

use std::collections::BTreeSet;

use protocol::{Message, Part, Role, TurnId};

use crate::host::Capacity;
use crate::model::{ModelError, ToolSpec};
use crate::tokens::{self, Gauge};
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
    pub(crate) system: &'a str,
    pub(crate) tools: &'a [ToolSpec],
    /// What the model is told for this one request.
    pub(crate) note: Option<&'a str>,
    /// The turn that asks.
    pub(crate) turn: &'a TurnId,
    /// Earlier turns that are heard in any case.
    pub(crate) kept: &'a BTreeSet<TurnId>,
    pub(crate) gauge: Gauge,
}

/// The rows that are sent, and what the whole request is estimated at.
#[derive(Debug, PartialEq)]
pub(crate) struct Fitting {
    pub(crate) rows: Vec<Message>,
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

impl From<TooLarge> for ModelError {
    fn from(error: TooLarge) -> Self {
        Self::ContextExceeded(wording::too_large(error))
    }
}

/// Leaves out the oldest exchanges until the rest fits. An exchange is heard whole or not at all;
/// the asking turn and those in `kept` are always heard.
pub(crate) fn fit(rows: Vec<Message>, frame: &Frame<'_>) -> Result<Fitting, TooLarge> {
    let units = units(rows);
    let around = Around::of(frame);
    let total = units.iter().map(|unit| unit.tokens).fold(around.tokens(), u32::saturating_add);
    let Capacity::Window(window) = frame.capacity else {
        return Ok(joined(units, total, Whole::Yes));
    };
    let room = window.saturating_sub(frame.max_tokens.max(LEAST_ANSWER));
    let most = frame.gauge.estimate_within(room);
    if total <= most {
        return Ok(joined(units, total, Whole::Yes));
    }
    let must = |unit: &Unit| unit.turn == *frame.turn || frame.kept.contains(&unit.turn);
    let marker = tokens::of_text(wording::LEFT_OUT);
    let needed = units.iter().filter(|unit| must(unit)).map(|unit| unit.tokens);
    let needed = needed.fold(around.tokens() + marker, u32::saturating_add);
    if needed > most {
        return Err(around.largest(frame, &units, room));
    }
    let left = total.saturating_add(marker);
    Ok(without_oldest(units, must, left, most, (room / STEPS).max(1)))
}

/// Leaves out units from the oldest on until no more than `most` is left, and on as far as the next
/// whole `step` of what was left out.
fn without_oldest(
    units: Vec<Unit>,
    must: impl Fn(&Unit) -> bool,
    mut left: u32,
    most: u32,
    step: u32,
) -> Fitting {
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
    joined(kept, left, Whole::No)
}

/// What a turn has said and heard.
struct Unit {
    turn: TurnId,
    rows: Vec<Message>,
    tokens: u32,
}

fn units(rows: Vec<Message>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for row in rows {
        let tokens = tokens::of_message(&row);
        match units.last_mut() {
            Some(unit) if unit.turn == row.turn => {
                unit.tokens = unit.tokens.saturating_add(tokens);
                unit.rows.push(row);
            }
            _ => units.push(Unit { turn: row.turn.clone(), rows: vec![row], tokens }),
        }
    }
    units
}

/// Whether everything is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

fn joined(units: Vec<Unit>, estimated: u32, whole: Whole) -> Fitting {
    let mut rows: Vec<Message> = units.into_iter().flat_map(|unit| unit.rows).collect();
    if whole == Whole::No
        && let Some(first) = rows.first_mut().filter(|row| row.role == Role::User)
    {
        first.parts.insert(0, Part::Context { text: wording::LEFT_OUT.to_owned() });
    }
    Fitting { rows, estimated }
}

/// What stands around the history.
struct Around {
    system: u32,
    tools: u32,
    note: u32,
}

impl Around {
    fn of(frame: &Frame<'_>) -> Self {
        let tools = frame.tools.iter().map(tokens::of_tool).fold(0, u32::saturating_add);
        let note = frame.note.map_or(0, tokens::of_text);
        Self { system: tokens::of_text(frame.system), tools, note }
    }

    fn tokens(&self) -> u32 {
        self.system.saturating_add(self.tools).saturating_add(self.note)
    }

    fn largest(&self, frame: &Frame<'_>, units: &[Unit], room: u32) -> TooLarge {
        let of = |wanted: &dyn Fn(&Unit) -> bool| {
            let rows = units.iter().filter(|unit| wanted(unit)).flat_map(|unit| &unit.rows);
            rows.map(tokens::of_message).collect::<Vec<u32>>()
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
