//! The JSON of Chat Completions, as far as we use it: the request we write and the chunks we
//! read. <https://platform.openai.com/docs/api-reference/chat>

use std::borrow::Cow;

use protocol::Role;
use protocol::chat::model::Effort;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{ContentBlock, ModelMessage, ModelRequest, ToolCall, callable_name};
use crate::providers::function_tool::{FunctionTool, result_text};
use crate::providers::request_parameters::RequestParameters;

/// The name under which a server knows the output cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputCapField {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// A request for a streamed answer.
#[derive(Debug, Serialize)]
pub(super) struct ChatRequest<'a> {
    model: &'a str,
    messages: Vec<ChatMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<FunctionTool<'a>>,
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
#[serde(tag = "role", rename_all = "snake_case")]
enum ChatMessage<'a> {
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
        tool_calls: Vec<ChatCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(Debug, Serialize)]
struct ChatCall<'a> {
    id: &'a str,
    #[serde(flatten)]
    called: ChatFunction<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", content = "function", rename_all = "snake_case")]
enum ChatFunction<'a> {
    Function { name: Cow<'a, str>, arguments: String },
}

impl<'a> ChatRequest<'a> {
    /// The whole body.
    pub(super) fn new(
        request: &'a ModelRequest,
        parameters: &'a RequestParameters,
        cap: OutputCapField,
    ) -> Self {
        let system = ChatMessage::System { content: &request.system };
        let system = (!request.system.is_empty()).then_some(system);
        let (max_tokens, max_completion_tokens) = match cap {
            OutputCapField::MaxTokens => (Some(request.max_tokens), None),
            OutputCapField::MaxCompletionTokens => (None, Some(request.max_tokens)),
        };
        Self {
            model: &request.model,
            messages: system
                .into_iter()
                .chain(request.messages.iter().flat_map(messages))
                .collect(),
            tools: request.tools.iter().map(FunctionTool::from).collect(),
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

/// Each result is a message of its own, before the text that came with them.
fn messages(message: &ModelMessage) -> Vec<ChatMessage<'_>> {
    let content = joined_text(&message.blocks);
    let blocks = message.blocks.iter();
    match message.role {
        Role::Assistant => {
            let tool_calls = blocks.filter_map(|block| match block {
                ContentBlock::Call(call) => Some(chat_call(call)),
                ContentBlock::Text(_) | ContentBlock::Result { .. } | ContentBlock::Verbatim(_) => {
                    None
                }
            });
            let tool_calls: Vec<_> = tool_calls.collect();
            // A message must have the one or the other.
            let content = content.or_else(|| tool_calls.is_empty().then(String::new));
            vec![ChatMessage::Assistant { content, tool_calls }]
        }
        Role::User => {
            let results = blocks.filter_map(|block| match block {
                ContentBlock::Result { call, output, is_error, .. } => Some(ChatMessage::Tool {
                    tool_call_id: call.as_str(),
                    content: result_text(output, *is_error),
                }),
                ContentBlock::Text(_) | ContentBlock::Call(_) | ContentBlock::Verbatim(_) => None,
            });
            let content = content.map(|content| ChatMessage::User { content });
            results.chain(content).collect()
        }
    }
}

fn chat_call(call: &ToolCall) -> ChatCall<'_> {
    let (name, arguments) = (callable_name(&call.tool), call.arguments.to_string());
    ChatCall { id: call.id.as_str(), called: ChatFunction::Function { name, arguments } }
}

/// All text, as one string: some servers take nothing else. Verbatim content of another provider is
/// not sent to this one.
fn joined_text(blocks: &[ContentBlock]) -> Option<String> {
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.as_str()),
        ContentBlock::Call(_) | ContentBlock::Result { .. } | ContentBlock::Verbatim(_) => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// A chunk of the stream. Fields that we do not know are no matter.
#[derive(Debug, Deserialize)]
pub(super) struct ChatChunk {
    #[serde(default)]
    pub(super) choices: Option<Vec<ChunkChoice>>,
    pub(super) usage: Option<ChatUsage>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ChunkChoice {
    #[serde(default)]
    pub(super) index: u32,
    pub(super) delta: Option<ChunkDelta>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ChunkDelta {
    pub(super) content: Option<ChunkContent>,
    /// Thoughts, under the name that DeepSeek gave them, and under that of OpenRouter.
    pub(super) reasoning_content: Option<ChunkContent>,
    pub(super) reasoning: Option<ChunkContent>,
    pub(super) refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<CallDelta>>,
    pub(super) function_call: Option<FunctionDelta>,
}

/// Text; some servers send lists of parts for thoughts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ChunkContent {
    Text(String),
    Other(serde::de::IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta {
    pub(super) index: Option<u32>,
    pub(super) id: Option<String>,
    pub(super) function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta {
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ChatUsage {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PromptDetails {
    pub(super) cached_tokens: Option<u64>,
}
