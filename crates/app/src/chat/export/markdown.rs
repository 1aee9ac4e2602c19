//! Conversations as Markdown, to be read: the messages with their authors, and the calls.

use std::fmt::Write as _;

use protocol::{Message, MessagePart, Origin, Role, Speech, TurnStatus};
use store::{ConversationOutline, ExportedCall, ExportedTurn};

use super::local_time;
use crate::chat::user_message::title_from_text;

#[derive(Default)]
pub(super) struct MarkdownExport {
    /// The branch that is being written.
    branch: i64,
}

impl MarkdownExport {
    pub(super) fn conversation(&mut self, outline: &ConversationOutline) -> String {
        self.branch = 0;
        let (row, began) =
            (&outline.row, local_time(outline.created_at).strftime("%Y-%m-%d %H:%M"));
        let last = local_time(row.updated_at).strftime("%Y-%m-%d %H:%M");
        let mut marks = vec![format!("Begun {began}, last touched {last}")];
        if row.from_hub {
            marks.push("from the hub".to_owned());
        }
        if row.archived {
            marks.push("archived".to_owned());
        }
        if !outline.branches.is_empty() {
            let shown = outline.shown + 1;
            marks.push(format!("{} versions, {shown} is shown", outline.branches.len() + 1));
        }
        format!("# {}\n\n*{}*\n\n", row.title, marks.join(" · "))
    }

    pub(super) fn turn(&mut self, outline: &ConversationOutline, turn: &ExportedTurn) -> String {
        let mut out = String::new();
        if turn.branch != self.branch {
            self.branch = turn.branch;
            out.push_str(&self.heading(outline));
        }
        let mut calls = turn.calls.iter().peekable();
        for message in &turn.messages {
            write_message(message, turn, &mut out);
            while let Some(call) = calls.next_if(|call| call.message == message.id) {
                write_call(call, &mut out);
            }
        }
        write_ending(turn, &mut out);
        out
    }

    /// Versions are numbered as in the window, by the message that they replace.
    fn heading(&self, outline: &ConversationOutline) -> String {
        let branch = outline.branches.iter().find(|branch| branch.number == self.branch);
        let (parent, instead_of) = branch
            .map(|branch| (branch.parent + 1, branch.instead_of.to_string()))
            .unwrap_or_default();
        format!(
            "## Version {}\n\n*Continues version {parent}, instead of turn {instead_of}.*\n\n",
            self.branch + 1
        )
    }
}

fn write_message(message: &Message, turn: &ExportedTurn, out: &mut String) {
    let text = message.text();
    if text.trim().is_empty() || message.parts.contains(&MessagePart::Repeated) {
        return;
    }
    let at = local_time(message.at).strftime("%Y-%m-%d %H:%M");
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
fn write_ending(turn: &ExportedTurn, out: &mut String) {
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

fn write_call(call: &ExportedCall, out: &mut String) {
    match &call.speech {
        Some(Speech::Say { text }) => write_speech("Assistant", text, &[], out),
        Some(Speech::Ask { text, options }) => write_speech("Question", text, options, out),
        Some(Speech::End { .. }) | None => write_tool_call(call, out),
    }
}

fn write_speech(heading: &str, text: &str, options: &[String], out: &mut String) {
    let _ = write!(out, "### {heading}\n\n{}\n\n", text.trim_end());
    for option in options {
        let _ = writeln!(out, "- {option}");
    }
    out.push('\n');
}

fn write_tool_call(call: &ExportedCall, out: &mut String) {
    let failed = if call.is_error { " (failed)" } else { "" };
    let _ = write!(
        out,
        "`{}`{failed}: {}\n\n",
        call.tool,
        title_from_text(&call.arguments.to_string())
    );
    if let Some(output) = &call.output {
        let fence = fence_for(output);
        let _ = write!(out, "{fence}\n{}\n{fence}\n\n", output.trim_end());
    }
}

/// Longer than any that stands in the text.
fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}
