//! Detects a database that lost its data, so that it is never replaced silently: a marker file next
//! to it describes its content.

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::db::open::{base_options, has_no_pending_log};
use crate::db::transaction::read_one;
use crate::error::from_sql;
use crate::{Store, StoreError};

/// The suffixes of the files that SQLite keeps for a database.
const DATABASE_FILE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];
/// The suffix of the marker file of a database.
const MARKER_SUFFIX: &str = "-known";

/// A database that had a past and has none any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostDatabase {
    /// The folder that holds all that was left of it; none where nothing was left.
    pub moved_to: Option<PathBuf>,
}

/// By what a database is known again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DatabaseIdentity {
    /// When its first table was made, as it says itself.
    created: String,
    /// Whether it tells of changes of notes: those are never removed.
    has_changes: bool,
}

/// The state of the file in the place of a database.
enum FoundDatabase {
    /// No file, or no byte in it.
    Nothing,
    /// A database without tables of ours.
    Blank,
    /// One of ours, and whether there is anything in it.
    Ours(DatabaseIdentity, StoredRows),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoredRows {
    None,
    Some,
}

impl Store {
    /// As [`Store::open`], for a database whose loss the user has to hear of. One that was emptied
    /// since it was last open (no file, no bytes, no tables, or none of the changes of its marker)
    /// is moved into the folder `emptied-AT` next to it, with the files that SQLite keeps for it,
    /// before a new one is made; SQLite itself would remove its log. After a crash in between, the
    /// next start finds it emptied again.
    pub async fn open_detecting_loss(
        file: &Path,
        at: &str,
    ) -> Result<(Self, Option<LostDatabase>), StoreError> {
        let known = DatabaseIdentity::read(file);
        let emptied = is_emptied(known.as_ref(), &inspect(file).await?, file);
        let emptied = if emptied { Some(move_emptied(file, at)?) } else { None };
        let store = Self::open(file).await?;
        let now = store.identity().await?;
        if now.is_some() && now != known {
            now.map_or(Ok(()), |now| now.write(file))?;
        }
        Ok((store, emptied))
    }

    async fn identity(&self) -> Result<Option<DatabaseIdentity>, StoreError> {
        read_one!(self, "look at the database", |db| read_identity(db))
    }
}

fn is_emptied(known: Option<&DatabaseIdentity>, found: &FoundDatabase, file: &Path) -> bool {
    match (known, found) {
        // Before there were marks, a log without its database tells of one.
        (None, FoundDatabase::Nothing) => !has_no_pending_log(file),
        (None, _) => false,
        (Some(_), FoundDatabase::Nothing | FoundDatabase::Blank) => true,
        (Some(known), FoundDatabase::Ours(now, contents)) => {
            *contents == StoredRows::None && (known.has_changes || known.created != now.created)
        }
    }
}

/// Reads the file without a trace, like the check that refuses a newer version.
async fn inspect(file: &Path) -> Result<FoundDatabase, StoreError> {
    if !crate::db::open::is_not_empty(file) {
        return Ok(FoundDatabase::Nothing);
    }
    let looking = base_options(file).read_only(true).immutable(has_no_pending_log(file));
    let found = async {
        let mut db = looking.connect().await?;
        let found = inspect_open(&mut db).await;
        db.close().await?;
        found
    };
    found.await.map_err(|source| from_sql(file, "look at the database", source))
}

async fn inspect_open(db: &mut SqliteConnection) -> Result<FoundDatabase, sqlx::Error> {
    let Some(known) = read_identity(db).await? else { return Ok(FoundDatabase::Blank) };
    let contents = if known.has_changes || has_rows(db, "conversation").await? {
        StoredRows::Some
    } else {
        StoredRows::None
    };
    Ok(FoundDatabase::Ours(known, contents))
}

async fn read_identity(db: &mut SqliteConnection) -> Result<Option<DatabaseIdentity>, sqlx::Error> {
    if !has_table(db, "_sqlx_migrations").await? {
        return Ok(None);
    }
    let made: Option<String> = sqlx::query_scalar(
        "SELECT CAST(installed_on AS TEXT) FROM _sqlx_migrations ORDER BY version LIMIT 1",
    )
    .fetch_optional(&mut *db)
    .await?;
    let Some(made) = made else { return Ok(None) };
    Ok(Some(DatabaseIdentity { created: made, has_changes: has_rows(db, "effect").await? }))
}

async fn has_table(db: &mut SqliteConnection, name: &'static str) -> Result<bool, sqlx::Error> {
    let found = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)");
    found.bind(name).fetch_one(db).await
}

async fn has_rows(db: &mut SqliteConnection, table: &'static str) -> Result<bool, sqlx::Error> {
    if !has_table(db, table).await? {
        return Ok(false);
    }
    let query = match table {
        "effect" => "SELECT EXISTS (SELECT 1 FROM effect)",
        _ => "SELECT EXISTS (SELECT 1 FROM conversation)",
    };
    sqlx::query_scalar(query).fetch_one(db).await
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[expect(clippy::disallowed_methods, reason = "these are files of the data directory")]
fn move_emptied(file: &Path, at: &str) -> Result<LostDatabase, StoreError> {
    let folder = file.with_file_name(format!("emptied-{at}"));
    let failed = |source| StoreError::File { file: file.to_owned(), source };
    let mut kept = None;
    for suffix in DATABASE_FILE_SUFFIXES {
        let from = with_suffix(file, suffix);
        let Some(name) = from.file_name().filter(|_| from.exists()) else { continue };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        std::fs::rename(&from, folder.join(name)).map_err(failed)?;
        kept = Some(folder.clone());
    }
    Ok(LostDatabase { moved_to: kept })
}

impl DatabaseIdentity {
    #[expect(clippy::disallowed_methods, reason = "the mark is a file of the data directory")]
    fn read(file: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(with_suffix(file, MARKER_SUFFIX)).ok()?;
        let (made, changes) = text.trim_end().split_once('\n')?;
        Some(Self { created: made.to_owned(), has_changes: changes == "changes" })
    }

    /// Replaces the mark whole, so that a cut leaves the one of before.
    #[expect(clippy::disallowed_methods, reason = "the mark is a file of the data directory")]
    fn write(&self, file: &Path) -> Result<(), StoreError> {
        let changes = if self.has_changes { "changes" } else { "none" };
        let text = format!("{}\n{changes}\n", self.created);
        let (mark, new) = (with_suffix(file, MARKER_SUFFIX), with_suffix(file, "-known-new"));
        let written = std::fs::write(&new, text)
            .and_then(|()| std::fs::File::open(&new)?.sync_all())
            .and_then(|()| std::fs::rename(&new, &mark));
        written.map_err(|source| StoreError::File { file: mark, source })
    }
}

#[cfg(test)]
mod tests;
