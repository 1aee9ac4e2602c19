//! How a vault wants its links written.

use serde_json::Value;

/// The setting `newLinkFormat` of Obsidian's `app.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkFormat {
    /// The name alone where that is enough.
    Shortest,
    /// From the folder of the note that holds the link.
    Relative,
    /// From the top of the vault.
    Absolute,
}

impl LinkFormat {
    /// The format by the bytes of an `app.json`; `None` when they name no known format.
    #[must_use]
    pub fn from_app_json(app_json: &[u8]) -> Option<Self> {
        let settings: Value = serde_json::from_slice(app_json).ok()?;
        match settings.get("newLinkFormat")?.as_str()? {
            "shortest" => Some(Self::Shortest),
            "relative" => Some(Self::Relative),
            "absolute" => Some(Self::Absolute),
            _ => None,
        }
    }
}
