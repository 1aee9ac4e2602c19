//! Where a note is: relative to the vault, and impossible to point outside it.
//!
//! [`NotePath`] names something that exists or may exist. [`NewNotePath`] has also passed the
//! rules for names that we create, judged as if the vault were on every system, because it syncs.

mod invisible_in_names;
mod new_note_path;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use ts_rs::TS;
use unicode_normalization::UnicodeNormalization;

pub use new_note_path::{NewNotePath, NewPathKind};

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
    /// Parses a relative path; folds repeated slashes, `.` parts and a slash at the end.
    ///
    /// Refused: what is empty, absolute or a URL; a `..` part; control characters and `\`; a
    /// protected part (every dot-name, whatever the spelling); a part over 255 bytes; more than
    /// 64 levels.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        reject_outside(text)?;
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.is_empty() {
            return path_error(text, "names no note", "Write a path such as `Projects/Plan.md`");
        }
        if parts.len() > MAX_DEPTH {
            return path_error(text, "has more than 64 folders", "Use fewer folders");
        }
        for part in &parts {
            reject_part(part)?;
        }
        Ok(Self::from_valid(parts.join("/")))
    }

    /// The path as spelled on disk.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.spelled
    }

    /// The parts, from the top folder to the name.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.spelled.split('/')
    }

    /// The last part, extension included.
    #[must_use]
    pub fn name(&self) -> &str {
        self.spelled.rsplit('/').next().unwrap_or(&self.spelled)
    }

    /// The text after the name's last dot, as spelled; `None` when there is no dot.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        self.name().rsplit_once('.').map(|(_, extension)| extension)
    }

    /// Whether the name ends in `.md`, in any case.
    #[must_use]
    pub fn is_markdown(&self) -> bool {
        self.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
    }

    /// Whether it is called like a canvas, whose cards hold text and links.
    #[must_use]
    pub fn is_canvas(&self) -> bool {
        self.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("canvas"))
    }

    /// Whether a text is this path, without regard to case, `.md`, slashes around it and a `./` before it.
    #[must_use]
    pub fn matches_spelling(&self, text: &str) -> bool {
        Self::spelling_key(text) == Self::spelling_key(&self.spelled)
    }

    /// Equal for two texts if [`Self::matches_spelling`] takes one for the path that the other is, so that many can be
    /// looked up at once.
    #[must_use]
    pub fn spelling_key(text: &str) -> String {
        let text = text.trim();
        let text = text.strip_prefix("./").unwrap_or(text).trim_matches('/').to_lowercase();
        text.strip_suffix(".md").map(str::to_owned).unwrap_or(text)
    }

    /// The last part without `.md`: the name a person uses.
    #[must_use]
    pub fn title(&self) -> &str {
        let name = self.name();
        match name.rsplit_once('.') {
            Some((title, _)) if self.is_markdown() => title,
            _ => name,
        }
    }

    /// The folder, or `None` at the root.
    #[must_use]
    pub fn folder(&self) -> Option<&str> {
        self.spelled.rsplit_once('/').map(|(folder, _)| folder)
    }

    /// The folders that it is in, the innermost first.
    pub fn folders(&self) -> impl Iterator<Item = Self> + use<> {
        let folder_of = |path: &Self| Self::parse(path.folder()?).ok();
        std::iter::successors(folder_of(self), folder_of)
    }

    /// Whether it is `folder` or lies in it, at any depth.
    #[must_use]
    pub fn is_in(&self, folder: &Self) -> bool {
        let rest = self.key.strip_prefix(folder.key.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Where this is once `from`, a file or folder, has become `to`; `None` when it is not in
    /// `from`.
    #[must_use]
    pub fn after_move(&self, from: &Self, to: &Self) -> Option<Self> {
        if !self.is_in(from) {
            return None;
        }
        // By parts: two spellings of one folder differ in length.
        let rest = self.parts().skip(from.parts().count());
        let parts = to.parts().chain(rest);
        Some(Self::from_valid(parts.collect::<Vec<_>>().join("/")))
    }

    /// Takes parts that were judged.
    fn from_valid(spelled: String) -> Self {
        let key = if spelled.is_ascii() { spelled.clone() } else { spelled.nfc().collect() };
        Self { spelled, key }
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

/// How deep a path may go.
const MAX_DEPTH: usize = 64;

/// How long a part may be in UTF-8, on every file system we know.
const MAX_PART_BYTES: usize = 255;

/// Folders with settings or code that other programs run, without their dot: what an 8.3 alias
/// may stand for.
const DOT_FOLDERS: [&str; 6] = ["obsidian", "git", "trash", "vaultmate", "stfolder", "vscode"];

fn reject_outside(text: &str) -> Result<(), PathError> {
    let mut chars = text.chars();
    let drive = chars.next().is_some_and(|first| first.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && chars.next() != Some(' ');
    let advice = "Write the path from the top of the vault, such as `Projects/Plan.md`";
    if text.contains(char::is_control) {
        path_error(text, "contains a control character", "Leave it out")
    } else if text.contains("://") {
        path_error(text, "is a URL", advice)
    } else if text.contains('\\') {
        path_error(text, "contains a backslash", "Write `/` between folders")
    } else if text.starts_with('/') || drive {
        path_error(text, "is absolute", advice)
    } else {
        Ok(())
    }
}

fn reject_part(part: &str) -> Result<(), PathError> {
    let visible = invisible_in_names::visible_form(part);
    let bare = visible.trim();
    if bare.trim_matches(['.', ' ']).is_empty() {
        let advice = "Write the path from the top of the vault, without `..`";
        return path_error(part, "is empty or consists of dots", advice);
    }
    if bare.starts_with('.') || is_dot_folder_alias(bare) {
        let advice = "Choose a path without hidden files or folders";
        return path_error(part, "is hidden and protected", advice);
    }
    if part.len() > MAX_PART_BYTES {
        return path_error(part, "is longer than 255 bytes", "Use a shorter name");
    }
    Ok(())
}

/// Whether Windows may have given this name to a protected folder: `OBSIDI~1`, or `GI7EBA~1` once
/// the plain forms are taken.
fn is_dot_folder_alias(part: &str) -> bool {
    let Some((stem, number)) = part.split_once('~') else { return false };
    if !(2..=6).contains(&stem.len()) || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let stem = stem.to_ascii_lowercase();
    DOT_FOLDERS.iter().any(|folder| {
        let hashed = stem.len() == 6
            && stem.get(..2) == folder.get(..2)
            && stem.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit());
        folder.starts_with(&stem) || hashed
    })
}

/// A sentence that names the text (shortened, nothing invisible), the fault and the remedy.
fn path_error<T>(text: &str, fault: &str, remedy: &str) -> Result<T, PathError> {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    Err(PathError(format!("`{shown}` {fault}. {remedy}.")))
}
