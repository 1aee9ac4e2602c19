//! The rival of a durable edit: what any program has to do that wants to find it after a power
//! cut, and nothing else. A row in one commit, a temporary file, a rename, and the syncs between.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection, SqliteConnection};

/// A folder of files, a handle on it, and a separate database with the settings of the product.
pub(crate) struct BareEdit {
    folder: PathBuf,
    handle: File,
    database: SqliteConnection,
}

impl BareEdit {
    /// Over the files in `folder`, with a new database at `database`.
    pub(crate) async fn open(folder: &Path, database: &Path) -> Result<Self, Box<dyn Error>> {
        let options = SqliteConnectOptions::new()
            .filename(database)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut database = SqliteConnection::connect_with(&options).await?;
        let table = "CREATE TABLE edit (number INTEGER PRIMARY KEY, path TEXT, after BLOB) STRICT";
        sqlx::query(table).execute(&mut database).await?;
        Ok(Self { folder: folder.to_owned(), handle: File::open(folder)?, database })
    }

    /// Gives each of these files new bytes: one commit for all, then one file after the other.
    pub(crate) async fn edit(&mut self, files: &[(String, Vec<u8>)]) -> Result<(), Box<dyn Error>> {
        self.commit(files).await?;
        self.write_files(files)
    }

    pub(crate) async fn commit(
        &mut self,
        files: &[(String, Vec<u8>)],
    ) -> Result<(), Box<dyn Error>> {
        let mut commit = self.database.begin_with("BEGIN IMMEDIATE").await?;
        for (path, after) in files {
            sqlx::query("INSERT INTO edit (path, after) VALUES (?, ?)")
                .bind(path)
                .bind(after)
                .execute(&mut *commit)
                .await?;
        }
        Ok(commit.commit().await?)
    }

    pub(crate) fn write_files(&self, files: &[(String, Vec<u8>)]) -> Result<(), Box<dyn Error>> {
        for (path, after) in files {
            let temp = self.folder.join(format!(".{path}.tmp"));
            let mut file = File::create_new(&temp)?;
            file.write_all(after)?;
            file.sync_all()?;
            fs::rename(&temp, self.folder.join(path))?;
            self.handle.sync_all()?;
        }
        Ok(())
    }
}
