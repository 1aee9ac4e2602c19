//! Conversations as JSON: `{ format, version, exported_at, conversations: […] }`.
//!
//! Verbatim content of providers and context blocks are omitted. Times are RFC 3339 in UTC.

use protocol::{MessagePart, Timestamp, UserError};
use serde_json::{Value, json};
use store::{ConversationOutline, ExportedTurn};

pub(super) const CONVERSATION_END: &str = "\n]}";
pub(super) const FOOTER: &str = "\n]}\n";

#[derive(Default)]
pub(super) struct JsonExport {
    conversations: ListPosition,
    turns: ListPosition,
}

/// Whether something stands before in a list.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum ListPosition {
    #[default]
    First,
    Later,
}

pub(super) fn header() -> String {
    let head = json!({
        "format": "vaultmate-conversations",
        "version": 1,
        "exported_at": rfc3339(crate::support::clock::now()),
    });
    format!("{},\"conversations\":[", object_without_brace(&head))
}

impl JsonExport {
    pub(super) fn conversation(&mut self, outline: &ConversationOutline) -> String {
        let ConversationOutline { row, created_at, shown, branches, .. } = outline;
        let branches: Vec<Value> = branches
            .iter()
            .map(|branch| {
                json!({
                    "number": branch.number,
                    "parent": branch.parent,
                    "instead_of": branch.instead_of,
                })
            })
            .collect();
        let head = json!({
            "id": row.id,
            "title": row.title,
            "state": row.state,
            "archived": row.archived,
            "from_hub": row.from_hub,
            "created_at": rfc3339(*created_at),
            "updated_at": rfc3339(row.updated_at),
            "shown_branch": shown,
            "branches": branches,
        });
        self.turns = ListPosition::First;
        format!("{}{},\"turns\":[", separator(&mut self.conversations), object_without_brace(&head))
    }

    pub(super) fn turn(&mut self, turn: &ExportedTurn) -> String {
        let mut calls = turn.calls.iter().peekable();
        let mut messages = Vec::new();
        for message in &turn.messages {
            let mut called = Vec::new();
            while let Some(call) = calls.next_if(|call| call.message == message.id) {
                called.push(json!({
                    "tool": call.tool,
                    "arguments": call.arguments,
                    "output": call.output,
                    "is_error": call.is_error,
                }));
            }
            if message.parts.contains(&MessagePart::Repeated) {
                continue;
            }
            messages.push(json!({
                "id": message.id,
                "role": message.role,
                "at": rfc3339(message.at),
                "text": message.text(),
                "calls": called,
            }));
        }
        let turn = json!({
            "id": turn.turn,
            "branch": turn.branch,
            "origin": turn.origin,
            "status": turn.status,
            "error": turn.error.as_ref().map(UserError::to_english_json),
            "model": turn.model,
            "messages": messages,
        });
        format!("{}{turn}", separator(&mut self.turns))
    }
}

/// An object without its last brace.
fn object_without_brace(object: &Value) -> String {
    let text = object.to_string();
    text.strip_suffix('}').unwrap_or(&text).to_owned()
}

fn separator(place: &mut ListPosition) -> &'static str {
    if std::mem::replace(place, ListPosition::Later) == ListPosition::First { "\n" } else { ",\n" }
}

fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_string()).unwrap_or_default()
}
