//! The table `usage`: the cost of each request to a model.

use protocol::chat::cost::{ModelCost, TurnCost};
use protocol::chat::model::Price;
use protocol::{ConversationId, MessageId, Timestamp, TokenUsage, TurnId, UtilityRequest};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read, read_one};
use crate::{Store, StoreError};

/// The columns of a sum over requests. A total is exact up to 2^53 and never too large, as a sum
/// may be.
macro_rules! sum {
    () => {
        "count(*) AS requests,
         CAST(total(input) AS INTEGER) AS input, CAST(total(output) AS INTEGER) AS output,
         CAST(total(cache_read) AS INTEGER) AS cache_read,
         CAST(total(cache_write) AS INTEGER) AS cache_write,
         CAST(total(cost) AS INTEGER) AS cost, count(*) - count(cost) AS unpriced"
    };
}

impl Store {
    /// The cost of a turn so far.
    pub async fn turn_cost(&self, turn: &TurnId) -> Result<ModelCost, StoreError> {
        read_one!(self, "add up the cost of the turn", |db| in_turn(db, turn))
    }

    /// The cost of each turn of a conversation, in the order in which they ran. Turns that used no
    /// model are not among them.
    pub async fn turn_costs(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<TurnCost>, StoreError> {
        read!(self, "add up the cost of the conversation", |db| by_turn(db, conversation))
    }

    /// The cost of all conversations since `from` and before `until`.
    pub async fn cost_between(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<ModelCost, StoreError> {
        read_one!(self, "add up the cost of a period", |db| between(db, from, until))
    }

    /// Counts a request that belongs to no turn.
    pub async fn record_standalone_usage(&self, asked: &UtilityRequest) -> Result<(), StoreError> {
        commit!(self, "count_apart", "count what a request cost", |db| insert_standalone(db, asked))
    }

    /// When something was spent first; `None` when nothing was.
    pub async fn first_cost_at(&self) -> Result<Option<Timestamp>, StoreError> {
        read!(self, "look for the first use", |db| first(db))
    }
}

/// It counts for the model that answers the turn, at its price. A request that reported nothing
/// leaves no row.
pub(crate) async fn insert(
    db: &mut SqliteConnection,
    turn: &TurnId,
    usage: TokenUsage,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    if usage == TokenUsage::default() {
        return Ok(());
    }
    let (model, price): (Option<String>, Option<Price>) =
        sqlx::query("SELECT model, price FROM turn WHERE id = ?")
            .bind(turn.as_str())
            .try_map(|row: SqliteRow| {
                Ok((row.optional_text("model")?, row.optional_json("price")?))
            })
            .fetch_one(&mut *db)
            .await?;
    insert_row(db, turn, model.as_deref(), price, usage, at).await
}

/// It counts for the model that was asked, at its own price.
pub(crate) async fn insert_utility(
    db: &mut SqliteConnection,
    turn: &TurnId,
    asked: &UtilityRequest,
) -> Result<(), sqlx::Error> {
    if asked.usage == TokenUsage::default() {
        return Ok(());
    }
    insert_row(db, turn, Some(&asked.model), asked.price, asked.usage, asked.at).await
}

/// The same for a turn that may be gone: then it counts for none that is kept.
pub(crate) async fn insert_if_turn_exists(
    db: &mut SqliteConnection,
    turn: &TurnId,
    asked: &UtilityRequest,
) -> Result<(), sqlx::Error> {
    let is_there: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM turn WHERE id = ?)")
        .bind(turn.as_str())
        .fetch_one(&mut *db)
        .await?;
    if is_there {
        return insert_utility(db, turn, asked).await;
    }
    insert_standalone(db, asked).await
}

/// A request that reported nothing leaves no row.
async fn insert_standalone(
    db: &mut SqliteConnection,
    asked: &UtilityRequest,
) -> Result<(), sqlx::Error> {
    if asked.usage == TokenUsage::default() {
        return Ok(());
    }
    let cost = asked.price.map(|price| i64::try_from(price.cost(&asked.usage)).unwrap_or(i64::MAX));
    sqlx::query(
        "INSERT INTO usage_apart (model, input, output, cache_read, cache_write, at, cost)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&asked.model)
    .bind(asked.usage.input)
    .bind(asked.usage.output)
    .bind(asked.usage.cache_read)
    .bind(asked.usage.cache_write)
    .bind(asked.at.0)
    .bind(cost)
    .execute(db)
    .await?;
    Ok(())
}

async fn insert_row(
    db: &mut SqliteConnection,
    turn: &TurnId,
    model: Option<&str>,
    price: Option<Price>,
    usage: TokenUsage,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    let cost = price.map(|price| i64::try_from(price.cost(&usage)).unwrap_or(i64::MAX));
    sqlx::query(
        "INSERT INTO usage (turn, model, input, output, cache_read, cache_write, at, cost)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(turn.as_str())
    .bind(model)
    .bind(usage.input)
    .bind(usage.output)
    .bind(usage.cache_read)
    .bind(usage.cache_write)
    .bind(at.0)
    .bind(cost)
    .execute(db)
    .await?;
    Ok(())
}

async fn in_turn(db: &mut SqliteConnection, turn: &TurnId) -> Result<ModelCost, sqlx::Error> {
    sqlx::query(concat!("SELECT ", sum!(), " FROM usage WHERE turn = ?"))
        .bind(turn.as_str())
        .try_map(|row| total_from_row(&row))
        .fetch_one(db)
        .await
}

async fn between(
    db: &mut SqliteConnection,
    from: Timestamp,
    until: Timestamp,
) -> Result<ModelCost, sqlx::Error> {
    sqlx::query(concat!(
        "SELECT ",
        sum!(),
        " FROM (
             SELECT input, output, cache_read, cache_write, cost FROM usage
             WHERE at >= ?1 AND at < ?2
             UNION ALL
             SELECT input, output, cache_read, cache_write, cost FROM usage_apart
             WHERE at >= ?1 AND at < ?2
         )"
    ))
    .bind(from.0)
    .bind(until.0)
    .try_map(|row| total_from_row(&row))
    .fetch_one(db)
    .await
}

async fn first(db: &mut SqliteConnection) -> Result<Option<Timestamp>, sqlx::Error> {
    let first: Option<i64> = sqlx::query_scalar(
        "SELECT min(at) FROM (
             SELECT min(at) AS at FROM usage UNION ALL SELECT min(at) FROM usage_apart
         )",
    )
    .fetch_one(db)
    .await?;
    Ok(first.map(Timestamp))
}

async fn by_turn(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<TurnCost>, sqlx::Error> {
    let rows: Vec<(TurnId, Option<MessageId>, ModelCost)> = sqlx::query(
        "SELECT u.*, (
             SELECT m.id FROM message m WHERE m.turn = t.id AND m.role = 'assistant'
             ORDER BY m.position DESC LIMIT 1
         ) AS answer
         FROM turn t JOIN usage u ON u.turn = t.id
         WHERE t.conversation = ?
         ORDER BY t.ran, u.number",
    )
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| {
        Ok((row.text("turn")?, row.optional_text("answer")?, cost_from_row(&row)?))
    })
    .fetch_all(db)
    .await?;
    let mut turns: Vec<TurnCost> = Vec::new();
    for (turn, answer, request) in rows {
        match turns.last_mut() {
            Some(last) if last.turn == turn => last.spent += request,
            _ => turns.push(TurnCost { turn, answer, spent: request }),
        }
    }
    Ok(turns)
}

