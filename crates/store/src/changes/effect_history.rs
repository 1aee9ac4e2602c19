//! Reads the ledger of applied changes: by scope, by note, in pages, with contents.

use std::collections::{BTreeMap, HashMap};

use protocol::changes::history::UndoScope;
use protocol::{
    ChangeKind, ChangeSetId, ContentHash, ConversationId, Effect, EffectId, LineCounts, NotePath,
    Timestamp, TurnId,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::changes::content;
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::{read, read_one};
use crate::error::Failure;
use crate::turns::message;
use crate::{Store, StoreError};

/// How far back the history of a note is searched, in effects of all notes.
const MAX_EFFECTS_BACK: i64 = 50_000;

/// How far back before an effect the history is read, for the texts of notes at that time.
const EFFECTS_BEFORE: i64 = 2_000;

impl Store {
    /// An effect that happened; `None` if it did not or is not known.
    pub async fn effect(&self, effect: &EffectId) -> Result<Option<Effect>, StoreError> {
        read_one!(self, "read a change", |db| select_effect(db, effect))
    }

    /// The effects that a scope names, oldest first. The user's own changes to the assistant's
    /// changes belong to no turn and no conversation here.
    pub async fn effects_in_scope(&self, scope: &UndoScope) -> Result<Vec<Effect>, StoreError> {
        read!(self, "read the changes to undo", |db| select_in_scope(db, scope))
    }

    /// The one of these effects that was stored first; `None` where none of them is known. Their ids do not tell: a
    /// clock may have gone back in between.
    pub async fn earliest_effect(
        &self,
        effects: &[EffectId],
    ) -> Result<Option<EffectId>, StoreError> {
        read_one!(self, "read which change was first", |db| select_earliest(db, effects))
    }

    /// All that happened since an effect and some time before it, oldest first.
    pub async fn effects_since(&self, since: &EffectId) -> Result<Vec<Effect>, StoreError> {
        read!(self, "read the changes since", |db| select_since(db, since))
    }

    /// The changes of the bytes of these notes since a time, newest first.
    pub async fn edits_at(
        &self,
        paths: &[NotePath],
        since: Timestamp,
    ) -> Result<Vec<Effect>, StoreError> {
        read!(self, "read the changes of notes", |db| select_edits(db, paths, since))
    }

    /// The changes of the bytes of these notes that are marked as overwritten, however old, newest first.
    pub async fn overwritten_edits_at(
        &self,
        paths: &[NotePath],
    ) -> Result<Vec<Effect>, StoreError> {
        read!(self, "read the overwritten changes of notes", |db| select_overwritten(db, paths))
    }

    /// The notes whose bytes were changed since a time, each once, at the paths where that was; in no order.
    pub async fn paths_edited_since(&self, since: Timestamp) -> Result<Vec<NotePath>, StoreError> {
        read!(self, "read which notes were changed", |db| select_edited_paths(db, since))
    }

    /// The notes with changes that are marked as overwritten, in the same form.
    pub async fn overwritten_paths(&self) -> Result<Vec<NotePath>, StoreError> {
        read!(self, "read which changes were overwritten", |db| select_overwritten_paths(db))
    }

    /// The changes of the note at a path, newest first: it was created, changed, moved there or
    /// away from there, with its parent folder too. Covers a limited time, or the changes before an
    /// effect.
    pub async fn note_history(
        &self,
        path: &NotePath,
        before: Option<&EffectId>,
    ) -> Result<Vec<Effect>, StoreError> {
        read!(self, "read the history of a note", |db| select_history(db, path, before))
    }

    /// Sets that were applied, newest first, at most `limit` of them: of one conversation or of
    /// all, before a set or from the newest on.
    pub async fn applied_sets(
        &self,
        conversation: Option<&ConversationId>,
        before: Option<&ChangeSetId>,
        limit: u32,
    ) -> Result<Vec<Vec<Effect>>, StoreError> {
        read!(self, "read the applied changes", |db| select_applied_sets(
            db,
            conversation,
            before,
            limit
        ))
    }

    /// The user's message that began a turn; empty where it is not kept.
    pub async fn request_text(&self, turn: &TurnId) -> Result<String, StoreError> {
        let words =
            read!(self, "read the message of the turn", |db| message::request_text(db, turn));
        words.map(Option::unwrap_or_default)
    }

    /// The contents with these hashes, but for those that are not kept any more.
    pub async fn contents(
        &self,
        hashes: &[ContentHash],
    ) -> Result<HashMap<ContentHash, Vec<u8>>, StoreError> {
        read!(self, "read earlier versions", |db| get_contents(db, hashes))
    }
}

/// The columns of an effect that happened, where it meets a condition.
macro_rules! applied_effects {
    ($condition:expr) => {
        concat!(
            "SELECT id, change_set, conversation, turn, call, unit, kind, path, target, temp_name,
                 before, after, inode, born, base_inode, base_born, mode, uid, gid, at, added,
                 removed
             FROM effect LEFT JOIN forgotten ON forgotten.effect = effect.id
             WHERE state = 'done' AND ",
            $condition
        )
    };
}

/// Whether an effect changed bytes, at the time `?1` or later.
macro_rules! is_edit_since {
    () => {
        "kind IN ('create', 'replace') AND at >= ?1
             AND number > coalesce(
                 (SELECT number FROM effect WHERE at < ?1 ORDER BY number DESC LIMIT 1), 0
             )"
    };
}

/// Whether an effect changed bytes and is marked as overwritten.
macro_rules! is_overwritten_edit {
    () => {
        "kind IN ('create', 'replace') AND id IN (SELECT o.effect FROM overwritten o)"
    };
}

/// The effects of a page of sets whose effects meet a condition.
macro_rules! applied_sets_page {
    ($condition:literal) => {
        applied_effects!(concat!(
            "change_set IN (
                 SELECT change_set FROM effect
                 WHERE ",
            $condition,
            " AND state = 'done'
                     AND NOT EXISTS (
                         SELECT 1 FROM own_set o
                         WHERE o.change_set = effect.change_set AND o.by = 'by_hand'
                     )
                 GROUP BY change_set
                 HAVING ?2 IS NULL
                     OR max(number) < (SELECT max(number) FROM effect WHERE change_set = ?2)
                 ORDER BY max(number) DESC LIMIT ?3
             ) ORDER BY number"
        ))
    };
}

