//! Why a search failed, or why it is not complete.

use thiserror::Error;
use vault::VaultError;

/// Why nothing was searched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The pattern is not a regular expression.
    #[error(
        "`{pattern}` isn’t a valid regular expression: {why}. To find exactly this text, search for `{literal}`."
    )]
    BadPattern {
        /// The pattern as given.
        pattern: String,
        /// The reason, on one line.
        why: String,
        /// A pattern that finds the same text literally.
        literal: String,
    },
    /// The regular expression is too long to be read.
    #[error("the search pattern is longer than 4 KiB. Search for a part of it.")]
    LongPattern,
    /// The file pattern is not a glob.
    #[error(
        "`{pattern}` isn’t a valid file pattern: {why}. Write for example `*.md`, `Projects/*.md` or `**/*.md`."
    )]
    BadGlob {
        /// The pattern as given.
        pattern: String,
        /// The reason.
        why: String,
    },
    /// The query holds no word to look for.
    #[error("`{query}` contains no word to look for. Write one or more words.")]
    NoWords {
        /// The query as given.
        query: String,
    },
    /// The search index could not be read.
    #[error("couldn’t read the search index: {why}. It’s being rebuilt; try again in a moment.")]
    Ranking {
        /// The reason.
        why: String,
    },
    /// The vault could not be listed.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Why results are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CutReason {
    /// There are more than were asked for.
    Results,
    /// The deadline came before all notes were looked at.
    Time,
}

/// The beginning of a pattern, as an error quotes it.
pub(crate) fn shorten_pattern(pattern: &str) -> String {
    const SHOWN: usize = 200;
    match pattern.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", pattern.get(..at).unwrap_or_default()),
        None => pattern.to_owned(),
    }
}
