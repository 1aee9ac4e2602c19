//! How many tokens something takes: an estimate, corrected by what the models report.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use protocol::{Message, MessagePart, TokenUsage};

use crate::model::{ContentBlock, ModelRequest, ToolSpec};

/// Bytes of a token, in tenths: English has four letters a token, JSON and other languages fewer.
const BYTES_PER_TOKEN_TENTHS: usize = 35;

/// The overhead of each part and each tool.
const WRAPPER_TOKENS: u32 = 8;

/// The least and the most that an estimate is corrected, in thousandths.
const CORRECTION_RANGE: std::ops::RangeInclusive<u64> = 500..=3_000;

/// Tokens of a text, by its length.
pub(crate) fn of_text(text: &str) -> u32 {
    of_bytes(text.len())
}

/// An estimate of the tokens of `bytes` bytes of text.
pub(crate) fn of_bytes(bytes: usize) -> u32 {
    let tokens = bytes.saturating_mul(10).div_ceil(BYTES_PER_TOKEN_TENTHS);
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// An estimate of the bytes of text that `tokens` tokens stand for.
pub(crate) fn bytes_of(tokens: u32) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN_TENTHS) / 10
}

/// Tokens of a tool's declaration.
pub(crate) fn of_tool(tool: &ToolSpec) -> u32 {
    let schema = of_text(&tool.input_schema.to_string());
    WRAPPER_TOKENS + of_text(&tool.name) + of_text(&tool.description) + schema
}

/// Tokens of a request as it is sent.
pub(crate) fn of_request(request: &ModelRequest) -> u32 {
    let tools = request.tools.iter().map(of_tool);
    let blocks = request.messages.iter().flat_map(|message| &message.blocks).map(of_block);
    tools.chain(blocks).fold(of_text(&request.system), u32::saturating_add)
}

fn of_block(block: &ContentBlock) -> u32 {
    let content = match block {
        ContentBlock::Text(text) | ContentBlock::Result { output: text, .. } => of_text(text),
        ContentBlock::Call(call) => of_text(&call.tool) + of_text(&call.arguments.to_string()),
        ContentBlock::Verbatim(content) => of_text(&content.to_string()),
    };
    content.saturating_add(WRAPPER_TOKENS)
}

/// Tokens of a stored message.
pub(crate) fn of_message(message: &Message) -> u32 {
    of_parts(&message.parts)
}

/// Tokens of a message with these parts.
pub(crate) fn of_parts(parts: &[MessagePart]) -> u32 {
    parts.iter().map(of_part).fold(WRAPPER_TOKENS, u32::saturating_add)
}

/// Tokens of a part of a stored message.
pub(crate) fn of_part(part: &MessagePart) -> u32 {
    let content = match part {
        MessagePart::Text { text } | MessagePart::Context { text } => of_text(text),
        MessagePart::Call { id, tool, arguments } => {
            of_text(id.as_str()) + of_text(tool) + of_text(&arguments.to_string())
        }
        MessagePart::Result { call, output, .. } => {
            of_text(call.as_str()).saturating_add(of_text(output))
        }
        MessagePart::Verbatim { content, .. } => of_text(&content.to_string()),
        MessagePart::Answers { .. }
        | MessagePart::Repeated
        | MessagePart::Passed
        | MessagePart::OpenNote { .. } => return 0,
    };
    content.saturating_add(WRAPPER_TOKENS)
}

/// How far the estimates of each model's tokens are off, as it reported them last.
#[derive(Debug, Default)]
pub(crate) struct TokenCalibrations(Mutex<HashMap<String, TokenCalibration>>);

impl TokenCalibrations {
    /// The correction for a model; none until it has answered.
    pub(crate) fn for_model(&self, model: &str) -> TokenCalibration {
        self.by_model().get(model).copied().unwrap_or_default()
    }

    /// Takes in what a model reported for a prompt that was estimated.
    pub(crate) fn learn(&self, model: &str, estimated: u32, usage: TokenUsage) {
        let prompt = [usage.input, usage.cache_read, usage.cache_write];
        let reported: u64 = prompt.into_iter().map(u64::from).sum();
        if estimated == 0 || reported == 0 {
            return;
        }
        let off = (reported * 1_000 / u64::from(estimated))
            .clamp(*CORRECTION_RANGE.start(), *CORRECTION_RANGE.end());
        self.by_model().insert(model.to_owned(), TokenCalibration { thousandths: off });
    }

    fn by_model(&self) -> std::sync::MutexGuard<'_, HashMap<String, TokenCalibration>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The factor for estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenCalibration {
    thousandths: u64,
}

impl Default for TokenCalibration {
    fn default() -> Self {
        Self { thousandths: 1_000 }
    }
}

impl TokenCalibration {
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
        let gauges = TokenCalibrations::default();
        assert_eq!(gauges.for_model("m").corrected(1_000), 1_000);
        let usage =
            TokenUsage { input: 300, cache_read: 900, cache_write: 300, ..TokenUsage::default() };
        gauges.learn("m", 1_000, usage);
        assert_eq!(gauges.for_model("m").corrected(1_000), 1_500);
        assert_eq!(gauges.for_model("m").estimate_within(1_500), 1_000);
        assert_eq!(gauges.for_model("another").corrected(1_000), 1_000);
    }

    #[test]
    fn a_report_beyond_belief_and_no_report_at_all_do_not_lead_astray() {
        let gauges = TokenCalibrations::default();
        gauges.learn("m", 1_000, TokenUsage { input: 3, ..TokenUsage::default() });
        assert_eq!(gauges.for_model("m").corrected(1_000), 500);
        gauges.learn("m", 1_000, TokenUsage::default());
        assert_eq!(gauges.for_model("m").corrected(1_000), 500);
        gauges.learn("m", 1, TokenUsage { input: 1_000_000, ..TokenUsage::default() });
        assert_eq!(gauges.for_model("m").corrected(1_000), 3_000);
    }
}
