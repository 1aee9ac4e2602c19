//! Why there is no ranking, and in which directory.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why there is no ranking.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FulltextError {
    /// It was asked to stop.
    #[error("the ranking wasn’t finished: it was told to stop")]
    Cancelled,
    /// The directory could not be written or read.
    #[error("the ranking in `{dir}` can’t be kept: {why}. Make room there or delete the folder.", dir = dir.display())]
    Failed {
        /// The directory.
        dir: PathBuf,
        /// The reason.
        why: String,
    },
}

/// Says where it failed.
pub(super) struct FulltextErrorContext<'a>(pub(super) &'a Path);

impl FulltextErrorContext<'_> {
    pub(super) fn to_error(&self, why: &dyn std::fmt::Display) -> FulltextError {
        FulltextError::Failed { dir: self.0.to_owned(), why: why.to_string() }
    }
}
