//! Errors of the vault: variants tell callers what they can do, messages tell users.

use std::io;
use std::path::PathBuf;

use protocol::error::sentence;
use protocol::{ErrorCode, NotePath, PathError, UserError};
use rustix::io::Errno;
use thiserror::Error;

use crate::ledger::LedgerError;

/// Why a folder could not be opened as a vault.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing is there.
    #[error("There is no folder at {}. Choose another folder, or restore this one.", folder.display())]
    Missing {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// Something is there, but not a folder.
    #[error("{} isn’t a folder. Choose the folder that contains your notes.", folder.display())]
    NotAFolder {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// It is in `/proc`, `/sys` or `/dev`, or a way through one of them leads to it.
    #[error("{} is a system folder, not one with notes. Choose another folder.", folder.display())]
    System {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// The system does not let us in.
    #[error("You don’t have permission to read {}. Change its permissions, or choose another folder.", folder.display())]
    Denied {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// Anything else.
    #[error("{} couldn’t be opened: {source}. Try again, or choose another folder.", folder.display())]
    Io {
        /// The folder that the caller named.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Why the vault refused or failed at one path.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VaultError {
    /// Nothing in the vault answers to this name.
    #[error("There is no note `{asked}`.{}", suggestion_sentence(nearest))]
    NotFound {
        /// The name as it was given.
        asked: String,
        /// Existing notes with similar names, the most similar first; may be empty.
        nearest: Vec<NotePath>,
    },
    /// Several notes answer to this name.
    #[error("`{asked}` could be {}. Use one of these paths.", join_paths(candidates))]
    Ambiguous {
        /// The name as it was given.
        asked: String,
        /// All that answer to it, sorted.
        candidates: Vec<NotePath>,
    },
    /// The text is not a path, or not one for a new note.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Something is already there; `path` is spelled as on disk.
    #[error("`{path}` already exists. Edit it, or choose another name.")]
    Exists {
        /// The existing file or folder.
        path: NotePath,
    },
    /// The note is not what the change was planned on.
    #[error("`{path}` changed on disk since it was read. Read it again, then change it.")]
    Stale {
        /// The note that changed.
        path: NotePath,
    },
    /// A change was interrupted, or could not be reverted, and somebody else changed the note meanwhile.
    #[error(
        "Vaultmate can’t tell whether `{path}` was changed, because something else changed it meanwhile. It was left as it is. Read it before changing it again."
    )]
    Parked {
        /// The note that was left as it is.
        path: NotePath,
    },
    /// Another program saved the note in the moment of the change; the note says what that program wrote.
    #[error(
        "Another program saved `{path}` at the same moment, so the change wasn’t made. Read it, then change it again."
    )]
    Overtaken {
        /// The note that the other program saved.
        path: NotePath,
    },
    /// The disk failed in the middle of a change and again when the change was reverted.
    #[error(
        "Vaultmate can’t tell whether `{path}` was changed, because the disk failed on the way. Read it before changing it again."
    )]
    Unsure {
        /// The note or folder.
        path: NotePath,
    },
    /// It belongs to a move, and another part of that move could not be made.
    #[error("`{path}` was left unchanged, because the move it belongs to was undone: {why}")]
    Reverted {
        /// The note or folder.
        path: NotePath,
        /// The message of the part that failed.
        why: String,
    },
    /// A folder that was to go to the trash does not hold what the plan was made on.
    #[error(
        "The folder `{path}` has other contents than when this was planned, so it was left as it is. Look at what is in it, then delete it again."
    )]
    FolderChanged {
        /// The folder.
        path: NotePath,
    },
    /// It needs a folder that was to be restored from the trash first, and could not be.
    #[error(
        "`{path}` was left as it is, because the folder `{folder}` couldn’t be restored. Restore that folder, then try again."
    )]
    FolderNotRestored {
        /// The note or folder.
        path: NotePath,
        /// The folder that did not come back.
        folder: NotePath,
    },
    /// The user stopped before it.
    #[error("`{path}` was left as it is: the user stopped before it.")]
    Stopped {
        /// The note or folder.
        path: NotePath,
    },
    /// A folder cannot be moved into itself.
    #[error("`{path}` can’t be moved into itself. Choose a place outside it.")]
    IntoItself {
        /// The folder.
        path: NotePath,
    },
    /// Another program put something in the place of the temporary file; the note is as it was.
    #[error(
        "Another program disturbed the change to `{path}`, so the note was left as it was. Try again."
    )]
    Disturbed {
        /// The note that the change was meant for.
        path: NotePath,
    },
    /// Another program has the note open for writing; the note is as it was.
    #[error(
        "Another program has `{path}` open and may still write to it, so the note was left as it is. Close it there, then try again."
    )]
    BeingWritten {
        /// The note that is open elsewhere.
        path: NotePath,
    },
    /// Two names in one folder look the same to a person: their accents are stored in different
    /// ways.
    #[error(
        "Two names look like `{path}`: their accents are stored in different ways, so it isn’t certain which one is meant. Rename one of them, then try again."
    )]
    Twin {
        /// The path that both go by.
        path: NotePath,
    },
    /// A sync program keeps the file elsewhere; a name stands for it here.
    #[error(
        "`{path}` isn’t downloaded to this computer. Ask the user to download it, then try again."
    )]
    NotDownloaded {
        /// The file.
        path: NotePath,
    },
    /// The folder holds notes that the user keeps private.
    #[error(
        "`{path}` contains notes that the user keeps private, so it stays where it is. Ask the user to do this, or choose single notes."
    )]
    HoldsPrivate {
        /// The folder.
        path: NotePath,
    },
    /// The user keeps what has this name private.
    #[error("The user keeps `{path}` private, so it can’t be made. Choose another name.")]
    Withheld {
        /// The name as it was asked for.
        path: NotePath,
    },
    /// It is in an additional folder.
    #[error(
        "`{path}` is in an additional folder, which is read-only. Create the note in the vault \
         instead."
    )]
    InExtraRoot {
        /// Where something was to change.
        path: NotePath,
    },
    /// It is there, but it is not an ordinary file of its own.
    #[error("Can’t open `{path}`: it’s {what}. Choose a regular note.")]
    NotANote {
        /// The path that the caller named.
        path: NotePath,
        /// "a folder", "a link", …
        what: &'static str,
    },
    /// The file is over [`crate::NOTE_LIMIT`].
    #[error("`{path}` is {} MiB, over the limit of 10 MiB for a note. Split it, or choose another note.", size.div_ceil(1 << 20))]
    TooLarge {
        /// The file.
        path: NotePath,
        /// Its size in bytes.
        size: u64,
    },
    /// It is a file, but not of an image type that can be shown.
    #[error(
        "`{path}` can’t be shown: it isn’t a PNG, JPEG, GIF, WebP, AVIF, or BMP image. Save it as \
         one of these."
    )]
    NotAnImage {
        /// The file.
        path: NotePath,
    },
    /// The image is over [`crate::IMAGE_LIMIT`].
    #[error("`{path}` is {} MiB. Images can have up to 32 MiB.", size.div_ceil(1 << 20))]
    ImageTooLarge {
        /// The file.
        path: NotePath,
        /// Its size in bytes.
        size: u64,
    },
    /// The image is over [`crate::PIXEL_LIMIT`].
    #[error("`{path}` is {width} × {height} pixels. Images can have up to 120 million pixels.")]
    TooManyPixels {
        /// The file.
        path: NotePath,
        /// Its width in pixels.
        width: u64,
        /// Its height in pixels.
        height: u64,
    },
    /// The disk or the user's quota is full; the note is as it was.
    #[error("The disk is full, so `{path}` wasn’t changed. Free up some space, then try again.")]
    NoSpace {
        /// The note that could not be written.
        path: NotePath,
    },
    /// The vault is on a file system that takes no writes; the note is as it was.
    #[error(
        "The vault is read-only, so `{path}` wasn’t changed. Make its disk writable, then try again."
    )]
    ReadOnly {
        /// The note that could not be written.
        path: NotePath,
    },
    /// The system denies this user the file or its folder.
    #[error(
        "The system doesn’t allow `{path}` to be {verb}. Change the permissions of it or its folder, then try again."
    )]
    Denied {
        /// "read", "listed", "changed".
        verb: &'static str,
        /// The file or folder.
        path: NotePath,
    },
    /// The note's own permissions keep this user from writing to it; it is as it was.
    #[error(
        "`{path}` is write-protected for this user, so it was left as it is. Make it writable, then try again."
    )]
    Protected {
        /// The write-protected note.
        path: NotePath,
    },
    /// A change would give the note another owner, other permissions or attributes; it is as it was.
    #[error(
        "A change would give `{path}` another owner or other permissions, so it was left as it is. Make this user its owner, then try again."
    )]
    Unkept {
        /// The note that would lose its owner or permissions.
        path: NotePath,
    },
    /// The vault's own folder cannot be read any more.
    #[error("The vault’s folder can’t be read: {source}. Restore it, or open another vault.")]
    Unlistable {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The system reports no changes; the notes can be read and changed all the same.
    #[error("Vaultmate can’t detect changes made by other programs: {source}. Reopen the vault.")]
    Unwatched {
        /// The error of the operating system.
        source: io::Error,
    },
    /// Anything else the system said.
    #[error("`{path}` couldn’t be {verb}: {source}. Try again.")]
    Io {
        /// "read", "listed", "changed".
        verb: &'static str,
        /// The file or folder.
        path: NotePath,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Why a whole order or recovery could not be carried out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The ledger could not be written or read. No note was touched.
    #[error("No note was changed, because the change couldn’t be recorded first: {0}")]
    Ledger(#[from] LedgerError),
    /// The work was ended from outside. After [`crate::Vault::recover`] the outcome of every change
    /// is known.
    #[error(
        "The change was interrupted. Vaultmate finishes or undoes it when the vault is opened again."
    )]
    Interrupted,
}

