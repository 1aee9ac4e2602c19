//! Lines of Ollama's chat API as our events. Pure: one line in, at most a few events out.

use protocol::TokenUsage;

use super::context_window::PromptSize;
use super::wire::{OllamaChunk, ReceivedCall};
use crate::model::{ModelEvent, StopReason};
use crate::transport::decoder::{
    DecodeError, Decoded, Decoder, MAX_PARTS, SizeLimit, TOO_MANY_ARGUMENTS, TOO_MANY_PARTS,
    TOO_MANY_THOUGHTS, TOO_MUCH_TEXT, close_call, given_reason, total_bytes, usage_so_far,
};
use crate::transport::http::ErrorBody;
use crate::transport::ndjson::LineReader;
use crate::transport::surrogates::{self, SurrogateJoiner};

#[cfg(test)]
mod tests;

/// Follows one answer.
#[derive(Debug)]
pub(super) struct LineDecoder {
    sent: PromptSize,
    over: bool,
    calls: usize,
    text: SizeLimit,
    said: SurrogateJoiner,
    /// Thoughts are not shown, and cost as text does.
    thoughts: SizeLimit,
    arguments: SizeLimit,
}

impl LineDecoder {
    /// Follows the answer to a request of this size.
    pub(super) fn new(prompt_size: PromptSize) -> Self {
        Self {
            sent: prompt_size,
            over: false,
            calls: 0,
            text: SizeLimit::default(),
            said: SurrogateJoiner::default(),
            thoughts: SizeLimit::default(),
            arguments: SizeLimit::default(),
        }
    }
}

impl Decoder for LineDecoder {
    type Framing = LineReader;

    fn decode(&mut self, line: &String) -> Result<Decoded, DecodeError> {
        if self.over {
            return Ok(Decoded::Ping);
        }
        let unreadable = |_| DecodeError::Unreadable("a line of it isn’t what the API describes");
        let read: OllamaChunk = surrogates::from_json(line).map_err(unreadable)?;
        if read.error.is_some() {
            return Err(DecodeError::Reported(ErrorBody::parse(line.as_bytes())));
        }
        let mut events = Vec::new();
        if let Some(said) = read.message {
            let thought = said.thinking.unwrap_or_default();
            self.thoughts.grow(thought.len(), TOO_MANY_THOUGHTS)?;
            let text = said.content.unwrap_or_default();
            self.text.grow(text.len(), TOO_MUCH_TEXT)?;
            let text = self.said.join(text)?;
            events.extend((!text.is_empty()).then_some(ModelEvent::Text(text)));
            for call in said.tool_calls.unwrap_or_default() {
                events.push(self.call(call)?);
            }
        }
        if read.done {
            self.said.end()?;
            let tokens = |given: Option<u64>| u32::try_from(given.unwrap_or(0)).unwrap_or(u32::MAX);
            let usage = TokenUsage {
                input: tokens(read.prompt_eval_count),
                output: tokens(read.eval_count),
                ..TokenUsage::default()
            };
            events.push(self.stop(read.done_reason.as_deref(), usage)?);
        }
        Ok(Decoded::Progress(events))
    }

    /// Without its last line an answer is never whole.
    fn end(&mut self) -> Vec<ModelEvent> {
        Vec::new()
    }

    fn received(&self) -> usize {
        total_bytes(&[&self.text, &self.thoughts, &self.arguments])
    }

    fn usage(&self) -> TokenUsage {
        usage_so_far(TokenUsage::default(), self.received())
    }
}

impl LineDecoder {
    /// A call comes whole, in one line.
    fn call(&mut self, call: ReceivedCall) -> Result<ModelEvent, DecodeError> {
        self.calls += 1;
        if self.calls > MAX_PARTS {
            return Err(DecodeError::TooLarge(TOO_MANY_PARTS));
        }
        let function = call.function.unwrap_or_default();
        let spelled = function.arguments.to_string();
        self.arguments.grow(spelled.len(), TOO_MANY_ARGUMENTS)?;
        if surrogates::has_lone_half(&spelled) {
            return Err(DecodeError::Unreadable("a character in a call is cut in two"));
        }
        let arguments = match function.arguments {
            serde_json::Value::Null => serde_json::json!({}),
            given => given,
        };
        let tool = function.name.unwrap_or_default();
        Ok(close_call(call.id.unwrap_or_default(), tool, Ok(arguments)))
    }

    /// A server that read less than any text of that length has was given a longer prompt than it
    /// read, and cut it. It says nothing of that itself. Counts of zero are not told.
    fn stop(&mut self, reason: Option<&str>, usage: TokenUsage) -> Result<ModelEvent, DecodeError> {
        self.over = true;
        let sent = self.sent.min_tokens_estimate();
        if usage.input > 0 && usage.input < sent {
            return Err(DecodeError::Cut { sent, read: usage.input });
        }
        let reason = match given_reason(reason) {
            Some("stop") | None if self.calls > 0 => StopReason::ToolUse,
            Some("stop") | None => StopReason::EndTurn,
            Some("length") => StopReason::MaxTokens,
            Some(_) => StopReason::Unknown,
        };
        Ok(ModelEvent::Stopped { reason, usage })
    }
}
