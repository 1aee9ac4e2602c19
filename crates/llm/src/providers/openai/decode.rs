//! Chunks of Chat Completions as our events. Pure: one chunk in, at most a few events out.

use protocol::TokenUsage;

use super::wire::{
    self, CallDelta, ChatChunk, ChunkChoice, ChunkContent, ChunkDelta, FunctionDelta,
};
use crate::model::{ModelEvent, StopReason};
use crate::transport::decoder::{
    DecodeError, Decoded, Decoder, MAX_PARTS, SizeLimit, TOO_MANY_ARGUMENTS, TOO_MANY_PARTS,
    TOO_MANY_THOUGHTS, TOO_MUCH_TEXT, close_call, cut_call, given_reason, total_bytes,
    usage_so_far,
};
use crate::transport::http::ErrorBody;
use crate::transport::sse::{SseEvent, SseReader};
use crate::transport::surrogates::{self, SurrogateJoiner};

#[cfg(test)]
mod tests;

/// Follows one answer.
#[derive(Debug, Default)]
pub(super) struct ChatDecoder {
    over: bool,
    calls: Vec<OpenCall>,
    usage: TokenUsage,
    reason: Option<StopReason>,
    refused: bool,
    text: SizeLimit,
    said: SurrogateJoiner,
    arguments: SizeLimit,
    /// Thoughts are not shown, and cost as text does.
    thoughts: SizeLimit,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u32>,
    id: String,
    tool: String,
    json: String,
    joiner: SurrogateJoiner,
}

impl OpenCall {
    fn is_whole(&self) -> bool {
        !self.tool.is_empty() && serde_json::from_str::<serde::de::IgnoredAny>(&self.json).is_ok()
    }

    /// Whether the call and a delta with this name, which may be empty, name different tools.
    fn is_of_other_tool(&self, name: &str) -> bool {
        !name.is_empty() && !self.tool.is_empty() && self.tool != name
    }
}

impl Decoder for ChatDecoder {
    type Framing = SseReader;

    fn decode(&mut self, event: &SseEvent) -> Result<Decoded, DecodeError> {
        if self.over {
            return Ok(Decoded::Ping);
        }
        if event.data.trim() == "[DONE]" {
            return Ok(Decoded::Progress(self.stop()));
        }
        if event.data.trim().is_empty() {
            return Ok(Decoded::Ping);
        }
        let unreadable = |_| DecodeError::Unreadable("a part of it isn’t what the API describes");
        let value = surrogates::from_json::<serde_json::Value>(&event.data).map_err(unreadable)?;
        let chunk = serde_json::from_value::<ChatChunk>(value.clone()).map_err(unreadable)?;
        if chunk.error.is_some() || event.name == "error" {
            return Err(DecodeError::Reported(ErrorBody::find_in(&value)));
        }
        if let Some(usage) = &chunk.usage {
            self.add_usage(usage);
        }
        let mut events = Vec::new();
        for choice in chunk.choices.unwrap_or_default() {
            events.extend(self.choice(choice)?);
        }
        Ok(Decoded::Progress(events))
    }

    /// Some servers omit `[DONE]`; the answer is whole once its reason was given.
    fn end(&mut self) -> Vec<ModelEvent> {
        if self.reason.is_some() && !self.over { self.stop() } else { Vec::new() }
    }

    fn received(&self) -> usize {
        total_bytes(&[&self.text, &self.thoughts, &self.arguments])
    }

    fn usage(&self) -> TokenUsage {
        usage_so_far(self.usage, self.received())
    }
}

impl ChatDecoder {
    /// We ask for one choice. What follows its end is no part of it.
    fn choice(&mut self, choice: ChunkChoice) -> Result<Vec<ModelEvent>, DecodeError> {
        if choice.index != 0 || self.reason.is_some() {
            return Ok(Vec::new());
        }
        let mut events = match choice.delta {
            Some(delta) => self.extend(delta)?,
            None => Vec::new(),
        };
        if let Some(word) = given_reason(choice.finish_reason.as_deref()) {
            let reason = if self.refused { StopReason::Refusal } else { stop_reason(word) };
            // At the token limit a character may be cut, as a word may.
            if reason != StopReason::MaxTokens {
                self.said.end()?;
                for call in &self.calls {
                    call.joiner.end()?;
                }
            }
            let calls = self.close(reason);
            // Some servers end an answer with calls as one without; vLLM does for a named tool. A broken call
            // counts too: the model hears what is wrong with it.
            self.reason = Some(match reason {
                StopReason::EndTurn if !calls.is_empty() => StopReason::ToolUse,
                reason => reason,
            });
            events.extend(calls);
        }
        Ok(events)
    }