async fn select_effect(
    db: &mut SqliteConnection,
    effect: &EffectId,
) -> Result<Option<Effect>, sqlx::Error> {
    sqlx::query(applied_effects!("id = ?1"))
        .bind(effect.as_str())
        .try_map(|row| effect_from_row(&row))
        .fetch_optional(db)
        .await
}

async fn select_in_scope(
    db: &mut SqliteConnection,
    scope: &UndoScope,
) -> Result<Vec<Effect>, sqlx::Error> {
    let (query, named) = match scope {
        UndoScope::Effect { effect, .. } => (
            applied_effects!(
                "(id = ?1 OR (change_set, unit) IN (
                     SELECT change_set, unit FROM effect WHERE id = ?1
                 )) ORDER BY number"
            ),
            effect.as_str(),
        ),
        UndoScope::ChangeSet { change_set } => {
            (applied_effects!("change_set = ?1 ORDER BY number"), change_set.as_str())
        }
        UndoScope::Turn { turn } => (
            applied_effects!(
                "turn = ?1 AND change_set NOT IN (SELECT change_set FROM own_set) ORDER BY number"
            ),
            turn.as_str(),
        ),
        UndoScope::Conversation { conversation } => (
            applied_effects!(
                "turn IN (SELECT turn.id FROM turn WHERE turn.conversation = ?1)
                     AND change_set NOT IN (SELECT change_set FROM own_set)
                 ORDER BY number"
            ),
            conversation.as_str(),
        ),
    };
    sqlx::query(query).bind(named).try_map(|row| effect_from_row(&row)).fetch_all(db).await
}

