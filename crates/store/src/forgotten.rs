//! The table `forgotten`: effects that have lost their contents, and how contents go.

use std::collections::HashSet;

use protocol::{ChangeSetId, ContentHash, EffectId, LineCounts, Timestamp, fault};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row, SqliteConnection};

use crate::column::{Columns, json};
use crate::commit::read;
use crate::error::{Doing, Failure};
use crate::keep::Loose;
use crate::{Keep, Store, StoreError};

/// At most so many contents are looked at together.
const ROUND: i64 = 8_192;
/// A commit takes so many contents at most, and not many more packed bytes: whoever wants to write
/// meanwhile waits for one.
const CONTENTS: usize = 256;
const BYTES: u64 = 4 << 20;

/// Contents that may go in one commit, with those who lose them.
#[derive(Debug, Clone)]
pub struct Part {
    contents: Vec<(ContentHash, u64)>,
    losing: Vec<Losing>,
    planned: Vec<(ChangeSetId, i64)>,
    /// Effects with a higher number came after this was looked at.
    seen: i64,
}

/// An effect that loses a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Losing {
    /// Which.
    pub effect: EffectId,
    /// What it names still, before.
    pub before: Option<ContentHash>,
    /// What it names still, after.
    pub after: Option<ContentHash>,
    /// Whether it happened and its lines are not counted yet.
    pub uncounted: bool,
}

/// What went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gone {
    /// Changes that cannot be taken back any more.
    pub changes: u64,
    /// Packed bytes.
    pub bytes: u64,
}

impl Part {
    /// The effects that lose something.
    #[must_use]
    pub fn losing(&self) -> &[Losing] {
        &self.losing
    }
}

impl Store {
    /// Contents that `keep` lets go, those first that were needed longest ago, in parts for
    /// [`Store::forget`]. Not all at once: ask again until there are none. What is under way, is
    /// parked, waits for a verdict, or was done by a turn that waits for an answer is not among
    /// them.
    pub async fn forgettable(&self, keep: Keep) -> Result<Vec<Part>, StoreError> {
        read!(self, "look for earlier versions that may go", |db| parts(db, keep))
    }

    /// Deletes the contents of a part in one durable commit, but for those that are needed again
    /// since; what they were made of is overwritten in the file. Each effect that loses something
    /// keeps its row, with these counts of its lines.
    pub async fn forget(
        &self,
        part: &Part,
        counts: &[(EffectId, LineCounts)],
    ) -> Result<Gone, StoreError> {
        self.let_go(part, counts).await.doing(self, "forget earlier versions")
    }

    async fn let_go(
        &self,
        part: &Part,
        counts: &[(EffectId, LineCounts)],
    ) -> Result<Gone, Failure> {
        let mut lent = self.writer.lend().await?;
        let mut transaction = lent.forgetting().await?.begin_with("BEGIN IMMEDIATE").await?;
        let gone = delete(&mut transaction, part, counts).await?;
        fault::point("store.forget.before");
        transaction.commit().await?;
        fault::point("store.forget.after");
        lent.give_back();
        Ok(gone)
    }
}

async fn parts(db: &mut SqliteConnection, keep: Keep) -> Result<Vec<Part>, sqlx::Error> {
    // Counting what there is would read all of it. Where the whole database is within the limit,
    // nothing can be beyond it.
    let whole: i64 = sqlx::query_scalar(
        "SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    )
    .fetch_one(&mut *db)
    .await?;
    if whole.cast_unsigned() <= keep.bytes {
        return Ok(Vec::new());
    }
    let all: i64 = sqlx::query_scalar("SELECT coalesce(sum(length(packed)), 0) FROM image")
        .fetch_one(&mut *db)
        .await?;
    let loose = oldest(db).await?;
    let (named, ages): (Vec<_>, Vec<_>) = loose.into_iter().unzip();
    let go = keep.may_go(&ages, all.cast_unsigned());
    let going = named.into_iter().zip(ages).take(go).map(|(hash, loose)| (hash, loose.packed));
    split(db, going.collect()).await
}

/// What nothing holds, in the order in which it was needed last, oldest first.
async fn oldest(db: &mut SqliteConnection) -> Result<Vec<(ContentHash, Loose)>, sqlx::Error> {
    sqlx::query(
        "SELECT image.hash, length(image.packed) AS packed, needed.at
         FROM image LEFT JOIN (
             SELECT hash, max(at) AS at, max(held) AS held FROM need GROUP BY hash
         ) AS needed ON needed.hash = image.hash
         WHERE coalesce(needed.held, 0) = 0
         ORDER BY needed.at, image.hash LIMIT ?",
    )
    .bind(ROUND)
    .try_map(|row: SqliteRow| {
        let needed: Option<i64> = row.try_get("at")?;
        let packed: i64 = row.try_get("packed")?;
        let loose = Loose { needed: needed.map(Timestamp), packed: packed.cast_unsigned() };
        Ok((ContentHash::from_stored(row.try_get("hash")?), loose))
    })
    .fetch_all(db)
    .await
}

async fn split(
    db: &mut SqliteConnection,
    going: Vec<(ContentHash, u64)>,
) -> Result<Vec<Part>, sqlx::Error> {
    if going.is_empty() {
        return Ok(Vec::new());
    }
    let names = json(&going.iter().map(|(hash, _)| hash.as_str()).collect::<Vec<_>>())?;
    let losing = losing(db, &names).await?;
    let planned = planned(db, &names).await?;
    let seen: i64 =
        sqlx::query_scalar("SELECT coalesce(max(number), 0) FROM effect").fetch_one(db).await?;
    let mut parts = Vec::new();
    let mut rest = going.as_slice();
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |(_, packed): &&(ContentHash, u64)| {
            let fits = bytes < BYTES;
            bytes += packed;
            fits
        };
        let (contents, later) = rest.split_at(rest.iter().take(CONTENTS).take_while(fits).count());
        rest = later;
        let named: HashSet<&ContentHash> = contents.iter().map(|(hash, _)| hash).collect();
        let names = |before: Option<&ContentHash>, after: Option<&ContentHash>| {
            before.into_iter().chain(after).any(|hash| named.contains(hash))
        };
        let losing = losing.iter().filter(|one| names(one.before.as_ref(), one.after.as_ref()));
        let planned = planned.iter().filter(|one| names(one.before.as_ref(), one.after.as_ref()));
        parts.push(Part {
            contents: contents.to_vec(),
            losing: losing.cloned().collect(),
            planned: planned.map(|one| one.place.clone()).collect(),
            seen,
        });
    }
    Ok(parts)
}

