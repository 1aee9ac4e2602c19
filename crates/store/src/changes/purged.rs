//! The table `forgotten`: effects that have lost their contents, and the deletion of contents.
//!
//! An effect keeps its row and its counts of lines; it cannot be undone. Contents are deleted in
//! small commits on a connection that overwrites deleted data. The file does not shrink by that:
//! its free pages are used again, until `db::vacuum` rewrites it.

use std::collections::HashSet;

use protocol::{ChangeSetId, ContentHash, EffectId, LineCounts, Timestamp, fault_injection};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row, SqliteConnection};

use crate::changes::retention::UnreferencedContent;
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::read;
use crate::error::{Failure, FailureContext};
use crate::{RetentionPolicy, Store, StoreError};

/// The number of contents that are looked at together at most.
const MAX_CANDIDATES: i64 = 8_192;
/// The number of contents that a commit deletes at most, and the packed bytes that it deletes at
/// most, or a little more: another writer waits for one commit at most.
const MAX_BATCH_CONTENTS: usize = 256;
const MAX_BATCH_BYTES: u64 = 4 << 20;

/// Contents that may go in one commit, with those who lose them.
#[derive(Debug, Clone)]
pub struct PurgeBatch {
    contents: Vec<(ContentHash, u64)>,
    effects: Vec<PurgedEffect>,
    planned: Vec<(ChangeSetId, i64)>,
    /// Effects with a higher number came after this was looked at.
    last_effect: i64,
}

/// An effect that loses a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedEffect {
    /// The effect, by its id in the ledger.
    pub effect: EffectId,
    /// The content before that the effect still names.
    pub before: Option<ContentHash>,
    /// The content after that the effect still names.
    pub after: Option<ContentHash>,
    /// Whether it happened and its lines are not counted yet.
    pub uncounted: bool,
}

/// The amount of purged history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgeStats {
    /// Changes that cannot be undone any more.
    pub changes: u64,
    /// Packed bytes.
    pub bytes: u64,
}

impl PurgeBatch {
    /// The effects that lose something.
    #[must_use]
    pub fn effects(&self) -> &[PurgedEffect] {
        &self.effects
    }
}

impl Store {
    /// Contents that `keep` releases, those first that were needed longest ago, in parts for
    /// [`Store::purge_contents`]. Not all at once: repeat the call until there are none. Contents
    /// of open, parked or pending changes, and of changes by a turn that waits for an answer, are
    /// not among them.
    pub async fn purgeable(&self, policy: RetentionPolicy) -> Result<Vec<PurgeBatch>, StoreError> {
        read!(self, "look for earlier versions to delete", |db| purgeable_batches(db, policy))
    }

    /// Deletes the contents of a part in one durable commit, but for those that are needed again
    /// since; their rows are overwritten in the file. Each effect that loses a content keeps its
    /// row, with these counts of its lines.
    pub async fn purge_contents(
        &self,
        part: &PurgeBatch,
        counts: &[(EffectId, LineCounts)],
    ) -> Result<PurgeStats, StoreError> {
        self.purge_batch(part, counts).await.doing(self, "delete earlier versions")
    }

    async fn purge_batch(
        &self,
        part: &PurgeBatch,
        counts: &[(EffectId, LineCounts)],
    ) -> Result<PurgeStats, Failure> {
        let mut lent = self.writer.acquire().await?;
        let mut transaction = lent.secure_delete().await?.begin_with("BEGIN IMMEDIATE").await?;
        let gone = delete_contents(&mut transaction, part, counts).await?;
        fault_injection::point("store.purge.before");
        transaction.commit().await?;
        fault_injection::point("store.purge.after");
        lent.release();
        Ok(gone)
    }
}

