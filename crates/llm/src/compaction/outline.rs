//! One line for a whole exchange, and what of it must outlive every summary.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{CallId, Message, MessagePart, QuestionId, Role, TurnId};
use serde_json::Value;

use crate::context::exchange::Exchange;
use crate::context::truncate;

/// Arguments with these names name something: they are kept whole.
const REFERENCE_ARGUMENTS: [&str; 5] =
    ["path", "source", "destination", "conversation_id", "handle"];

/// The argument of a call that asks which holds the question.
const QUESTION_ARGUMENT: &str = "message";

/// How many bytes of the user's message, of an answer and of any other argument a line keeps.
const MAX_USER_BYTES: usize = 600;
const MAX_ANSWER_BYTES: usize = 1_200;
const MAX_ARGUMENT_BYTES: usize = 80;

/// The ids of the questions, by the calls that asked them.
pub(crate) type QuestionIds = BTreeMap<(TurnId, CallId), QuestionId>;

/// A fact that must be kept word for word, however often the conversation is summarized again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// Something that a call named: a path, an id.
    Named(String),
    /// Where a long result can be read on.
    Handle(String),
    /// The words of a question, under the id that its answer names.
    Asked(QuestionId, String),
    /// The answer to a question.
    Answered(QuestionId, String),
}

/// The facts of an exchange, in order.
pub(super) fn facts(exchange: &Exchange, questions: &QuestionIds) -> Vec<Fact> {
    let rows = exchange.rows.iter().map(Arc::as_ref);
    let parts = rows.flat_map(|row: &Message| row.parts.iter().map(move |part| (row, part)));
    let of_part = |(row, part): (&Message, &MessagePart)| match part {
        MessagePart::Call { id, arguments, .. } => {
            let asked = question(exchange, id, arguments, questions).map(|(id, text)| {
                let text = text.to_owned();
                Fact::Asked(id.clone(), text)
            });
            let named = references(arguments).map(|name| Fact::Named(name.to_owned()));
            named.chain(asked).collect()
        }
        MessagePart::Result { output, .. } => {
            let handles = truncate::handles(output);
            handles.map(|handle| Fact::Handle(handle.to_owned())).collect()
        }
        MessagePart::Answers { question } => {
            vec![Fact::Answered(question.clone(), one_line(&row.text(), MAX_USER_BYTES))]
        }
        MessagePart::Text { .. }
        | MessagePart::Context { .. }
        | MessagePart::Repeated
        | MessagePart::Passed
        | MessagePart::OpenNote { .. }
        | MessagePart::Verbatim { .. } => Vec::new(),
    };
    parts.flat_map(of_part).collect()
}

/// The exchange in one line: the messages, the calls, the questions.
pub(super) fn line(exchange: &Exchange, questions: &QuestionIds) -> String {
    let mut told = Vec::new();
    for row in &exchange.rows {
        for part in &row.parts {
            told.extend(match part {
                MessagePart::Text { text } => spoken(row.role, text),
                MessagePart::Call { id, tool, arguments } => {
                    Some(match question(exchange, id, arguments, questions) {
                        Some((id, text)) => {
                            format!("asked {} (question {id})", quoted(text, usize::MAX))
                        }
                        None => call(tool, arguments),
                    })
                }
                MessagePart::Result { output, is_error, .. } => {
                    let failed = is_error.then(|| "failed".to_owned());
                    let handles =
                        truncate::handles(output).map(|handle| format!("result {handle}"));
                    let told: Vec<String> = failed.into_iter().chain(handles).collect();
                    (!told.is_empty()).then(|| told.join(", "))
                }
                MessagePart::Answers { question } => {
                    Some(format!("in answer to question {question}"))
                }
                MessagePart::Context { .. }
                | MessagePart::Repeated
                | MessagePart::Passed
                | MessagePart::OpenNote { .. }
                | MessagePart::Verbatim { .. } => None,
            });
        }
    }
    format!("- {}", told.join(" · "))
}

/// A text in one line of at most `most` bytes.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= most {
        return line;
    }
    let kept = line.get(..line.floor_char_boundary(most)).unwrap_or_default();
    format!("{}…", kept.trim_end())
}

fn spoken(role: Role, text: &str) -> Option<String> {
    let (who, most) = match role {
        Role::User => ("the user", MAX_USER_BYTES),
        Role::Assistant => ("you", MAX_ANSWER_BYTES),
    };
    (!text.trim().is_empty()).then(|| format!("{who}: {}", quoted(text, most)))
}

fn quoted(text: &str, most: usize) -> String {
    format!("“{}”", one_line(text, most))
}

fn call(tool: &str, arguments: &Value) -> String {
    let fields = arguments.as_object().into_iter().flatten();
    let told = fields.filter_map(|(key, value)| {
        let value = value.as_str()?;
        let most = if is_reference(key) { usize::MAX } else { MAX_ARGUMENT_BYTES };
        Some(format!("{key}: {}", one_line(value, most)))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { tool.to_owned() } else { format!("{tool} ({})", told.join(", ")) }
}

fn references(arguments: &Value) -> impl Iterator<Item = &str> {
    let fields = arguments.as_object().into_iter().flatten();
    fields.filter(|(key, _)| is_reference(key)).filter_map(|(_, value)| value.as_str())
}

fn is_reference(key: &str) -> bool {
    REFERENCE_ARGUMENTS.iter().any(|name| key.ends_with(name))
}

/// The question that a call asked, with its id.
fn question<'a>(
    exchange: &Exchange,
    call: &CallId,
    arguments: &'a Value,
    questions: &'a QuestionIds,
) -> Option<(&'a QuestionId, &'a str)> {
    let id = questions.get(&(exchange.turn.clone(), call.clone()))?;
    Some((id, arguments.get(QUESTION_ARGUMENT)?.as_str()?))
}
