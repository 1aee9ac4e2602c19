//! Errors of the vault: variants tell callers what they can do, messages tell users.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use protocol::error::sentence;
use protocol::error::user_text::UserText;
use protocol::{ErrorCode, NotePath, PathError, UserError};
use rustix::io::Errno;
use thiserror::Error;

use crate::ledger::LedgerError;

pub(crate) mod user_texts;

/// Why a folder could not be opened as a vault.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing is there.
    Missing {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// Something is there, but not a folder.
    NotAFolder {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// It is in `/proc`, `/sys` or `/dev`, or a way through one of them leads to it.
    System {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// The system does not let us in.
    Denied {
        /// The folder that the caller named.
        folder: PathBuf,
    },
    /// Anything else.
    Io {
        /// The folder that the caller named.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Why the vault refused or failed at one path. The text holds the cause: print it without its sources.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VaultError {
    /// Nothing in the vault answers to this name.
    NotFound {
        /// The name as it was given.
        asked: String,
        /// Existing notes with similar names, the most similar first; may be empty.
        nearest: Vec<NotePath>,
    },
    /// Several notes answer to this name.
    Ambiguous {
        /// The name as it was given.
        asked: String,
        /// All that answer to it, sorted.
        candidates: Vec<NotePath>,
    },
    /// The text is not a path, or not one for a new note.
    Path(#[from] PathError),
    /// Something is already there; `path` is spelled as on disk.
    Exists {
        /// The existing file or folder.
        path: NotePath,
    },
    /// The note is not what the change was planned on.
    Stale {
        /// The note that changed.
        path: NotePath,
    },
    /// A change was interrupted, or could not be reverted, and somebody else changed the note meanwhile.
    Parked {
        /// The note that was left as it is.
        path: NotePath,
    },
    /// Another program saved the note in the moment of the change; the note says what that program wrote.
    Overtaken {
        /// The note that the other program saved.
        path: NotePath,
    },
    /// The disk failed in the middle of a change and again when the change was reverted.
    Unsure {
        /// The note or folder.
        path: NotePath,
    },
    /// It belongs to a move, and another part of that move could not be made.
    Reverted {
        /// The note or folder.
        path: NotePath,
        /// The message of the part that failed.
        why: String,
    },
    /// A folder that was to go to the trash does not hold what the plan was made on.
    FolderChanged {
        /// The folder.
        path: NotePath,
    },
    /// It needs a folder that was to be restored from the trash first, and could not be.
    FolderNotRestored {
        /// The note or folder.
        path: NotePath,
        /// The folder that did not come back.
        folder: NotePath,
    },
    /// The user stopped before it.
    Stopped {
        /// The note or folder.
        path: NotePath,
    },
    /// A folder cannot be moved into itself.
    IntoItself {
        /// The folder.
        path: NotePath,
    },
    /// Another program put something in the place of the temporary file; the note is as it was.
    Disturbed {
        /// The note that the change was meant for.
        path: NotePath,
    },
    /// Another program has the note open for writing; the note is as it was.
    BeingWritten {
        /// The note that is open elsewhere.
        path: NotePath,
    },
    /// Two names in one folder look the same to a person: their accents are stored in different
    /// ways.
    Twin {
        /// The path that both go by.
        path: NotePath,
    },
    /// A sync program keeps the file elsewhere; a name stands for it here.
    NotDownloaded {
        /// The file.
        path: NotePath,
    },
    /// The folder holds notes that the user keeps private.
    HoldsPrivate {
        /// The folder.
        path: NotePath,
    },
    /// The user keeps what has this name private.
    Withheld {
        /// The name as it was asked for.
        path: NotePath,
    },
    /// It is in an additional folder.
    InExtraRoot {
        /// Where something was to change.
        path: NotePath,
    },
    /// It is there, but it is not an ordinary file of its own.
    NotANote {
        /// The path that the caller named.
        path: NotePath,
        /// "a folder", "a link", …
        what: &'static str,
    },
    /// The file is over [`crate::NOTE_LIMIT`].
    TooLarge {
        /// The file.
        path: NotePath,
        /// Its size in bytes.
        size: u64,
    },
    /// It is a file, but not of an image type that can be shown.
    NotAnImage {
        /// The file.
        path: NotePath,
    },
    /// The image is over [`crate::IMAGE_LIMIT`].
    ImageTooLarge {
        /// The file.
        path: NotePath,
        /// Its size in bytes.
        size: u64,
    },
    /// The image is over [`crate::PIXEL_LIMIT`].
    TooManyPixels {
        /// The file.
        path: NotePath,
        /// Its width in pixels.
        width: u64,
        /// Its height in pixels.
        height: u64,
    },
    /// The disk or the user's quota is full; the note is as it was.
    NoSpace {
        /// The note that could not be written.
        path: NotePath,
    },
    /// The vault is on a file system that takes no writes; the note is as it was.
    ReadOnly {
        /// The note that could not be written.
        path: NotePath,
    },
    /// The system denies this user the file or its folder.
    Denied {
        /// "read", "listed", "changed".
        verb: &'static str,
        /// The file or folder.
        path: NotePath,
    },
    /// The note's own permissions keep this user from writing to it; it is as it was.
    Protected {
        /// The write-protected note.
        path: NotePath,
    },
    /// A change would give the note another owner, other permissions or attributes; it is as it was.
    Unkept {
        /// The note that would lose its owner or permissions.
        path: NotePath,
    },
    /// The vault's own folder cannot be read any more.
    Unlistable {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The system reports no changes; the notes can be read and changed all the same.
    Unwatched {
        /// The error of the operating system.
        source: io::Error,
    },
    /// Anything else the system said.
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

impl OpenError {
    /// The text for the user.
    #[must_use]
    pub fn text(&self) -> UserText {
        let shown = |folder: &Path| folder.display().to_string();
        match self {
            Self::Missing { folder } => user_texts::no_folder_at(shown(folder)),
            Self::NotAFolder { folder } => user_texts::not_a_folder(shown(folder)),
            Self::System { folder } => user_texts::system_folder(shown(folder)),
            Self::Denied { folder } => user_texts::folder_not_readable(shown(folder)),
            Self::Io { folder, source } => {
                user_texts::folder_not_opened(shown(folder), source.to_string())
            }
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().english())
    }
}

impl fmt::Display for VaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().english())
    }
}

impl VaultError {
    /// The text for the user. Its English is what a model reads.
    #[must_use]
    pub fn text(&self) -> UserText {
        match self {
            Self::Path(error) => error.to_string().into(),
            Self::NotFound { asked, nearest } => {
                user_texts::no_note(asked.as_str(), suggestion(nearest))
            }
            Self::Ambiguous { asked, candidates } => {
                user_texts::name_ambiguous(asked.as_str(), join_paths(candidates))
            }
            Self::Exists { path } => user_texts::file_already_there(path),
            Self::Stale { path } => user_texts::note_stale(path),
            Self::Parked { path } => user_texts::change_parked(path),
            Self::Overtaken { path } => user_texts::note_saved_at_same_moment(path),
            Self::Unsure { path } => user_texts::change_uncertain(path),
            Self::Reverted { path, why } => user_texts::move_undone(path, why.as_str()),
            Self::FolderChanged { path } => user_texts::folder_changed(path),
            Self::FolderNotRestored { path, folder } => {
                user_texts::folder_not_restored(path, folder)
            }
            Self::Stopped { path } => user_texts::stopped_before(path),
            Self::IntoItself { path } => user_texts::moved_into_itself(path),
            Self::Disturbed { path } => user_texts::change_disturbed(path),
            Self::BeingWritten { path } => user_texts::note_open_elsewhere(path),
            Self::Twin { path } => user_texts::names_look_alike(path),
            Self::NotDownloaded { path } => user_texts::not_downloaded(path),
            Self::HoldsPrivate { path } => user_texts::folder_with_private_notes(path),
            Self::Withheld { path } => user_texts::name_kept_private(path),
            Self::InExtraRoot { path } => user_texts::in_additional_folder(path),
            Self::NotANote { path, what } => user_texts::not_a_regular_note(path, *what),
            Self::TooLarge { path, size } => user_texts::note_too_large(path, mebibytes(*size)),
            Self::NotAnImage { path } => user_texts::not_an_image(path),
            Self::ImageTooLarge { path, size } => {
                user_texts::image_too_large(path, mebibytes(*size))
            }
            Self::TooManyPixels { path, width, height } => {
                user_texts::too_many_pixels(path, width.to_string(), height.to_string())
            }
            Self::NoSpace { path } => user_texts::no_space(path),
            Self::ReadOnly { path } => user_texts::vault_read_only(path),
            Self::Denied { verb, path } => user_texts::not_allowed(path, *verb),
            Self::Protected { path } => user_texts::note_write_protected(path),
            Self::Unkept { path } => user_texts::owner_not_kept(path),
            Self::Unlistable { source } => user_texts::vault_not_readable(source.to_string()),
            Self::Unwatched { source } => user_texts::changes_not_detected(source.to_string()),
            Self::Io { verb, path, source } => {
                user_texts::file_failed(path, *verb, source.to_string())
            }
        }
    }

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
        Self::new(ErrorCode::Vault, error.text())
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
        Self::new(code, error.text())
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

fn mebibytes(size: u64) -> String {
    size.div_ceil(1 << 20).to_string()
}

fn suggestion(nearest: &[NotePath]) -> UserText {
    match nearest {
        [] => user_texts::suggestion_search(),
        _ => user_texts::suggestion_near(join_paths(nearest)),
    }
}

fn join_paths(paths: &[NotePath]) -> UserText {
    let mut names: Vec<&str> = paths.iter().map(NotePath::as_str).collect();
    match names.pop() {
        Some(last) if names.is_empty() => format!("`{last}`").into(),
        Some(last) => user_texts::path_or(names.join("`, `"), last),
        None => "".into(),
    }
}
