//! A request put into words, for a model that is given no tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use protocol::{CallId, Role};
use serde_json::json;

use crate::model::{Block, ModelMessage, ModelRequest, ToolCall, ToolSpec};

const HOW: &str = "# Tools\n\nYou can use tools. To use one, answer with one JSON object and \
    nothing after it:\n\n\
    {\"tool\": \"<name>\", \"parameters\": {…}, \"reasoning\": \"<why, in a few words>\"}\n\n\
    `parameters` must fit the tool's schema. Use one tool at a time; its result comes with the next \
    message. When you need no tool, answer in plain words without such an object.\n";

/// The same request without tools: they, the calls and their results are told as text. The same
/// request gives the same bytes.
pub(super) fn spoken(request: &ModelRequest) -> ModelRequest {
    let mut names = BTreeMap::new();
    let messages = request.messages.iter().map(|message| said(message, &mut names)).collect();
    let system = if request.tools.is_empty() {
        request.system.clone()
    } else {
        format!("{}\n\n{}", request.system, offer(&request.tools)).trim_start().to_owned()
    };
    ModelRequest { system, tools: Vec::new(), messages, ..request.clone() }
}

/// What is asked after an answer that was meant as a call and is none.
pub(super) fn repair(request: ModelRequest, answer: &str, problem: &str) -> ModelRequest {
    let message = |role, text: String| ModelMessage { role, blocks: vec![Block::Text(text)] };
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
pub(super) fn is_about_tools(request: &ModelRequest) -> bool {
    let mut blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let is_call = |block: &Block| matches!(block, Block::Call(_) | Block::Result { .. });
    !request.tools.is_empty() || blocks.any(is_call)
}

fn offer(tools: &[ToolSpec]) -> String {
    tools.iter().fold(HOW.to_owned(), |mut text, tool| {
        let ToolSpec { name, description, input_schema } = tool;
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {name}\n\n{description}\n\nSchema: {input_schema}\n");
        text
    })
}

fn said(message: &ModelMessage, names: &mut BTreeMap<CallId, String>) -> ModelMessage {
    let blocks = message.blocks.iter().map(|block| match block {
        Block::Call(ToolCall { id, tool, arguments }) => {
            names.insert(id.clone(), tool.clone());
            Block::Text(json!({ "tool": tool, "parameters": arguments }).to_string())
        }
        Block::Result { call, output, is_error } => {
            let tool = names.get(call).map_or("the tool", String::as_str);
            let what = if *is_error { "Error of" } else { "Result of" };
            Block::Text(format!("{what} {tool}:\n{output}"))
        }
        Block::Text(_) | Block::Verbatim(_) => block.clone(),
    });
    ModelMessage { role: message.role, blocks: blocks.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ModelRequest {
        let call = ToolCall { id: "1".into(), tool: "look".into(), arguments: json!({ "a": 1 }) };
        let result = Block::Result { call: "1".into(), output: "x".into(), is_error: true };
        let text = Block::Text("hi".into());
        ModelRequest {
            system: "Be good.".into(),
            tools: vec![ToolSpec {
                name: "look".into(),
                description: "Looks.".into(),
                input_schema: json!({ "type": "object" }),
            }],
            messages: vec![
                ModelMessage { role: Role::User, blocks: vec![text.clone()] },
                ModelMessage { role: Role::Assistant, blocks: vec![Block::Call(call)] },
                ModelMessage { role: Role::User, blocks: vec![result, text] },
            ],
            ..ModelRequest::default()
        }
    }

    #[test]
    fn tools_calls_and_results_are_told_as_text() {
        let spoken = spoken(&request());
        assert_eq!(spoken.tools, []);
        assert!(spoken.system.starts_with("Be good.\n\n# Tools\n"));
        assert!(spoken.system.ends_with("## look\n\nLooks.\n\nSchema: {\"type\":\"object\"}\n"));
        let text = |text: &str| Block::Text(text.into());
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
        assert!(is_about_tools(&closing));
        let spoken = spoken(&closing);
        assert_eq!(spoken.system, "Be good.");
        assert!(!is_about_tools(&spoken));
    }
}
