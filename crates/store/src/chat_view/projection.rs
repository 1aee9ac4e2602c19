//! The items of the chat from what is known of a turn. A turn that runs and one that is stored are shown by the same
//! rules, so the window need not read a conversation again when a turn ended.

use std::collections::BTreeSet;

use protocol::chat::conversation::{ChatItem, Interruption};
use protocol::{
    CallId, Message, MessageId, MessagePart, Origin, Question, QuestionId, Speech, Timestamp,
    TurnId, TurnStatus, UserError,
};

use crate::turns::tool_call::CallRow;

/// The id of the item for a message that a call sent.
#[must_use]
pub fn sent_message_id(turn: &TurnId, call: &CallId) -> MessageId {
    MessageId::from(format!("{turn}:{call}"))
}

/// The id of the item for a question.
#[must_use]
pub fn question_message_id(question: &QuestionId) -> MessageId {
    MessageId::from(question.as_str())
}

/// The message that opened a turn of this channel and status; `None` if the chat has it already.
#[must_use]
pub fn user_item(message: Message, origin: Origin, status: TurnStatus) -> Option<ChatItem> {
    if message.parts.contains(&MessagePart::Repeated) {
        return None;
    }
    let (text, at, queued) = (message.text(), message.at, status == TurnStatus::Queued);
    Some(ChatItem::User { id: message.id, text, origin, at, queued })
}

/// An answer of the model, with the text that it has outside its calls; `None` if there is none.
#[must_use]
pub fn answer_item(message: &Message, cut: bool) -> Option<ChatItem> {
    let text = message.text();
    let id = message.id.clone();
    (!text.trim().is_empty()).then_some(ChatItem::Assistant { id, text, streaming: false, cut })
}

/// The calls of one answer, in call order, which were made at `at`. `asked` knows the question of a call.
///
/// A call is a line. One that talked is its speech instead, once that was delivered: until then neither it nor a later
/// call is shown, as that runs only behind it. So an item that is shown stays where it is when results come.
#[must_use]
pub fn call_items(
    calls: Vec<CallRow>,
    at: Timestamp,
    talking_tools: &BTreeSet<String>,
    asked: impl Fn(&CallRow) -> Option<ChatItem>,
) -> Vec<ChatItem> {
    let mut is_held_up = false;
    let item = |mut call: CallRow| {
        let talks = talking_tools.contains(&call.tool);
        if call.output.is_none() {
            is_held_up |= talks;
            return (!is_held_up).then(|| line(call, at));
        }
        if call.is_error {
            return Some(line(call, at));
        }
        match call.speech.take() {
            Some(Speech::Say { text }) => Some(sent_message_item(&call, text)),
            // Its question is stored with the end of the turn, or not at all.
            Some(Speech::Ask { .. }) => asked(&call),
            // It was about a question, which stands in the chat already.
            None if talks && call.reactions.is_empty() => None,
            Some(Speech::End { .. }) | None => Some(line(call, at)),
        }
    };
    calls.into_iter().filter_map(item).collect()
}

/// A question with its answer, if it has one.
#[must_use]
pub fn question_item(question: &Question, answer: Option<String>, withdrawn: bool) -> ChatItem {
    let (id, text) = (question_message_id(&question.id), question.text.clone());
    ChatItem::Asked { id, text, answer, withdrawn }
}

/// The end of a turn; `None` while it goes on, and where an answer or a question is its end.
#[must_use]
pub fn ended_item(
    turn: TurnId,
    status: TurnStatus,
    error: Option<UserError>,
    offer: Option<Interruption>,
) -> Option<ChatItem> {
    match status {
        TurnStatus::Queued | TurnStatus::Running | TurnStatus::Done | TurnStatus::Asked => None,
        TurnStatus::Limit
        | TurnStatus::Cancelled
        | TurnStatus::Failed
        | TurnStatus::Interrupted => Some(ChatItem::Ended { turn, status, error, offer }),
    }
}

fn sent_message_item(call: &CallRow, text: String) -> ChatItem {
    let id = sent_message_id(&call.turn, &call.call);
    ChatItem::Assistant { id, text, streaming: false, cut: false }
}

fn line(call: CallRow, at: Timestamp) -> ChatItem {
    ChatItem::Tool {
        turn: call.turn,
        call: call.call,
        tool: call.tool,
        at,
        arguments: format!("{:#}", call.arguments),
        output: call.output,
        is_error: call.is_error,
        reactions: call.reactions,
    }
}
