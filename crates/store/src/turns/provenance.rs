//! The tables `source` and `tainted_note`: where the text of a turn comes from, and which notes
//! were written by turns that read text of the hub.
//!
//! Sources are stored with the row that they belong to, in its commit, so they stay as long as the
//! turn does: over a restart, and whatever a later summary omits.

use std::collections::{BTreeSet, HashMap};

use protocol::{Change, ConversationId, Source, TurnId};
use serde_json::json;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::conversations::branch;
use crate::db::row_ext::{RowExt, to_json as text};
use crate::db::transaction::{commit, read};
use crate::error::Failure;
use crate::{Store, StoreError};

impl Store {
    /// Where everything comes from that a turn has been told so far, the turns before it in its
    /// branch included.
    pub async fn context_sources(&self, turn: &TurnId) -> Result<BTreeSet<Source>, StoreError> {
        read!(self, "read the turn's sources", |db| of_context(db, turn))
    }

    /// As [`Store::context_sources`], by the turns that were told them.
    pub async fn context_sources_by_turn(
        &self,
        turn: &TurnId,
    ) -> Result<HashMap<TurnId, BTreeSet<Source>>, StoreError> {
        read!(self, "read the turn's sources", |db| of_context_by_turn(db, turn))
    }

    /// The sources of the text that each of these turns got itself, without those of the turns
    /// before it.
    pub async fn turn_sources(
        &self,
        turns: &[&TurnId],
    ) -> Result<HashMap<TurnId, BTreeSet<Source>>, StoreError> {
        read!(self, "read the turns' sources", |db| of_turns(db, turns))
    }

    /// Adds sources to a turn: of text that it is told beside its messages and results. Those that it
    /// has already stay.
    pub async fn add_sources(&self, turn: &TurnId, sources: &[Source]) -> Result<(), StoreError> {
        commit!(self, "add_sources", "note what the turn reads", |db| add(db, turn, sources))
    }

    /// Records that these changes are about to be made: notes that a turn with text of the hub
    /// writes are from the hub from now on, and a note that moves keeps that mark. Writes only if
    /// there is a mark to record.
    pub async fn propagate_taint(&self, changes: &[(TurnId, &Change)]) -> Result<(), StoreError> {
        let rows = changed_paths_json(changes);
        if read!(self, "look for the hub's notes", |db| is_tainted(db, &rows))? {
            commit!(self, "pass_on_taint", "note what is from the hub", |db| propagate(db, &rows))?;
        }
        Ok(())
    }
}

/// Adds sources to a turn. A note that is from the hub is the hub, too.
pub(crate) async fn add(
    db: &mut SqliteConnection,
    turn: &TurnId,
    sources: &[Source],
) -> Result<(), sqlx::Error> {
    if sources.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT OR IGNORE INTO source (turn, source)
         SELECT ?1, value FROM json_each(?2)
         UNION ALL
         SELECT ?1, 'hub' WHERE EXISTS (
             SELECT 1 FROM json_each(?2) s JOIN tainted_note n ON s.value = 'note:' || n.path
         )",
    )
    .bind(turn.as_str())
    .bind(text(sources)?)
    .execute(db)
    .await?;
    Ok(())
}

/// A turn begins: if one that it hears of has heard of the hub, so has it.
pub(crate) async fn inherit(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<(), sqlx::Error> {
    let branch = branch::of_turn(db, turn).await?;
    sqlx::query(concat!(
        "INSERT OR IGNORE INTO source (turn, source) ",
        branch::ancestry!(),
        "SELECT ?3, 'hub' WHERE EXISTS (
             SELECT 1 FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                     AND t.ran < line.until
                 JOIN source s ON s.turn = t.id AND s.source = 'hub'
         )"
    ))
    .bind(conversation.as_str())
    .bind(branch)
    .bind(turn.as_str())
    .execute(db)
    .await?;
    Ok(())
}

/// A turn replaces another: text of the hub stays text of the hub, whoever sends it again.
pub(crate) async fn inherit_from(
    db: &mut SqliteConnection,
    turn: &TurnId,
    instead_of: &TurnId,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT OR IGNORE INTO source (turn, source)
         SELECT ?1, source FROM source WHERE turn = ?2 AND source = 'hub'",
    )
    .bind(turn.as_str())
    .bind(instead_of.as_str())
    .execute(db)
    .await?;
    Ok(())
}