/// The effects that name one of these contents.
async fn losing(db: &mut SqliteConnection, names: &str) -> Result<Vec<Losing>, sqlx::Error> {
    sqlx::query(
        "WITH going AS MATERIALIZED (SELECT value AS hash FROM json_each(?1))
         SELECT id, before, after,
             state = 'done' AND id NOT IN (SELECT effect FROM forgotten) AS uncounted
         FROM effect WHERE before IN (SELECT hash FROM going) OR after IN (SELECT hash FROM going)
         ORDER BY number",
    )
    .bind(names)
    .try_map(|row: SqliteRow| {
        Ok(Losing {
            effect: row.text("id")?,
            before: row.maybe_hash("before")?,
            after: row.maybe_hash("after")?,
            uncounted: row.try_get("uncounted")?,
        })
    })
    .fetch_all(db)
    .await
}

/// A planned change that was decided and names a content that goes.
struct Decided {
    place: (ChangeSetId, i64),
    before: Option<ContentHash>,
    after: Option<ContentHash>,
}

async fn planned(db: &mut SqliteConnection, names: &str) -> Result<Vec<Decided>, sqlx::Error> {
    sqlx::query(
        "WITH going AS MATERIALIZED (SELECT value AS hash FROM json_each(?1))
         SELECT change_set, position, before, after FROM planned_change
         WHERE before IN (SELECT hash FROM going) OR after IN (SELECT hash FROM going)",
    )
    .bind(names)
    .try_map(|row: SqliteRow| {
        Ok(Decided {
            place: (row.text("change_set")?, row.try_get("position")?),
            before: row.maybe_hash("before")?,
            after: row.maybe_hash("after")?,
        })
    })
    .fetch_all(db)
    .await
}

async fn delete(
    db: &mut SqliteConnection,
    part: &Part,
    counts: &[(EffectId, LineCounts)],
) -> Result<Gone, sqlx::Error> {
    let again = needed_again(db, part).await?;
    let going = || part.contents.iter().filter(|(hash, _)| !again.contains(hash));
    let names = json(&going().map(|(hash, _)| hash.as_str()).collect::<Vec<_>>())?;
    let loses = |one: &&Losing| {
        let lost = |hash: &ContentHash| going().any(|(gone, _)| gone == hash);
        one.before.iter().chain(&one.after).any(lost)
    };
    let losing: HashSet<&EffectId> =
        part.losing.iter().filter(loses).map(|one| &one.effect).collect();
    let counts = counts.iter().filter(|(effect, _)| losing.contains(effect));
    let counts: Vec<_> =
        counts.map(|(effect, lines)| (effect.as_str(), lines.added, lines.removed)).collect();
    let changes = sqlx::query(
        "INSERT INTO forgotten (effect, added, removed)
         SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1) WHERE true
         ON CONFLICT (effect) DO NOTHING",
    )
    .bind(json(&counts)?)
    .execute(&mut *db)
    .await?
    .rows_affected();
    unname(db, part, &names).await?;
    sqlx::query("DELETE FROM image WHERE hash IN (SELECT value FROM json_each(?1))")
        .bind(&names)
        .execute(db)
        .await?;
    Ok(Gone { changes, bytes: going().map(|(_, packed)| packed).sum() })
}

/// What somebody came to need since the part was looked at.
async fn needed_again(
    db: &mut SqliteConnection,
    part: &Part,
) -> Result<HashSet<ContentHash>, sqlx::Error> {
    let names = json(&part.contents.iter().map(|(hash, _)| hash.as_str()).collect::<Vec<_>>())?;
    let again: Vec<String> = sqlx::query_scalar(
        "SELECT value FROM json_each(?1) WHERE value IN (
             SELECT before FROM effect WHERE number > ?2
             UNION SELECT after FROM effect WHERE number > ?2
             UNION SELECT before FROM planned_change WHERE state = 'waiting'
             UNION SELECT after FROM planned_change WHERE state = 'waiting'
         )",
    )
    .bind(names)
    .bind(part.seen)
    .fetch_all(db)
    .await?;
    Ok(again.into_iter().map(ContentHash::from_stored).collect())
}

/// No row names any more what goes.
async fn unname(db: &mut SqliteConnection, part: &Part, names: &str) -> Result<(), sqlx::Error> {
    let effects = part.losing.iter().map(|one| one.effect.as_str());
    sqlx::query(
        "UPDATE effect SET
             before = iif(before IN (SELECT value FROM json_each(?2)), NULL, before),
             after = iif(after IN (SELECT value FROM json_each(?2)), NULL, after)
         WHERE id IN (SELECT value FROM json_each(?1))",
    )
    .bind(json(&effects.collect::<Vec<_>>())?)
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
    .bind(json(&planned.collect::<Vec<_>>())?)
    .bind(names)
    .execute(db)
    .await?;
    Ok(())
}
