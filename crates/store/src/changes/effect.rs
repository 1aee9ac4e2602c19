//! The table `effect`: the ledger. The intent of a change is stored before its file is touched.

use std::borrow::Cow;

use protocol::{
    CallId, ChangeAction, ChangeKind, ContentHash, EffectId, FileAccess, FileId, Intent,
    IntentState, NotePath, SettledIntent, Timestamp, TurnId, fault_injection,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::changes::change_columns::ChangeColumns;
use crate::changes::content;
use crate::db::row_ext::{RowExt, decode_error, to_json};
use crate::db::transaction::{commit, read};
use crate::error::{Failure, FailureContext};
use crate::{Store, StoreError};

/// A change of a call, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEffect {
    /// The path of the note or folder before the change.
    pub path: NotePath,
    /// What the change does there.
    pub kind: ChangeKind,
    /// How it ended, as far as that is known.
    pub state: IntentState,
}

impl Store {
    /// Stores all intents as open, with both contents, in one commit.
    pub async fn record_intents(
        &self,
        intents: &[Intent],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let doing = "store the planned changes of notes";
        let rows = IntentBatch::new(intents, at).map_err(Failure::from).doing(self, doing)?;
        if rows.large.is_empty() {
            return self.insert_intents(&rows).await.doing(self, doing);
        }
        commit!(self, "intend", "store the planned changes of notes", |db| rows.insert(db))
    }

    /// Notes the file that was made ready for each of these open intents, all in one commit. Those of several
    /// are durable when it returns; for one it does not wait for the disk, as [`Store::record_outcomes`] does not.
    pub async fn record_staged_files(
        &self,
        files: &[(EffectId, FileId)],
    ) -> Result<(), StoreError> {
        self.update_staged_files(files).await.doing(self, "note the files of a change")
    }

    /// Stores how intents ended, all in one commit. Does not wait for the disk: a power failure may
    /// revert it (a later commit makes it durable), and recovery determines the outcome again. What was
    /// renamed is the same file before and after: that of a note which was edited in the same batch was not made yet
    /// when the intent was stored.
    pub async fn record_outcomes(&self, ended: &[SettledIntent]) -> Result<(), StoreError> {
        self.update_outcomes(ended).await.doing(self, "note how a change ended")
    }

    /// Intents that are still open, in the order they were stored.
    pub async fn open_intents(&self) -> Result<Vec<Intent>, StoreError> {
        read!(self, "look for unfinished changes", |db| open_intents_in_order(db))
    }

    /// The changes of one call, in the order they were stored: also those that keep links right, in private
    /// notes too.
    pub async fn effects_of_call(
        &self,
        turn: &TurnId,
        call: &CallId,
    ) -> Result<Vec<CallEffect>, StoreError> {
        self.effects_of_call_since(turn, call, 0).await
    }

    /// The same, of those with a number above this one.
    pub async fn effects_of_call_since(
        &self,
        turn: &TurnId,
        call: &CallId,
        since: i64,
    ) -> Result<Vec<CallEffect>, StoreError> {
        read!(self, "read the call's changes", |db| of_call(db, turn, call, since))
    }

    /// The whole commit in one call: each separate step takes a detour over the thread of the
    /// connection. A caller that drops it half-way leaves a transaction that the writer finds.
    async fn insert_intents(&self, rows: &IntentBatch<'_>) -> Result<(), Failure> {
        let mut lent = self.writer.acquire().await?;
        let db = lent.durable().await?;
        fault_injection::point("store.intend.before");
        rows.run(concat!("BEGIN IMMEDIATE;", insert_all!(), ";COMMIT"), db).await?;
        fault_injection::point("store.intend.after");
        lent.release();
        Ok(())
    }

    async fn update_staged_files(&self, files: &[(EffectId, FileId)]) -> Result<(), Failure> {
        let mut lent = self.writer.acquire().await?;
        // One wait for the disk is little beside those for many notes, and an undo after a power cut need not ask
        // about each of them.
        let db = if files.len() > 1 { lent.durable().await? } else { lent.relaxed().await? };
        let word = |(effect, file): &(EffectId, FileId)| {
            (effect.as_str().to_owned(), file.inode.cast_signed(), file.born)
        };
        let words = to_json(&files.iter().map(word).collect::<Vec<_>>())?;
        fault_injection::point("store.stage.before");
        sqlx::query(
            "UPDATE effect SET inode = file.value ->> 1, born = file.value ->> 2
             FROM json_each(?1) AS file WHERE effect.id = file.value ->> 0 AND state = 'open'",
        )
        .bind(&words)
        .execute(db)
        .await?;
        fault_injection::point("store.stage.after");
        lent.release();
        Ok(())
    }

