//! The window's queries about notes: names, lines, links, tags, properties, tasks.
//!
//! Every list is cut at some length and has the total. Results that only the index knows are `None`
//! while it is being built.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ChangeSetId, ConversationId, NotePath};

/// Which rule keeps a note from the model that answers now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PrivateNote {
    /// No model may see it.
    Never,
    /// Only a model on this computer may see it, and another one answers.
    LocalOnly,
}

/// Something other than a note that a message can mention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MentionTarget {
    /// A folder with the notes in it.
    Folder {
        /// The folder, as spelled on disk.
        path: NotePath,
    },
    /// A tag with the notes that have it.
    Tag {
        /// Without `#`.
        tag: String,
    },
    /// An earlier conversation.
    Conversation {
        /// The mentioned conversation.
        id: ConversationId,
    },
}

/// A note that was found by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NameMatch {
    /// The note, as spelled on disk.
    pub path: NotePath,
    /// The name that fits: its own, or another one of it.
    pub name: String,
    /// Whether that is another one, from its properties.
    pub alias: bool,
    /// Which letters of `name` were asked for, as UTF-16 offsets `[start, end)`, ascending.
    pub marks: Vec<(u32, u32)>,
    /// The text of a link to it by which no other file is meant: its name, else its path.
    pub link: String,
    /// The rule that keeps it from the model that answers now, if there is one.
    pub private: Option<PrivateNote>,
}

/// Notes by their names, best first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NameMatches {
    /// The first of them.
    pub names: Vec<NameMatch>,
    /// Whether there are more.
    pub more: bool,
}

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PatternKind {
    /// Letter by letter.
    Literal,
    /// As a regular expression.
    Regex,
}

/// Lines to look for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TextSearch {
    /// The text or the expression.
    pub pattern: String,
    /// Which of both.
    pub meaning: PatternKind,
    /// Whether `a` and `A` differ.
    pub case_sensitive: bool,
}

/// A line of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LineMatch {
    /// 1-based.
    pub line: u32,
    /// Its text, cut when it is endless.
    pub text: String,
    /// The matches in `text`, as UTF-16 offsets `[start, end)`, ascending.
    pub marks: Vec<(u32, u32)>,
}

/// The matching lines of one note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NoteLineMatches {
    /// The note with the lines.
    pub path: NotePath,
    /// The first of its lines.
    pub lines: Vec<LineMatch>,
}

/// Why not all is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TruncationReason {
    /// There is more than a list holds.
    Length,
    /// The time was up before all notes were looked at.
    Time,
}

/// Lines in the order of the notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LineMatches {
    /// Notes with the first of their lines.
    pub notes: Vec<NoteLineMatches>,
    /// How many lines there are, shown or not, in the notes that were looked at.
    pub lines: u32,
    /// How many notes they are in.
    pub files: u32,
    /// Why not all is shown.
    pub cut: Option<TruncationReason>,
}

/// A word of the notes and how many notes have it: a tag, a property, a value, a broken link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CountedValue {
    /// As most notes spell it.
    pub word: String,
    /// The number of notes that have it.
    pub notes: u32,
}

/// Words, those of most notes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CountedValues {
    /// The first of them.
    pub words: Vec<CountedValue>,
    /// How many there are.
    pub total: u32,
}

/// A criterion that notes may have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NoteCriterion {
    /// A tag, or one that is nested in it.
    Tag {
        /// Without `#`.
        tag: String,
    },
    /// A value of a property.
    Value {
        /// The name of the property; upper and lower case count as the same.
        property: String,
        /// The value, or one item of a list; upper and lower case count as the same.
        value: String,
    },
    /// A link to a note that does not exist.
    BrokenLink {
        /// Its target.
        link: String,
    },
}

/// Notes in the order of their paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NoteList {
    /// The first of them.
    pub notes: Vec<NotePath>,
    /// How many there are.
    pub total: u32,
}

/// A property of a note, with its values as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NoteProperty {
    /// Its name, without quotes.
    pub name: String,
    /// Its value, or the items of its list, without quotes; empty when it has none. Nested lists and
    /// maps are text.
    pub values: Vec<String>,
}

/// The text of a note, with its properties read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NoteText {
    /// All of it on disk, properties included.
    pub text: String,
    /// The properties, in order; those of frontmatter that is no YAML are read as far as they can be.
    pub properties: Vec<NoteProperty>,
    /// Where the text behind the properties begins, as a UTF-16 offset in `text`.
    pub body_start: u32,
}

/// A link that leaves a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NoteOutgoingLink {
    /// Its target, as it is written there.
    pub name: String,
    /// The file that it points to; `None` for a broken link.
    pub to: Option<NotePath>,
}

/// A link that leads to a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NoteBacklink {
    /// The file that holds it.
    pub from: NotePath,
    /// On which line; 1-based.
    pub line: u32,
}

/// The repairs on offer for a broken link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LinkRepairs {
    /// The note that would be created under the name in the link; `None` where a note cannot have it.
    pub create: Option<NotePath>,
    /// The note whose name is nearest, to which the link could lead instead; `None` where none is near.
    pub instead: Option<NotePath>,
}

/// A broken link that leads to a note now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RepairedLink {
    /// The note that it leads to.
    pub note: NotePath,
    /// The change set of the repair, to undo it.
    pub change_set: ChangeSetId,
    /// The notes in which the link was rewritten; none where the note was created.
    pub rewritten: Vec<NotePath>,
    /// The notes in which it is broken still, as they cannot be changed.
    pub left: Vec<NotePath>,
}

/// The links of a note; several between the same two are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NoteLinks {
    /// The first of those that leave it, in order.
    pub out: Vec<NoteOutgoingLink>,
    /// How many there are.
    pub out_total: u32,
    /// The first of those that lead to it, in the order of the files.
    pub back: Vec<NoteBacklink>,
    /// How many there are.
    pub back_total: u32,
    /// The line of its properties that cannot be read as such, if there is one: rules by tag or
    /// property count the note as private then.
    pub unclear_line: Option<u32>,
}
