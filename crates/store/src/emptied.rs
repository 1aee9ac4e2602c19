//! A database that lost its past never begins anew unnoticed: a mark beside it tells what it was.

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::commit::look;
use crate::error::from_sql;
use crate::open::{base, is_settled};
use crate::{Store, StoreError};

/// What SQLite keeps in files of its own beside a database.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];
/// The mark beside a database.
const MARK: &str = "-known";

/// A database that had a past and has none any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emptied {
    /// The folder that holds all that was left of it; none where nothing was left.
    pub kept: Option<PathBuf>,
}

/// By what a database is known again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    /// When its first table was made, as it says itself.
    made: String,
    /// Whether it tells of changes of notes: those are never removed.
    has_changes: bool,
}

/// What is found in the place of a database.
enum Found {
    /// No file, or no byte in it.
    Nothing,
    /// A database without tables of ours.
    Blank,
    /// One of ours, and whether there is anything in it.
    Ours(Known, Contents),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    None,
    Some,
}

impl Store {
    /// As [`Store::open`], for a database whose loss the user has to hear of. One that was emptied
    /// since it was open last (no file, no bytes, no tables, or none of the changes that it told of)
    /// is moved into a folder beside it, `emptied-AT`, with the files that SQLite keeps beside it,
    /// before a new one is made; SQLite itself would remove its log. Whoever is cut in between
    /// finds it emptied again.
    pub async fn open_known(file: &Path, at: &str) -> Result<(Self, Option<Emptied>), StoreError> {
        let known = Known::read(file);
        let emptied = is_emptied(known.as_ref(), &find(file).await?, file);
        let emptied = if emptied { Some(set_aside(file, at)?) } else { None };
        let store = Self::open(file).await?;
        let now = store.known().await?;
        if now.is_some() && now != known {
            now.map_or(Ok(()), |now| now.write(file))?;
        }
        Ok((store, emptied))
    }

    async fn known(&self) -> Result<Option<Known>, StoreError> {
        look!(self, "look at the database", |db| known_in(db))
    }
}

fn is_emptied(known: Option<&Known>, found: &Found, file: &Path) -> bool {
    match (known, found) {
        // Before there were marks, a log without its database tells of one.
        (None, Found::Nothing) => !is_settled(file),
        (None, _) => false,
        (Some(_), Found::Nothing | Found::Blank) => true,
        (Some(known), Found::Ours(now, contents)) => {
            *contents == Contents::None && (known.has_changes || known.made != now.made)
        }
    }
}

/// Looks without a trace, as whoever refuses a newer version does.
async fn find(file: &Path) -> Result<Found, StoreError> {
    if !crate::open::holds_something(file) {
        return Ok(Found::Nothing);
    }
    let looking = base(file).read_only(true).immutable(is_settled(file));
    let found = async {
        let mut db = looking.connect().await?;
        let found = found_in(&mut db).await;
        db.close().await?;
        found
    };
    found.await.map_err(|source| from_sql(file, "look at the database", source))
}

async fn found_in(db: &mut SqliteConnection) -> Result<Found, sqlx::Error> {
    let Some(known) = known_in(db).await? else { return Ok(Found::Blank) };
    let contents = if known.has_changes || has_rows(db, "conversation").await? {
        Contents::Some
    } else {
        Contents::None
    };
    Ok(Found::Ours(known, contents))
}

async fn known_in(db: &mut SqliteConnection) -> Result<Option<Known>, sqlx::Error> {
    if !has_table(db, "_sqlx_migrations").await? {
        return Ok(None);
    }
    let made: Option<String> = sqlx::query_scalar(
        "SELECT CAST(installed_on AS TEXT) FROM _sqlx_migrations ORDER BY version LIMIT 1",
    )
    .fetch_optional(&mut *db)
    .await?;
    let Some(made) = made else { return Ok(None) };
    Ok(Some(Known { made, has_changes: has_rows(db, "effect").await? }))
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

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[expect(clippy::disallowed_methods, reason = "these are files of the data directory")]
fn set_aside(file: &Path, at: &str) -> Result<Emptied, StoreError> {
    let folder = file.with_file_name(format!("emptied-{at}"));
    let failed = |source| StoreError::File { verb: "move aside", file: file.to_owned(), source };
    let mut kept = None;
    for suffix in BESIDE {
        let from = beside(file, suffix);
        let Some(name) = from.file_name().filter(|_| from.exists()) else { continue };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        std::fs::rename(&from, folder.join(name)).map_err(failed)?;
        kept = Some(folder.clone());
    }
    Ok(Emptied { kept })
}

impl Known {
    #[expect(clippy::disallowed_methods, reason = "the mark is a file of the data directory")]
    fn read(file: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(beside(file, MARK)).ok()?;
        let (made, changes) = text.trim_end().split_once('\n')?;
        Some(Self { made: made.to_owned(), has_changes: changes == "changes" })
    }

    /// Replaces the mark whole, so that a cut leaves the one of before.
    #[expect(clippy::disallowed_methods, reason = "the mark is a file of the data directory")]
    fn write(&self, file: &Path) -> Result<(), StoreError> {
        let changes = if self.has_changes { "changes" } else { "none" };
        let text = format!("{}\n{changes}\n", self.made);
        let (mark, new) = (beside(file, MARK), beside(file, "-known-new"));
        let written = std::fs::write(&new, text)
            .and_then(|()| std::fs::File::open(&new)?.sync_all())
            .and_then(|()| std::fs::rename(&new, &mark));
        written.map_err(|source| StoreError::File { verb: "write", file: mark, source })
    }
}

#[cfg(test)]
mod tests;
