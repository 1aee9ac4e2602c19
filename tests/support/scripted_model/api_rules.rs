//! The rules of the provider for every request, as far as its documentation and its errors tell.
//!
//! A double that accepts anything proves nothing: each rule here is a request the real API would
//! refuse, or a secret in the wrong place.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, Method};
use serde_json::Value;

const TOP_LEVEL: [&str; 15] = [
    "model",
    "max_tokens",
    "stream",
    "system",
    "tools",
    "tool_choice",
    "messages",
    "temperature",
    "thinking",
    "metadata",
    "stop_sequences",
    "top_p",
    "top_k",
    "service_tier",
    "output_config",
];

/// Errors of a request; empty when the provider would accept it.
pub(super) fn violations(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    body: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    if *method != Method::POST || path != "/v1/messages" {
        found.push(format!("{method} {path} is not an endpoint of the Messages API"));
        return found;
    }
    found.extend(header_violations(headers, body));
    match serde_json::from_str::<Value>(body) {
        Ok(request) => found.extend(request_violations(&request)),
        Err(error) => found.push(format!("the body is not JSON: {error}")),
    }
    found
}

fn header_violations(headers: &HeaderMap, body: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut want = |name: &str, wanted: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !value.starts_with(wanted) || value.is_empty() {
            found.push(format!("header {name} is `{value}`, not `{wanted}…`"));
        }
    };
    want("x-api-key", "");
    want("anthropic-version", "2023-06-01");
    want("content-type", "application/json");
    let key = headers.get("x-api-key").and_then(|key| key.to_str().ok()).unwrap_or_default();
    if !key.is_empty() && body.contains(key) {
        found.push("the key stands in the body".into());
    }
    found
}

/// Errors of a body alone; empty when the provider would accept it.
#[must_use]
pub fn request_violations(request: &Value) -> Vec<String> {
    let Some(fields) = request.as_object() else {
        return vec!["the body is not an object".into()];
    };
    let mut found = Vec::new();
    for name in fields.keys().filter(|name| !TOP_LEVEL.contains(&name.as_str())) {
        found.push(format!("unknown field `{name}`"));
    }
    if request["model"].as_str().is_none_or(str::is_empty) {
        found.push("no model".into());
    }
    if request["max_tokens"].as_u64().is_none_or(|cap| cap == 0) {
        found.push("no max_tokens".into());
    }
    if request["stream"] != Value::Bool(true) {
        found.push("stream is not true".into());
    }
    let breakpoints = request.to_string().matches("\"cache_control\":{").count();
    if breakpoints > 4 {
        found.push(format!("{breakpoints} cache breakpoints, but 4 are the most"));
    }
    found.extend(system_violations(&request["system"]));
    found.extend(tool_violations(&request["tools"]));
    found.extend(message_violations(request));
    found
}

fn system_violations(system: &Value) -> Vec<String> {
    let blocks = match system {
        Value::Null => return Vec::new(),
        Value::String(text) if !text.trim().is_empty() => return Vec::new(),
        Value::Array(blocks) if !blocks.is_empty() => blocks,
        _ => return vec!["the system prompt is empty or no text".into()],
    };
    let empty = |block: &&Value| block["type"] != "text" || is_blank(&block["text"]);
    blocks.iter().filter(empty).map(|block| format!("bad system block {block}")).collect()
}

fn tool_violations(tools: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    let none = Vec::new();
    if !(tools.is_null() || tools.is_array()) {
        found.push("tools is not a list".into());
    }
    for tool in tools.as_array().unwrap_or(&none) {
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_word(name) || name.len() > 64 {
            found.push(format!("tool name `{name}`"));
        }
        if !names.insert(name) {
            found.push(format!("two tools are called `{name}`"));
        }
        if is_blank(&tool["description"]) {
            found.push(format!("tool `{name}` has no description"));
        }
        if tool["input_schema"]["type"] != "object" {
            found.push(format!("the schema of tool `{name}` is not of an object"));
        }
    }
    found
}

