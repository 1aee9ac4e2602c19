//! Why a folder cannot be an extra root.

use std::path::PathBuf;

use protocol::UserError;
use thiserror::Error;

use crate::OpenError;

/// Why a folder is not added to the vault, or not seen.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExtraRootError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It is not a path from the top of the file system.
    #[error("{} isn’t the full path of a folder. Enter the full path, starting with `/`.", folder.display())]
    NotWhole {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// The folder is the vault itself.
    #[error("{} is the vault itself. Choose a folder outside it.", folder.display())]
    TheVault {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// It lies in the vault.
    #[error("{} is in the vault already. Choose a folder outside it.", folder.display())]
    InVault {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// The vault lies in it.
    #[error("{} contains the vault, so its notes would appear twice. Choose a folder outside the \
             vault.", folder.display())]
    HoldsVault {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// It and another root share notes.
    #[error("{} overlaps another additional folder. Add only the outer one.", folder.display())]
    Overlaps {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// Nothing is in it. It may still be added.
    #[error("{} is empty. If it’s on another drive, connect that drive.", folder.display())]
    Empty {
        /// The folder that the user named.
        folder: PathBuf,
    },
    /// It cannot be seen under its name.
    #[error("{} can’t be shown in the vault under the name `{name}`. Rename the folder, or give it another name in the settings file.", folder.display())]
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

impl From<ExtraRootError> for UserError {
    fn from(error: ExtraRootError) -> Self {
        Self::other(error.to_string())
    }
}

impl ExtraRootError {
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
