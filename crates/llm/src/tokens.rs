//! How many tokens something takes: an estimate, corrected by what the models report.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use protocol::{Message, Part, Usage};

use crate::model::{Block, ModelRequest, ToolSpec};

/// Bytes of a token, in tenths: English has four letters a token, JSON and other languages fewer.
const TENTHS_OF_A_BYTE: usize = 35;

/// What wraps each part and each tool.
const WRAPPING: u32 = 8;

/// The least and the most that an estimate is corrected, in thousandths.
const CORRECTIONS: std::ops::RangeInclusive<u64> = 500..=3_000;

/// Tokens of a text, by its length.
pub(crate) fn of_text(text: &str) -> u32 {
    u32::try_from((text.len() * 10).div_ceil(TENTHS_OF_A_BYTE)).unwrap_or(u32::MAX)
}

/// How many bytes of text so many tokens are.
pub(crate) fn bytes_of(tokens: u32) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TENTHS_OF_A_BYTE) / 10
}

/// Tokens of a tool's declaration.
pub(crate) fn of_tool(tool: &ToolSpec) -> u32 {
    let schema = of_text(&tool.input_schema.to_string());
    WRAPPING + of_text(&tool.name) + of_text(&tool.description) + schema
}

/// Tokens of a request as it is sent.
pub(crate) fn of_request(request: &ModelRequest) -> u32 {
    let tools = request.tools.iter().map(of_tool);
    let blocks = request.messages.iter().flat_map(|message| &message.blocks).map(of_block);
    tools.chain(blocks).fold(of_text(&request.system), u32::saturating_add)
}

fn of_block(block: &Block) -> u32 {
    let content = match block {
        Block::Text(text) | Block::Result { output: text, .. } => of_text(text),
        Block::Call(call) => of_text(&call.tool) + of_text(&call.arguments.to_string()),
        Block::Verbatim(content) => of_text(&content.to_string()),
    };
    content.saturating_add(WRAPPING)
}

/// Tokens of a stored message.
pub(crate) fn of_message(message: &Message) -> u32 {
    of_parts(&message.parts)
}

/// Tokens of a message with these parts.
pub(crate) fn of_parts(parts: &[Part]) -> u32 {
    parts.iter().map(of_part).fold(WRAPPING, u32::saturating_add)
}

/// Tokens of a part of a stored message.
pub(crate) fn of_part(part: &Part) -> u32 {
    let content = match part {
        Part::Text { text } | Part::Context { text } => of_text(text),
        Part::Call { id, tool, arguments } => {
            of_text(id.as_str()) + of_text(tool) + of_text(&arguments.to_string())
        }
        Part::Result { call, output, .. } => of_text(call.as_str()).saturating_add(of_text(output)),
        Part::Verbatim { content, .. } => of_text(&content.to_string()),
        Part::Answers { .. } | Part::Repeated | Part::OpenNote { .. } => return 0,
    };
    content.saturating_add(WRAPPING)
}

/// How far the estimates of each model's tokens are off, as it reported them last.
#[derive(Debug, Default)]
pub(crate) struct Gauges(Mutex<HashMap<String, Gauge>>);

impl Gauges {
    /// The correction for a model; none until it has answered.
    pub(crate) fn of(&self, model: &str) -> Gauge {
        self.known().get(model).copied().unwrap_or_default()
    }

    /// Takes in what a model reported for a prompt that was estimated.
    pub(crate) fn learn(&self, model: &str, estimated: u32, usage: Usage) {
        let prompt = [usage.input, usage.cache_read, usage.cache_write];
        let reported: u64 = prompt.into_iter().map(u64::from).sum();
        if estimated == 0 || reported == 0 {
            return;
        }
        let off = (reported * 1_000 / u64::from(estimated))
            .clamp(*CORRECTIONS.start(), *CORRECTIONS.end());
        self.known().insert(model.to_owned(), Gauge { thousandths: off });
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Gauge>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What estimates are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gauge {
    thousandths: u64,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { thousandths: 1_000 }
    }
}

impl Gauge {
    /// Tokens as the model would count them.
    pub(crate) fn corrected(self, estimated: u32) -> u32 {
        let tokens = (u64::from(estimated) * self.thousandths).div_ceil(1_000);
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// How much may be estimated so that the model counts no more than `tokens`.
    pub(crate) fn estimate_within(self, tokens: u32) -> u32 {
        u32::try_from(u64::from(tokens) * 1_000 / self.thousandths).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_follows_what_the_model_reported() {
        let gauges = Gauges::default();
        assert_eq!(gauges.of("m").corrected(1_000), 1_000);
        let usage = Usage { input: 300, cache_read: 900, cache_write: 300, ..Usage::default() };
        gauges.learn("m", 1_000, usage);
        assert_eq!(gauges.of("m").corrected(1_000), 1_500);
        assert_eq!(gauges.of("m").estimate_within(1_500), 1_000);
        assert_eq!(gauges.of("another").corrected(1_000), 1_000);
    }

    #[test]
    fn a_report_beyond_belief_and_no_report_at_all_do_not_lead_astray() {
        let gauges = Gauges::default();
        gauges.learn("m", 1_000, Usage { input: 3, ..Usage::default() });
        assert_eq!(gauges.of("m").corrected(1_000), 500);
        gauges.learn("m", 1_000, Usage::default());
        assert_eq!(gauges.of("m").corrected(1_000), 500);
        gauges.learn("m", 1, Usage { input: 1_000_000, ..Usage::default() });
        assert_eq!(gauges.of("m").corrected(1_000), 3_000);
    }
}
