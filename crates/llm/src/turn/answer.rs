//! The answer that streams in, and the batch of calls it turns into.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{AnswerAuthor, CallId, MessagePart};
use serde_json::Value;

use super::batch::{CallBatch, CallSlot};
use super::tool_kind::ToolKind;
use crate::context::model_texts;
use crate::context::request_usage::RequestUsage;
use crate::model::{ModelEvent, OWN_CALL_PREFIX, ToolCall};

/// The answer of the model so far, in order.
#[derive(Debug, Default)]
pub(super) struct PartialAnswer {
    parts: Vec<AnswerPart>,
    /// Text that nobody saw before the answer broke off.
    held: Option<String>,
    /// The tokens that it took until now.
    pub(super) usage: RequestUsage,
}

#[derive(Debug)]
enum AnswerPart {
    Text(String),
    Verbatim(Value),
    Call(ToolCall),
    OwnCall(ToolCall),
    Broken { call: ToolCall, problem: String },
}

impl PartialAnswer {
    /// Takes in an event; returns text to show.
    pub(super) fn receive(&mut self, event: ModelEvent) -> Option<String> {
        self.usage.observe(&event);
        match event {
            ModelEvent::Text(text) if text.is_empty() => None,
            ModelEvent::Text(text) => {
                match self.parts.last_mut() {
                    Some(AnswerPart::Text(so_far)) => so_far.push_str(&text),
                    _ => self.parts.push(AnswerPart::Text(text.clone())),
                }
                Some(text)
            }
            ModelEvent::HeldText(text) => {
                self.held = Some(text);
                None
            }
            ModelEvent::Verbatim(content) => {
                self.parts.push(AnswerPart::Verbatim(content));
                None
            }
            ModelEvent::Call(call) => {
                self.parts.push(AnswerPart::Call(call));
                None
            }
            ModelEvent::OwnCall(call) => {
                self.parts.push(AnswerPart::OwnCall(call));
                None
            }
            ModelEvent::BrokenCall { id, tool, problem } => {
                let arguments = serde_json::Value::Object(serde_json::Map::new());
                let call = ToolCall { id, tool, arguments };
                self.parts.push(AnswerPart::Broken { call, problem });
                None
            }
            ModelEvent::Usage(_) | ModelEvent::AnotherRequest | ModelEvent::Stopped { .. } => None,
        }
    }

