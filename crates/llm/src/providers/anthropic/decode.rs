//! Anthropic's events as ours. Pure: one event in, at most a few out.

use std::collections::BTreeMap;

use protocol::TokenUsage;
use serde_json::{Map, Value, json};

use super::wire::{self, AnthropicEvent, BlockDelta, BlockStart};
use crate::model::{ModelEvent, StopReason};
use crate::transport::decoder::{
    DecodeError, Decoded, Decoder, MAX_PARTS, SizeLimit, TOO_MANY_ARGUMENTS, TOO_MANY_PARTS,
    TOO_MUCH_TEXT, close_call, cut_call, given_reason, total_bytes, usage_so_far,
};
use crate::transport::http::ErrorBody;
use crate::transport::sse::{SseEvent, SseReader};
use crate::transport::surrogates::{self, SurrogateJoiner};

#[cfg(test)]
mod tests;

/// Follows one answer.
#[derive(Debug, Default)]
pub(super) struct MessagesDecoder {
    begun: bool,
    over: bool,
    blocks: BTreeMap<u32, OpenBlock>,
    usage: TokenUsage,
    reason: Option<StopReason>,
    /// Whether a call has come, whole or broken.
    calls_tools: bool,
    text: SizeLimit,
    arguments: SizeLimit,
    /// Parts come one after the other, each whole.
    joiner: SurrogateJoiner,
}

#[derive(Debug)]
enum OpenBlock {
    Text,
    Call { id: String, tool: String, input: Value, json: String },
    Thinking { thinking: String, signature: String },
    Redacted { data: String },
    Unknown,
    Closed,
}

impl Decoder for MessagesDecoder {
    type Framing = SseReader;

    fn decode(&mut self, event: &SseEvent) -> Result<Decoded, DecodeError> {
        let event = match surrogates::from_json(&event.data) {
            _ if self.over => return Ok(Decoded::Ping),
            Ok(event) => event,
            Err(_) if wire::EVENT_TYPES.contains(&event.name.as_str()) => {
                return Err(DecodeError::Unreadable("an event isn’t what its name says"));
            }
            Err(_) => return Ok(Decoded::Ping),
        };
        Ok(Decoded::Progress(match event {
            AnthropicEvent::Ping | AnthropicEvent::Unknown => return Ok(Decoded::Ping),
            AnthropicEvent::Error { error } => {
                return Err(DecodeError::Reported(ErrorBody::from_value(&error)));
            }
            AnthropicEvent::MessageStart { message } => {
                if std::mem::replace(&mut self.begun, true) {
                    return Err(DecodeError::Unreadable("it began twice"));
                }
                self.add_usage(&message.usage);
                Vec::new()
            }
            AnthropicEvent::ContentBlockStart { index, content_block } => {
                self.open(index, content_block)?
            }
            AnthropicEvent::ContentBlockDelta { index, delta } => self.extend(index, delta)?,
            AnthropicEvent::ContentBlockStop { index } => self.close(index)?,
            AnthropicEvent::MessageDelta { delta, usage } => {
                self.add_usage(&usage);
                let reason = given_reason(delta.stop_reason.as_deref());
                self.reason = reason.map(stop_reason).or(self.reason);
                Vec::new()
            }
            AnthropicEvent::MessageStop => self.stop(),
        }))
    }

    /// Without its last event an answer is never whole.
    fn end(&mut self) -> Vec<ModelEvent> {
        Vec::new()
    }

    fn received(&self) -> usize {
        total_bytes(&[&self.text, &self.arguments])
    }

    fn usage(&self) -> TokenUsage {
        usage_so_far(self.usage, self.received())
    }
}

impl MessagesDecoder {
    fn open(&mut self, index: u32, start: BlockStart) -> Result<Vec<ModelEvent>, DecodeError> {
        if self.blocks.contains_key(&index) {
            return Err(DecodeError::Unreadable("a part of it began twice"));
        }
        if self.blocks.len() >= MAX_PARTS {
            return Err(DecodeError::TooLarge(TOO_MANY_PARTS));
        }
        let (block, events) = match start {
            BlockStart::Text { text } => (OpenBlock::Text, self.add_text(text)?),
            BlockStart::ToolUse { id, name, input } => {
                let block = OpenBlock::Call { id, tool: name, input, json: String::new() };
                (block, Vec::new())
            }
            BlockStart::Thinking { thinking, signature } => {
                self.text.grow(thinking.len() + signature.len(), TOO_MUCH_TEXT)?;
                (OpenBlock::Thinking { thinking, signature }, Vec::new())
            }
            BlockStart::RedactedThinking { data } => {
                self.text.grow(data.len(), TOO_MUCH_TEXT)?;
                (OpenBlock::Redacted { data }, Vec::new())
            }
            BlockStart::Unknown => (OpenBlock::Unknown, Vec::new()),
        };
        self.blocks.insert(index, block);
        Ok(events)
    }

