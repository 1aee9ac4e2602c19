//! The JSON of Ollama's `/api/chat`, as far as we speak it.
//! <https://docs.ollama.com/api/chat>

use std::borrow::Cow;
use std::collections::BTreeMap;

use protocol::model::Effort;
use protocol::{CallId, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Block, ModelMessage, ModelRequest, ToolSpec, callable_name};
use crate::parameters::Parameters;

/// A request for a streamed answer.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    options: Options,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Effort>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct Options {
    num_ctx: u32,
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
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
        content: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_name: Cow<'a, str>,
        content: Cow<'a, str>,
    },
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    function: Called<'a>,
}

#[derive(Debug, Serialize)]
struct Called<'a> {
    name: Cow<'a, str>,
    arguments: &'a Value,
}

impl<'a> Request<'a> {
    /// The whole body; the server reads `window` tokens, prompt and answer together.
    pub(super) fn new(request: &'a ModelRequest, parameters: &'a Parameters, window: u32) -> Self {
        let system = Message::System { content: &request.system };
        let system = (!request.system.is_empty()).then_some(system);
        let mut names = BTreeMap::new();
        let said = request.messages.iter().flat_map(|message| messages(message, &mut names));
        Self {
            model: &request.model,
            messages: system.into_iter().chain(said).collect(),
            tools: request.tools.iter().map(tool).collect(),
            stream: true,
            options: Options {
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

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let ToolSpec { name, description, input_schema: parameters } = spec;
    Tool::Function { name, description, parameters }
}

/// Each result is a message of its own, before the words that came with them. This wire knows
/// results by the name of their tool.
fn messages<'a>(
    message: &'a ModelMessage,
    names: &mut BTreeMap<&'a CallId, &'a str>,
) -> Vec<Message<'a>> {
    let mut texts = Vec::new();
    let mut tool_calls = Vec::new();
    let mut said = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(text) => texts.push(text.as_str()),
            Block::Call(call) => {
                names.insert(&call.id, &call.tool);
                let name = callable_name(&call.tool);
                tool_calls.push(Call { function: Called { name, arguments: &call.arguments } });
            }
            Block::Result { call, output, is_error } => {
                let tool_name = callable_name(names.get(call).copied().unwrap_or_default());
                let content = match is_error {
                    true => Cow::Owned(format!("Error: {output}")),
                    false => Cow::Borrowed(output.as_str()),
                };
                said.push(Message::Tool { tool_name, content });
            }
            // What another vendor sent verbatim is no matter to this one.
            Block::Verbatim(_) => {}
        }
    }
    let content = texts.join("\n\n");
    match message.role {
        Role::Assistant => said.push(Message::Assistant { content, tool_calls }),
        Role::User if texts.is_empty() => {}
        Role::User => said.push(Message::User { content }),
    }
    said
}

/// A line of the answer. Fields that we do not know are no matter.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) message: Option<Said>,
    #[serde(default)]
    pub(super) done: bool,
    pub(super) done_reason: Option<String>,
    pub(super) prompt_eval_count: Option<u64>,
    pub(super) eval_count: Option<u64>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Said {
    pub(super) content: Option<String>,
    pub(super) tool_calls: Option<Vec<CallMade>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallMade {
    pub(super) id: Option<String>,
    pub(super) function: Option<FunctionCalled>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionCalled {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) arguments: Value,
}
