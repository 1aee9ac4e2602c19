//! Which file it is, whatever it is called.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use ts_rs::TS;

use crate::NotePath;

/// A file as its file system knows it: the same after a rename, a move inside the file system or a
/// save in place, another one for a copy or for a file that was created again under an old name.
///
/// An inode number alone is given again as soon as its file is gone. Together with the birth time it
/// names one file, where the file system keeps birth times.
///
/// Its text form is `inode:born`, or `inode` without a birth time: JavaScript would round the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct FileId {
    /// The inode number.
    pub inode: u64,
    /// When the file was made, in nanoseconds since 1970; `None` where the file system does not say.
    pub born: Option<i64>,
}

/// A text that is not the text form of a [`FileId`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` doesn’t name a file. Try again to see the notes again.")]
pub struct FileIdError(String);

impl From<FileId> for String {
    fn from(FileId { inode, born }: FileId) -> Self {
        born.map_or_else(|| inode.to_string(), |born| format!("{inode}:{born}"))
    }
}

impl TryFrom<String> for FileId {
    type Error = FileIdError;

    fn try_from(text: String) -> Result<Self, FileIdError> {
        let parsed = match text.split_once(':') {
            Some((inode, born)) => inode.parse().ok().zip(born.parse().ok().map(Some)),
            None => text.parse().ok().zip(Some(None)),
        };
        let (inode, born) = parsed.ok_or(FileIdError(text))?;
        Ok(Self { inode, born })
    }
}

/// That one file took the place of another in a single step, as programs do that write a new file
/// and rename it over the old one: the note goes on in the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileReplacement {
    /// The file that is gone.
    pub from: FileId,
    /// The file that has its name since.
    pub to: FileId,
}

/// A note that somebody renamed without us, or that is another file by the user's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedNote {
    /// Where the ledger has it.
    pub from: NotePath,
    /// The present path.
    pub to: NotePath,
    /// The file that the ledger knows it by; `None` where it does not know.
    pub base: Option<FileId>,
    /// The file at the present path; `None` where it is not known.
    pub file: Option<FileId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_keeps_every_digit() {
        for born in [None, Some(1_764_093_158_123_456_789), Some(-1)] {
            let file = FileId { inode: u64::MAX, born };
            assert_eq!(FileId::try_from(String::from(file)), Ok(file));
        }
        for wrong in ["", "7:", ":7", "x", "7:8:9"] {
            assert!(FileId::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
