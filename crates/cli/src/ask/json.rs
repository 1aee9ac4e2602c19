//! `ask --json`: one JSON object in, one out. Nothing is remembered from one to the next but what the
//! caller hands in again as `history`.

use std::io::Read as _;

use app::{OneShotAnswer, PriorCall, PriorMessage, SourcedText};
use protocol::chat::conversation::ChatItem;
use protocol::{Privacy, Role, Source, Timestamp, ToolEvent, TurnStatus, UserError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::ChangeOutput;

/// The longest input, in bytes.
const MAX_INPUT_BYTES: u64 = 4 << 20;

/// The input: a message with its context and history.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskInput {
    /// The words for the assistant, Markdown.
    pub(super) message: String,
    /// Where the user is and what is seen there, in any shape.
    #[serde(default)]
    context: Value,
    /// The source of the context. A context without a source counts as foreign.
    #[serde(default = "foreign_source")]
    context_sources: Vec<Source>,
    /// The earlier messages, oldest first.
    #[serde(default)]
    pub(super) history: Vec<HistoryMessage>,
}

/// An earlier message.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryMessage {
    role: Role,
    text: String,
    /// The source of the message, as an earlier output named it. A message without a source counts
    /// as foreign.
    #[serde(default = "foreign_source")]
    sources: Vec<Source>,
    /// When its question was asked, in milliseconds since 1970. With it, text of a note is withheld whose path
    /// another file has by now, if the note may be private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// How private the notes were at most that its model might see, as an earlier output named it: `open`, `local`
    /// or `never`. Any other value, or none, says no less than `never`: a model that sees fewer notes is not told
    /// what the message found out by a search.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    max_privacy: Value,
    /// The assistant's calls with this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<HistoryCall>,
}

/// A call and its result, as an earlier output told them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryCall {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    output: String,
    #[serde(default)]
    is_error: bool,
}

impl From<HistoryCall> for PriorCall {
    fn from(call: HistoryCall) -> Self {
        let HistoryCall { tool, arguments, output, is_error } = call;
        Self { tool, arguments: Value::Object(arguments), output, is_error }
    }
}

fn foreign_source() -> Vec<Source> {
    vec![Source::Foreign]
}

impl AskInput {
    /// Reads all of the standard input.
    pub(super) fn read() -> Result<Self, UserError> {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_string(&mut text);
        let refused = |why: String| {
            UserError::other(format!(
                "The input isn’t a question: {why}. Give one JSON object such as {{\"message\": \
                 \"…\", \"context\": {{}}, \"history\": []}}."
            ))
        };
        read.map_err(|error| refused(error.to_string()))?;
        if text.len() as u64 > MAX_INPUT_BYTES {
            return Err(refused("it is longer than 4 MiB".to_owned()));
        }
        let input: Self =
            serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        if input.message.trim().is_empty() {
            return Err(refused("its message is empty".to_owned()));
        }
        Ok(input)
    }

    /// The context, for the application.
    pub(super) fn context(&self) -> Option<SourcedText> {
        let is_empty = match &self.context {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        (!is_empty).then(|| SourcedText {
            text: format!("{:#}", self.context),
            sources: or_foreign(&self.context_sources),
        })
    }

    /// The earlier messages, for the application.
    pub(super) fn prior_messages(&self) -> Vec<PriorMessage> {
        let said = self.history.iter().cloned();
        let told = |past: HistoryMessage| SourcedText {
            sources: or_foreign(&past.sources),
            text: past.text,
        };
        let calls = |past: &mut HistoryMessage| match past.role {
            Role::Assistant => std::mem::take(&mut past.calls),
            Role::User => Vec::new(),
        };
        let spoken = |mut past: HistoryMessage| PriorMessage {
            role: past.role,
            calls: calls(&mut past).into_iter().map(PriorCall::from).collect(),
            at: past.at,
            max_privacy: privacy_from_name(&past.max_privacy),
            content: told(past),
        };
        said.map(spoken).collect()
    }
}

/// An empty list says no more than none.
fn or_foreign(sources: &[Source]) -> Vec<Source> {
    if sources.is_empty() { foreign_source() } else { sources.to_vec() }
}

/// The levels by the names in the history.
const PRIVACY_NAMES: [(Privacy, &str); 3] =
    [(Privacy::Open, "open"), (Privacy::Local, "local"), (Privacy::Never, "never")];

fn privacy_from_name(name: &Value) -> Option<Privacy> {
    let name = name.as_str()?;
    PRIVACY_NAMES.into_iter().find(|(_, known)| *known == name).map(|(privacy, _)| privacy)
}

fn privacy_name(privacy: Privacy) -> Option<&'static str> {
    PRIVACY_NAMES.into_iter().find(|(known, _)| *known == privacy).map(|(_, name)| name)
}

/// A message of the question or its answer.
fn history_message(
    asked: &OneShotAnswer,
    role: Role,
    text: &str,
    sources: &[Source],
) -> HistoryMessage {
    HistoryMessage {
        role,
        text: text.to_owned(),
        sources: sources.to_vec(),
        at: Some(asked.at),
        max_privacy: asked.max_privacy.and_then(privacy_name).into(),
        calls: Vec::new(),
    }
}

/// The result, as JSON.
pub(super) fn output(input: &AskInput, asked: &OneShotAnswer, written: ChangeOutput) -> Value {
    let mut history = input.history.clone();
    history.push(history_message(asked, Role::User, &input.message, &[Source::User]));
    let heard: Vec<Source> = asked.sources.iter().cloned().collect();
    let (mut messages, mut calls, mut reactions) = (Vec::new(), Vec::new(), Vec::new());
    let mut reason = TurnStatus::Done;
    for item in &asked.items {
        match item {
            ChatItem::Assistant { text, cut, .. } => {
                messages.push(json!({ "role": Role::Assistant, "text": text, "cut": cut }));
                history.push(history_message(asked, Role::Assistant, text, &heard));
            }
            ChatItem::Asked { text, .. } => {
                reason = TurnStatus::Asked;
                let question =
                    json!({ "role": Role::Assistant, "text": text, "is_question": true });
                messages.push(question);
                reactions.push(ToolEvent::QuestionAsked { question: text.clone() });
                history.push(history_message(asked, Role::Assistant, text, &heard));
            }
            ChatItem::Tool { call, tool, arguments, output, is_error, reactions: told, .. } => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                if history.last().is_some_and(|past| past.role == Role::User) {
                    history.push(history_message(asked, Role::Assistant, "", &heard));
                }
                if let (Some(past), Some(output)) = (history.last_mut(), output) {
                    let (tool, is_error) = (tool.clone(), *is_error);
                    let arguments = arguments.as_object().cloned().unwrap_or_default();
                    let output = output.clone();
                    past.calls.push(HistoryCall { tool, arguments, output, is_error });
                }
                calls.push(json!({
                    "id": call, "tool": tool, "arguments": arguments, "output": output,
                    "is_error": is_error,
                }));
                reactions.extend(told.iter().cloned());
            }
            ChatItem::Ended { status, .. } => reason = *status,
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
            "written": written == ChangeOutput::Yes,
            "changed": asked.written,
            "planned": planned,
            "waiting": asked.waiting,
        },
        "reactions": reactions,
        "stop_reason": reason,
        "error": asked.error.as_ref().map(UserError::to_english_json),
        "sources": heard,
        "history": history,
    })
}
