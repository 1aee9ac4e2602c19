//! Writing conversations down in a file of the user's.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// To be read.
    Markdown,
    /// To be worked on by programs.
    Json,
}

impl ExportFormat {
    /// How the name of such a file ends.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Exported {
    /// The whole path of the written file, for display.
    pub file: String,
    /// The number of exported conversations.
    pub conversations: u32,
}
