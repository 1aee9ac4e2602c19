//! Gives the room of what was deleted back to the disk, and leaves no trace of it.

use sqlx::{Row, SqliteConnection};

use crate::error::{Doing, Failure};
use crate::{Store, StoreError};

/// How often the log is asked to become empty; each time waits for readers.
const TRIES: usize = 3;

impl Store {
    /// Writes the database anew without what was deleted, and empties the log: nothing of it is
    /// left in either file when this returns. For as long as it takes nothing else is written, and
    /// it wants as much free room as the database has.
    pub async fn compact(&self) -> Result<(), StoreError> {
        self.write_anew().await.doing(self, "make the database smaller")
    }

    async fn write_anew(&self) -> Result<(), Failure> {
        let mut lent = self.writer.lend().await?;
        let db = lent.forgetting().await?;
        sqlx::query("VACUUM").execute(&mut *db).await?;
        for _ in 0..TRIES {
            if is_log_empty(db).await? {
                lent.give_back();
                return Ok(());
            }
        }
        lent.give_back();
        Err(Failure::Refused(StoreError::Read { file: self.file.to_path_buf() }))
    }
}

/// Folds the log into the file and makes it empty, if nobody reads from it.
async fn is_log_empty(db: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let row = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(db).await?;
    Ok(row.try_get::<i64, _>("busy")? == 0)
}