async fn select_earliest(
    db: &mut SqliteConnection,
    effects: &[EffectId],
) -> Result<Option<EffectId>, sqlx::Error> {
    let ids: Vec<&str> = effects.iter().map(EffectId::as_str).collect();
    sqlx::query(
        "SELECT id FROM effect WHERE number = (
             SELECT min(number) FROM effect WHERE id IN (SELECT value FROM json_each(?1))
         )",
    )
    .bind(to_json(&ids)?)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_optional(db)
    .await
}

async fn select_since(
    db: &mut SqliteConnection,
    since: &EffectId,
) -> Result<Vec<Effect>, sqlx::Error> {
    sqlx::query(applied_effects!(
        "number >= (SELECT number FROM effect WHERE id = ?1) - ?2
         ORDER BY number"
    ))
    .bind(since.as_str())
    .bind(EFFECTS_BEFORE)
    .try_map(|row| effect_from_row(&row))
    .fetch_all(db)
    .await
}

async fn select_edits(
    db: &mut SqliteConnection,
    paths: &[NotePath],
    since: Timestamp,
) -> Result<Vec<Effect>, sqlx::Error> {
    let paths: Vec<&str> = paths.iter().map(NotePath::as_str).collect();
    sqlx::query(applied_effects!(concat!(
        is_edit_since!(),
        " AND path IN (SELECT value FROM json_each(?2)) ORDER BY number DESC"
    )))
    .bind(since.0)
    .bind(to_json(&paths)?)
    .try_map(|row| effect_from_row(&row))
    .fetch_all(db)
    .await
}

async fn select_overwritten(
    db: &mut SqliteConnection,
    paths: &[NotePath],
) -> Result<Vec<Effect>, sqlx::Error> {
    let paths: Vec<&str> = paths.iter().map(NotePath::as_str).collect();
    sqlx::query(applied_effects!(concat!(
        is_overwritten_edit!(),
        " AND path IN (SELECT value FROM json_each(?1)) ORDER BY number DESC"
    )))
    .bind(to_json(&paths)?)
    .try_map(|row| effect_from_row(&row))
    .fetch_all(db)
    .await
}

async fn select_overwritten_paths(db: &mut SqliteConnection) -> Result<Vec<NotePath>, sqlx::Error> {
    sqlx::query(concat!(
        "SELECT DISTINCT path FROM effect WHERE state = 'done' AND ",
        is_overwritten_edit!()
    ))
    .try_map(|row: SqliteRow| row.path("path"))
    .fetch_all(db)
    .await
}

async fn select_edited_paths(
    db: &mut SqliteConnection,
    since: Timestamp,
) -> Result<Vec<NotePath>, sqlx::Error> {
    sqlx::query(concat!(
        "SELECT DISTINCT path FROM effect WHERE state = 'done' AND ",
        is_edit_since!()
    ))
    .bind(since.0)
    .try_map(|row: SqliteRow| row.path("path"))
    .fetch_all(db)
    .await
}

async fn select_history(
    db: &mut SqliteConnection,
    path: &NotePath,
    before: Option<&EffectId>,
) -> Result<Vec<Effect>, sqlx::Error> {
    sqlx::query(applied_effects!(
        "number > (SELECT max(number) FROM effect) - ?3
             AND (?2 IS NULL OR number < (SELECT number FROM effect WHERE id = ?2))
             AND (
                 path = ?1 AND kind IN ('create', 'replace', 'trash', 'rename')
                 OR target = ?1 AND kind = 'rename'
                 OR kind = 'rename_folder' AND substr(?1, 1, length(target) + 1) = target || '/'
             )
         ORDER BY number DESC"
    ))
    .bind(path.as_str())
    .bind(before.map(EffectId::as_str))
    .bind(MAX_EFFECTS_BACK)
    .try_map(|row| effect_from_row(&row))
    .fetch_all(db)
    .await
}

