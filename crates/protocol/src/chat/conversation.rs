//! A conversation in the list, and its items.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::hub::approval::PendingApproval;
use crate::time::Weekday;
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
    /// Its id; ids sort by the time their conversations began.
    pub id: ConversationId,
    /// Its name: from the first words until it has a better one.
    pub title: String,
    /// Whether a model worded the title: it may say what a note says.
    pub titled_by_model: bool,
    /// The day whose hub messages it holds, if its title is the application's own: the reader's language words that title.
    pub inbox_day: Option<Weekday>,
    /// Its summary, in a few sentences of a model; one that goes on may have none yet.
    pub summary: Option<String>,
    /// Whether it goes on.
    pub state: ConversationState,
    /// Whether it came over the hub.
    pub from_hub: bool,
    /// Whether the user has archived it.
    pub archived: bool,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// The text of its open question.
    pub waiting_question: Option<String>,
    /// How many notes have pending changes in it.
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
    /// Events up to this number are in it. The window keeps the events of this conversation that
    /// arrive meanwhile and applies those with a higher number.
    pub seq: u32,
    /// The row.
    pub conversation: Conversation,
    /// How many items before these are omitted; none unless only the end was requested.
    pub earlier: u32,
    /// Its items, oldest first.
    pub items: Vec<ChatItem>,
    /// The messages that have several versions.
    pub variants: Vec<MessageVariant>,
    /// The open question.
    pub question: Option<Question>,
    /// The pending changes.
    pub review: Option<Review>,
    /// Messages to the hub that need approval, oldest first.
    pub held: Vec<PendingApproval>,
    /// How full the context window is with it; `None` without a model, and until it was found out: then
    /// [`ContextChanged`](crate::AppEvent::ContextChanged) follows.
    pub context: Option<crate::ContextUse>,
}

/// A message of the user that has several versions; the conversation is shown as it went on from
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
        /// The words as sent, Markdown, without the context block.
        text: String,
        /// The channel they came through.
        origin: Origin,
        /// The time the message was stored.
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
        /// The events of the tool, for the line.
        reactions: Vec<ToolEvent>,
    },
    /// A question and, once given, its answer.
    Asked {
        /// Stable id.
        id: MessageId,
        /// The question.
        text: String,
        /// The text of the answer, when it has one.
        answer: Option<String>,
        /// Whether it was withdrawn.
        withdrawn: bool,
    },
    /// A turn that ended otherwise than with an answer.
    Ended {
        /// The turn that ended.
        turn: TurnId,
        /// Its terminal status.
        status: TurnStatus,
        /// The error of a failed turn.
        error: Option<UserError>,
        /// The work of the interrupted turn, for as long as the user may decide about it.
        offer: Option<Interruption>,
    },
    /// Here earlier turns were summarized: from now on a model gets this summary in their place.
    Summary {
        /// Stable id.
        id: MessageId,
        /// The text for the model.
        text: String,
    },
    /// A decision on changes: "Changed 3 notes", "Rejected 1 note".
    Decision {
        /// Stable id.
        id: MessageId,
        /// Notes that were changed.
        applied: Vec<crate::NotePath>,
        /// Notes whose changes were turned down.
        rejected: Vec<crate::NotePath>,
        /// The time of the decision.
        at: Timestamp,
    },
}

impl ChatItem {
    /// Its key: no other item of its conversation has it.
    #[must_use]
    pub fn key(&self) -> ItemKey {
        match self {
            Self::User { id, .. }
            | Self::Assistant { id, .. }
            | Self::Asked { id, .. }
            | Self::Summary { id, .. }
            | Self::Decision { id, .. } => ItemKey::Message { id: id.clone() },
            Self::Tool { turn, call, .. } => {
                ItemKey::Call { turn: turn.clone(), call: call.clone() }
            }
            Self::Ended { turn, .. } => ItemKey::End { turn: turn.clone() },
        }
    }
}

/// Identifies an item within its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ItemKey {
    /// A message, a question, a summary or a decision.
    Message {
        /// The item's id.
        id: MessageId,
    },
    /// A tool call.
    Call {
        /// The turn that called.
        turn: TurnId,
        /// The model's id for the call.
        call: CallId,
    },
    /// The end of a turn.
    End {
        /// The turn that ended.
        turn: TurnId,
    },
}

/// The work of a turn when it was interrupted: it can be continued, undone or left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Interruption {
    /// Notes that it changed and that are still as it made them.
    pub changed: u32,
    /// Notes with pending changes of it.
    pub waiting: u32,
}
