//! The JSON of Chat Completions, as far as we speak it: the request we write and the chunks we
//! read. <https://platform.openai.com/docs/api-reference/chat>

use std::borrow::Cow;

use protocol::Role;
use protocol::model::Effort;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Block, ModelMessage, ModelRequest, ToolCall, ToolSpec, callable_name};
use crate::parameters::Parameters;

/// The name under which a server knows the output cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cap {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// A request for a streamed answer.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<Effort>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", content = "function", rename_all = "snake_case")]
enum Tool<'a> {
    Function { name: &'a str, description: &'a str, parameters: &'a Value },
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: String,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(flatten)]
    called: Called<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", content = "function", rename_all = "snake_case")]
enum Called<'a> {
    Function { name: Cow<'a, str>, arguments: String },
}

impl<'a> Request<'a> {
    /// The whole body.
    pub(super) fn new(request: &'a ModelRequest, parameters: &'a Parameters, cap: Cap) -> Self {
        let system = Message::System { content: &request.system };
        let system = (!request.system.is_empty()).then_some(system);
        let (max_tokens, max_completion_tokens) = match cap {
            Cap::MaxTokens => (Some(request.max_tokens), None),
            Cap::MaxCompletionTokens => (None, Some(request.max_tokens)),
        };
        Self {
            model: &request.model,
            messages: system
                .into_iter()
                .chain(request.messages.iter().flat_map(messages))
                .collect(),
            tools: request.tools.iter().map(tool).collect(),
            stream: true,
            stream_options: StreamOptions { include_usage: true },
            max_tokens,
            max_completion_tokens,
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            reasoning_effort: parameters.effort,
            extra: &parameters.extra,
        }
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let ToolSpec { name, description, input_schema: parameters } = spec;
    Tool::Function { name, description, parameters }
}

/// Each result is a message of its own, before the words that came with them.
fn messages(message: &ModelMessage) -> Vec<Message<'_>> {
    let content = words(&message.blocks);
    let blocks = message.blocks.iter();
    match message.role {
        Role::Assistant => {
            let tool_calls = blocks.filter_map(|block| match block {
                Block::Call(call) => Some(called(call)),
                Block::Text(_) | Block::Result { .. } | Block::Verbatim(_) => None,
            });
            let tool_calls: Vec<_> = tool_calls.collect();
            // A message must have the one or the other.
            let content = content.or_else(|| tool_calls.is_empty().then(String::new));
            vec![Message::Assistant { content, tool_calls }]
        }
        Role::User => {
            let results = blocks.filter_map(|block| match block {
                Block::Result { call, output, is_error } => Some(Message::Tool {
                    tool_call_id: call.as_str(),
                    content: result(output, *is_error),
                }),
                Block::Text(_) | Block::Call(_) | Block::Verbatim(_) => None,
            });
            let content = content.map(|content| Message::User { content });
            results.chain(content).collect()
        }
    }
}

/// The wire has no mark for a failure.
fn result(output: &str, is_error: bool) -> Cow<'_, str> {
    if is_error { Cow::Owned(format!("Error: {output}")) } else { Cow::Borrowed(output) }
}

fn called(call: &ToolCall) -> Call<'_> {
    let (name, arguments) = (callable_name(&call.tool), call.arguments.to_string());
    Call { id: call.id.as_str(), called: Called::Function { name, arguments } }
}

/// All words, as one text: some servers take nothing else. What another vendor sent verbatim is
/// no matter to this one.
fn words(blocks: &[Block]) -> Option<String> {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Call(_) | Block::Result { .. } | Block::Verbatim(_) => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// A chunk of the stream. Fields that we do not know are no matter.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Usage>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: u32,
    pub(super) delta: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta {
    pub(super) content: Option<Content>,
    pub(super) refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<CallDelta>>,
    pub(super) function_call: Option<Function>,
}

/// Words; lists of parts are what some servers send for thoughts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Other(serde::de::IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta {
    pub(super) index: Option<u32>,
    pub(super) id: Option<String>,
    pub(super) function: Option<Function>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Function {
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Usage {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PromptDetails {
    pub(super) cached_tokens: Option<u64>,
}