    /// Whether nothing of it has come yet.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether text was shown: then the request is never sent again.
    pub(super) fn is_shown(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, AnswerPart::Text(_)))
    }

    pub(super) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| match part {
            AnswerPart::Call(_) | AnswerPart::OwnCall(_) | AnswerPart::Broken { .. } => true,
            AnswerPart::Text(_) | AnswerPart::Verbatim(_) => false,
        })
    }

    /// The parts of a paused answer to send back: all but its calls, which the provider makes
    /// again.
    pub(super) fn parts_without_calls(&self, author: &AnswerAuthor) -> Vec<MessagePart> {
        let parts = self.parts.iter().filter_map(|part| match part {
            AnswerPart::Text(text) => Some(MessagePart::Text { text: text.clone() }),
            AnswerPart::Verbatim(content) => Some(verbatim(content, author)),
            AnswerPart::Call(_) | AnswerPart::OwnCall(_) | AnswerPart::Broken { .. } => None,
        });
        parts.collect()
    }

    /// All text as it was shown, and what was held back; `None` when there is nothing to read.
    pub(super) fn text(&self) -> Option<String> {
        let texts = self.parts.iter().filter_map(|part| match part {
            AnswerPart::Text(text) => Some(text.as_str()),
            AnswerPart::Verbatim(_)
            | AnswerPart::Call(_)
            | AnswerPart::OwnCall(_)
            | AnswerPart::Broken { .. } => None,
        });
        let text: String = texts.chain(self.held.as_deref()).collect();
        (!text.trim().is_empty()).then_some(text)
    }

    /// The calls as a batch, and the parts to store. `ids` holds the ids the turn has used: a call
    /// whose id is taken gets a new one, so that pairing stays valid. So does a call of the model
    /// whose id is one of the application's: nothing that a server sends passes for our own call.
    pub(super) fn batch(
        &self,
        kinds: &BTreeMap<String, ToolKind>,
        author: &AnswerAuthor,
        cap: u32,
        ids: &mut BTreeSet<CallId>,
    ) -> (CallBatch, Vec<MessagePart>) {
        let mut batch = CallBatch::default();
        let mut parts = Vec::new();
        let mut given = BTreeSet::new();
        let mut runnable = 0;
        for part in &self.parts {
            let (call, problem) = match part {
                AnswerPart::Text(text) => {
                    parts.push(MessagePart::Text { text: text.clone() });
                    continue;
                }
                AnswerPart::Verbatim(content) => {
                    parts.push(verbatim(content, author));
                    continue;
                }
                AnswerPart::Call(call) | AnswerPart::OwnCall(call) => (call, None),
                AnswerPart::Broken { call, problem } => (call, Some(problem)),
            };
            let refusal = if let Some(problem) = problem {
                Some(model_texts::broken_call(&call.tool, problem))
            } else if !given.insert(&call.id) {
                Some(model_texts::DUPLICATE_ID.to_owned())
            } else if runnable >= cap {
                Some(model_texts::too_many_in_message(cap))
            } else if self.repeats_change(part, kinds) {
                Some(model_texts::REPEATED_CALL.to_owned())
            } else {
                runnable += 1;
                None
            };
            let base = match part {
                AnswerPart::OwnCall(call) => call.id.to_string(),
                _ => model_call_id(&call.id),
            };
            let call = ToolCall { id: unused(&base, ids), ..call.clone() };
            parts.push(MessagePart::Call {
                id: call.id.clone(),
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
            });
            let kind = kinds.get(&call.tool).copied().unwrap_or(ToolKind::Read);
            batch.push(CallSlot::new(call, kind, refusal));
        }
        (batch, parts)
    }

    /// Whether this is a call of the model that does more than read and stands in the answer before. Small models
    /// write a call several times; each would change the note once more.
    fn repeats_change(&self, part: &AnswerPart, kinds: &BTreeMap<String, ToolKind>) -> bool {
        let AnswerPart::Call(call) = part else { return false };
        let is_read = kinds.get(&call.tool).is_none_or(|kind| *kind == ToolKind::Read);
        let before = self.parts.iter().take_while(|other| !std::ptr::eq(*other, part));
        !is_read
            && before.into_iter().any(|other| match other {
                AnswerPart::Call(other) => {
                    other.tool == call.tool && other.arguments == call.arguments
                }
                _ => false,
            })
    }
}

fn verbatim(content: &Value, author: &AnswerAuthor) -> MessagePart {
    MessagePart::Verbatim { content: content.clone(), maker: Some(author.clone()) }
}

/// The id of a call of the model without the signs that some provider would refuse.
fn model_call_id(id: &CallId) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let kept: String = id.as_str().chars().filter(allowed).take(64).collect();
    if kept.is_empty() || kept.starts_with(OWN_CALL_PREFIX) { "call".to_owned() } else { kept }
}

/// `base`, or a similar one if it is taken.
fn unused(base: &str, ids: &mut BTreeSet<CallId>) -> CallId {
    let mut candidate = CallId::from(base);
    let mut n = 2_u32;
    while !ids.insert(candidate.clone()) {
        candidate = format!("{base}_{n}").into();
        n += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_that_stands_twice_in_an_answer_is_made_once() {
        let kinds = [("read", ToolKind::Read), ("append", ToolKind::Change)];
        let kinds = kinds.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
        let author = AnswerAuthor { server: "s".into(), model: "m".into() };
        let refused = |calls: [(&str, u32); 4]| {
            let mut answer = PartialAnswer::default();
            for (id, (tool, argument)) in ["1", "2", "3", "4"].into_iter().zip(calls) {
                let call =
                    ToolCall { id: id.into(), tool: tool.into(), arguments: json!(argument) };
                answer.receive(ModelEvent::Call(call));
            }
            let (batch, parts) = answer.batch(&kinds, &author, 16, &mut BTreeSet::new());
            assert_eq!(parts.len(), 4, "all are stored");
            let repeated = |result: &protocol::CallResult| {
                result.output == model_texts::REPEATED_CALL && result.is_error
            };
            let results = batch.close(|_| "open").into_iter();
            results.filter(repeated).map(|result| result.call.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(refused([("append", 1), ("read", 1), ("append", 1), ("append", 1)]), ["3", "4"]);
        // The controls: other arguments, and calls that only read.
        assert!(refused([("append", 1), ("append", 2), ("read", 1), ("read", 1)]).is_empty());
    }
}
