//! `ask --json`: one JSON object in, one out. Nothing is remembered from one to the next but what the
//! caller hands in again as `history`.

use std::io::Read as _;

use app::{Asked, PastCall, Sourced, Spoken};
use protocol::conversation::Item;
use protocol::{Role, Source, TurnStatus, UserError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Written;

/// The longest input, in bytes.
const LARGEST: u64 = 4 << 20;

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The words.
    pub(super) message: String,
    /// Where the user is and what is seen there, in any shape.
    #[serde(default)]
    context: Value,
    /// Where the context comes from. What comes without a source counts as foreign.
    #[serde(default = "foreign")]
    context_sources: Vec<Source>,
    /// What was said before, oldest first.
    #[serde(default)]
    pub(super) history: Vec<Past>,
}

/// Something that was said before.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Past {
    role: Role,
    text: String,
    /// Where the words come from, as an earlier output said it. What comes without a source counts as
    /// foreign.
    #[serde(default = "foreign")]
    sources: Vec<Source>,
    /// What the assistant called with these words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Call>,
}

/// A call and its result, as an earlier output told them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    output: String,
    #[serde(default)]
    is_error: bool,
}

impl From<Call> for PastCall {
    fn from(call: Call) -> Self {
        let Call { tool, arguments, output, is_error } = call;
        Self { tool, arguments: Value::Object(arguments), output, is_error }
    }
}

fn foreign() -> Vec<Source> {
    vec![Source::Foreign]
}

impl Input {
    /// Reads all of the standard input.
    pub(super) fn read() -> Result<Self, UserError> {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(LARGEST + 1).read_to_string(&mut text);
        let refused = |why: String| {
            UserError::other(format!(
                "The input is not a question: {why}. Give one JSON object such as \
                 {{\"message\": \"…\", \"context\": {{}}, \"history\": []}}."
            ))
        };
        read.map_err(|error| refused(error.to_string()))?;
        if text.len() as u64 > LARGEST {
            return Err(refused("it is longer than 4 MiB".to_owned()));
        }
        let input: Self =
            serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        if input.message.trim().is_empty() {
            return Err(refused("its message is empty".to_owned()));
        }
        Ok(input)
    }

    /// The context as the model is told it.
    pub(super) fn context(&self) -> Option<Sourced> {
        let is_empty = match &self.context {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        (!is_empty).then(|| Sourced {
            text: format!("Told by the program that asks:\n{:#}", self.context),
            sources: or_foreign(&self.context_sources),
        })
    }

    /// What was said before, for the application.
    pub(super) fn spoken(&self) -> Vec<Spoken> {
        let said = self.history.iter().cloned();
        let told = |past: Past| Sourced { sources: or_foreign(&past.sources), text: past.text };
        let calls = |past: &mut Past| match past.role {
            Role::Assistant => std::mem::take(&mut past.calls),
            Role::User => Vec::new(),
        };
        let spoken = |mut past: Past| Spoken {
            role: past.role,
            calls: calls(&mut past).into_iter().map(PastCall::from).collect(),
            told: told(past),
        };
        said.map(spoken).collect()
    }
}

/// An empty list says no more than none.
fn or_foreign(sources: &[Source]) -> Vec<Source> {
    if sources.is_empty() { foreign() } else { sources.to_vec() }
}

fn said(role: Role, text: &str, sources: &[Source]) -> Past {
    Past { role, text: text.to_owned(), sources: sources.to_vec(), calls: Vec::new() }
}

/// What came of it, as JSON.
pub(super) fn output(input: &Input, asked: &Asked, written: Written) -> Value {
    let mut history = input.history.clone();
    history.push(said(Role::User, &input.message, &[Source::User]));
    let heard: Vec<Source> = asked.sources.iter().cloned().collect();
    let (mut messages, mut calls, mut reactions) = (Vec::new(), Vec::new(), Vec::new());
    let mut reason = TurnStatus::Done;
    for item in &asked.items {
        match item {
            Item::Assistant { text, cut, .. } => {
                messages.push(json!({ "role": Role::Assistant, "text": text, "cut": cut }));
                history.push(said(Role::Assistant, text, &heard));
            }
            Item::Asked { text, .. } => {
                reason = TurnStatus::Asked;
                let question =
                    json!({ "role": Role::Assistant, "text": text, "is_question": true });
                messages.push(question);
                history.push(said(Role::Assistant, text, &heard));
            }
            Item::Tool { call, tool, arguments, output, is_error, reactions: told, .. } => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                if history.last().is_some_and(|past| past.role == Role::User) {
                    history.push(said(Role::Assistant, "", &heard));
                }
                if let (Some(past), Some(output)) = (history.last_mut(), output) {
                    let (tool, is_error) = (tool.clone(), *is_error);
                    let arguments = arguments.as_object().cloned().unwrap_or_default();
                    past.calls.push(Call { tool, arguments, output: output.clone(), is_error });
                }
                calls.push(json!({
                    "id": call, "tool": tool, "arguments": arguments, "output": output,
                    "is_error": is_error,
                }));
                reactions.extend(told);
            }
            Item::Ended { status, .. } => reason = *status,
            _ => {}
        }
    }
    let planned = asked.planned.iter();
    let planned = planned.map(|note| json!({ "path": note.path, "diff": note.diff }));
    let planned: Vec<Value> = planned.collect();
    json!({
        "messages": messages,
        "calls": calls,
        "change_set": {
            "written": written == Written::Yes,
            "changed": asked.written,
            "planned": planned,
            "waiting": asked.waiting,
        },
        "reactions": reactions,
        "stop_reason": reason,
        "error": asked.error,
        "sources": heard,
        "history": history,
    })
}
