//! Conversations as Markdown, to be read: who said what, and what was called.

use std::fmt::Write as _;

use protocol::{Message, Origin, Part, Role, TurnStatus};
use serde_json::Value;
use store::{Outline, ToldCall, ToldTurn};

use super::moment;
use crate::submit::first_words;

#[derive(Default)]
pub(super) struct Markdown {
    /// The branch that is being written.
    branch: i64,
}

impl Markdown {
    pub(super) fn conversation(&mut self, outline: &Outline) -> String {
        self.branch = 0;
        let (row, began) = (&outline.row, moment(outline.created_at).strftime("%Y-%m-%d %H:%M"));
        let last = moment(row.updated_at).strftime("%Y-%m-%d %H:%M");
        let mut marks = vec![format!("Begun {began}, last touched {last}")];
        if row.from_hub {
            marks.push("from the hub".to_owned());
        }
        if row.archived {
            marks.push("archived".to_owned());
        }
        if !outline.branches.is_empty() {
            let shown = outline.shown + 1;
            marks.push(format!("{} variants, {shown} is shown", outline.branches.len() + 1));
        }
        format!("# {}\n\n*{}*\n\n", row.title, marks.join(" · "))
    }

    pub(super) fn turn(&mut self, outline: &Outline, turn: &ToldTurn) -> String {
        let mut out = String::new();
        if turn.branch != self.branch {
            self.branch = turn.branch;
            out.push_str(&self.heading(outline));
        }
        let mut calls = turn.calls.iter().peekable();
        for message in &turn.messages {
            spoken(message, turn, &mut out);
            while let Some(call) = calls.next_if(|call| call.message == message.id) {
                called(call, &mut out);
            }
        }
        ended(turn, &mut out);
        out
    }

    /// Variants are named as the window counts them, by what they stand in for.
    fn heading(&self, outline: &Outline) -> String {
        let branch = outline.branches.iter().find(|branch| branch.number == self.branch);
        let (parent, instead_of) = branch
            .map(|branch| (branch.parent + 1, branch.instead_of.to_string()))
            .unwrap_or_default();
        format!(
            "## Variant {}\n\n*Goes on from variant {parent}, instead of turn {instead_of}.*\n\n",
            self.branch + 1
        )
    }
}

fn spoken(message: &Message, turn: &ToldTurn, out: &mut String) {
    let text = message.text();
    if text.trim().is_empty() || message.parts.contains(&Part::Repeated) {
        return;
    }
    let at = moment(message.at).strftime("%Y-%m-%d %H:%M");
    let who = match (message.role, turn.origin) {
        (Role::Assistant, _) => turn.model.as_deref().filter(|model| !model.is_empty()),
        (Role::User, Origin::HubText | Origin::HubVoice) => Some("through the hub"),
        (Role::User, _) => None,
    };
    let name = match message.role {
        Role::User => "You",
        Role::Assistant => "Assistant",
    };
    let who = who.map(|who| format!(" ({who})")).unwrap_or_default();
    let turn = match message.role {
        Role::User => format!(" · turn {}", turn.turn),
        Role::Assistant => String::new(),
    };
    let _ = write!(out, "### {name}{who}\n\n*{at}{turn}*\n\n{}\n\n", text.trim_end());
}

/// Why there is no more of a turn that did not come to its end.
fn ended(turn: &ToldTurn, out: &mut String) {
    let why = match turn.status {
        TurnStatus::Failed => "Failed",
        TurnStatus::Interrupted => "Interrupted",
        TurnStatus::Cancelled => "Stopped",
        TurnStatus::Limit => "Ended at a limit",
        _ => return,
    };
    let error = turn.error.as_ref().map(|error| format!(": {}", error.message)).unwrap_or_default();
    let _ = write!(out, "*{why}{error}*\n\n");
}

fn called(call: &ToldCall, out: &mut String) {
    if call.tool == "send_message" {
        let text = call.arguments.get("message").and_then(Value::as_str).unwrap_or_default();
        let asks = call.arguments.get("is_question").and_then(Value::as_bool) == Some(true);
        let name = if asks { "Question" } else { "Assistant" };
        let _ = write!(out, "### {name}\n\n{}\n\n", text.trim_end());
        for option in options(call) {
            let _ = writeln!(out, "- {option}");
        }
        out.push('\n');
        return;
    }
    let failed = if call.is_error { " (failed)" } else { "" };
    let _ =
        write!(out, "`{}`{failed}: {}\n\n", call.tool, first_words(&call.arguments.to_string()));
    if let Some(output) = &call.output {
        let fence = fence(output);
        let _ = write!(out, "{fence}\n{}\n{fence}\n\n", output.trim_end());
    }
}

fn options(call: &ToldCall) -> impl Iterator<Item = &str> {
    let options = call.arguments.get("options").and_then(Value::as_array);
    options.into_iter().flatten().filter_map(Value::as_str)
}

/// Longer than any that stands in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}