    async fn update_outcomes(&self, ended: &[SettledIntent]) -> Result<(), Failure> {
        // Lent with the right to write: without it SQLite would wait by trying again.
        let mut lent = self.writer.acquire().await?;
        let db = lent.relaxed().await?;
        let word = |ended: &SettledIntent| {
            let inode = ended.file.map(|file| file.inode.cast_signed());
            let born = ended.file.and_then(|file| file.born);
            (ended.effect.as_str().to_owned(), state_name(ended.state), inode, born)
        };
        let words = to_json(&ended.iter().map(word).collect::<Vec<_>>())?;
        fault_injection::point("store.settle.before");
        let settled = sqlx::query(
            "UPDATE effect SET state = ended.value ->> 1, inode = ended.value ->> 2,
                 born = ended.value ->> 3,
                 base_inode = iif(kind IN ('rename', 'rename_folder') AND ended.value ->> 2 IS NOT NULL,
                     ended.value ->> 2, base_inode),
                 base_born = iif(kind IN ('rename', 'rename_folder') AND ended.value ->> 2 IS NOT NULL,
                     ended.value ->> 3, base_born)
             FROM json_each(?1) AS ended WHERE effect.id = ended.value ->> 0",
        )
        .bind(&words)
        .execute(&mut *db)
        .await?;
        fault_injection::point("store.settle.after");
        if settled.rows_affected() >= ended.len() as u64 {
            lent.release();
            return Ok(());
        }
        let lost: String = sqlx::query_scalar(
            "SELECT value ->> 0 FROM json_each(?1) WHERE value ->> 0 NOT IN (SELECT id FROM effect)",
        )
        .bind(&words)
        .fetch_one(db)
        .await?;
        Err(Failure::not_found("This change", lost))
    }
}

/// Intents as they are stored.
struct IntentBatch<'a> {
    /// Of all contents, the small ones, packed.
    contents: String,
    /// The others.
    large: Vec<(ContentHash, &'a [u8])>,
    effects: String,
    at: Timestamp,
}

/// `?1` are the small contents, `?2` the rows, `?3` is when.
macro_rules! insert_all {
    () => {
        concat!(
            content::insert_packed!(),
            "; INSERT INTO effect
                 (id, change_set, conversation, turn, call, unit, kind, path, target, temp_name,
                  before, after, base_inode, base_born, mode, uid, gid, trashed_inode,
                  trashed_born, state, at)
             SELECT
                 value ->> 0, value ->> 1, (SELECT conversation FROM turn WHERE id = value ->> 2),
                 value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
                 value ->> 8, value ->> 9, value ->> 10,
                 CAST(value ->> 11 AS INTEGER), CAST(value ->> 12 AS INTEGER),
                 CAST(value ->> 13 AS INTEGER), CAST(value ->> 14 AS INTEGER),
                 CAST(value ->> 15 AS INTEGER), CAST(value ->> 16 AS INTEGER),
                 CAST(value ->> 17 AS INTEGER), 'open', ?3
             FROM json_each(?2) ORDER BY key"
        )
    };
}
use insert_all;

impl<'a> IntentBatch<'a> {
    fn new(intents: &'a [Intent], at: Timestamp) -> Result<Self, sqlx::Error> {
        let acts = intents.iter().map(|intent| ChangeColumns::from_change(&intent.change));
        let acts = acts.collect::<Result<Vec<_>, _>>()?;
        let contents = acts.iter().zip(intents);
        let contents = contents.flat_map(|(act, intent)| act.contents(&intent.change));
        let (small, large) = content::split_by_size(contents);
        let large = large.into_iter().map(|(hash, content)| (hash.clone(), content)).collect();
        let effects: Vec<_> =
            intents.iter().zip(&acts).map(|(intent, act)| intent_columns(intent, act)).collect();
        Ok(Self { contents: content::packed_json(&small)?, large, effects: to_json(&effects)?, at })
    }