/// One request.
fn cost_from_row(row: &SqliteRow) -> Result<ModelCost, sqlx::Error> {
    let cost: Option<i64> = row.try_get("cost")?;
    Ok(ModelCost {
        requests: 1,
        usage: TokenUsage {
            input: row.try_get("input")?,
            output: row.try_get("output")?,
            cache_read: row.try_get("cache_read")?,
            cache_write: row.try_get("cache_write")?,
        },
        cost: cost.and_then(|cost| u64::try_from(cost).ok()).unwrap_or_default(),
        unpriced: u32::from(cost.is_none()),
    })
}

/// A sum of requests, as [`sum!`] gives it.
fn total_from_row(row: &SqliteRow) -> Result<ModelCost, sqlx::Error> {
    let count = |name: &str| {
        let sum: i64 = row.try_get(name)?;
        Ok::<_, sqlx::Error>(u32::try_from(sum.max(0)).unwrap_or(u32::MAX))
    };
    let cost: i64 = row.try_get("cost")?;
    Ok(ModelCost {
        requests: count("requests")?,
        usage: TokenUsage {
            input: count("input")?,
            output: count("output")?,
            cache_read: count("cache_read")?,
            cache_write: count("cache_write")?,
        },
        cost: u64::try_from(cost).unwrap_or_default(),
        unpriced: count("unpriced")?,
    })
}
