//! The table `effect`: the ledger. What shall happen to a file is stored before it happens.

use protocol::{
    CallId, Change, ContentHash, EffectId, Intent, IntentState, NotePath, TurnId, fault,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::{Columns, decode};
use crate::commit::{commit, read};
use crate::error::{Doing, Failure};
use crate::{Store, StoreError, image};

impl Store {
    /// Stores all intents as open, with both contents, in one commit.
    pub async fn intend(&self, intents: &[Intent]) -> Result<(), StoreError> {
        commit!(self, "intend", "store what shall change", |db| insert_all(db, intents))
    }

    /// Notes how an intent ended. Does not wait for the disk: a power cut may take it back (a
    /// later commit makes it durable), and recovery finds out again.
    pub async fn settle(&self, effect: &EffectId, state: IntentState) -> Result<(), StoreError> {
        self.store_outcome(effect, state).await.doing(self, "note how a change ended")
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

    async fn store_outcome(&self, effect: &EffectId, state: IntentState) -> Result<(), Failure> {
        // Held, not used: it is the right to write. Without it SQLite would wait by trying again.
        let _right_to_write = self.writer.acquire().await?;
        fault::point("store.settle.before");
        let settled = sqlx::query("UPDATE effect SET state = ?2 WHERE id = ?1")
            .bind(effect.as_str())
            .bind(state_word(state))
            .execute(&self.settler)
            .await?;
        fault::point("store.settle.after");
        match settled.rows_affected() {
            0 => Err(Failure::not_found("effect", effect)),
            _ => Ok(()),
        }
    }
}

async fn insert_all(db: &mut SqliteConnection, intents: &[Intent]) -> Result<(), sqlx::Error> {
    for intent in intents {
        let before = match &intent.change.before {
            Some(content) => Some(image::put(db, content).await?),
            None => None,
        };
        let after = image::put(db, &intent.change.after).await?;
        sqlx::query(
            "INSERT INTO effect
                 (id, change_set, turn, call, path, temp_name, before, after, state)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open')",
        )
        .bind(intent.effect.as_str())
        .bind(intent.change_set.as_str())
        .bind(intent.turn.as_str())
        .bind(intent.call.as_str())
        .bind(intent.change.path.as_str())
        .bind(&intent.temp_name)
        .bind(before.as_ref().map(ContentHash::as_str))
        .bind(after.as_str())
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

async fn open(db: &mut SqliteConnection) -> Result<Vec<Intent>, Failure> {
    let rows = sqlx::query(
        "SELECT id, change_set, turn, call, path, temp_name, before, after
         FROM effect WHERE state = 'open' ORDER BY number",
    )
    .fetch_all(&mut *db)
    .await?;
    let mut intents = Vec::with_capacity(rows.len());
    for row in rows {
        let before = match row.maybe_hash("before")? {
            Some(hash) => Some(image::get(db, &hash).await?),
            None => None,
        };
        let after = image::get(db, &row.hash("after")?).await?;
        intents.push(Intent {
            effect: row.text("id")?,
            change_set: row.text("change_set")?,
            turn: row.text("turn")?,
            call: row.text("call")?,
            temp_name: row.text("temp_name")?,
            change: Change { path: row.path("path")?, before, after },
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