    async fn insert(&self, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        for (hash, content) in &self.large {
            content::insert_large(db, hash, content).await?;
        }
        self.run(insert_all!(), db).await
    }

    async fn run(&self, sql: &'static str, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let query = sqlx::query(sql).bind(&self.contents).bind(&self.effects).bind(self.at.0);
        query.execute(db).await?;
        Ok(())
    }
}

/// Numbers as text: all columns of a row are of one type here.
fn intent_columns<'a>(intent: &'a Intent, act: &'a ChangeColumns) -> [Option<Cow<'a, str>>; 18] {
    let number = |number: i64| Cow::Owned(number.to_string());
    let text = |text: &'a str| Cow::Borrowed(text);
    let base = intent.base;
    let restored = intent.change.restored_file();
    let trashed = restored.and_then(|restored| restored.file);
    let access = restored.map_or(intent.access, |restored| restored.access);
    let part = |part: fn(FileAccess) -> u32| access.map(|access| number(i64::from(part(access))));
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
        part(|access| access.mode),
        part(|access| access.uid),
        part(|access| access.gid),
        trashed.map(|trashed| number(trashed.inode.cast_signed())),
        trashed.and_then(|trashed| trashed.born).map(number),
    ]
}

async fn open_intents_in_order(db: &mut SqliteConnection) -> Result<Vec<Intent>, Failure> {
    let rows = sqlx::query(
        "SELECT id, change_set, turn, call, unit, kind, path, target, temp_name, before, after,
             base_inode, base_born, inode, born, mode, uid, gid, trashed_inode, trashed_born
         FROM effect WHERE state = 'open' ORDER BY number",
    )
    .fetch_all(&mut *db)
    .await?;
    let mut intents = Vec::with_capacity(rows.len());
    for row in rows {
        let mut change = ChangeColumns::from_row(&row)?.into_change(db, row.path("path")?).await?;
        let mut access = row.file_access()?;
        if let ChangeAction::Create { like, .. } = &mut change.act {
            let (file, its_access) = (row.file_id("trashed_inode", "trashed_born")?, access.take());
            if let Some(like) = like {
                (like.file, like.access) = (file, its_access);
            }
        }
        intents.push(Intent {
            effect: row.text("id")?,
            change_set: row.text("change_set")?,
            turn: row.text("turn")?,
            call: row.text("call")?,
            unit: row.optional_text("unit")?,
            temp_name: row.text("temp_name")?,
            base: row.file_id("base_inode", "base_born")?,
            access,
            is_exact: false,
            staged: row.file_id("inode", "born")?,
            change,
        });
    }
    Ok(intents)
}

async fn of_call(
    db: &mut SqliteConnection,
    turn: &TurnId,
    call: &CallId,
    since: i64,
) -> Result<Vec<CallEffect>, sqlx::Error> {
    sqlx::query(
        "SELECT path, kind, state FROM effect
         WHERE turn = ? AND call = ? AND number > ? ORDER BY number",
    )
    .bind(turn.as_str())
    .bind(call.as_str())
    .bind(since)
    .try_map(|row| call_effect(&row))
    .fetch_all(db)
    .await
}

fn call_effect(row: &SqliteRow) -> Result<CallEffect, sqlx::Error> {
    Ok(CallEffect {
        path: row.path("path")?,
        kind: row.enum_value("kind")?,
        state: parse_state(row.try_get("state")?)?,
    })
}

const fn state_name(state: IntentState) -> &'static str {
    match state {
        IntentState::Open => "open",
        IntentState::Done => "done",
        IntentState::Stale => "stale",
        IntentState::Parked => "parked",
        IntentState::Failed => "failed",
    }
}

fn parse_state(word: &str) -> Result<IntentState, sqlx::Error> {
    match word {
        "open" => Ok(IntentState::Open),
        "done" => Ok(IntentState::Done),
        "stale" => Ok(IntentState::Stale),
        "parked" => Ok(IntentState::Parked),
        "failed" => Ok(IntentState::Failed),
        other => Err(decode_error(format!("`{other}` isn’t a state of an effect"))),
    }
}
