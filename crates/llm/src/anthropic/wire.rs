//! The JSON of Anthropic's Messages API, as far as we speak it: the request we write and the
//! events we read. <https://docs.anthropic.com/en/api/messages>

use std::borrow::Cow;
use std::collections::BTreeSet;

use protocol::Role;
use protocol::model::Effort;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Block, ModelMessage, ModelRequest, ToolSpec, callable_name};
use crate::parameters::Parameters;

/// A request for a streamed answer, with the four cache breakpoints that the API takes: the ends of
/// the tools, of the instructions, of what was sent last time (the last but one message of the user,
/// where the cache is read) and of this request (where it is written).
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<System<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    messages: Vec<Message<'a>>,
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
struct System<'a> {
    text: &'a str,
    cache_control: CacheControl,
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
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
struct Message<'a> {
    role: Role,
    content: Vec<Content<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Known(Known<'a>),
    Verbatim(&'a Value),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Known<'a> {
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

impl<'a> Request<'a> {
    /// The whole body.
    pub(super) fn new(request: &'a ModelRequest, parameters: &'a Parameters) -> Self {
        let system = (!request.system.is_empty())
            .then(|| System { text: &request.system, cache_control: CacheControl::Ephemeral });
        let named = if request.tools.is_empty() { called(&request.messages) } else { Vec::new() };
        let tool_choice = (!named.is_empty()).then_some(ToolChoice::None);
        let mut tools: Vec<Tool<'_>> = request.tools.iter().map(tool).chain(named).collect();
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
            messages: marked(&request.messages),
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            output_config: parameters.effort.map(|effort| OutputConfig { effort }),
            extra: &parameters.extra,
        }
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        name: Cow::Borrowed(&spec.name),
        description: &spec.description,
        input_schema: spec.input_schema.clone(),
        cache_control: None,
    }
}

/// The tools that `messages` call, by name only. The API refuses messages with calls when no tool
/// is declared; `tool_choice: none` then keeps the model from calling.
fn called(messages: &[ModelMessage]) -> Vec<Tool<'_>> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let names: BTreeSet<Cow<'_, str>> = blocks
        .filter_map(|block| match block {
            Block::Call(call) => Some(callable_name(&call.tool)),
            Block::Text(_) | Block::Result { .. } | Block::Verbatim(_) => None,
        })
        .collect();
    let declare = |name| Tool {
        name,
        description: "Cannot be called now.",
        input_schema: serde_json::json!({ "type": "object" }),
        cache_control: None,
    };
    names.into_iter().map(declare).collect()
}

/// The messages, with the ends of the last two of the user as breakpoints.
fn marked(messages: &[ModelMessage]) -> Vec<Message<'_>> {
    let mut sent: Vec<Message<'_>> = messages.iter().map(message).collect();
    let users = sent.iter_mut().rev().filter(|message| message.role == Role::User);
    for message in users.take(2) {
        if let Some(Content::Known(
            Known::Text { cache_control, .. } | Known::ToolResult { cache_control, .. },
        )) = message.content.last_mut()
        {
            *cache_control = Some(CacheControl::Ephemeral);
        }
    }
    sent
}

fn message(message: &ModelMessage) -> Message<'_> {
    Message { role: message.role, content: message.blocks.iter().map(content).collect() }
}

fn content(block: &Block) -> Content<'_> {
    Content::Known(match block {
        Block::Verbatim(value) => return Content::Verbatim(value),
        Block::Text(text) => Known::Text { text, cache_control: None },
        Block::Call(call) => {
            let name = callable_name(&call.tool);
            Known::ToolUse { id: call.id.as_str(), name, input: &call.arguments }
        }
        Block::Result { call, output, is_error } => {
            let (tool_use_id, is_error) = (call.as_str(), *is_error);
            Known::ToolResult { tool_use_id, content: output, is_error, cache_control: None }
        }
    })
}

/// An event of the stream. Fields and kinds we do not know are no matter.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u32,
        content_block: BlockStart,
    },
    ContentBlockDelta {
        index: u32,
        delta: Delta,
    },
    ContentBlockStop {
        index: u32,
    },
    MessageDelta {
        delta: Stop,
        #[serde(default)]
        usage: Usage,
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
pub(super) const KINDS: [&str; 7] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
];

#[derive(Debug, Deserialize)]
pub(super) struct Start {
    #[serde(default)]
    pub(super) usage: Usage,
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
pub(super) enum Delta {
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
pub(super) struct Stop {
    pub(super) stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Usage {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
}
