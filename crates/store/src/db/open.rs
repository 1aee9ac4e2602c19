//! Opens the database: refuses a newer one untouched, keeps it private, brings it up to date.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, SqliteConnection, SqlitePool};
use tokio::time::timeout;

use crate::Store;
use crate::db::writer::Writer;
use crate::error::{Failure, FailureContext, StoreError, from_sql};

/// How long a connection waits for a lock that another one holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_READERS: u32 = 4;
/// How long closing waits for reads before it stops them: a search of very long texts takes longer.
const CLOSE_GRACE: Duration = Duration::from_secs(2);
/// How many instructions SQLite carries out between two looks at whether to stop: less than a millisecond of them.
const INSTRUCTIONS_PER_CHECK: i32 = 10_000;
/// The cache of a connection that writes, in KiB, and the smaller one of any other: the system
/// keeps the file's pages as well, once for all connections.
const WRITER_CACHE_SIZE: &str = "-2048";
const READER_CACHE_SIZE: &str = "-512";

/// All migrations; the last one's number is also the file's `user_version`. The name of each is a row of every
/// database, so it stays as it was, whatever its file is called.
fn migrations() -> Vec<Migration> {
    [
        (1, "begin", include_str!("../../migrations/0001_begin.sql")),
        (2, "changes", include_str!("../../migrations/0002_changes.sql")),
        (3, "taken_back", include_str!("../../migrations/0003_undo.sql")),
        (4, "forgotten", include_str!("../../migrations/0004_purged_contents.sql")),
        (5, "lighter_ledger", include_str!("../../migrations/0005_lighter_ledger.sql")),
        (6, "taken_up", include_str!("../../migrations/0006_resumed_turns.sql")),
        (7, "whole", include_str!("../../migrations/0007_whole_results.sql")),
        (8, "cost", include_str!("../../migrations/0008_cost.sql")),
        (9, "conversations", include_str!("../../migrations/0009_conversations.sql")),
        (10, "hunks", include_str!("../../migrations/0010_hunks.sql")),
        (11, "compaction", include_str!("../../migrations/0011_compaction.sql")),
        (12, "lighter_list", include_str!("../../migrations/0012_lighter_list.sql")),
        (13, "source", include_str!("../../migrations/0013_source.sql")),
        (14, "held", include_str!("../../migrations/0014_held_answers.sql")),
        (15, "gist", include_str!("../../migrations/0015_conversation_summaries.sql")),
        (16, "parked", include_str!("../../migrations/0016_held_hub_messages.sql")),
        (17, "files", include_str!("../../migrations/0017_files.sql")),
        (18, "turn_privacy", include_str!("../../migrations/0018_turn_privacy.sql")),
        (19, "call_of_reverts", include_str!("../../migrations/0019_call_of_reverts.sql")),
        (20, "speech", include_str!("../../migrations/0020_speech.sql")),
        (21, "undone_paths", include_str!("../../migrations/0021_undone_paths.sql")),
        (22, "trashed_files", include_str!("../../migrations/0022_trashed_files.sql")),
    ]
    .into_iter()
    .map(|(version, name, sql)| {
        let sql = sql.into_sql_str();
        Migration::new(version, name.into(), MigrationType::Simple, sql, false)
    })
    .collect()
}

impl Store {
    /// Opens the database at `file`, making it when there is none; its folder must exist.
    ///
    /// The file and those that SQLite adds to it can be read by their owner only. A database
    /// of a newer version is refused with [`StoreError::Newer`] before anything is written.
    pub async fn open(file: &Path) -> Result<Self, StoreError> {
        if is_not_empty(file) {
            refuse_newer(file).await?;
        }
        make_private(file).map_err(|source| StoreError::File { file: file.to_owned(), source })?;
        let writing = writer_options(file);
        let stop_reading = Arc::new(AtomicBool::new(false));
        let store = Self {
            file: Arc::from(file),
            writer: Arc::new(Writer::new(
                writing.clone().pragma("cache_size", WRITER_CACHE_SIZE),
                writing.clone().synchronous(SqliteSynchronous::Normal),
                secure_delete_options(writing),
            )),
            readers: stoppable_readers(file, &stop_reading),
            stop_reading,
        };
        match migrate(&store.writer).await.doing(&store, "bring the database up to date") {
            Ok(()) => Ok(store),
            Err(error) => {
                store.close().await;
                Err(error)
            }
        }
    }

