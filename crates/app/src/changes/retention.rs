//! How long old contents of notes are kept, and their deletion.
//!
//! At start and once a day, contents beyond both 90 days and 2 GB are purged, part by part, after the lines of their changes
//! were counted. `App::delete_history` does the same for an age that the user chooses, without the 2 GB, and then compacts the
//! file. Contents that are in use stay: of running, parked and pending changes, and of turns that wait for an answer.
//! Conversations are not part of the history.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::changes::retention::{DeletedHistory, HistoryAge, HistoryAgeStats, HistoryStats};
use protocol::job::JobKind;
use protocol::{ContentHash, EffectId, LineCounts, Timestamp, UserError};
use store::{PurgeBatch, PurgeStats, PurgedEffect, RetentionPolicy, Store};
use vault::Progress;

use crate::App;
use crate::changes::ChangeRetention;
use crate::changes::history::line_counts;
use crate::events::domain_event::DomainEvent;
use crate::support::blocking::run_blocking;
use crate::support::clock::now;
use crate::user_texts;

/// How long and how much is kept, whichever keeps more, and how often that is looked after.
#[derive(Debug, Clone, Copy)]
struct RetentionSchedule {
    days: i64,
    bytes: u64,
    interval: Duration,
}

/// The schedule of every vault.
const RETENTION: RetentionSchedule =
    RetentionSchedule { days: 90, bytes: 2 << 30, interval: Duration::from_secs(24 * 60 * 60) };

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The ages that the user may choose from, the longest first.
const AGES: [HistoryAge; 3] = [HistoryAge::NinetyDays, HistoryAge::ThirtyDays, HistoryAge::Any];

/// The number of changes that are counted together: their contents are in memory then.
const COUNT_BATCH: usize = 16;

impl App {
    /// The size of the history, and how many changes of each age would be deleted.
    pub async fn history_stats(&self) -> Result<HistoryStats, UserError> {
        let open = self.session().await?;
        let at = now();
        let kept = open.store.retention_stats(&AGES.map(|age| cutoff(age, at))).await?;
        let older = AGES.into_iter().zip(kept.affected);
        Ok(HistoryStats {
            bytes: kept.bytes,
            since: kept.since,
            older: older
                .map(|(age, changes)| HistoryAgeStats { age, changes: count(changes) })
                .collect(),
        })
    }

    /// Deletes the history of an age: its changes stay listed and cannot be undone any more. When
    /// it returns, nothing of their contents is left in the data folder. Conversations keep their
    /// messages; pending and running changes and open questions keep their contents.
    pub async fn delete_history(&self, age: HistoryAge) -> Result<DeletedHistory, UserError> {
        let open = self.session().await?;
        let deleted = open.tasks.until_cancelled(open.retention.purge_history(age)).await;
        deleted.unwrap_or_else(|| Err(UserError::other(user_texts::history_partly_deleted())))
    }
}

impl ChangeRetention {
    /// Lets go of what need not be kept any more, now and once in a while, until the vault is
    /// closed. The room is used again for what comes later.
    pub(crate) async fn run_loop(self: Arc<Self>) {
        self.run_schedule(RETENTION).await;
    }

    /// The same with another schedule than the product's.
    async fn run_schedule(self: Arc<Self>, kept: RetentionSchedule) {
        loop {
            let alone = self.lock.lock().await;
            let since = Timestamp(now().0.saturating_sub(kept.days * DAY_MS));
            let policy = RetentionPolicy { since, bytes: kept.bytes };
            let (mut lost, progress) = (Vec::new(), Progress::default());
            if let Err(error) = purge(&self.store, policy, &progress, &mut lost).await {
                tracing::warn!(%error, "the history could not be purged");
            }
            self.tell_purged(lost);
            drop(alone);
            tokio::time::sleep(kept.interval).await;
        }
    }

    async fn purge_history(&self, age: HistoryAge) -> Result<DeletedHistory, UserError> {
        let _alone = self.lock.lock().await;
        let keep = RetentionPolicy { since: cutoff(age, now()), bytes: 0 };
        let all = self.store.retention_stats(&[keep.since]).await?;
        let all = all.affected.first().copied().unwrap_or_default();
        let progress = Progress::default();
        progress.expect(usize::try_from(all).unwrap_or(usize::MAX));
        let mut lost = Vec::new();
        let work = self.purge_and_compact(keep, &progress, &mut lost);
        let (purged, index) = self.jobs.run(JobKind::DeletingHistory, &progress, work).await;
        self.tell_purged(lost);
        let PurgeStats { changes, bytes } = purged?;
        if let Some(error) = index {
            return Err(error);
        }
        Ok(DeletedHistory { changes: count(changes), bytes })
    }

