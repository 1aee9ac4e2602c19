//! Events of a tool for the window, next to its text for the model. Never shown to the model.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ConversationId, NotePath};

/// A place in a note that matches what was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Passage {
    /// The note that holds the passage.
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
    /// Whether the passage shows properties as they are written, and no text. Passages that were
    /// stored before this field say no.
    #[serde(default)]
    pub properties: bool,
}

/// The place of the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MatchReason {
    /// In the note's name.
    Title,
    /// In an alias that its properties give it.
    Alias,
    /// In the heading that the passage stands under.
    Heading,
    /// In the text of the passage.
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
        /// The note, as spelled on disk.
        path: NotePath,
    },
    /// A note is to be shown to the user, next to the chat.
    OpenNote {
        /// The note to show.
        path: NotePath,
        /// The line to bring into view, counted from 1; `None` is the top.
        line: Option<u32>,
    },
    /// The list of applied changes is to be shown to the user.
    ShowChanges {
        /// Those that this conversation led to; `None` for all.
        conversation: Option<ConversationId>,
    },
    /// The assistant asked the user a question.
    QuestionAsked {
        /// The question, in Markdown.
        question: String,
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
        /// The query, as the model wrote it.
        query: String,
        /// The passages shown.
        passages: Vec<Passage>,
        /// How many there were in all.
        total: u32,
    },
    /// A change was planned, and then applied or put before the user.
    Changed {
        /// The note, or the future path of a new one.
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
        /// The path before the move.
        path: NotePath,
        /// The path after it.
        to: NotePath,
        /// Whether it is pending.
        waiting: bool,
    },
    /// A note or folder goes to the trash.
    Trashed {
        /// The note or folder to trash.
        path: NotePath,
        /// Whether it is pending.
        waiting: bool,
    },
    /// A new, empty folder.
    FolderMade {
        /// The path of the new folder.
        path: NotePath,
        /// Whether it is pending.
        waiting: bool,
    },
}
