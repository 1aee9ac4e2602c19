//! Where a note is: relative to the vault, and impossible to point outside it.
//!
//! [`NotePath`] names something that exists or may exist. [`NewNotePath`] has also passed the
//! rules for names that we create, judged as if the vault were on every system, because it syncs.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use ts_rs::TS;
use unicode_normalization::UnicodeNormalization;

/// Why a text is not a path in the vault. The message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PathError(pub String);

/// A path inside the vault: `/`-separated, no `.` or `..` part, no protected part.
///
/// Compared as NFC, spelled as given (or as on disk, once the vault has resolved it).
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct NotePath {
    spelled: String,
    key: String,
}

impl NotePath {
    /// Parses a relative path; folds repeated slashes and `.` parts.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let spelled = text.to_owned();
        let key = spelled.nfc().collect();
        Ok(Self { spelled, key })
    }

    /// The path as spelled on disk.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.spelled
    }

    /// The last part without its extension: the name a person uses.
    #[must_use]
    pub fn title(&self) -> &str {
        let name = self.spelled.rsplit('/').next().unwrap_or(&self.spelled);
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// The folder, or `None` at the root.
    #[must_use]
    pub fn folder(&self) -> Option<&str> {
        self.spelled.rsplit_once('/').map(|(folder, _)| folder)
    }
}

impl PartialEq for NotePath {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for NotePath {}

impl std::hash::Hash for NotePath {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl PartialOrd for NotePath {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NotePath {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl TryFrom<String> for NotePath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<NotePath> for String {
    fn from(path: NotePath) -> Self {
        path.spelled
    }
}

impl std::fmt::Display for NotePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.spelled)
    }
}

/// A [`NotePath`] that may be created: it is a legal name on every system the vault may sync to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotePath(NotePath);

impl NewNotePath {
    /// Parses and judges a name for a new note; `.md` is added when no extension is given.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        NotePath::parse(text).map(Self)
    }

    /// The path.
    #[must_use]
    pub const fn path(&self) -> &NotePath {
        &self.0
    }
}

impl From<NewNotePath> for NotePath {
    fn from(path: NewNotePath) -> Self {
        path.0
    }
}