    /// The result of the purge, and the error of the index if it could not be rebuilt without the
    /// contents.
    async fn purge_and_compact(
        &self,
        policy: RetentionPolicy,
        progress: &Progress,
        lost: &mut Vec<EffectId>,
    ) -> (Result<PurgeStats, UserError>, Option<UserError>) {
        let purged = match purge(&self.store, policy, progress, lost).await {
            Ok(gone) => self.store.vacuum().await.map(|()| gone).map_err(|error| {
                UserError::other(user_texts::history_in_database_file(UserError::from(error)))
            }),
            Err(error) => Err(error),
        };
        (purged, self.indexer.rebuild().await)
    }

    fn tell_purged(&self, lost: Vec<EffectId>) {
        if !lost.is_empty() {
            self.domain_events.emit(DomainEvent::Purged(lost));
        }
    }
}

/// From when on something is not of this age.
fn cutoff(age: HistoryAge, at: Timestamp) -> Timestamp {
    match age {
        HistoryAge::NinetyDays => Timestamp(at.0.saturating_sub(90 * DAY_MS)),
        HistoryAge::ThirtyDays => Timestamp(at.0.saturating_sub(30 * DAY_MS)),
        HistoryAge::Any => Timestamp(i64::MAX),
    }
}

/// Purges the contents that `policy` does not keep, in small commits, so that no other writer waits
/// long. Adds the changes that have lost their texts to `lost`, also where it fails later. It may be
/// stopped or dropped at any time: commits that were made stay.
async fn purge(
    store: &Store,
    policy: RetentionPolicy,
    progress: &Progress,
    lost: &mut Vec<EffectId>,
) -> Result<PurgeStats, UserError> {
    let mut all = PurgeStats::default();
    loop {
        let parts = store.purgeable(policy).await?;
        let before = all;
        for part in &parts {
            if progress.is_stopped() {
                return Ok(all);
            }
            let counts = count_lost_lines(store, part).await?;
            let gone = store.purge_contents(part, &counts).await?;
            let newly = part.effects().iter().filter(|one| one.uncounted);
            lost.extend(newly.map(|one| one.effect.clone()));
            all.changes += gone.changes;
            all.bytes += gone.bytes;
            progress.advance(usize::try_from(gone.changes).unwrap_or(usize::MAX));
        }
        // Without progress the loop would never end.
        if all == before {
            return Ok(all);
        }
    }
}

/// Counts the lines of changes that lose their texts, so that the list of changes still shows them.
async fn count_lost_lines(
    store: &Store,
    part: &PurgeBatch,
) -> Result<Vec<(EffectId, LineCounts)>, UserError> {
    let uncounted: Vec<&PurgedEffect> = part.effects().iter().filter(|one| one.uncounted).collect();
    let mut counts = Vec::with_capacity(uncounted.len());
    for few in uncounted.chunks(COUNT_BATCH) {
        let names = few.iter().flat_map(|one| one.before.iter().chain(&one.after));
        let names: Vec<_> = names.cloned().collect();
        let contents = store.contents(&names).await.unwrap_or_else(|error| {
            // Damaged contents can still be purged.
            tracing::warn!(%error, "the lines of a change cannot be counted");
            HashMap::new()
        });
        let few: Vec<PurgedEffect> = few.iter().copied().cloned().collect();
        let count = move || few.iter().map(|one| changed_texts(one, &contents)).collect::<Vec<_>>();
        counts.extend(run_blocking(count).await?);
    }
    Ok(counts)
}

fn changed_texts<'a>(
    one: &PurgedEffect,
    contents: &'a HashMap<ContentHash, Vec<u8>>,
) -> (EffectId, LineCounts) {
    let side = |hash: Option<&ContentHash>| hash.and_then(|hash| contents.get(hash));
    let (before, after) = (side(one.before.as_ref()), side(one.after.as_ref()));
    let bytes = |side: Option<&'a Vec<u8>>| side.map(Vec::as_slice).unwrap_or_default();
    (one.effect.clone(), line_counts(bytes(before), bytes(after)))
}

fn count(changes: u64) -> u32 {
    u32::try_from(changes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