impl VaultError {
    /// Chooses the error for `path` by the kind of the operating system's error.
    pub(crate) fn from_errno(verb: &'static str, path: &NotePath, error: Errno) -> Self {
        let path = path.clone();
        match error {
            Errno::NOENT | Errno::NOTDIR => {
                Self::NotFound { asked: path.as_str().to_owned(), nearest: Vec::new() }
            }
            Errno::LOOP => Self::NotANote { path, what: "a link, or inside one" },
            Errno::XDEV => Self::NotANote { path, what: "on another disk than the vault" },
            Errno::ISDIR => Self::NotANote { path, what: "a folder" },
            Errno::NXIO | Errno::NODEV => Self::NotANote { path, what: "a device or socket" },
            Errno::EXIST => Self::Exists { path },
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace { path },
            Errno::ROFS => Self::ReadOnly { path },
            Errno::ACCESS | Errno::PERM => Self::Denied { verb, path },
            other => Self::Io { verb, path, source: other.into() },
        }
    }
}

impl From<OpenError> for UserError {
    fn from(error: OpenError) -> Self {
        Self::new(ErrorCode::Vault, error.to_string())
    }
}

impl From<&VaultError> for UserError {
    fn from(error: &VaultError) -> Self {
        let code = match error {
            VaultError::NoSpace { .. }
            | VaultError::ReadOnly { .. }
            | VaultError::Denied { .. } => ErrorCode::Write,
            VaultError::Unlistable { .. } => ErrorCode::Vault,
            _ => ErrorCode::Other,
        };
        Self::new(code, error.to_string())
    }
}

impl From<VaultError> for UserError {
    fn from(error: VaultError) -> Self {
        (&error).into()
    }
}

/// Of a change set that could not be begun: nothing was changed.
impl From<ApplyError> for UserError {
    fn from(error: ApplyError) -> Self {
        Self::new(ErrorCode::Write, sentence(&error.to_string()))
    }
}

fn suggestion_sentence(nearest: &[NotePath]) -> String {
    match nearest {
        [] => " List or search the notes to find its path.".to_owned(),
        _ => format!(" Did you mean {}?", join_paths(nearest)),
    }
}

fn join_paths(paths: &[NotePath]) -> String {
    let mut names: Vec<&str> = paths.iter().map(NotePath::as_str).collect();
    match names.pop() {
        Some(last) if names.is_empty() => format!("`{last}`"),
        Some(last) => format!("`{}` or `{last}`", names.join("`, `")),
        None => String::new(),
    }
}
