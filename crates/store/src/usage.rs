//! The table `usage`: what each request to a model has cost.

use protocol::{Timestamp, TurnId, Usage};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::commit::{commit, read};
use crate::{Store, StoreError};

impl Store {
    /// Records a request that no step or ending tells of (a title, a summary).
    pub async fn record_usage(
        &self,
        turn: &TurnId,
        model: &str,
        usage: Usage,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        commit!(self, "record_usage", "record what a request cost", |db| insert(
            db,
            turn,
            Some(model),
            usage,
            at
        ))
    }

    /// What a turn has cost so far.
    pub async fn usage_of_turn(&self, turn: &TurnId) -> Result<Usage, StoreError> {
        read!(self, "sum up what the turn cost", |db| sum(db, turn))
    }
}

/// Without a model it counts for the one that answers the turn. A request that reported nothing
/// leaves no row.
pub(crate) async fn insert(
    db: &mut SqliteConnection,
    turn: &TurnId,
    model: Option<&str>,
    usage: Usage,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    if usage == Usage::default() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO usage (turn, model, input, output, cache_read, cache_write, at)
         VALUES (?1, coalesce(?2, (SELECT model FROM turn WHERE id = ?1)), ?3, ?4, ?5, ?6, ?7)",
    )
    .bind(turn.as_str())
    .bind(model)
    .bind(usage.input)
    .bind(usage.output)
    .bind(usage.cache_read)
    .bind(usage.cache_write)
    .bind(at.0)
    .execute(db)
    .await?;
    Ok(())
}

async fn sum(db: &mut SqliteConnection, turn: &TurnId) -> Result<Usage, sqlx::Error> {
    let rows =
        sqlx::query("SELECT input, output, cache_read, cache_write FROM usage WHERE turn = ?")
            .bind(turn.as_str())
            .try_map(|row: SqliteRow| {
                Ok(Usage {
                    input: row.try_get("input")?,
                    output: row.try_get("output")?,
                    cache_read: row.try_get("cache_read")?,
                    cache_write: row.try_get("cache_write")?,
                })
            })
            .fetch_all(db)
            .await?;
    let mut total = Usage::default();
    rows.into_iter().for_each(|usage| total += usage);
    Ok(total)
}
