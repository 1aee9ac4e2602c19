//! Why a folder cannot be an extra root.

use std::fmt;
use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::error::user_text::UserText;
use thiserror::Error;

use crate::OpenError;
use crate::error::user_texts;

/// Why a folder is not added to the vault, or not seen. The text holds the cause: print it without its sources.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExtraRootError {
    /// It cannot be opened.
    Open(#[from] OpenError),
    /// It is not a path from the top of the file system.
    NotWhole {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// The folder is the vault itself.
    TheVault {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// It lies in the vault.
    InVault {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// The vault lies in it.
    HoldsVault {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// It and another root share notes.
    Overlaps {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// Nothing is in it. It may still be added.
    Empty {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// It cannot be seen under its name.
    Name {
        /// The folder that the user named.
        folder: PathBuf,
        /// The name that it would have.
        name: String,
    },
}

/// The rest of a sentence about a root that the vault hides.
pub(super) const HIDDEN_MESSAGE: &str = "the vault already has a file or folder with the name of \
                                         this additional folder, which isn’t shown; rename one of \
                                         them";

/// The rest of a sentence about a root whose name is none.
pub(super) const UNNAMED_MESSAGE: &str = "an additional folder can’t be shown under this name; \
     choose another one in the settings file";

impl fmt::Display for ExtraRootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().english())
    }
}

impl From<ExtraRootError> for UserError {
    fn from(error: ExtraRootError) -> Self {
        Self::other(error.text())
    }
}

impl ExtraRootError {
    /// The text for the user.
    #[must_use]
    pub fn text(&self) -> UserText {
        let shown = |folder: &Path| folder.display().to_string();
        match self {
            Self::Open(error) => error.text(),
            Self::NotWhole { folder } => user_texts::not_a_full_path(shown(folder)),
            Self::TheVault { folder } => user_texts::folder_is_vault(shown(folder)),
            Self::InVault { folder } => user_texts::folder_in_vault(shown(folder)),
            Self::HoldsVault { folder } => user_texts::folder_contains_vault(shown(folder)),
            Self::Overlaps { folder } => user_texts::folders_overlap(shown(folder)),
            Self::Empty { folder } => user_texts::folder_empty(shown(folder)),
            Self::Name { folder, name } => {
                user_texts::folder_name_unfit(shown(folder), name.as_str())
            }
        }
    }

    /// The rest of a sentence about a root that was added before. It does not say where that is:
    /// a model may read it.
    pub(super) const fn message_without_path(&self) -> &'static str {
        match self {
            Self::TheVault { .. }
            | Self::InVault { .. }
            | Self::HoldsVault { .. }
            | Self::Overlaps { .. } => {
                "this additional folder overlaps the vault or another additional folder and isn’t \
                 shown; remove it in Settings"
            }
            Self::Empty { .. } => {
                "this additional folder is empty; if it’s on another drive, connect that drive"
            }
            Self::Open(_) | Self::NotWhole { .. } | Self::Name { .. } => {
                "this additional folder is missing or can’t be read; restore it, or remove it in \
                 Settings"
            }
        }
    }
}