async fn of_turns(
    db: &mut SqliteConnection,
    turns: &[&TurnId],
) -> Result<HashMap<TurnId, BTreeSet<Source>>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT turn, source FROM source WHERE turn IN (SELECT value FROM json_each(?))",
    )
    .bind(text(turns)?)
    .try_map(|row| told_source(&row))
    .fetch_all(db)
    .await?;
    Ok(by_turn(rows))
}

fn told_source(row: &SqliteRow) -> Result<(TurnId, Source), sqlx::Error> {
    Ok((row.text("turn")?, row.enum_value("source")?))
}

fn by_turn(rows: Vec<(TurnId, Source)>) -> HashMap<TurnId, BTreeSet<Source>> {
    let mut sources: HashMap<TurnId, BTreeSet<Source>> = HashMap::new();
    for (turn, source) in rows {
        sources.entry(turn).or_default().insert(source);
    }
    sources
}

/// Of the turn and of all that it hears.
pub(crate) async fn of_context(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<BTreeSet<Source>, sqlx::Error> {
    Ok(of_context_by_turn(db, turn).await?.into_values().flatten().collect())
}

async fn of_context_by_turn(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<HashMap<TurnId, BTreeSet<Source>>, sqlx::Error> {
    let branch = branch::of_turn(db, turn).await?;
    let conversation: Option<String> =
        sqlx::query_scalar("SELECT conversation FROM turn WHERE id = ?")
            .bind(turn.as_str())
            .fetch_optional(&mut *db)
            .await?;
    let rows = sqlx::query(concat!(
        branch::ancestry!(),
        "SELECT turn, source FROM source WHERE turn = ?3
         UNION
         SELECT s.turn, s.source
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < line.until
             JOIN source s ON s.turn = t.id
         WHERE t.ran < (SELECT ran FROM turn WHERE id = ?3)"
    ))
    .bind(conversation)
    .bind(branch)
    .bind(turn.as_str())
    .try_map(|row| told_source(&row))
    .fetch_all(db)
    .await?;
    Ok(by_turn(rows))
}

/// `[turn, path, new path]` for each change.
fn changed_paths_json(changes: &[(TurnId, &Change)]) -> String {
    let row = |(turn, change): &(TurnId, &Change)| json!([turn, change.path, change.target()]);
    serde_json::Value::from_iter(changes.iter().map(row)).to_string()
}

/// Notes from the hub that one of the rows `c` of `?1` is about: itself, or in the folder.
macro_rules! changed_paths {
    () => {
        "tainted_note n ON n.path = c.value ->> 1
             OR n.path BETWEEN (c.value ->> 1) || '/' AND (c.value ->> 1) || '0'"
    };
}

async fn is_tainted(db: &mut SqliteConnection, rows: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(concat!(
        "SELECT EXISTS (
             SELECT 1 FROM json_each(?1) c
                 JOIN source s ON s.turn = c.value ->> 0 AND s.source = 'hub'
         ) OR EXISTS (
             SELECT 1 FROM json_each(?1) c JOIN ",
        changed_paths!(),
        " WHERE c.value ->> 2 IS NOT NULL)"
    ))
    .bind(rows)
    .fetch_one(db)
    .await
}

async fn propagate(db: &mut SqliteConnection, rows: &str) -> Result<(), Failure> {
    sqlx::query(concat!(
        "INSERT OR IGNORE INTO tainted_note (path)
         SELECT (c.value ->> 2) || substr(n.path, length(c.value ->> 1) + 1)
         FROM json_each(?1) c JOIN ",
        changed_paths!(),
        " WHERE c.value ->> 2 IS NOT NULL
         UNION ALL
         SELECT coalesce(c.value ->> 2, c.value ->> 1)
         FROM json_each(?1) c JOIN source s ON s.turn = c.value ->> 0 AND s.source = 'hub'"
    ))
    .bind(rows)
    .execute(db)
    .await?;
    Ok(())
}
