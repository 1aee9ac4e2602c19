//! The list of conversations: its pages, and the search in their messages and changes.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::time::Weekday;
use crate::{CallId, Conversation, ConversationId, MessageId, Timestamp, TurnId};

/// Where a conversation lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveState {
    /// In the list.
    Open,
    /// Archived by the user; a new message unarchives it.
    Archived,
}

/// A page of the list to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListConversations {
    /// Of those that lie here.
    pub archive_state: ArchiveState,
    /// The page after this one; `None` begins with the newest.
    pub before: Option<ConversationId>,
}

/// A page of the list, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversationPage {
    /// The rows.
    pub conversations: Vec<Conversation>,
    /// Others stand behind this one; `None` when these are the last.
    pub behind: Option<ConversationId>,
}

/// How many conversations there are, and how many deleted ones can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCounts {
    /// In the list, or archived.
    pub kept: u32,
    /// Deleted, and still there.
    pub deleted: u32,
    /// Until when all of those are; `None` where there are none.
    pub until: Option<Timestamp>,
}

/// The author of a match, or the name of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HitSource {
    /// The conversation's name.
    Name,
    /// The user's.
    User,
    /// The assistant's.
    Assistant,
    /// The change of notes: their paths and the written text.
    Change,
}

/// The place of words in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum HitLocation {
    /// All of it: its name was found.
    Whole,
    /// The item with this id in the chat.
    Item {
        /// The turn that it belongs to.
        turn: TurnId,
        /// The item, as [`ChatItem`](crate::chat::conversation::ChatItem) names it.
        id: MessageId,
    },
    /// The line of a tool call.
    Call {
        /// The turn that called.
        turn: TurnId,
        /// The call, unique within its turn.
        call: CallId,
    },
}

/// A match in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationHit {
    /// The conversation to open.
    pub conversation: ConversationId,
    /// Its name.
    pub title: String,
    /// The day that words its name, as in [`Conversation`].
    pub inbox_day: Option<Weekday>,
    /// Where it lies.
    pub archive_state: ArchiveState,
    /// The author of the text.
    pub by: HitSource,
    /// The item or call to scroll to.
    pub place: HitLocation,
    /// The time the text was stored.
    pub at: Timestamp,
    /// The text around the match.
    pub text: String,
    /// The matches in `text`, as UTF-16 offsets `[start, end)`, ascending.
    pub marks: Vec<(u32, u32)>,
}

/// Matches in conversations, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversationHits {
    /// The first of it.
    pub found: Vec<ConversationHit>,
    /// Whether there is more.
    pub more: bool,
}
