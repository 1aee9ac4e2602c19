//! A request put into words, for a model that is given no tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use protocol::{CallId, Role};
use serde_json::json;

use crate::model::{ContentBlock, ModelMessage, ModelRequest, ToolCall, ToolSpec};

const TOOLS_INTRO: &str = "# Tools\n\nYou can use tools. To use one, answer with one JSON object and \
    nothing after it:\n\n\
    {\"tool\": \"<name>\", \"parameters\": {…}, \"reasoning\": \"<why, in a few words>\"}\n\n\
    `parameters` must fit the tool's schema. Use one tool at a time; its result comes with the next \
    message. When you need no tool, answer in plain words without such an object.\n";

/// The same request without tools: they, the calls and their results are told as text. The same
/// request gives the same bytes.
pub(super) fn as_text(request: &ModelRequest) -> ModelRequest {
    let mut names = BTreeMap::new();
    let messages =
        request.messages.iter().map(|message| message_as_text(message, &mut names)).collect();
    let system = if request.tools.is_empty() {
        request.system.clone()
    } else {
        format!("{}\n\n{}", request.system, describe_tools(&request.tools)).trim_start().to_owned()
    };
    ModelRequest { system, tools: Vec::new(), messages, ..request.clone() }
}

/// What is asked after an answer that was meant as a call and is none.
pub(super) fn repair_request(request: ModelRequest, answer: &str, problem: &str) -> ModelRequest {
    let message =
        |role, text: String| ModelMessage { role, blocks: vec![ContentBlock::Text(text)] };
    let told = format!(
        "That was no valid call: {problem}. Answer again, with one JSON object of the form \
         {{\"tool\": …, \"parameters\": …}} and nothing else, or in plain words."
    );
    let mut messages = request.messages;
    messages.push(message(Role::Assistant, answer.to_owned()));
    messages.push(message(Role::User, told));
    ModelRequest { messages, ..request }
}

/// Whether anything of the request needs words.
pub(super) fn uses_tools(request: &ModelRequest) -> bool {
    let mut blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let is_call =
        |block: &ContentBlock| matches!(block, ContentBlock::Call(_) | ContentBlock::Result { .. });
    !request.tools.is_empty() || blocks.any(is_call)
}

fn describe_tools(tools: &[ToolSpec]) -> String {
    tools.iter().fold(TOOLS_INTRO.to_owned(), |mut text, tool| {
        let ToolSpec { name, description, input_schema } = tool;
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {name}\n\n{description}\n\nSchema: {input_schema}\n");
        text
    })
}

fn message_as_text(message: &ModelMessage, names: &mut BTreeMap<CallId, String>) -> ModelMessage {
    let blocks = message.blocks.iter().map(|block| match block {
        ContentBlock::Call(ToolCall { id, tool, arguments }) => {
            names.insert(id.clone(), tool.clone());
            ContentBlock::Text(json!({ "tool": tool, "parameters": arguments }).to_string())
        }
        ContentBlock::Result { call, output, is_error } => {
            let tool = names.get(call).map_or("the tool", String::as_str);
            let what = if *is_error { "Error of" } else { "Result of" };
            ContentBlock::Text(format!("{what} {tool}:\n{output}"))
        }
        ContentBlock::Text(_) | ContentBlock::Verbatim(_) => block.clone(),
    });
    ModelMessage { role: message.role, blocks: blocks.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ModelRequest {
        let call = ToolCall { id: "1".into(), tool: "look".into(), arguments: json!({ "a": 1 }) };
        let result = ContentBlock::Result { call: "1".into(), output: "x".into(), is_error: true };
        let text = ContentBlock::Text("hi".into());
        ModelRequest {
            system: "Be good.".into(),
            tools: vec![ToolSpec {
                name: "look".into(),
                description: "Looks.".into(),
                input_schema: json!({ "type": "object" }),
            }],
            messages: vec![
                ModelMessage { role: Role::User, blocks: vec![text.clone()] },
                ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call)] },
                ModelMessage { role: Role::User, blocks: vec![result, text] },
            ],
            ..ModelRequest::default()
        }
    }

    #[test]
    fn tools_calls_and_results_are_told_as_text() {
        let spoken = as_text(&request());
        assert_eq!(spoken.tools, []);
        assert!(spoken.system.starts_with("Be good.\n\n# Tools\n"));
        assert!(spoken.system.ends_with("## look\n\nLooks.\n\nSchema: {\"type\":\"object\"}\n"));
        let text = |text: &str| ContentBlock::Text(text.into());
        let said: Vec<_> = spoken.messages.into_iter().map(|message| message.blocks).collect();
        assert_eq!(
            said,
            [
                vec![text("hi")],
                vec![text(r#"{"parameters":{"a":1},"tool":"look"}"#)],
                vec![text("Error of look:\nx"), text("hi")],
            ]
        );
    }

    #[test]
    fn a_closing_request_offers_nothing_and_still_tells_what_was_called() {
        let closing = ModelRequest { tools: Vec::new(), ..request() };
        assert!(uses_tools(&closing));
        let spoken = as_text(&closing);
        assert_eq!(spoken.system, "Be good.");
        assert!(!uses_tools(&spoken));
    }
}
