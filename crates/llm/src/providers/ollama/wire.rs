//! The JSON of Ollama's `/api/chat`, as far as we use it.
//! <https://docs.ollama.com/api/chat>

use std::borrow::Cow;
use std::collections::BTreeMap;

use protocol::chat::model::Effort;
use protocol::{CallId, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{ContentBlock, ModelMessage, ModelRequest, callable_name};
use crate::providers::function_tool::{FunctionTool, result_text};
use crate::providers::request_parameters::RequestParameters;

/// A request for a streamed answer.
#[derive(Debug, Serialize)]
pub(super) struct OllamaRequest<'a> {
    model: &'a str,
    messages: Vec<OllamaMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<FunctionTool<'a>>,
    stream: bool,
    options: OllamaOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Effort>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct OllamaOptions {
    num_ctx: u32,
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum OllamaMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: String,
    },
    Assistant {
        content: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<OllamaCall<'a>>,
    },
    Tool {
        tool_name: Cow<'a, str>,
        content: Cow<'a, str>,
    },
}

#[derive(Debug, Serialize)]
struct OllamaCall<'a> {
    function: OllamaFunction<'a>,
}

#[derive(Debug, Serialize)]
struct OllamaFunction<'a> {
    name: Cow<'a, str>,
    arguments: &'a Value,
}

impl<'a> OllamaRequest<'a> {
    /// The whole body; the server reads `window` tokens, prompt and answer together.
    pub(super) fn new(
        request: &'a ModelRequest,
        parameters: &'a RequestParameters,
        window: u32,
    ) -> Self {
        let system = OllamaMessage::System { content: &request.system };
        let system = (!request.system.is_empty()).then_some(system);
        let mut names = BTreeMap::new();
        let said = request.messages.iter().flat_map(|message| messages(message, &mut names));
        Self {
            model: &request.model,
            messages: system.into_iter().chain(said).collect(),
            tools: request.tools.iter().map(FunctionTool::from).collect(),
            stream: true,
            options: OllamaOptions {
                num_ctx: window,
                num_predict: request.max_tokens,
                temperature: parameters.temperature,
                top_p: parameters.top_p,
            },
            think: parameters.effort,
            extra: &parameters.extra,
        }
    }
}

/// Each result is a message of its own, before the text that came with them. This wire knows
/// results by the name of their tool.
fn messages<'a>(
    message: &'a ModelMessage,
    names: &mut BTreeMap<&'a CallId, &'a str>,
) -> Vec<OllamaMessage<'a>> {
    let mut texts = Vec::new();
    let mut tool_calls = Vec::new();
    let mut said = Vec::new();
    for block in &message.blocks {
        match block {
            ContentBlock::Text(text) => texts.push(text.as_str()),
            ContentBlock::Call(call) => {
                names.insert(&call.id, &call.tool);
                let name = callable_name(&call.tool);
                tool_calls.push(OllamaCall {
                    function: OllamaFunction { name, arguments: &call.arguments },
                });
            }
            ContentBlock::Result { call, output, is_error, .. } => {
                let tool_name = callable_name(names.get(call).copied().unwrap_or_default());
                let content = result_text(output, *is_error);
                said.push(OllamaMessage::Tool { tool_name, content });
            }
            // Verbatim content of another provider is not sent to this one.
            ContentBlock::Verbatim(_) => {}
        }
    }
    let content = texts.join("\n\n");
    match message.role {
        Role::Assistant => said.push(OllamaMessage::Assistant { content, tool_calls }),
        Role::User if texts.is_empty() => {}
        Role::User => said.push(OllamaMessage::User { content }),
    }
    said
}

/// A line of the answer. Fields that we do not know are no matter.
#[derive(Debug, Deserialize)]
pub(super) struct OllamaChunk {
    pub(super) message: Option<OllamaAnswer>,
    #[serde(default)]
    pub(super) done: bool,
    pub(super) done_reason: Option<String>,
    pub(super) prompt_eval_count: Option<u64>,
    pub(super) eval_count: Option<u64>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OllamaAnswer {
    pub(super) content: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) tool_calls: Option<Vec<ReceivedCall>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReceivedCall {
    pub(super) id: Option<String>,
    pub(super) function: Option<ReceivedFunction>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ReceivedFunction {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) arguments: Value,
}