async fn purgeable_batches(
    db: &mut SqliteConnection,
    policy: RetentionPolicy,
) -> Result<Vec<PurgeBatch>, sqlx::Error> {
    // Counting what there is would read all of it. Where the whole database is within the limit,
    // nothing can be beyond it.
    let whole: i64 = sqlx::query_scalar(
        "SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    )
    .fetch_one(&mut *db)
    .await?;
    if whole.cast_unsigned() <= policy.bytes {
        return Ok(Vec::new());
    }
    let all: i64 = sqlx::query_scalar("SELECT coalesce(sum(length(packed)), 0) FROM image")
        .fetch_one(&mut *db)
        .await?;
    let loose = unreferenced_contents(db).await?;
    let (named, ages): (Vec<_>, Vec<_>) = loose.into_iter().unzip();
    let go = policy.count_purgeable(&ages, all.cast_unsigned());
    let going = named.into_iter().zip(ages).take(go).map(|(hash, loose)| (hash, loose.packed));
    split_into_batches(db, going.collect()).await
}

/// Contents that no row references, in the order in which they were needed last, oldest first.
async fn unreferenced_contents(
    db: &mut SqliteConnection,
) -> Result<Vec<(ContentHash, UnreferencedContent)>, sqlx::Error> {
    sqlx::query(
        "SELECT image.hash, length(image.packed) AS packed, needed.at
         FROM image LEFT JOIN (
             SELECT hash, max(at) AS at, max(held) AS held FROM need GROUP BY hash
         ) AS needed ON needed.hash = image.hash
         WHERE coalesce(needed.held, 0) = 0
         ORDER BY needed.at, image.hash LIMIT ?",
    )
    .bind(MAX_CANDIDATES)
    .try_map(|row: SqliteRow| {
        let needed: Option<i64> = row.try_get("at")?;
        let packed: i64 = row.try_get("packed")?;
        let loose = UnreferencedContent {
            last_needed: needed.map(Timestamp),
            packed: packed.cast_unsigned(),
        };
        Ok((ContentHash::from_stored(row.try_get("hash")?), loose))
    })
    .fetch_all(db)
    .await
}

async fn split_into_batches(
    db: &mut SqliteConnection,
    going: Vec<(ContentHash, u64)>,
) -> Result<Vec<PurgeBatch>, sqlx::Error> {
    if going.is_empty() {
        return Ok(Vec::new());
    }
    let names = to_json(&going.iter().map(|(hash, _)| hash.as_str()).collect::<Vec<_>>())?;
    let losing = effects_naming(db, &names).await?;
    let planned = decided_naming(db, &names).await?;
    let seen: i64 =
        sqlx::query_scalar("SELECT coalesce(max(number), 0) FROM effect").fetch_one(db).await?;
    let mut parts = Vec::new();
    let mut rest = going.as_slice();
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |(_, packed): &&(ContentHash, u64)| {
            let fits = bytes < MAX_BATCH_BYTES;
            bytes += packed;
            fits
        };
        let (contents, later) =
            rest.split_at(rest.iter().take(MAX_BATCH_CONTENTS).take_while(fits).count());
        rest = later;
        let named: HashSet<&ContentHash> = contents.iter().map(|(hash, _)| hash).collect();
        let names = |before: Option<&ContentHash>, after: Option<&ContentHash>| {
            before.into_iter().chain(after).any(|hash| named.contains(hash))
        };
        let losing = losing.iter().filter(|one| names(one.before.as_ref(), one.after.as_ref()));
        let planned = planned.iter().filter(|one| names(one.before.as_ref(), one.after.as_ref()));
        parts.push(PurgeBatch {
            contents: contents.to_vec(),
            effects: losing.cloned().collect(),
            planned: planned.map(|one| one.place.clone()).collect(),
            last_effect: seen,
        });
    }
    Ok(parts)
}

/// The effects that name one of these contents.
async fn effects_naming(
    db: &mut SqliteConnection,
    names: &str,
) -> Result<Vec<PurgedEffect>, sqlx::Error> {
    sqlx::query(
        "WITH going AS MATERIALIZED (SELECT value AS hash FROM json_each(?1))
         SELECT id, before, after,
             state = 'done' AND id NOT IN (SELECT effect FROM forgotten) AS uncounted
         FROM effect WHERE before IN (SELECT hash FROM going) OR after IN (SELECT hash FROM going)
         ORDER BY number",
    )
    .bind(names)
    .try_map(|row: SqliteRow| {
        Ok(PurgedEffect {
            effect: row.text("id")?,
            before: row.optional_hash("before")?,
            after: row.optional_hash("after")?,
            uncounted: row.try_get("uncounted")?,
        })
    })
    .fetch_all(db)
    .await
}

/// A planned change that was decided and names a content that goes.
struct DecidedReference {
    place: (ChangeSetId, i64),
    before: Option<ContentHash>,
    after: Option<ContentHash>,
}

