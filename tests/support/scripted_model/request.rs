//! Reading a request the way a script decides by it.

use serde_json::Value;

/// The text of the last message: the user's text, or the context around it.
#[must_use]
pub fn last_message_text(request: &Value) -> String {
    let last = &last_message(request)["content"];
    match last.as_str() {
        Some(text) => text.to_owned(),
        None => blocks(last, "text")
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// The results of tools in the last message: call id and text.
#[must_use]
pub fn tool_results(request: &Value) -> Vec<(String, String)> {
    let text = |content: &Value| match content.as_str() {
        Some(text) => text.to_owned(),
        None => blocks(content, "text").filter_map(|block| block["text"].as_str()).collect(),
    };
    blocks(&last_message(request)["content"], "tool_result")
        .map(|block| {
            (block["tool_use_id"].as_str().unwrap_or_default().into(), text(&block["content"]))
        })
        .collect()
}

/// The names of the tools on offer.
#[must_use]
pub fn offered_tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).map(Into::into).collect()
}

fn last_message(request: &Value) -> &Value {
    request["messages"].as_array().and_then(|messages| messages.last()).unwrap_or(&Value::Null)
}

fn blocks<'a>(content: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    content.as_array().into_iter().flatten().filter(move |block| block["type"] == kind)
}
