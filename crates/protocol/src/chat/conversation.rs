//! A conversation in the list, and what stands in it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::hub::approval::PendingApproval;
use crate::{
    CallId, ConversationId, MessageId, Origin, Question, Review, Timestamp, ToolEvent, TurnId,
    TurnStatus, UserError,
};

/// Whether it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConversationState {
    /// Open.
    Active,
    /// Ended by the tool or the user; writing in it reopens it.
    Ended,
}

/// A row of the conversation list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Its name: from the first words until it has a better one.
    pub title: String,
    /// What it was about, in a few sentences of a model; one that goes on may have none yet.
    pub summary: Option<String>,
    /// Whether it goes on.
    pub state: ConversationState,
    /// Whether it came over the hub.
    pub from_hub: bool,
    /// Whether the user has put it away.
    pub archived: bool,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// The question it waits with, in words.
    pub waiting_question: Option<String>,
    /// How many notes wait for a verdict in it.
    pub waiting_notes: u32,
    /// How many answers in it the hub is not told before the user has said so.
    pub held: u32,
    /// Whether a turn was cut in it, and the user shall say what becomes of it.
    pub interrupted: bool,
    /// Whether a turn runs or is queued in it.
    pub working: bool,
}

/// Everything the chat shows of one conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// Events up to this number are in it. Whoever opens it keeps the events of this conversation
    /// that arrive meanwhile and applies those with a higher number.
    pub seq: u32,
    /// The row.
    pub conversation: Conversation,
    /// So many items stand before these and are left out; none unless its end alone was asked for.
    pub earlier: u32,
    /// What stands in it, oldest first.
    pub items: Vec<ChatItem>,
    /// Which of these messages were put in several ways.
    pub variants: Vec<MessageVariant>,
    /// The open question.
    pub question: Option<Question>,
    /// The changes that wait.
    pub review: Option<Review>,
    /// What waits to be sent to the hub, oldest first.
    pub held: Vec<PendingApproval>,
    /// How full the context window is with it; `None` without a model, and until it was found out: then
    /// [`ContextChanged`](crate::AppEvent::ContextChanged) follows.
    pub context: Option<crate::ContextUse>,
}

/// A message of the user that was put in several ways; the conversation is shown as it went on from
/// one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MessageVariant {
    /// The message that is shown.
    pub message: MessageId,
    /// Which of them it is, counted from 1.
    pub number: u32,
    /// How many there are.
    pub count: u32,
}

/// One thing in the chat. Ids are stable: the same id later replaces the item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ChatItem {
    /// The user's words.
    User {
        /// Stable id.
        id: MessageId,
        /// The words.
        text: String,
        /// The channel they came through.
        origin: Origin,
        /// When.
        at: Timestamp,
        /// Whether they wait for a running turn to end.
        queued: bool,
    },
    /// The model's words, Markdown.
    Assistant {
        /// Stable id.
        id: MessageId,
        /// So far, or all of it.
        text: String,
        /// Whether more is to come.
        streaming: bool,
        /// Whether it was cut off.
        cut: bool,
    },
    /// A tool call, one line.
    Tool {
        /// The turn that called.
        turn: TurnId,
        /// The model's id for the call; unique within the turn.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// When the model called it.
        at: Timestamp,
        /// The arguments, pretty-printed JSON.
        arguments: String,
        /// The text the model got; `None` while it runs.
        output: Option<String>,
        /// Whether it failed.
        is_error: bool,
        /// What happened, for the line.
        reactions: Vec<ToolEvent>,
    },
    /// A question and, once given, its answer.
    Asked {
        /// Stable id.
        id: MessageId,
        /// The question.
        text: String,
        /// The answer in words, when it has one.
        answer: Option<String>,
        /// Whether it was withdrawn.
        withdrawn: bool,
    },
    /// A turn that ended otherwise than with an answer.
    Ended {
        /// Which turn.
        turn: TurnId,
        /// How.
        status: TurnStatus,
        /// What failed, when something did.
        error: Option<UserError>,
        /// What it had done when it was cut, for as long as the user may say what becomes of it.
        offer: Option<Interruption>,
    },
    /// Here earlier turns were put together: from now on a model is told this in their place.
    SummedUp {
        /// Stable id.
        id: MessageId,
        /// What it is told.
        text: String,
    },
    /// A verdict on changes: "Changed 3 notes", "Rejected 1 note".
    Verdict {
        /// Stable id.
        id: MessageId,
        /// Notes that were changed.
        applied: Vec<crate::NotePath>,
        /// Notes whose changes were turned down.
        rejected: Vec<crate::NotePath>,
        /// When.
        at: Timestamp,
    },
}

/// What a turn had done when it was cut: it can be continued, taken back or left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Interruption {
    /// Notes that it changed and that are still as it made them.
    pub changed: u32,
    /// Notes for which changes of it wait for a verdict.
    pub waiting: u32,
}
