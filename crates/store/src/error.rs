//! Why the store refused or failed.

use std::path::PathBuf;

use thiserror::Error;

use crate::Store;

/// Variants are what a caller can do about it; nothing of the failed operation was stored.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A newer version owns the file.
    #[error(
        "`{}` was written by a newer Vaultmate; update this one, nothing was changed",
        file.display()
    )]
    Newer {
        /// The database.
        file: PathBuf,
    },
    /// The file is not a database any more, or its content contradicts itself.
    #[error("`{}` is damaged: move it away or restore a backup, then start again", file.display())]
    Corrupt {
        /// The database.
        file: PathBuf,
    },
    /// Another program reads the file, so that what was deleted cannot leave its log yet.
    #[error("`{}` is being read by another program: end that, then try again", file.display())]
    Read {
        /// The database.
        file: PathBuf,
    },
    /// The disk took no more.
    #[error("the disk is full, cannot {doing}: free some space, then try again")]
    Full {
        /// What was tried.
        doing: &'static str,
    },
    /// The question has another answer.
    #[error("this question was already answered with “{answer}”")]
    AlreadyAnswered {
        /// The answer it has, in words.
        answer: String,
    },
    /// The question has this answer: there is nothing left to do.
    #[error("this question was already answered with these words")]
    AnsweredSo,
    /// The question no longer waits, though nobody answered it.
    #[error("this question was withdrawn. Send your text as a new message")]
    Withdrawn,
    /// The conversation is being answered.
    #[error("an answer is being written in this conversation: stop it, or wait for it, first")]
    Working,
    /// The id names nothing, or nothing in the state that the operation needs.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// A plan does not fit on the changes that wait.
    #[error(transparent)]
    Unplannable(#[from] protocol::ChangeSetConflict),
    /// The file could not be made or secured.
    #[error("cannot {verb} `{}`: check the folder's rights", file.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// The database.
        file: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Anything else that SQLite said.
    #[error("cannot {doing}")]
    Sql {
        /// What was tried.
        doing: &'static str,
        /// What it said.
        #[source]
        source: sqlx::Error,
    },
}

/// What goes wrong below the public methods, before it is known what was being done.
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

/// Turns a failure into the error that says what was being done.
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

/// Sorts what SQLite said by what a caller can do.
pub(crate) fn from_sql(
    file: &std::path::Path,
    doing: &'static str,
    source: sqlx::Error,
) -> StoreError {
    match primary_code(&source) {
        Some(SQLITE_FULL) => StoreError::Full { doing },
        Some(SQLITE_CORRUPT | SQLITE_NOTADB) => StoreError::Corrupt { file: file.to_owned() },
        _ => StoreError::Sql { doing, source },
    }
}

// https://www.sqlite.org/rescode.html
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_FULL: i32 = 13;
const SQLITE_NOTADB: i32 = 26;

/// The low byte of SQLite's extended result code.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
