//! Errors of the store.

use std::path::{Path, PathBuf};

use protocol::error::user_text::UserText;
use protocol::error::{sentence, with_causes};
use protocol::{ErrorCode, UserError};
use thiserror::Error;

use crate::Store;

pub(crate) mod user_texts;

/// Variants tell a caller what it can do; nothing of the failed operation was stored. The failed action
/// is in the log. The text holds the cause: print it without its sources.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A newer version owns the file.
    Newer {
        /// The database.
        file: PathBuf,
    },
    /// The file is not a database any more, or its content contradicts itself.
    Corrupt {
        /// The database.
        file: PathBuf,
    },
    /// Another program reads the file, so deleted data cannot be removed from its log yet.
    Read {
        /// The database.
        file: PathBuf,
    },
    /// The disk took no more.
    Full {
        /// The failed action.
        doing: &'static str,
    },
    /// The question has another answer.
    AlreadyAnswered {
        /// The text of the answer.
        answer: String,
    },
    /// The question has this answer: there is nothing left to do.
    AnsweredSo,
    /// The question is not open any more, though nobody answered it.
    Withdrawn,
    /// The conversation is being answered.
    Working,
    /// The id names nothing, or nothing in the state that the operation needs.
    NotFound {
        /// The missing row as the subject of the message: "This answer".
        what: &'static str,
        /// The id that was looked for.
        id: String,
    },
    /// A plan does not fit on the pending changes.
    Unplannable(#[from] protocol::ChangeSetConflict),
    /// The file could not be made or secured.
    File {
        /// The database.
        file: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Any other error of SQLite.
    Sql {
        /// The failed action.
        doing: &'static str,
        /// The error of SQLite.
        #[source]
        source: sqlx::Error,
    },
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text().english())
    }
}

impl StoreError {
    /// The text for the user.
    #[must_use]
    pub fn text(&self) -> UserText {
        let shown = |file: &Path| file.display().to_string();
        match self {
            Self::Newer { file } => user_texts::database_newer(shown(file)),
            Self::Corrupt { file } => user_texts::database_damaged(shown(file)),
            Self::Read { file } => user_texts::database_read_elsewhere(shown(file)),
            Self::Full { .. } => user_texts::no_room_to_save(),
            Self::AlreadyAnswered { answer } => user_texts::already_answered(answer.as_str()),
            Self::AnsweredSo => user_texts::answered_with_this_text(),
            Self::Withdrawn => user_texts::question_withdrawn(),
            Self::Working => user_texts::answer_in_progress(),
            Self::NotFound { what, .. } => user_texts::row_gone(*what),
            Self::Unplannable(conflict) => sentence(&conflict.to_string()).into(),
            Self::File { file, source } => {
                user_texts::database_not_opened(shown(file), with_causes(source))
            }
            Self::Sql { source, .. } => user_texts::database_failed(with_causes(source)),
        }
    }

    /// Whether only a row is missing, in another state than the operation needs, or not readable:
    /// operations on other rows may succeed. Otherwise the file, the disk or SQLite failed.
    #[must_use]
    pub fn concerns_one_row(&self) -> bool {
        match self {
            Self::AlreadyAnswered { .. }
            | Self::AnsweredSo
            | Self::Withdrawn
            | Self::Working
            | Self::NotFound { .. }
            | Self::Unplannable(_) => true,
            Self::Newer { .. }
            | Self::Corrupt { .. }
            | Self::Read { .. }
            | Self::Full { .. }
            | Self::File { .. } => false,
            Self::Sql { source, .. } => {
                let is_unreadable = matches!(
                    source,
                    sqlx::Error::RowNotFound
                        | sqlx::Error::Decode(_)
                        | sqlx::Error::ColumnDecode { .. }
                );
                is_unreadable || primary_code(source) == Some(SQLITE_CONSTRAINT)
            }
        }
    }
}

impl From<StoreError> for UserError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::AlreadyAnswered { .. } | StoreError::AnsweredSo | StoreError::Withdrawn => {
                ErrorCode::Answered
            }
            StoreError::Full { .. } => ErrorCode::Write,
            _ => ErrorCode::Other,
        };
        Self::new(code, error.text())
    }
}

/// A failure below the public methods, without the action that failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(sqlx::Error),
    Refused(StoreError),
}

impl Failure {
    pub(crate) fn not_found(what: &'static str, id: impl ToString) -> Self {
        Self::Refused(StoreError::NotFound { what, id: id.to_string() })
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<sqlx::migrate::MigrateError> for Failure {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        Self::Sql(match error {
            sqlx::migrate::MigrateError::Execute(source)
            | sqlx::migrate::MigrateError::ExecuteMigration(source, _) => source,
            other => sqlx::Error::Migrate(Box::new(other)),
        })
    }
}

/// Adds the action that failed to a failure, and logs it.
pub(crate) trait FailureContext<T> {
    fn doing(self, store: &Store, what: &'static str) -> Result<T, StoreError>;
}

impl<T> FailureContext<T> for Result<T, Failure> {
    fn doing(self, store: &Store, what: &'static str) -> Result<T, StoreError> {
        self.map_err(|failure| match failure {
            Failure::Refused(error) => error,
            Failure::Sql(source) => from_sql(&store.file, what, source),
        })
    }
}

/// Sorts what SQLite said by what a caller can do, and logs it.
pub(crate) fn from_sql(
    file: &std::path::Path,
    doing: &'static str,
    source: sqlx::Error,
) -> StoreError {
    tracing::error!(doing, error = %source, "the database failed");
    match primary_code(&source) {
        Some(SQLITE_FULL) => StoreError::Full { doing },
        Some(SQLITE_CORRUPT | SQLITE_NOTADB) => StoreError::Corrupt { file: file.to_owned() },
        _ => StoreError::Sql { doing, source },
    }
}

// https://www.sqlite.org/rescode.html
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_FULL: i32 = 13;
const SQLITE_CONSTRAINT: i32 = 19;
const SQLITE_NOTADB: i32 = 26;

/// The low byte of SQLite's extended result code.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_database_is_told_from_one_about_a_row() {
        let sql = |source| StoreError::Sql { doing: "read", source };
        let missing = StoreError::NotFound { what: "This answer", id: "t".to_owned() };
        for error in [missing, StoreError::Working, sql(sqlx::Error::Decode("odd".into()))] {
            assert!(error.concerns_one_row(), "{error:?}");
        }
        let full = StoreError::Full { doing: "save" };
        let damaged = StoreError::Corrupt { file: PathBuf::from("vault.db") };
        let failed = sql(sqlx::Error::Io(std::io::Error::other("gone")));
        for error in [full, damaged, failed, sql(sqlx::Error::PoolTimedOut)] {
            assert!(!error.concerns_one_row(), "{error:?}");
        }
    }
}
