//! Which file it is, whatever it is called.

use crate::NotePath;

/// A file as its file system knows it: the same after a rename, a move inside the file system or a
/// save in place, another one for a copy or for a file that was created again under an old name.
///
/// An inode number alone is given again as soon as its file is gone. Together with the birth time it
/// names one file, where the file system keeps birth times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// The inode number.
    pub inode: u64,
    /// When the file was made, in nanoseconds since 1970; `None` where the file system does not say.
    pub born: Option<i64>,
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
    /// Where it is.
    pub to: NotePath,
    /// The file that the ledger knows it by; `None` where it does not know.
    pub base: Option<FileId>,
    /// The file that it is.
    pub file: Option<FileId>,
}
