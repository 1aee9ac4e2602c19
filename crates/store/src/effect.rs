//! The table `effect`: the ledger. What shall happen to a file is stored before it happens.

use std::borrow::Cow;

use protocol::{
    CallId, ContentHash, EffectId, Ended, FileId, Intent, IntentState, NotePath, Timestamp, TurnId,
    fault,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::act::ActRow;
use crate::column::{Columns, decode, json};
use crate::commit::{commit, read};
use crate::error::{Doing, Failure};
use crate::{Store, StoreError, image};

impl Store {
    /// Stores all intents as open, with both contents, in one commit.
    pub async fn intend(&self, intents: &[Intent], at: Timestamp) -> Result<(), StoreError> {
        let doing = "store what shall change";
        let rows = Rows::of(intents, at).map_err(Failure::from).doing(self, doing)?;
        if rows.large.is_empty() {
            return self.store_at_once(&rows).await.doing(self, doing);
        }
        commit!(self, "intend", "store what shall change", |db| rows.insert(db))
    }

    /// Notes the file that was made ready for each of these open intents, all in one commit. Does not wait
    /// for the disk, as [`Store::settle`] does not.
    pub async fn stage(&self, files: &[(EffectId, FileId)]) -> Result<(), StoreError> {
        self.store_files(files).await.doing(self, "note the files of a change")
    }

    /// Notes how intents ended, all in one commit. Does not wait for the disk: a power cut may take
    /// it back (a later commit makes it durable), and recovery finds out again.
    pub async fn settle(&self, ended: &[Ended]) -> Result<(), StoreError> {
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
        self.effects_of_call_since(turn, call, 0).await
    }

    /// The same, of those with a number above this one.
    pub async fn effects_of_call_since(
        &self,
        turn: &TurnId,
        call: &CallId,
        since: i64,
    ) -> Result<Vec<(NotePath, IntentState)>, StoreError> {
        read!(self, "read the call's changes", |db| of_call(db, turn, call, since))
    }

    /// The whole commit in one go: each step of its own is a detour over the thread of the
    /// connection. Whoever drops it half-way leaves a transaction that the writer finds.
    async fn store_at_once(&self, rows: &Rows<'_>) -> Result<(), Failure> {
        let mut lent = self.writer.lend().await?;
        let db = lent.durable().await?;
        fault::point("store.intend.before");
        rows.run(concat!("BEGIN IMMEDIATE;", insert_all!(), ";COMMIT"), db).await?;
        fault::point("store.intend.after");
        lent.give_back();
        Ok(())
    }

    async fn store_files(&self, files: &[(EffectId, FileId)]) -> Result<(), Failure> {
        let mut lent = self.writer.lend().await?;
        let db = lent.settling().await?;
        let word = |(effect, file): &(EffectId, FileId)| {
            (effect.as_str().to_owned(), file.inode.cast_signed(), file.born)
        };
        let words = json(&files.iter().map(word).collect::<Vec<_>>())?;
        fault::point("store.stage.before");
        sqlx::query(
            "UPDATE effect SET inode = file.value ->> 1, born = file.value ->> 2
             FROM json_each(?1) AS file WHERE effect.id = file.value ->> 0 AND state = 'open'",
        )
        .bind(&words)
        .execute(db)
        .await?;
        fault::point("store.stage.after");
        lent.give_back();
        Ok(())
    }

    async fn store_outcomes(&self, ended: &[Ended]) -> Result<(), Failure> {
        // Lent with the right to write: without it SQLite would wait by trying again.
        let mut lent = self.writer.lend().await?;
        let db = lent.settling().await?;
        let word = |ended: &Ended| {
            let inode = ended.file.map(|file| file.inode.cast_signed());
            let born = ended.file.and_then(|file| file.born);
            (ended.effect.as_str().to_owned(), state_word(ended.state), inode, born)
        };
        let words = json(&ended.iter().map(word).collect::<Vec<_>>())?;
        fault::point("store.settle.before");
        let settled = sqlx::query(
            "UPDATE effect SET state = ended.value ->> 1, inode = ended.value ->> 2,
                 born = ended.value ->> 3
             FROM json_each(?1) AS ended WHERE effect.id = ended.value ->> 0",
        )
        .bind(&words)
        .execute(&mut *db)
        .await?;
        fault::point("store.settle.after");
        if settled.rows_affected() >= ended.len() as u64 {
            lent.give_back();
            return Ok(());
        }
        let lost: String = sqlx::query_scalar(
            "SELECT value ->> 0 FROM json_each(?1) WHERE value ->> 0 NOT IN (SELECT id FROM effect)",
        )
        .bind(&words)
        .fetch_one(db)
        .await?;
        Err(Failure::not_found("effect", lost))
    }
}

/// Intents as they are stored.
struct Rows<'a> {
    /// Of all contents, the small ones, packed.
    images: String,
    /// The others.
    large: Vec<(ContentHash, &'a [u8])>,
    effects: String,
    at: Timestamp,
}

/// `?1` are the small contents, `?2` the rows, `?3` is when.
macro_rules! insert_all {
    () => {
        concat!(
            image::insert_packed!(),
            "; INSERT INTO effect
                 (id, change_set, conversation, turn, call, unit, kind, path, target, temp_name,
                  before, after, base_inode, base_born, state, at)
             SELECT
                 value ->> 0, value ->> 1, (SELECT conversation FROM turn WHERE id = value ->> 2),
                 value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
                 value ->> 8, value ->> 9, value ->> 10,
                 CAST(value ->> 11 AS INTEGER), CAST(value ->> 12 AS INTEGER), 'open', ?3
             FROM json_each(?2) ORDER BY key"
        )
    };
}
use insert_all;

impl<'a> Rows<'a> {
    fn of(intents: &'a [Intent], at: Timestamp) -> Result<Self, sqlx::Error> {
        let acts = intents.iter().map(|intent| ActRow::naming(&intent.change));
        let acts = acts.collect::<Result<Vec<_>, _>>()?;
        let contents = acts.iter().zip(intents);
        let contents = contents.flat_map(|(act, intent)| act.contents(&intent.change));
        let (small, large) = image::by_size(contents);
        let large = large.into_iter().map(|(hash, content)| (hash.clone(), content)).collect();
        let effects: Vec<_> =
            intents.iter().zip(&acts).map(|(intent, act)| row(intent, act)).collect();
        Ok(Self { images: image::packed(&small)?, large, effects: json(&effects)?, at })
    }

    async fn insert(&self, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        for (hash, content) in &self.large {
            image::put_large(db, hash, content).await?;
        }
        self.run(insert_all!(), db).await
    }

    async fn run(&self, sql: &'static str, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let query = sqlx::query(sql).bind(&self.images).bind(&self.effects).bind(self.at.0);
        query.execute(db).await?;
        Ok(())
    }
}

/// Numbers as text: all columns of a row are of one type here.
fn row<'a>(intent: &'a Intent, act: &'a ActRow) -> [Option<Cow<'a, str>>; 13] {
    let number = |number: i64| Cow::Owned(number.to_string());
    let text = |text: &'a str| Cow::Borrowed(text);
    let base = intent.base;
    [
        Some(text(intent.effect.as_str())),
        Some(text(intent.change_set.as_str())),
        Some(text(intent.turn.as_str())),
        Some(text(intent.call.as_str())),
        intent.unit.as_ref().map(CallId::as_str).map(text),
        Some(text(&act.kind)),
        Some(text(intent.change.path.as_str())),
        act.target.as_deref().map(text),
        Some(text(&intent.temp_name)),
        act.before.as_ref().map(ContentHash::as_str).map(text),
        act.after.as_ref().map(ContentHash::as_str).map(text),
        base.map(|base| number(base.inode.cast_signed())),
        base.and_then(|base| base.born).map(number),
    ]
}

async fn open(db: &mut SqliteConnection) -> Result<Vec<Intent>, Failure> {
    let rows = sqlx::query(
        "SELECT id, change_set, turn, call, unit, kind, path, target, temp_name, before, after,
             base_inode, base_born, inode, born
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
            base: row.file("base_inode", "base_born")?,
            is_exact: false,
            staged: row.file("inode", "born")?,
            change: ActRow::of(&row)?.change(db, row.path("path")?).await?,
        });
    }
    Ok(intents)
}

async fn of_call(
    db: &mut SqliteConnection,
    turn: &TurnId,
    call: &CallId,
    since: i64,
) -> Result<Vec<(NotePath, IntentState)>, sqlx::Error> {
    sqlx::query(
        "SELECT path, state FROM effect WHERE turn = ? AND call = ? AND number > ? ORDER BY number",
    )
    .bind(turn.as_str())
    .bind(call.as_str())
    .bind(since)
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
