//! Errors of the store.

use std::path::PathBuf;

use protocol::error::{sentence, with_causes};
use protocol::{ErrorCode, UserError};
use thiserror::Error;

use crate::Store;

/// Variants tell a caller what it can do; nothing of the failed operation was stored. Of `File` and
/// `Sql` the cause belongs behind the message, so these end without a full stop; the failed action
/// is in the log.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A newer version owns the file.
    #[error(
        "`{}` was written by a newer version of Vaultmate. Nothing was changed. Update Vaultmate.",
        file.display()
    )]
    Newer {
        /// The database.
        file: PathBuf,
    },
    /// The file is not a database any more, or its content contradicts itself.
    #[error("`{}` is damaged. Move it away or restore a backup, then start again.", file.display())]
    Corrupt {
        /// The database.
        file: PathBuf,
    },
    /// Another program reads the file, so deleted data cannot be removed from its log yet.
    #[error("`{}` is being read by another program. Close that program, then try again.", file.display())]
    Read {
        /// The database.
        file: PathBuf,
    },
    /// The disk took no more.
    #[error("Couldn’t save because the disk is full. Free up some space, then try again.")]
    Full {
        /// The failed action.
        doing: &'static str,
    },
    /// The question has another answer.
    #[error("This question was already answered with “{answer}”.")]
    AlreadyAnswered {
        /// The text of the answer.
        answer: String,
    },
    /// The question has this answer: there is nothing left to do.
    #[error("This question was already answered with this text.")]
    AnsweredSo,
    /// The question is not open any more, though nobody answered it.
    #[error("This question was withdrawn. Send your text as a new message.")]
    Withdrawn,
    /// The conversation is being answered.
    #[error(
        "An answer is being written in this conversation. Stop it or wait until it is complete."
    )]
    Working,
    /// The id names nothing, or nothing in the state that the operation needs.
    #[error("{what} no longer exists.")]
    NotFound {
        /// The missing row as the subject of the message: "This answer".
        what: &'static str,
        /// The id that was looked for.
        id: String,
    },
    /// A plan does not fit on the pending changes.
    #[error(transparent)]
    Unplannable(#[from] protocol::ChangeSetConflict),
    /// The file could not be made or secured.
    #[error("Couldn’t open the database `{}`", file.display())]
    File {
        /// The database.
        file: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Any other error of SQLite.
    #[error("Vaultmate couldn’t read or save its data")]
    Sql {
        /// The failed action.
        doing: &'static str,
        /// The error of SQLite.
        #[source]
        source: sqlx::Error,
    },
}

impl StoreError {
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
        let what_to_do = match &error {
            StoreError::Sql { .. } => {
                " Check the disk that contains the data folder, then try again."
            }
            StoreError::File { .. } => " Check the permissions of the data folder, then try again.",
            _ => "",
        };
        Self::new(code, format!("{}{what_to_do}", sentence(&with_causes(&error))))
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