fn message_violations(request: &Value) -> Vec<String> {
    let Some(messages) = request["messages"].as_array().filter(|list| !list.is_empty()) else {
        return vec!["no messages".into()];
    };
    let mut found = Vec::new();
    found.extend(undeclared_tools(request, messages));
    let mut open_calls: BTreeSet<&str> = BTreeSet::new();
    let mut all_calls: BTreeSet<&str> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            found.push(format!("message {index} is not the {role}'s: roles alternate from `user`"));
        }
        let blocks = match &message["content"] {
            Value::String(text) if !text.trim().is_empty() => &[][..],
            Value::Array(blocks) if !blocks.is_empty() => blocks.as_slice(),
            _ => {
                found.push(format!("message {index} is empty"));
                continue;
            }
        };
        let problems = blocks.iter().filter_map(|block| block_violation(block, role));
        found.extend(problems.map(|problem| format!("message {index}: {problem}")));
        let results = ids(blocks, "tool_result", "tool_use_id");
        found.extend(result_violations(index, blocks, &open_calls, &results));
        let calls = ids(blocks, "tool_use", "id");
        for id in calls.iter().filter(|id| !all_calls.insert(id)) {
            found.push(format!("message {index}: the call id `{id}` is not unique"));
        }
        open_calls = calls.into_iter().collect();
    }
    if messages.len() % 2 == 0 {
        found.push("the last message is not the user's".into());
    }
    found
}

/// A history with calls is refused where no tools are declared, even when none may be called.
fn undeclared_tools(request: &Value, messages: &[Value]) -> Option<String> {
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let mut of_tools =
        blocks.filter(|block| ["tool_use", "tool_result"].contains(&block_type(block)));
    let declared = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    (!declared && of_tools.next().is_some()).then(|| "calls, but no tools are declared".into())
}

fn block_type(block: &Value) -> &str {
    block["type"].as_str().unwrap_or_default()
}

fn result_violations(
    index: usize,
    blocks: &[Value],
    open_calls: &BTreeSet<&str>,
    results: &[&str],
) -> Vec<String> {
    let mut found = Vec::new();
    let answered: BTreeSet<&str> = results.iter().copied().collect();
    for id in open_calls.difference(&answered) {
        found.push(format!("message {index}: the call `{id}` has no result right after it"));
    }
    for id in answered.difference(open_calls) {
        found.push(format!("message {index}: the result `{id}` belongs to no call just before it"));
    }
    if answered.len() < results.len() {
        found.push(format!("message {index}: a call has two results"));
    }
    let first_other = blocks.iter().position(|block| block["type"] != "tool_result");
    let last_result = blocks.iter().rposition(|block| block["type"] == "tool_result");
    if let (Some(other), Some(result)) = (first_other, last_result)
        && other < result
    {
        found.push(format!("message {index}: results do not come first"));
    }
    found
}

fn block_violation(block: &Value, role: &str) -> Option<String> {
    match (block_type(block), role) {
        ("text", _) if is_blank(&block["text"]) => Some("an empty text block".into()),
        ("text", _) | ("thinking" | "redacted_thinking", "assistant") => None,
        ("tool_use", "assistant") => call_violation(block),
        ("tool_result", "user") => match &block["content"] {
            Value::Null | Value::String(_) | Value::Array(_) => None,
            other => Some(format!("a result's content is {other}")),
        },
        (other, role) => Some(format!("a block `{other}` of the {role}")),
    }
}

fn call_violation(block: &Value) -> Option<String> {
    let id = block["id"].as_str().unwrap_or_default();
    let name = block["name"].as_str().unwrap_or_default();
    (!is_word(id) || !is_word(name) || !block["input"].is_object())
        .then(|| format!("the call `{id}` of `{name}` has a bad id, name or input"))
}

fn ids<'a>(blocks: &'a [Value], kind: &str, field: &str) -> Vec<&'a str> {
    let of_kind = blocks.iter().filter(|block| block["type"] == kind);
    of_kind.map(|block| block[field].as_str().unwrap_or_default()).collect()
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

fn is_word(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.bytes().all(allowed)
}
