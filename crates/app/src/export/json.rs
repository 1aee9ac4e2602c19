//! Conversations as JSON: `{ format, version, exported_at, conversations: […] }`.
//!
//! What a vendor wants back as it came, and what models were told beside the user's words, is left
//! out. Times are RFC 3339 in UTC.

use protocol::{Part, Timestamp};
use serde_json::{Value, json};
use store::{Outline, ToldTurn};

pub(super) const CONVERSATION_ENDS: &str = "\n]}";
pub(super) const ENDS: &str = "\n]}\n";

#[derive(Default)]
pub(super) struct Json {
    conversations: Place,
    turns: Place,
}

/// Whether something stands before in a list.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    First,
    Later,
}

pub(super) fn begins() -> String {
    let head = json!({
        "format": "vaultmate-conversations",
        "version": 1,
        "exported_at": time(crate::clock::now()),
    });
    format!("{},\"conversations\":[", open(&head))
}

impl Json {
    pub(super) fn conversation(&mut self, outline: &Outline) -> String {
        let Outline { row, created_at, shown, branches, .. } = outline;
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
            "created_at": time(*created_at),
            "updated_at": time(row.updated_at),
            "shown_branch": shown,
            "branches": branches,
        });
        self.turns = Place::First;
        format!("{}{},\"turns\":[", between(&mut self.conversations), open(&head))
    }

    pub(super) fn turn(&mut self, turn: &ToldTurn) -> String {
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
            if message.parts.contains(&Part::Repeated) {
                continue;
            }
            messages.push(json!({
                "id": message.id,
                "role": message.role,
                "at": time(message.at),
                "text": message.text(),
                "calls": called,
            }));
        }
        let turn = json!({
            "id": turn.turn,
            "branch": turn.branch,
            "origin": turn.origin,
            "status": turn.status,
            "error": turn.error,
            "model": turn.model,
            "messages": messages,
        });
        format!("{}{turn}", between(&mut self.turns))
    }
}

/// An object without its last brace.
fn open(object: &Value) -> String {
    let text = object.to_string();
    text.strip_suffix('}').unwrap_or(&text).to_owned()
}

fn between(place: &mut Place) -> &'static str {
    if std::mem::replace(place, Place::Later) == Place::First { "\n" } else { ",\n" }
}

fn time(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_string()).unwrap_or_default()
}