async fn select_applied_sets(
    db: &mut SqliteConnection,
    conversation: Option<&ConversationId>,
    before: Option<&ChangeSetId>,
    limit: u32,
) -> Result<Vec<Vec<Effect>>, sqlx::Error> {
    let query = match conversation {
        Some(_) => {
            applied_sets_page!("turn IN (SELECT turn.id FROM turn WHERE turn.conversation = ?1)")
        }
        None => applied_sets_page!("?1 IS NULL"),
    };
    let rows = sqlx::query(query)
        .bind(conversation.map(ConversationId::as_str))
        .bind(before.map(ChangeSetId::as_str))
        .bind(limit)
        .try_map(|row| effect_from_row(&row))
        .fetch_all(db)
        .await?;
    let mut sets: Vec<Vec<Effect>> = Vec::new();
    let mut place: BTreeMap<ChangeSetId, usize> = BTreeMap::new();
    for effect in rows.into_iter().rev() {
        let at = *place.entry(effect.change_set.clone()).or_insert(sets.len());
        match sets.get_mut(at) {
            Some(set) => set.insert(0, effect),
            None => sets.push(vec![effect]),
        }
    }
    Ok(sets)
}

async fn get_contents(
    db: &mut SqliteConnection,
    hashes: &[ContentHash],
) -> Result<HashMap<ContentHash, Vec<u8>>, Failure> {
    let known: Vec<String> = sqlx::query_scalar(
        "SELECT hash FROM image WHERE hash IN (SELECT value FROM json_each(?1))",
    )
    .bind(to_json(&hashes.iter().map(ContentHash::as_str).collect::<Vec<_>>())?)
    .fetch_all(&mut *db)
    .await?;
    let mut contents = HashMap::with_capacity(known.len());
    for hash in known.into_iter().map(ContentHash::from_stored) {
        let content = content::get(db, &hash).await?;
        contents.insert(hash, content);
    }
    Ok(contents)
}

fn effect_from_row(row: &SqliteRow) -> Result<Effect, sqlx::Error> {
    let kind: ChangeKind = row.enum_value("kind")?;
    let target: Option<String> = row.try_get("target")?;
    let trashed = match kind {
        ChangeKind::Trash | ChangeKind::TrashFolder => Some(row.try_get("temp_name")?),
        // Of a note that was made again, the name that it had there.
        ChangeKind::RestoreFolder | ChangeKind::Create => target.clone(),
        _ => None,
    };
    let renamed = matches!(kind, ChangeKind::Rename | ChangeKind::RenameFolder);
    let target = match target.filter(|_| renamed) {
        Some(_) => Some(row.path("target")?),
        None => None,
    };
    let at: Option<i64> = row.try_get("at")?;
    Ok(Effect {
        id: row.text("id")?,
        change_set: row.text("change_set")?,
        conversation: row.optional_text("conversation")?,
        turn: row.text("turn")?,
        call: row.text("call")?,
        unit: row.optional_text("unit")?,
        kind,
        path: row.path("path")?,
        target,
        trashed,
        before: row.optional_hash("before")?,
        after: row.optional_hash("after")?,
        base: row.file_id("base_inode", "base_born")?,
        file: row.file_id("inode", "born")?,
        access: row.file_access()?,
        at: at.map(Timestamp),
        purged: purged_line_counts(row)?,
    })
}

fn purged_line_counts(row: &SqliteRow) -> Result<Option<LineCounts>, sqlx::Error> {
    let (added, removed): (Option<u32>, Option<u32>) =
        (row.try_get("added")?, row.try_get("removed")?);
    Ok(added.zip(removed).map(|(added, removed)| LineCounts { added, removed }))
}