async fn decided_naming(
    db: &mut SqliteConnection,
    names: &str,
) -> Result<Vec<DecidedReference>, sqlx::Error> {
    sqlx::query(
        "WITH going AS MATERIALIZED (SELECT value AS hash FROM json_each(?1))
         SELECT change_set, position, before, after FROM planned_change
         WHERE before IN (SELECT hash FROM going) OR after IN (SELECT hash FROM going)",
    )
    .bind(names)
    .try_map(|row: SqliteRow| {
        Ok(DecidedReference {
            place: (row.text("change_set")?, row.try_get("position")?),
            before: row.optional_hash("before")?,
            after: row.optional_hash("after")?,
        })
    })
    .fetch_all(db)
    .await
}

async fn delete_contents(
    db: &mut SqliteConnection,
    part: &PurgeBatch,
    counts: &[(EffectId, LineCounts)],
) -> Result<PurgeStats, sqlx::Error> {
    let again = referenced_since(db, part).await?;
    let going = || part.contents.iter().filter(|(hash, _)| !again.contains(hash));
    let names = to_json(&going().map(|(hash, _)| hash.as_str()).collect::<Vec<_>>())?;
    let loses = |one: &&PurgedEffect| {
        let lost = |hash: &ContentHash| going().any(|(gone, _)| gone == hash);
        one.before.iter().chain(&one.after).any(lost)
    };
    let losing: HashSet<&EffectId> =
        part.effects.iter().filter(loses).map(|one| &one.effect).collect();
    let counts = counts.iter().filter(|(effect, _)| losing.contains(effect));
    let counts: Vec<_> =
        counts.map(|(effect, lines)| (effect.as_str(), lines.added, lines.removed)).collect();
    let changes = sqlx::query(
        "INSERT INTO forgotten (effect, added, removed)
         SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1) WHERE true
         ON CONFLICT (effect) DO NOTHING",
    )
    .bind(to_json(&counts)?)
    .execute(&mut *db)
    .await?
    .rows_affected();
    clear_references(db, part, &names).await?;
    sqlx::query("DELETE FROM image WHERE hash IN (SELECT value FROM json_each(?1))")
        .bind(&names)
        .execute(db)
        .await?;
    Ok(PurgeStats { changes, bytes: going().map(|(_, packed)| packed).sum() })
}

/// Contents that got a reference since the part was read.
async fn referenced_since(
    db: &mut SqliteConnection,
    part: &PurgeBatch,
) -> Result<HashSet<ContentHash>, sqlx::Error> {
    let names = to_json(&part.contents.iter().map(|(hash, _)| hash.as_str()).collect::<Vec<_>>())?;
    let again: Vec<String> = sqlx::query_scalar(
        "SELECT value FROM json_each(?1) WHERE value IN (
             SELECT before FROM effect WHERE number > ?2
             UNION SELECT after FROM effect WHERE number > ?2
             UNION SELECT before FROM planned_change WHERE state = 'waiting'
             UNION SELECT after FROM planned_change WHERE state = 'waiting'
         )",
    )
    .bind(names)
    .bind(part.last_effect)
    .fetch_all(db)
    .await?;
    Ok(again.into_iter().map(ContentHash::from_stored).collect())
}

/// No row names any more what goes.
async fn clear_references(
    db: &mut SqliteConnection,
    part: &PurgeBatch,
    names: &str,
) -> Result<(), sqlx::Error> {
    let effects = part.effects.iter().map(|one| one.effect.as_str());
    sqlx::query(
        "UPDATE effect SET
             before = iif(before IN (SELECT value FROM json_each(?2)), NULL, before),
             after = iif(after IN (SELECT value FROM json_each(?2)), NULL, after)
         WHERE id IN (SELECT value FROM json_each(?1))",
    )
    .bind(to_json(&effects.collect::<Vec<_>>())?)
    .bind(names)
    .execute(&mut *db)
    .await?;
    let planned = part.planned.iter().map(|(set, position)| (set.as_str(), position));
    sqlx::query(
        "UPDATE planned_change SET
             before = iif(before IN (SELECT value FROM json_each(?2)), NULL, before),
             after = iif(after IN (SELECT value FROM json_each(?2)), NULL, after)
         WHERE (change_set, position) IN (
             SELECT value ->> 0, value ->> 1 FROM json_each(?1)
         )",
    )
    .bind(to_json(&planned.collect::<Vec<_>>())?)
    .bind(names)
    .execute(db)
    .await?;
    Ok(())
}
