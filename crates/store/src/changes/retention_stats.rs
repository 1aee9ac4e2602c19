//! How much of the earlier versions is kept.

use protocol::Timestamp;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::to_json;
use crate::db::transaction::read;
use crate::{Store, StoreError};

/// The amount of stored history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionStats {
    /// Packed bytes.
    pub bytes: u64,
    /// When the oldest change was made of which all is kept.
    pub since: Option<Timestamp>,
    /// How many changes would lose something if all went that was needed last before each of the
    /// times that were asked for, in their order.
    pub affected: Vec<u64>,
}

impl Store {
    /// The amount of stored history, and the loss if it were kept only from each of these times on.
    /// Reads all of it once.
    pub async fn retention_stats(&self, times: &[Timestamp]) -> Result<RetentionStats, StoreError> {
        read!(self, "look at the stored earlier versions", |db| measure(db, times))
    }
}

async fn measure(
    db: &mut SqliteConnection,
    times: &[Timestamp],
) -> Result<RetentionStats, sqlx::Error> {
    let bytes: i64 = sqlx::query_scalar("SELECT coalesce(sum(length(packed)), 0) FROM image")
        .fetch_one(&mut *db)
        .await?;
    // An effect loses something as soon as one of its two contents goes.
    let rows = sqlx::query(
        "WITH needed AS MATERIALIZED (
             SELECT hash, iif(max(held), NULL, max(at)) AS at FROM need GROUP BY hash
         ),
         loses AS MATERIALIZED (
             SELECT effect.at, min(
                 coalesce((SELECT at FROM needed WHERE hash = effect.before), ?2),
                 coalesce((SELECT at FROM needed WHERE hash = effect.after), ?2)
             ) AS needed
             FROM effect
             WHERE state = 'done' AND coalesce(before, after) IS NOT NULL
                 AND id NOT IN (SELECT effect FROM forgotten)
         )
         SELECT
             (SELECT min(at) FROM loses) AS since,
             (SELECT count(*) FROM loses WHERE needed < value) AS older
         FROM json_each(?1) ORDER BY key",
    )
    .bind(to_json(&times.iter().map(|time| time.0).collect::<Vec<_>>())?)
    .bind(i64::MAX)
    .fetch_all(db)
    .await?;
    let mut kept =
        RetentionStats { bytes: bytes.cast_unsigned(), since: None, affected: Vec::new() };
    for row in rows {
        kept.since = row.try_get::<Option<i64>, _>("since")?.map(Timestamp);
        kept.affected.push(row.try_get::<i64, _>("older")?.cast_unsigned());
    }
    Ok(kept)
}