    fn extend(&mut self, delta: ChunkDelta) -> Result<Vec<ModelEvent>, DecodeError> {
        let mut events = Vec::new();
        if let Some(ChunkContent::Text(thought)) = delta.reasoning_content.or(delta.reasoning) {
            self.thoughts.grow(thought.len(), TOO_MANY_THOUGHTS)?;
        }
        if let Some(ChunkContent::Text(text)) = delta.content {
            events.extend(self.add_text(text)?);
        }
        if let Some(text) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refused = true;
            events.extend(self.add_text(text)?);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call)?;
        }
        if let Some(function) = delta.function_call {
            self.call(CallDelta { index: Some(0), id: None, function: Some(function) })?;
        }
        Ok(events)
    }

    fn add_text(&mut self, text: String) -> Result<Option<ModelEvent>, DecodeError> {
        self.text.grow(text.len(), TOO_MUCH_TEXT)?;
        let text = self.said.join(text)?;
        Ok((!text.is_empty()).then_some(ModelEvent::Text(text)))
    }

    fn call(&mut self, delta: CallDelta) -> Result<(), DecodeError> {
        let FunctionDelta { name, arguments } = delta.function.unwrap_or_default();
        let arguments = match arguments {
            None | Some(serde_json::Value::Null) => String::new(),
            Some(serde_json::Value::String(text)) => text,
            Some(value) => value.to_string(),
        };
        self.arguments.grow(arguments.len(), TOO_MANY_ARGUMENTS)?;
        let name = name.unwrap_or_default();
        let call = self.open(delta.index, delta.id.unwrap_or_default(), &name)?;
        if call.tool.is_empty() {
            call.tool = name;
        }
        call.json.push_str(&call.joiner.join(arguments)?);
        Ok(())
    }

    /// The call that a delta is about; it begins where no call so far continues.
    fn open(
        &mut self,
        index: Option<u32>,
        id: String,
        name: &str,
    ) -> Result<&mut OpenCall, DecodeError> {
        let at = match self.continued_call(index, &id, name) {
            Some(at) => at,
            None if self.calls.len() >= MAX_PARTS => {
                return Err(DecodeError::TooLarge(TOO_MANY_PARTS));
            }
            None => {
                self.calls.push(OpenCall { index, ..OpenCall::default() });
                self.calls.len() - 1
            }
        };
        let call = self.calls.get_mut(at).ok_or(DecodeError::Unreadable("a call is lost"))?;
        if call.id.is_empty() {
            call.id = id;
        }
        Ok(call)
    }

    /// The position of the call that a delta continues: the last of its index, unless the delta brings another id. Some
    /// servers give every call the same index, or none, and no id either: then another tool begins a call, and so does
    /// the same one after a whole call. Until then its name may stand in each delta.
    fn continued_call(&self, index: Option<u32>, id: &str, name: &str) -> Option<usize> {
        let calls = self.calls.iter().enumerate().rev();
        let mut calls = calls.filter(|(_, call)| index.is_none() || call.index == index);
        let found = match id {
            "" => calls.next().filter(|(_, call)| {
                !call.is_of_other_tool(name) && (name.is_empty() || !call.is_whole())
            }),
            id => calls.find(|(_, call)| match call.id.as_str() {
                "" => !call.is_of_other_tool(name),
                known => known == id,
            }),
        };
        found.map(|(at, _)| at)
    }

    /// The wire closes calls only with the answer. Where the answer did not end in calls of its
    /// own will, what does not parse was cut off.
    fn close(&mut self, reason: StopReason) -> Vec<ModelEvent> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        let calls = calls.map(|OpenCall { id, tool, json, .. }| {
            if reason == StopReason::MaxTokens {
                return cut_call(id, tool);
            }
            let json = if json.is_empty() { "{}" } else { &json };
            close_call(id, tool, serde_json::from_str(json))
        });
        calls.collect()
    }

    fn stop(&mut self) -> Vec<ModelEvent> {
        self.over = true;
        let open = std::mem::take(&mut self.calls).into_iter();
        let mut events: Vec<_> = open.map(|call| cut_call(call.id, call.tool)).collect();
        let reason = self.reason.unwrap_or(StopReason::Unknown);
        events.push(ModelEvent::Stopped { reason, usage: self.usage });
        events
    }

    /// Counts are cumulative: the last one given holds. Cached tokens are among those of the
    /// prompt here; ours are counted beside them.
    fn add_usage(&mut self, usage: &wire::ChatUsage) {
        let tokens = |given: Option<u64>| u32::try_from(given.unwrap_or(0)).unwrap_or(u32::MAX);
        let cached = usage.prompt_tokens_details.as_ref().and_then(|of| of.cached_tokens);
        let (prompt, cached) = (tokens(usage.prompt_tokens), tokens(cached));
        self.usage = TokenUsage {
            input: prompt.saturating_sub(cached),
            output: tokens(usage.completion_tokens),
            cache_read: cached.min(prompt),
            cache_write: 0,
        };
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::Unknown,
    }
}
