//! The JSON of Anthropic's Messages API, as far as we use it: the request we write and the
//! events we read. <https://docs.anthropic.com/en/api/messages>

use std::borrow::Cow;
use std::collections::BTreeSet;

use protocol::Role;
use protocol::chat::model::Effort;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{ContentBlock, ModelMessage, ModelRequest, ToolSpec, callable_name};
use crate::providers::request_parameters::RequestParameters;

/// A request for a streamed answer, with the four cache breakpoints that the API takes: the ends of
/// the tools, of the instructions, of what was sent last time (the last but one message of the user,
/// where the cache is read) and of this request (where it is written).
#[derive(Debug, Serialize)]
pub(super) struct AnthropicRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<SystemBlock<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnthropicTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    messages: Vec<AnthropicMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct OutputConfig {
    effort: Effort,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "text")]
struct SystemBlock<'a> {
    text: &'a str,
    cache_control: CacheControl,
}

#[derive(Debug, Serialize)]
struct AnthropicTool<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ToolChoice {
    None,
}

#[derive(Debug, Serialize)]
struct AnthropicMessage<'a> {
    role: Role,
    content: Vec<AnthropicContent<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum AnthropicContent<'a> {
    Known(TypedContent<'a>),
    Verbatim(&'a Value),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TypedContent<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: &'a str,
        name: Cow<'a, str>,
        input: &'a Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

impl<'a> AnthropicRequest<'a> {
    /// The whole body.
    pub(super) fn new(request: &'a ModelRequest, parameters: &'a RequestParameters) -> Self {
        let system = (!request.system.is_empty())
            .then(|| SystemBlock { text: &request.system, cache_control: CacheControl::Ephemeral });
        let named =
            if request.tools.is_empty() { tools_called_in(&request.messages) } else { Vec::new() };
        let tool_choice = (!named.is_empty()).then_some(ToolChoice::None);
        let mut tools: Vec<AnthropicTool<'_>> =
            request.tools.iter().map(tool).chain(named).collect();
        if let Some(last) = tools.last_mut() {
            last.cache_control = Some(CacheControl::Ephemeral);
        }
        Self {
            model: &request.model,
            max_tokens: request.max_tokens,
            stream: true,
            system: system.into_iter().collect(),
            tools,
            tool_choice,
            messages: with_cache_breakpoints(&request.messages),
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            output_config: parameters.effort.map(|effort| OutputConfig { effort }),
            extra: &parameters.extra,
        }
    }
}

fn tool(spec: &ToolSpec) -> AnthropicTool<'_> {
    AnthropicTool {
        name: Cow::Borrowed(&spec.name),
        description: &spec.description,
        input_schema: spec.input_schema.clone(),
        cache_control: None,
    }
}

/// The tools that `messages` call, by name only. The API refuses messages with calls when no tool
/// is declared; `tool_choice: none` then keeps the model from calling.
fn tools_called_in(messages: &[ModelMessage]) -> Vec<AnthropicTool<'_>> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let names: BTreeSet<Cow<'_, str>> = blocks
        .filter_map(|block| match block {
            ContentBlock::Call(call) => Some(callable_name(&call.tool)),
            ContentBlock::Text(_) | ContentBlock::Result { .. } | ContentBlock::Verbatim(_) => None,
        })
        .collect();
    let declare = |name| AnthropicTool {
        name,
        description: "Cannot be called now.",
        input_schema: serde_json::json!({ "type": "object" }),
        cache_control: None,
    };
    names.into_iter().map(declare).collect()
}

/// The messages, with the ends of the last two of the user as breakpoints.
fn with_cache_breakpoints(messages: &[ModelMessage]) -> Vec<AnthropicMessage<'_>> {
    let mut sent: Vec<AnthropicMessage<'_>> = messages.iter().map(message).collect();
    let users = sent.iter_mut().rev().filter(|message| message.role == Role::User);
    for message in users.take(2) {
        if let Some(AnthropicContent::Known(
            TypedContent::Text { cache_control, .. }
            | TypedContent::ToolResult { cache_control, .. },
        )) = message.content.last_mut()
        {
            *cache_control = Some(CacheControl::Ephemeral);
        }
    }
    sent
}

fn message(message: &ModelMessage) -> AnthropicMessage<'_> {
    AnthropicMessage { role: message.role, content: message.blocks.iter().map(content).collect() }
}

fn content(block: &ContentBlock) -> AnthropicContent<'_> {
    AnthropicContent::Known(match block {
        ContentBlock::Verbatim(value) => return AnthropicContent::Verbatim(value),
        ContentBlock::Text(text) => TypedContent::Text { text, cache_control: None },
        ContentBlock::Call(call) => {
            let name = callable_name(&call.tool);
            TypedContent::ToolUse { id: call.id.as_str(), name, input: &call.arguments }
        }
        ContentBlock::Result { call, output, is_error, .. } => {
            let (tool_use_id, is_error) = (call.as_str(), *is_error);
            TypedContent::ToolResult { tool_use_id, content: output, is_error, cache_control: None }
        }
    })
}

/// An event of the stream. Fields and kinds we do not know are no matter.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum AnthropicEvent {
    MessageStart {
        message: MessageStart,
    },
    ContentBlockStart {
        index: u32,
        content_block: BlockStart,
    },
    ContentBlockDelta {
        index: u32,
        delta: BlockDelta,
    },
    ContentBlockStop {
        index: u32,
    },
    MessageDelta {
        delta: MessageDelta,
        #[serde(default)]
        usage: AnthropicUsage,
    },
    MessageStop,
    Ping,
    Error {
        error: Value,
    },
    #[serde(other)]
    Unknown,
}

/// The kinds of event whose data must be readable.
pub(super) const EVENT_TYPES: [&str; 7] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
];

#[derive(Debug, Deserialize)]
pub(super) struct MessageStart {
    #[serde(default)]
    pub(super) usage: AnthropicUsage,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockStart {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        #[serde(default)]
        id: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        input: Value,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        #[serde(default)]
        data: String,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockDelta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Json { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct MessageDelta {
    pub(super) stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct AnthropicUsage {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
}
