//! The tables `undoing`, `own_set` and `overwritten`: what has become of applied changes since.

use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::changes::history::AppliedBy;
use protocol::{CallId, ChangeSetId, EffectId, FileId, MovedNote, NotePath, Timestamp, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::{RowExt, enum_text, to_json};
use crate::db::transaction::{commit, read};
use crate::{Store, StoreError};

/// A set that the user makes out of earlier changes, before it is applied.
#[derive(Debug, Clone)]
pub struct UserChangeSet<'a> {
    /// The id of the new set.
    pub id: &'a ChangeSetId,
    /// The call of the changes that are made next. A set that is planned once more has another one then.
    pub call: &'a CallId,
    /// The one who applies it.
    pub by: AppliedBy,
    /// The effects that the changes of this call undo at these paths, and which hunks of each; all with `None`.
    pub reverts: &'a [(NotePath, EffectId, Option<BTreeSet<usize>>)],
    /// Renames by hand that were detected, and the user's answers which note is which.
    pub moved: &'a [MovedNote],
    /// The turn before or after which it is shown.
    pub turn: &'a TurnId,
    /// The time it is stored with.
    pub at: Timestamp,
}

/// One effect undid another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertRow {
    /// The one that did it, and that happened.
    pub by: EffectId,
    /// The one that was undone.
    pub effect: EffectId,
    /// Its hunks; all with `None`.
    pub hunks: Option<BTreeSet<usize>>,
    /// Whether the one that did it has lost its contents.
    pub is_purged: bool,
}

/// A move, or an edit of a note that is undone together with moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitMember {
    /// The set in which it was made.
    pub change_set: ChangeSetId,
    /// Its unit in the set.
    pub unit: CallId,
    /// Its id in the ledger.
    pub effect: EffectId,
    /// Whether it moves a note or a folder; otherwise it is the edit of a note.
    pub is_move: bool,
}

impl Store {
    /// Stores the effects that a set will undo, before it is applied; a part that then does not
    /// happen counts for nothing. Called again for a second plan of the set, with another call, it leaves the
    /// first plan as it is: each undoes only what it says itself. Renames that were detected since are added.
    pub async fn begin_user_change_set(&self, set: &UserChangeSet<'_>) -> Result<(), StoreError> {
        commit!(self, "begin_own_set", "store the changes to undo", |db| begin(db, set))
    }

    /// All effects that were undone by an applied change, each with the change whose plan says so.
    pub async fn reverts(&self) -> Result<Vec<RevertRow>, StoreError> {
        read!(self, "read the undone changes", |db| all_reverts(db))
    }

    /// The moves and edits of all units of which a move was to be undone, newest first. [`Store::reverts`] says whether that
    /// happened.
    pub async fn units_of_undone_moves(&self) -> Result<Vec<UnitMember>, StoreError> {
        read!(self, "read what belongs to undone moves", |db| all_units_of_undone_moves(db))
    }

    /// The sets that the assistant did not plan.
    pub async fn user_change_sets(&self) -> Result<HashMap<ChangeSetId, AppliedBy>, StoreError> {
        read!(self, "read the changes that the user reverted", |db| all_user_change_sets(db))
    }

    /// Notes that another program overwrote these effects.
    pub async fn mark_overwritten(
        &self,
        effects: &[EffectId],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        commit!(self, "mark_overwritten", "note overwritten changes", |db| mark(db, effects, at))
    }

    /// Notes that these effects stand again.
    pub async fn clear_overwritten(&self, effects: &[EffectId]) -> Result<(), StoreError> {
        commit!(self, "clear_overwritten", "note reapplied changes", |db| clear(db, effects))
    }

    /// Effects that another program overwrote.
    pub async fn overwritten_effects(&self) -> Result<HashSet<EffectId>, StoreError> {
        read!(self, "read the overwritten changes", |db| all_overwritten(db))
    }
}

