//! How much a conversation knows of the note that it edits.

use llm::tool_api::tool::ToolContext;
use protocol::NotePath;

use crate::notes::notes_view::CurrentNote;

/// Whether the conversation has read the note that it edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    Never,
    Current,
    /// The note was changed since.
    Outdated,
}

impl Freshness {
    pub(crate) fn of_note(
        note: &CurrentNote,
        expected: Option<&str>,
        context: &ToolContext,
    ) -> Self {
        let expected = expected.map(str::trim).filter(|hash| !hash.is_empty());
        let is_current = match (expected, context.seen.get(&note.path)) {
            (Some(expected), _) => note.hash.matches(expected),
            (None, Some(seen)) => *seen == note.hash,
            (None, None) => return Self::Never,
        };
        if is_current { Self::Current } else { Self::Outdated }
    }

    pub(super) fn require(self, path: &NotePath) -> Result<(), String> {
        match self {
            Self::Current => Ok(()),
            Self::Never => Err(format!(
                "`{path}` was not read yet, so its sections are not known.\nRead it \
                 first with read_file, then call again."
            )),
            Self::Outdated => Err(format!(
                "`{path}` changed since it was read, so its sections may be others now.\nRead it again with read_file, then call again with the new hash, or without \
                 expect_hash."
            )),
        }
    }
}
