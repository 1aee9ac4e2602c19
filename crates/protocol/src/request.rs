//! Arguments of the window's commands, besides ids and texts.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::notes::query::NoteText;
use crate::{ChangeSetId, ConversationId, MessageId, NotePath, QuestionId};

/// The user's message, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// Where; `None` begins a new conversation.
    pub conversation: Option<ConversationId>,
    /// The words to send, Markdown.
    pub text: String,
    /// The question they answer; `None` while one is open means "not an answer".
    pub answers: Option<QuestionId>,
    /// The open note that is sent with them. Without it nothing of the open note reaches a model.
    pub open_note: Option<NotePath>,
}

/// A message of the user to be answered again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegenerateRequest {
    /// The user's message whose answer is replaced.
    pub message: MessageId,
    /// A new version of it; `None` regenerates the answer to the same text, which works only for
    /// the last message.
    pub text: Option<String>,
    /// The treatment of the changes of the old answer; `None` asks if there are any.
    pub old: Option<OldChanges>,
}

/// The treatment of the changes of an answer that is regenerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OldChanges {
    /// They stay, and pending ones stay pending.
    Keep,
    /// Applied changes are undone, pending ones are rejected.
    Undo,
}

/// The result of regenerating an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RegenerateOutcome {
    /// It is being answered.
    Begun,
    /// Nothing happened yet: the user is to decide about the changes of the old answer.
    Asks {
        /// Notes that an undo of its changes changes.
        changed: u32,
        /// Notes for which changes of it wait.
        waiting: u32,
        /// Whether that undo includes applied changes of an earlier answer.
        earlier: bool,
    },
}

/// A decision on pending changes. Notes that are not named stay pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DecideReview {
    /// The open change set. An answer for another one is refused.
    pub review: ChangeSetId,
    /// One entry for each decided note.
    pub notes: Vec<NoteDecision>,
}

/// The decision on the changes of one note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NoteDecision {
    /// The path before the changes.
    pub path: NotePath,
    /// Identifies the decided changes, as [`crate::NoteDiff::seen`] named them. If the changes are
    /// different ones by now, nothing is decided.
    pub seen: String,
    /// Applies to all its changes, or to each hunk.
    pub decision: ReviewDecision,
}

/// A decision on the changes of one note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReviewDecision {
    /// Make them.
    Accept,
    /// Leave the note as it is.
    Reject,
    /// A decision for each hunk, in their order. Only for notes that are rewritten or changed, and
    /// belong to no unit.
    Hunks {
        /// One entry for each of [`crate::NoteDiff::hunks`], in their order.
        hunks: Vec<HunkDecision>,
    },
}

/// The decision on one hunk, whatever is decided on the others of its note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HunkDecision {
    /// Make it.
    Accept,
    /// Leave these lines as they are.
    Reject,
    /// It stays pending.
    Wait,
    /// Put these lines there instead.
    Edit {
        /// The lines, with `\n` between them; no line at all when empty.
        text: String,
    },
}

/// The result of saving an answer as a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SavedAnswer {
    /// It is a note now.
    Saved {
        /// The new note, with its extension.
        path: NotePath,
        /// The set that made it: to undo that takes the note away.
        change_set: ChangeSetId,
    },
    /// Something has this name already: nothing was written.
    Taken {
        /// The existing note.
        path: NotePath,
        /// A name like it that is free, without `.md`.
        free: String,
    },
}

/// A note to show next to the chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NoteContent {
    /// Events about the note with a number up to this one are in it already.
    pub seq: u32,
    /// The note, as spelled on disk.
    pub path: NotePath,
    /// Its text on disk and its properties.
    pub content: NoteText,
}

/// How the selected provider answered a request for one word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTestResult {
    /// Whether it can be used; also `true` when no provider is selected.
    pub ok: bool,
    /// The provider's answer or the problem.
    pub message: String,
    /// Why its models are not listed; `None` where they are, or where it has no list.
    pub unlisted: Option<String>,
}

/// The outcome of trying a key before it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum KeyTrial {
    /// The provider answers with it.
    Works,
    /// The provider does not accept it.
    Refused {
        /// The provider's answer.
        message: String,
    },
    /// Nobody knows.
    Untried {
        /// The reason.
        message: String,
    },
}

/// The outcome of asking the user to unlock the keyring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Unlocking {
    /// The keys in it can be read now.
    Unlocked,
    /// The user did not unlock it, or it cannot ask.
    Dismissed,
    /// There is none, or it does not answer.
    Unavailable,
}

/// Where the token for the hub comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TokenStatus {
    /// "environment", "keyring", "file" or nothing. Never the token.
    pub source: Option<String>,
    /// Why the keyring could not be looked into for a token that is in no other place.
    pub keyring: Option<crate::settings::KeyringTrouble>,
}

/// Where a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyStorage {
    /// The system's keyring.
    Keyring,
    /// A file that only the user can read; an explicit choice.
    File,
}