async fn begin(db: &mut SqliteConnection, set: &UserChangeSet<'_>) -> Result<(), sqlx::Error> {
    if !set.moved.is_empty() {
        let by_hand = ChangeSetId::from(format!("{}-by-hand", set.id));
        insert_set(db, &by_hand, "by_hand").await?;
        // A second plan of the set may have found more of them.
        let stored: i64 = sqlx::query_scalar("SELECT count(*) FROM effect WHERE change_set = ?")
            .bind(by_hand.as_str())
            .fetch_one(&mut *db)
            .await?;
        for (number, moved) in (stored..).zip(set.moved) {
            insert_move(db, &by_hand, set, number, moved).await?;
        }
    }
    insert_set(db, set.id, &enum_text(&set.by)?).await?;
    for (path, effect, hunks) in set.reverts {
        let hunks = hunks.as_ref().map(to_json).transpose()?;
        sqlx::query(
            "INSERT INTO undoing (change_set, call, path, effect, hunks) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (change_set, call, effect) DO NOTHING",
        )
        .bind(set.id.as_str())
        .bind(set.call.as_str())
        .bind(path.as_str())
        .bind(effect.as_str())
        .bind(hunks)
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

async fn insert_set(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    by: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO own_set (change_set, by) VALUES (?, ?) ON CONFLICT DO NOTHING")
        .bind(set.as_str())
        .bind(by)
        .execute(db)
        .await?;
    Ok(())
}

async fn insert_move(
    db: &mut SqliteConnection,
    by_hand: &ChangeSetId,
    set: &UserChangeSet<'_>,
    number: i64,
    moved: &MovedNote,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO effect (id, change_set, turn, call, kind, path, target, temp_name, state, at,
             inode, born, base_inode, base_born)
         VALUES (?, ?, ?, 'by hand', 'rename', ?, ?, '', 'done', ?, ?, ?, ?, ?)",
    )
    .bind(format!("{by_hand}-{number}"))
    .bind(by_hand.as_str())
    .bind(set.turn.as_str())
    .bind(moved.from.as_str())
    .bind(moved.to.as_str())
    .bind(set.at.0)
    .bind(inode(moved.file))
    .bind(moved.file.and_then(|file| file.born))
    .bind(inode(moved.base))
    .bind(moved.base.and_then(|base| base.born))
    .execute(db)
    .await?;
    Ok(())
}

/// The condition that change `b` of the ledger did what row `u` of `undoing` says about effect `e`. A plan
/// of a set has one call, and at most one change of contents at each path. Rows of earlier versions name no
/// call.
macro_rules! is_revert {
    () => {
        "b.change_set = u.change_set AND b.path = u.path AND b.state = 'done'
             AND (u.call IS NULL OR b.call = u.call)
             AND (b.kind IN ('rename', 'rename_folder')) = (e.kind IN ('rename', 'rename_folder'))"
    };
}
pub(crate) use is_revert;

/// A change of a set: the set, the path, and whether it is a rename.
type ChangeOfSet = (ChangeSetId, NotePath, bool);

/// An applied change of a set that undoes others.
struct AppliedRevert {
    id: EffectId,
    call: CallId,
    is_purged: bool,
}

/// The condition of `is_revert!` for all rows, with paths compared as paths: the vault may spell one otherwise than
/// the plan.
async fn all_reverts(db: &mut SqliteConnection) -> Result<Vec<RevertRow>, sqlx::Error> {
    let applied = applied_reverts(db).await?;
    let planned = sqlx::query(
        "SELECT u.change_set, u.call, u.path, u.effect, u.hunks,
             e.kind IN ('rename', 'rename_folder') AS is_rename
         FROM undoing u JOIN effect e ON e.id = u.effect",
    )
    .try_map(|row: SqliteRow| {
        let call: Option<CallId> = row.optional_text("call")?;
        let effect: EffectId = row.text("effect")?;
        let hunks: Option<BTreeSet<usize>> = row.optional_json("hunks")?;
        Ok((change_of_set(&row)?, call, effect, hunks))
    })
    .fetch_all(db)
    .await?;
    let mut reverts = Vec::with_capacity(planned.len());
    for (change, call, effect, hunks) in planned {
        let made = applied.get(&change).into_iter().flatten();
        for made in made.filter(|made| call.as_ref().is_none_or(|call| *call == made.call)) {
            let (by, is_purged) = (made.id.clone(), made.is_purged);
            let (effect, hunks) = (effect.clone(), hunks.clone());
            reverts.push(RevertRow { by, effect, hunks, is_purged });
        }
    }
    Ok(reverts)
}

async fn applied_reverts(
    db: &mut SqliteConnection,
) -> Result<HashMap<ChangeOfSet, Vec<AppliedRevert>>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT b.id, b.change_set, b.call, b.path, forgotten.effect IS NOT NULL AS is_forgotten,
             b.kind IN ('rename', 'rename_folder') AS is_rename
         FROM effect b LEFT JOIN forgotten ON forgotten.effect = b.id
         WHERE b.change_set IN (SELECT change_set FROM undoing) AND b.state = 'done'
         ORDER BY b.number",
    )
    .try_map(|row: SqliteRow| {
        let is_purged = row.try_get("is_forgotten")?;
        let made = AppliedRevert { id: row.text("id")?, call: row.text("call")?, is_purged };
        Ok((change_of_set(&row)?, made))
    })
    .fetch_all(db)
    .await?;
    let mut applied: HashMap<ChangeOfSet, Vec<AppliedRevert>> = HashMap::new();
    for (change, made) in rows {
        applied.entry(change).or_default().push(made);
    }
    Ok(applied)
}

