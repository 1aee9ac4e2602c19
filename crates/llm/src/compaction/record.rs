//! One line for a whole exchange, and what of it must outlive every summary.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{CallId, Message, Part, QuestionId, Role, TurnId};
use serde_json::Value;

use crate::exchange::Exchange;
use crate::shorten;

/// Arguments with these names name something: they are kept whole.
const NAMING: [&str; 5] = ["path", "source", "destination", "conversation_id", "handle"];

/// The argument of a call that asks which holds the question.
const QUESTION: &str = "message";

/// How many bytes of the user's words, of an answer and of any other argument a line keeps.
const WORDS: usize = 600;
const ANSWER: usize = 1_200;
const ARGUMENT: usize = 80;

/// The ids of the questions, by the calls that asked them.
pub(crate) type Questions = BTreeMap<(TurnId, CallId), QuestionId>;

/// What must be kept word for word, however often it is put together anew.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// Something that a call named: a path, an id.
    Named(String),
    /// Where a long result can be read on.
    Handle(String),
    /// A question and its id.
    Asked(QuestionId, String),
    /// What was said in answer to a question.
    Answered(QuestionId, String),
}

/// The facts of an exchange, in order.
pub(super) fn facts(exchange: &Exchange, questions: &Questions) -> Vec<Fact> {
    let rows = exchange.rows.iter().map(Arc::as_ref);
    let parts = rows.flat_map(|row: &Message| row.parts.iter().map(move |part| (row, part)));
    let of_part = |(row, part): (&Message, &Part)| match part {
        Part::Call { id, arguments, .. } => {
            let asked = question(exchange, id, arguments, questions).map(|(id, text)| {
                let text = text.to_owned();
                Fact::Asked(id.clone(), text)
            });
            let named = named(arguments).map(|name| Fact::Named(name.to_owned()));
            named.chain(asked).collect()
        }
        Part::Result { output, .. } => {
            let handles = shorten::handles(output);
            handles.map(|handle| Fact::Handle(handle.to_owned())).collect()
        }
        Part::Answers { question } => {
            vec![Fact::Answered(question.clone(), one_line(&row.text(), WORDS))]
        }
        Part::Text { .. }
        | Part::Context { .. }
        | Part::Repeated
        | Part::OpenNote { .. }
        | Part::Verbatim { .. } => Vec::new(),
    };
    parts.flat_map(of_part).collect()
}

/// The exchange in one line: who said what, what was called, what was asked.
pub(super) fn line(exchange: &Exchange, questions: &Questions) -> String {
    let mut told = Vec::new();
    for row in &exchange.rows {
        for part in &row.parts {
            told.extend(match part {
                Part::Text { text } => spoken(row.role, text),
                Part::Call { id, tool, arguments } => {
                    Some(match question(exchange, id, arguments, questions) {
                        Some((id, text)) => {
                            format!("asked {} (question {id})", quoted(text, usize::MAX))
                        }
                        None => call(tool, arguments),
                    })
                }
                Part::Result { output, is_error, .. } => {
                    let failed = is_error.then(|| "failed".to_owned());
                    let handles = shorten::handles(output).map(|handle| format!("result {handle}"));
                    let told: Vec<String> = failed.into_iter().chain(handles).collect();
                    (!told.is_empty()).then(|| told.join(", "))
                }
                Part::Answers { question } => Some(format!("in answer to question {question}")),
                Part::Context { .. }
                | Part::Repeated
                | Part::OpenNote { .. }
                | Part::Verbatim { .. } => None,
            });
        }
    }
    format!("- {}", told.join(" · "))
}

/// A text in one line of at most so many bytes.
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
        Role::User => ("the user", WORDS),
        Role::Assistant => ("you", ANSWER),
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
        let most = if names(key) { usize::MAX } else { ARGUMENT };
        Some(format!("{key}: {}", one_line(value, most)))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { tool.to_owned() } else { format!("{tool} ({})", told.join(", ")) }
}

fn named(arguments: &Value) -> impl Iterator<Item = &str> {
    let fields = arguments.as_object().into_iter().flatten();
    fields.filter(|(key, _)| names(key)).filter_map(|(_, value)| value.as_str())
}

fn names(key: &str) -> bool {
    NAMING.iter().any(|name| key.ends_with(name))
}

/// The question that a call asked, with its id.
fn question<'a>(
    exchange: &Exchange,
    call: &CallId,
    arguments: &'a Value,
    questions: &'a Questions,
) -> Option<(&'a QuestionId, &'a str)> {
    let id = questions.get(&(exchange.turn.clone(), call.clone()))?;
    Some((id, arguments.get(QUESTION)?.as_str()?))
}