    fn extend(&mut self, index: u32, delta: BlockDelta) -> Result<Vec<ModelEvent>, DecodeError> {
        match (self.blocks.get_mut(&index), delta) {
            (None | Some(OpenBlock::Closed), _) => {
                Err(DecodeError::Unreadable("it goes on with a part that isn’t open"))
            }
            (Some(OpenBlock::Text), BlockDelta::Text { text }) => self.add_text(text),
            (Some(OpenBlock::Call { json, .. }), BlockDelta::Json { partial_json }) => {
                self.arguments.grow(partial_json.len(), TOO_MANY_ARGUMENTS)?;
                json.push_str(&self.joiner.join(partial_json)?);
                Ok(Vec::new())
            }
            (
                Some(OpenBlock::Thinking { thinking, .. }),
                BlockDelta::Thinking { thinking: more },
            ) => {
                self.text.grow(more.len(), TOO_MUCH_TEXT)?;
                thinking.push_str(&self.joiner.join(more)?);
                Ok(Vec::new())
            }
            (
                Some(OpenBlock::Thinking { signature, .. }),
                BlockDelta::Signature { signature: more },
            ) => {
                signature.push_str(&more);
                self.text.grow(more.len(), TOO_MUCH_TEXT)?;
                Ok(Vec::new())
            }
            (Some(OpenBlock::Unknown), _) | (Some(_), BlockDelta::Unknown) => Ok(Vec::new()),
            (Some(_), _) => Err(DecodeError::Unreadable("a part of it changes its kind")),
        }
    }

    fn add_text(&mut self, text: String) -> Result<Vec<ModelEvent>, DecodeError> {
        self.text.grow(text.len(), TOO_MUCH_TEXT)?;
        let text = self.joiner.join(text)?;
        Ok(if text.is_empty() { Vec::new() } else { vec![ModelEvent::Text(text)] })
    }

    fn close(&mut self, index: u32) -> Result<Vec<ModelEvent>, DecodeError> {
        self.joiner.end()?;
        match self.blocks.insert(index, OpenBlock::Closed) {
            None | Some(OpenBlock::Closed) => {
                Err(DecodeError::Unreadable("it ends a part that isn’t open"))
            }
            Some(OpenBlock::Text | OpenBlock::Unknown) => Ok(Vec::new()),
            // The API refuses a thinking block without its signature.
            Some(OpenBlock::Thinking { signature, .. }) if signature.is_empty() => Ok(Vec::new()),
            Some(OpenBlock::Thinking { thinking, signature }) => {
                let block =
                    json!({ "type": "thinking", "thinking": thinking, "signature": signature });
                Ok(vec![ModelEvent::Verbatim(block)])
            }
            Some(OpenBlock::Redacted { data }) => {
                Ok(vec![ModelEvent::Verbatim(json!({ "type": "redacted_thinking", "data": data }))])
            }
            Some(OpenBlock::Call { id, tool, input, json }) => {
                self.calls_tools = true;
                Ok(vec![parse_call(id, tool, input, &json)])
            }
        }
    }

    /// A call whose block is still open was cut off; it is told as broken, never as a call.
    fn stop(&mut self) -> Vec<ModelEvent> {
        self.over = true;
        let open = std::mem::take(&mut self.blocks).into_values();
        let mut events: Vec<ModelEvent> = open
            .filter_map(|block| match block {
                OpenBlock::Call { id, tool, .. } => Some(cut_call(id, tool)),
                OpenBlock::Text
                | OpenBlock::Thinking { .. }
                | OpenBlock::Redacted { .. }
                | OpenBlock::Unknown
                | OpenBlock::Closed => None,
            })
            .collect();
        let reason = match self.reason.unwrap_or(StopReason::Unknown) {
            // Some servers with the same API end an answer with calls as one without.
            StopReason::EndTurn if self.calls_tools || !events.is_empty() => StopReason::ToolUse,
            reason => reason,
        };
        events.push(ModelEvent::Stopped { reason, usage: self.usage });
        events
    }

    /// Counts are cumulative: the last one given holds.
    fn add_usage(&mut self, usage: &wire::AnthropicUsage) {
        let set = |field: &mut u32, given: Option<u64>| {
            if let Some(given) = given {
                *field = u32::try_from(given).unwrap_or(u32::MAX);
            }
        };
        set(&mut self.usage.input, usage.input_tokens);
        set(&mut self.usage.output, usage.output_tokens);
        set(&mut self.usage.cache_write, usage.cache_creation_input_tokens);
        set(&mut self.usage.cache_read, usage.cache_read_input_tokens);
    }
}

fn parse_call(id: String, tool: String, input: Value, json: &str) -> ModelEvent {
    // A call without arguments comes without deltas: then the block's start holds them.
    let arguments = if json.is_empty() {
        match input {
            Value::Null => Ok(Value::Object(Map::new())),
            input => Ok(input),
        }
    } else {
        serde_json::from_str(json)
    };
    close_call(id, tool, arguments)
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "pause_turn" => StopReason::PauseTurn,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextExceeded,
        _ => StopReason::Unknown,
    }
}
