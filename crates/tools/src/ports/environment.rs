//! The open note and the clock.

use async_trait::async_trait;
use protocol::{NotePath, TurnId};

/// The note that the user looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveNote {
    /// The note, as spelled on disk.
    pub path: NotePath,
    /// How we know.
    pub source: ActiveNoteSource,
    /// The selected text; empty for none.
    pub selected: String,
    /// The heading that the selection stands under.
    pub heading: Option<String>,
}

/// How we know which note is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActiveNoteSource {
    /// It was sent with the user's message.
    Message,
    /// Obsidian had it open when it last wrote that down.
    Obsidian,
}

/// The open note as a turn may know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SentNote {
    /// It was sent with the message that the turn answers.
    Sent(ActiveNote),
    /// The user excluded it from that message.
    Excluded,
    /// No note was open.
    #[default]
    NoneOpen,
}

/// Implemented by the application and in memory by the tests. Neither method blocks.
#[async_trait]
pub trait Environment: Send + Sync {
    /// The open note, as it was sent with the message that the turn answers.
    async fn sent_note(&self, turn: &TurnId) -> SentNote;

    /// The time here, with the zone the user lives in.
    fn now(&self) -> jiff::Zoned;
}

/// Whether a person who writes this as a note's name means today's daily note.
pub(crate) fn means_today(name: &str) -> bool {
    let name = name.trim().to_lowercase().replace(['-', '_'], " ");
    let name = name.strip_suffix(".md").unwrap_or(&name);
    matches!(name, "daily" | "today" | "daily note" | "today's note" | "today's daily note")
}