    /// Waits for running work, folds the log into the file and closes it. Other clones fail after
    /// it, and so does a read that goes on for more than two seconds.
    pub async fn close(self) {
        let mut readers = pin!(self.readers.close());
        if timeout(CLOSE_GRACE, readers.as_mut()).await.is_err() {
            self.stop_reading.store(true, Ordering::Relaxed);
            readers.await;
        }
        self.writer.close().await;
    }
}

pub(crate) fn base_options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", READER_CACHE_SIZE)
        .disable_statement_logging()
}

fn writer_options(file: &Path) -> SqliteConnectOptions {
    base_options(file).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full)
}

/// Deleted data is overwritten with zeros. The one commit that uses this connection enforces the
/// foreign keys itself: SQLite would search both tables for each deleted content.
fn secure_delete_options(writing: SqliteConnectOptions) -> SqliteConnectOptions {
    writing.foreign_keys(false).pragma("secure_delete", "ON")
}

async fn migrate(writer: &Writer) -> Result<(), Failure> {
    let mut lent = writer.acquire().await?;
    Migrator::with_migrations(migrations()).run_direct(None, lent.durable().await?, false).await?;
    lent.release();
    Ok(())
}

/// Connections live as long as the store: reopening one would only cost.
pub(crate) fn reader_pool_options() -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(MAX_READERS)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// Readers whose statements fail once `stop` is set.
fn stoppable_readers(file: &Path, stop: &Arc<AtomicBool>) -> SqlitePool {
    let stop = Arc::clone(stop);
    reader_pool_options()
        .after_connect(move |db, _| {
            let stop = Arc::clone(&stop);
            Box::pin(async move {
                let goes_on = move || !stop.load(Ordering::Relaxed);
                db.lock_handle().await?.set_progress_handler(INSTRUCTIONS_PER_CHECK, goes_on);
                Ok(())
            })
        })
        .connect_lazy_with(base_options(file).read_only(true))
}

pub(crate) fn is_not_empty(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.len() > 0)
}

/// Whether no log waits to be read with the file.
pub(crate) fn has_no_pending_log(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    !is_not_empty(Path::new(&log))
}

/// Looks at the versions without a trace: read-only, and where no log waits to be read with it
/// also as immutable, so that SQLite makes no files of its own.
async fn refuse_newer(file: &Path) -> Result<(), StoreError> {
    let looking = base_options(file).read_only(true).immutable(has_no_pending_log(file));
    let newest = async {
        let mut db = looking.connect().await?;
        let newest = newest_version(&mut db).await;
        db.close().await?;
        newest
    };
    let newest = newest.await.map_err(|source| from_sql(file, "look at the database", source))?;
    if migrations().iter().all(|known| known.version < newest) {
        return Err(StoreError::Newer { file: file.to_owned() });
    }
    Ok(())
}

/// The highest version that has written here; 0 for a file that nothing has migrated yet.
async fn newest_version(db: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let marked: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *db).await?;
    let migrated: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations')",
    )
    .fetch_one(&mut *db)
    .await?;
    if !migrated {
        return Ok(marked);
    }
    let listed: i64 = sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM _sqlx_migrations")
        .fetch_one(db)
        .await?;
    Ok(marked.max(listed))
}

/// SQLite gives its additional files the permissions of the database.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the database is a file of the data directory")]
fn make_private(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    let opened = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(file)?;
    opened.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "the database is a file of the data directory")]
fn make_private(file: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(file).map(drop)
}

#[cfg(test)]
mod tests;
