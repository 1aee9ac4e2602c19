//! The table `succession`: which file took the place of which, and the files that the ledger knows.

use protocol::{FileId, FileReplacement, NotePath};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::{commit, read};
use crate::{Store, StoreError};

impl Store {
    /// Stores successions, in order. A file whose place is taken again and again takes one row, and so does
    /// each file in between in which a change left a note.
    pub async fn add_successions(&self, successions: &[FileReplacement]) -> Result<(), StoreError> {
        commit!(self, "add_successions", "note files that took the place of others", |db| add(
            db,
            successions
        ))
    }

    /// All successions that are stored.
    pub async fn successions(&self) -> Result<Vec<FileReplacement>, StoreError> {
        read!(self, "read which files took the place of others", |db| all(db))
    }

    /// The files in which changes left notes, with the path of each, the newest changes first; at most
    /// `limit`.
    pub async fn recently_changed_files(
        &self,
        limit: u32,
    ) -> Result<Vec<(NotePath, FileId)>, StoreError> {
        read!(self, "read the files of changed notes", |db| recent_files(db, limit))
    }
}

async fn add(
    db: &mut SqliteConnection,
    successions: &[FileReplacement],
) -> Result<(), sqlx::Error> {
    let numbers = |succession: &FileReplacement| {
        let FileReplacement { from, to } = succession;
        Some((from.inode.cast_signed(), from.born?, to.inode.cast_signed(), to.born?))
    };
    for numbers in successions.iter().filter_map(numbers) {
        let row = to_json(&numbers)?;
        // A file that was replaced by another now points to the newest one, so that chains stay
        // short. The one in between is left out, unless a change is followed from it.
        let joined = sqlx::query(
            "UPDATE succession SET next_inode = ?1 ->> 2, next_born = ?1 ->> 3
             WHERE next_inode = ?1 ->> 0 AND next_born = ?1 ->> 1",
        )
        .bind(&row)
        .execute(&mut *db)
        .await?;
        if joined.rows_affected() > 0 && !is_in_ledger(db, &row).await? {
            continue;
        }
        sqlx::query(
            "INSERT INTO succession (inode, born, next_inode, next_born)
             VALUES (?1 ->> 0, ?1 ->> 1, ?1 ->> 2, ?1 ->> 3)
             ON CONFLICT (inode, born) DO UPDATE
                 SET next_inode = excluded.next_inode, next_born = excluded.next_born",
        )
        .bind(&row)
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// Whether a change left a note in the replaced file of a row: a move does, or the user's answer which note is
/// meant. No change left one before the file was made; a clock that was set meanwhile may be a minute off.
async fn is_in_ledger(db: &mut SqliteConnection, row: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (
             SELECT 1 FROM effect
             WHERE inode = ?1 ->> 0 AND born = ?1 ->> 1 AND number > coalesce(
                 (
                     SELECT number FROM effect WHERE at < (?1 ->> 1) / 1000000 - 60000
                     ORDER BY number DESC LIMIT 1
                 ),
                 0
             )
         )",
    )
    .bind(row)
    .fetch_one(db)
    .await
}

async fn all(db: &mut SqliteConnection) -> Result<Vec<FileReplacement>, sqlx::Error> {
    sqlx::query("SELECT inode, born, next_inode, next_born FROM succession")
        .try_map(|row: SqliteRow| {
            Ok(FileReplacement {
                from: row.file_id("inode", "born")?.ok_or(sqlx::Error::RowNotFound)?,
                to: row.file_id("next_inode", "next_born")?.ok_or(sqlx::Error::RowNotFound)?,
            })
        })
        .fetch_all(db)
        .await
}

async fn recent_files(
    db: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<(NotePath, FileId)>, sqlx::Error> {
    // SQLite takes the other columns of a group from the row that has the maximum.
    let rows = sqlx::query(
        "SELECT
             CASE kind WHEN 'rename' THEN target ELSE path END AS place,
             coalesce(s.next_inode, e.inode) AS inode,
             coalesce(s.next_born, e.born) AS born,
             max(number) AS newest
         FROM effect e LEFT JOIN succession s ON s.inode = e.inode AND s.born = e.born
         WHERE state = 'done' AND e.born IS NOT NULL AND kind IN ('create', 'replace', 'rename')
         GROUP BY place ORDER BY newest DESC LIMIT ?",
    )
    .bind(limit)
    .try_map(|row: SqliteRow| Ok((row.path("place")?, row.file_id("inode", "born")?)))
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().filter_map(|(path, file)| Some((path, file?))).collect())
}
