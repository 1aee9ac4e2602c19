//! Gives the space of deleted data back to the disk, and leaves no trace of the data.

use sqlx::{Row, SqliteConnection};

use crate::error::{Failure, FailureContext};
use crate::{Store, StoreError};

/// How often the log is asked to become empty; each time waits for readers.
const CHECKPOINT_ATTEMPTS: usize = 3;

impl Store {
    /// Rewrites the database without deleted data, and empties the log: nothing of the data is left
    /// in either file when this returns. Meanwhile nothing else is written, and the disk needs as
    /// much free space as the database has.
    pub async fn vacuum(&self) -> Result<(), StoreError> {
        self.vacuum_and_truncate_log().await.doing(self, "make the database smaller")
    }

    async fn vacuum_and_truncate_log(&self) -> Result<(), Failure> {
        let mut lent = self.writer.acquire().await?;
        let db = lent.secure_delete().await?;
        sqlx::query("VACUUM").execute(&mut *db).await?;
        for _ in 0..CHECKPOINT_ATTEMPTS {
            if truncate_log(db).await? {
                lent.release();
                return Ok(());
            }
        }
        lent.release();
        Err(Failure::Refused(StoreError::Read { file: self.file.to_path_buf() }))
    }
}

/// Folds the log into the file and makes it empty, if nobody reads from it.
async fn truncate_log(db: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let row = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(db).await?;
    Ok(row.try_get::<i64, _>("busy")? == 0)
}
