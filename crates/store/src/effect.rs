//! The table `effect`: the ledger. What shall happen to a file is stored before it happens.

use protocol::{
    CallId, ContentHash, EffectId, Intent, IntentState, NotePath, Timestamp, TurnId, fault,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::act::{self, ActRow};
use crate::column::{Columns, decode};
use crate::commit::{commit, read};
use crate::error::{Doing, Failure};
use crate::{Store, StoreError};

impl Store {
    /// Stores all intents as open, with both contents, in one commit.
    pub async fn intend(&self, intents: &[Intent], at: Timestamp) -> Result<(), StoreError> {
        commit!(self, "intend", "store what shall change", |db| insert_all(db, intents, at))
    }

    /// Notes how intents ended, all in one commit. Does not wait for the disk: a power cut may take
    /// it back (a later commit makes it durable), and recovery finds out again.
    pub async fn settle(&self, ended: &[(EffectId, IntentState)]) -> Result<(), StoreError> {
        self.store_outcomes(ended).await.doing(self, "note how a change ended")
    }

    /// Intents that are still open, in the order they were stored.
    pub async fn open_intents(&self) -> Result<Vec<Intent>, StoreError> {
        read!(self, "look for unfinished changes", |db| open(db))
    }

    /// What became of the changes of one call, in the order they were stored.
    pub async fn effects_of_call(
        &self,
        turn: &TurnId,
        call: &CallId,
    ) -> Result<Vec<(NotePath, IntentState)>, StoreError> {
        read!(self, "read the call's changes", |db| of_call(db, turn, call))
    }

    async fn store_outcomes(&self, ended: &[(EffectId, IntentState)]) -> Result<(), Failure> {
        // Held, not used: it is the right to write. Without it SQLite would wait by trying again.
        let _right_to_write = self.writer.acquire().await?;
        let mut transaction = self.settler.begin_with("BEGIN IMMEDIATE").await?;
        for (effect, state) in ended {
            let settled = sqlx::query("UPDATE effect SET state = ?2 WHERE id = ?1")
                .bind(effect.as_str())
                .bind(state_word(*state))
                .execute(&mut *transaction)
                .await?;
            if settled.rows_affected() == 0 {
                return Err(Failure::not_found("effect", effect));
            }
        }
        fault::point("store.settle.before");
        transaction.commit().await?;
        fault::point("store.settle.after");
        Ok(())
    }
}

async fn insert_all(
    db: &mut SqliteConnection,
    intents: &[Intent],
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    for intent in intents {
        let act = act::put(db, &intent.change).await?;
        sqlx::query(
            "INSERT INTO effect
                 (id, change_set, conversation, turn, call, unit, kind, path, target, temp_name,
                  before, after, state, at)
             VALUES (
                 ?1, ?2, (SELECT conversation FROM turn WHERE id = ?3), ?3, ?4, ?5, ?6, ?7, ?8, ?9,
                 ?10, ?11, 'open', ?12
             )",
        )
        .bind(intent.effect.as_str())
        .bind(intent.change_set.as_str())
        .bind(intent.turn.as_str())
        .bind(intent.call.as_str())
        .bind(intent.unit.as_ref().map(CallId::as_str))
        .bind(&act.kind)
        .bind(intent.change.path.as_str())
        .bind(&act.target)
        .bind(&intent.temp_name)
        .bind(act.before.as_ref().map(ContentHash::as_str))
        .bind(act.after.as_ref().map(ContentHash::as_str))
        .bind(at.0)
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

async fn open(db: &mut SqliteConnection) -> Result<Vec<Intent>, Failure> {
    let rows = sqlx::query(
        "SELECT id, change_set, turn, call, unit, kind, path, target, temp_name, before, after
         FROM effect WHERE state = 'open' ORDER BY number",
    )
    .fetch_all(&mut *db)
    .await?;
    let mut intents = Vec::with_capacity(rows.len());
    for row in rows {
        intents.push(Intent {
            effect: row.text("id")?,
            change_set: row.text("change_set")?,
            turn: row.text("turn")?,
            call: row.text("call")?,
            unit: row.maybe_text("unit")?,
            temp_name: row.text("temp_name")?,
            change: ActRow::of(&row)?.change(db, row.path("path")?).await?,
        });
    }
    Ok(intents)
}

async fn of_call(
    db: &mut SqliteConnection,
    turn: &TurnId,
    call: &CallId,
) -> Result<Vec<(NotePath, IntentState)>, sqlx::Error> {
    sqlx::query("SELECT path, state FROM effect WHERE turn = ? AND call = ? ORDER BY number")
        .bind(turn.as_str())
        .bind(call.as_str())
        .try_map(|row| outcome(&row))
        .fetch_all(db)
        .await
}

fn outcome(row: &SqliteRow) -> Result<(NotePath, IntentState), sqlx::Error> {
    Ok((row.path("path")?, state_of(row.try_get("state")?)?))
}

const fn state_word(state: IntentState) -> &'static str {
    match state {
        IntentState::Open => "open",
        IntentState::Done => "done",
        IntentState::Stale => "stale",
        IntentState::Parked => "parked",
        IntentState::Failed => "failed",
    }
}

fn state_of(word: &str) -> Result<IntentState, sqlx::Error> {
    match word {
        "open" => Ok(IntentState::Open),
        "done" => Ok(IntentState::Done),
        "stale" => Ok(IntentState::Stale),
        "parked" => Ok(IntentState::Parked),
        "failed" => Ok(IntentState::Failed),
        other => Err(decode(format!("`{other}` is not a state of an effect"))),
    }
}
