//! Events of a tool for the window, next to its text for the model. Never shown to the model.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ConversationId, NotePath};

/// A place in a note that matches what was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Passage {
    /// The note.
    pub path: NotePath,
    /// The heading the passage stands under, if any.
    pub heading: Option<String>,
    /// 1-based line of the passage's first line.
    pub line: u32,
    /// The passage, plain text of the note.
    pub text: String,
    /// Matches in `text`, as UTF-16 offsets `[start, end)`, ascending.
    pub marks: Vec<(u32, u32)>,
    /// Why it matched.
    pub why: MatchReason,
}

/// The place of the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MatchReason {
    /// In the note's name.
    Title,
    /// In an alias that its properties give it.
    Alias,
    /// In a heading.
    Heading,
    /// In the text.
    Text,
    /// In its properties, which the passage shows as they are written.
    Property,
}

/// A closed set: the window knows every one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolEvent {
    /// A note was read.
    Read {
        /// Which.
        path: NotePath,
    },
    /// A note is to be shown to the user, next to the chat.
    OpenNote {
        /// Which.
        path: NotePath,
        /// The line to bring into view, counted from 1; `None` is the top.
        line: Option<u32>,
    },
    /// The list of applied changes is to be shown to the user.
    ShowChanges {
        /// Those that this conversation led to; `None` for all.
        conversation: Option<ConversationId>,
    },
    /// The assistant ended the conversation.
    ConversationEnded {
        /// Why, in the assistant's words.
        reason: Option<String>,
    },
    /// Notes were listed or searched.
    Searched {
        /// The query, as the model wrote it.
        query: String,
        /// How many hits or entries there were.
        hits: u32,
    },
    /// Ranked passages, best first.
    Passages {
        /// The query.
        query: String,
        /// The passages shown.
        passages: Vec<Passage>,
        /// How many there were in all.
        total: u32,
    },
    /// A change was planned, and then applied or put before the user.
    Changed {
        /// The note.
        path: NotePath,
        /// Whether the note is new.
        created: bool,
        /// Lines added.
        added: u32,
        /// Lines removed.
        removed: u32,
        /// Whether it is pending.
        waiting: bool,
    },
    /// A note or folder gets another path.
    Moved {
        /// Where it was.
        path: NotePath,
        /// Where it goes.
        to: NotePath,
        /// Whether it is pending.
        waiting: bool,
    },
    /// A note or folder goes to the trash.
    Trashed {
        /// Which.
        path: NotePath,
        /// Whether it is pending.
        waiting: bool,
    },
    /// A folder is made.
    FolderMade {
        /// Where.
        path: NotePath,
        /// Whether it is pending.
        waiting: bool,
    },
}