fn change_of_set(row: &SqliteRow) -> Result<ChangeOfSet, sqlx::Error> {
    Ok((row.text("change_set")?, row.path("path")?, row.try_get("is_rename")?))
}

async fn all_units_of_undone_moves(
    db: &mut SqliteConnection,
) -> Result<Vec<UnitMember>, sqlx::Error> {
    // The condition on the set alone is for its index: one on a pair of columns need not use it.
    sqlx::query(
        "WITH moved AS MATERIALIZED (
             SELECT DISTINCT m.change_set, m.unit FROM undoing u JOIN effect m ON m.id = u.effect
             WHERE m.kind IN ('rename', 'rename_folder') AND m.unit IS NOT NULL
         )
         SELECT e.id, e.change_set, e.unit, e.kind <> 'replace' AS is_move
         FROM effect e
         WHERE e.change_set IN (SELECT change_set FROM moved)
             AND (e.change_set, e.unit) IN (SELECT change_set, unit FROM moved)
             AND e.kind IN ('replace', 'rename', 'rename_folder') AND e.state = 'done'
         ORDER BY e.number DESC",
    )
    .try_map(|row: SqliteRow| {
        Ok(UnitMember {
            change_set: row.text("change_set")?,
            unit: row.text("unit")?,
            effect: row.text("id")?,
            is_move: row.try_get("is_move")?,
        })
    })
    .fetch_all(db)
    .await
}

async fn all_user_change_sets(
    db: &mut SqliteConnection,
) -> Result<HashMap<ChangeSetId, AppliedBy>, sqlx::Error> {
    let rows = sqlx::query("SELECT change_set, by FROM own_set WHERE by <> 'by_hand'")
        .try_map(|row: SqliteRow| Ok((row.text("change_set")?, row.enum_value("by")?)))
        .fetch_all(db)
        .await?;
    Ok(rows.into_iter().collect())
}

async fn mark(
    db: &mut SqliteConnection,
    effects: &[EffectId],
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    // Without a condition SQLite takes `ON CONFLICT` for a part of the `SELECT`.
    sqlx::query(
        "INSERT INTO overwritten (effect, at) SELECT value, ?2 FROM json_each(?1) WHERE true
         ON CONFLICT DO NOTHING",
    )
    .bind(ids_as_json(effects)?)
    .bind(at.0)
    .execute(db)
    .await?;
    Ok(())
}

async fn clear(db: &mut SqliteConnection, effects: &[EffectId]) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM overwritten WHERE effect IN (SELECT value FROM json_each(?1))")
        .bind(ids_as_json(effects)?)
        .execute(db)
        .await?;
    Ok(())
}

fn ids_as_json(effects: &[EffectId]) -> Result<String, sqlx::Error> {
    to_json(&effects.iter().map(EffectId::as_str).collect::<Vec<_>>())
}

async fn all_overwritten(db: &mut SqliteConnection) -> Result<HashSet<EffectId>, sqlx::Error> {
    let rows = sqlx::query("SELECT effect FROM overwritten")
        .try_map(|row: SqliteRow| row.text("effect"))
        .fetch_all(db)
        .await?;
    Ok(rows.into_iter().collect())
}

fn inode(file: Option<FileId>) -> Option<i64> {
    file.map(|file| file.inode.cast_signed())
}
