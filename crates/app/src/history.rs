//! How long earlier versions of notes are kept, and forgetting them when the user wants it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::history::{Age, ForgottenHistory, KeptHistory, Older};
use protocol::work::WorkKind;
use protocol::{AppEvent, ContentHash, EffectId, LineCounts, Timestamp, UserError};
use store::{Gone, Keep, Losing, Part, Store};
use vault::Progress;

use crate::App;
use crate::applied::line_counts;
use crate::aside::aside;
use crate::clock::now;
use crate::open_vault::OpenVault;
use crate::trouble::user_error;

/// How long and how much is kept, whichever keeps more, and how often that is looked after.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    days: i64,
    bytes: u64,
    pace: Duration,
}

/// What holds for every vault.
pub(crate) const KEPT: Kept =
    Kept { days: 90, bytes: 2 << 30, pace: Duration::from_secs(24 * 60 * 60) };

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The ages that the user may choose from, the longest first.
const AGES: [Age; 3] = [Age::NinetyDays, Age::ThirtyDays, Age::Any];

/// So many changes are counted together: their contents are in memory then.
const COUNTED: usize = 16;

impl App {
    /// What is kept of earlier versions, and what would be lost by age.
    pub async fn history(&self) -> Result<KeptHistory, UserError> {
        let open = self.open().await?;
        let at = now();
        let kept = open.store.kept(&AGES.map(|age| young(age, at))).await.map_err(user_error)?;
        let older = AGES.into_iter().zip(kept.older);
        Ok(KeptHistory {
            bytes: kept.bytes,
            since: kept.since,
            older: older.map(|(age, changes)| Older { age, changes: count(changes) }).collect(),
        })
    }

    /// Forgets the earlier versions of an age: their changes stay listed and cannot be taken back
    /// any more. When it returns nothing of them is left in the data folder. Conversations keep
    /// their words; what waits, is under way or is asked about stays.
    pub async fn forget_history(&self, age: Age) -> Result<ForgottenHistory, UserError> {
        let open = self.open().await?;
        let forgotten = open.while_open(open.forget_for_good(age)).await;
        forgotten.unwrap_or_else(|| {
            Err(UserError::other(
                "The vault was closed meanwhile. What was forgotten so far is gone; forget again \
                 for the rest.",
            ))
        })
    }
}

impl OpenVault {
    /// Lets go of what need not be kept any more, now and once in a while, until the vault is
    /// closed. The room is used again for what comes later.
    pub(crate) async fn tend_history(self: Arc<Self>, kept: Kept) {
        loop {
            let alone = self.forgetting.lock().await;
            let since = Timestamp(now().0.saturating_sub(kept.days * DAY));
            match forget(&self.store, Keep { since, bytes: kept.bytes }, &Progress::default()).await
            {
                Ok(gone) if gone.changes > 0 => self.over(),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "earlier versions could not be forgotten"),
            }
            drop(alone);
            tokio::time::sleep(kept.pace).await;
        }
    }

    async fn forget_for_good(&self, age: Age) -> Result<ForgottenHistory, UserError> {
        let _alone = self.forgetting.lock().await;
        let keep = Keep { since: young(age, now()), bytes: 0 };
        let all = self.store.kept(&[keep.since]).await.map_err(user_error)?;
        let all = all.older.first().copied().unwrap_or_default();
        let progress = Progress::default();
        progress.expect(usize::try_from(all).unwrap_or(usize::MAX));
        let work = self.forget_and_compact(keep, &progress);
        let (forgotten, index) = self.works.watch(WorkKind::Forgetting, &progress, work).await;
        self.over();
        let Gone { changes, bytes } = forgotten?;
        if let Some(error) = index {
            return Err(error);
        }
        Ok(ForgottenHistory { changes: count(changes), bytes })
    }

    /// What was forgotten, and what is wrong with the index that holds no traces of it any more.
    async fn forget_and_compact(
        &self,
        keep: Keep,
        progress: &Progress,
    ) -> (Result<Gone, UserError>, Option<UserError>) {
        let forgotten = match forget(&self.store, keep, progress).await {
            Ok(gone) => self.store.compact().await.map(|()| gone).map_err(|error| {
                UserError::other(format!(
                    "The changes are forgotten, but traces of them are left in the database: {} \
                     Then forget again.",
                    user_error(error).message
                ))
            }),
            Err(error) => Err(error),
        };
        (forgotten, self.indexing.start_over().await)
    }

    fn over(&self) {
        self.feed.tell(AppEvent::HistoryChanged);
    }
}

/// From when on something is not of this age.
fn young(age: Age, at: Timestamp) -> Timestamp {
    match age {
        Age::NinetyDays => Timestamp(at.0.saturating_sub(90 * DAY)),
        Age::ThirtyDays => Timestamp(at.0.saturating_sub(30 * DAY)),
        Age::Any => Timestamp(i64::MAX),
    }
}

/// Forgets what `keep` lets go, in small commits, so that nobody waits long to write; counts the changes
/// that have lost their texts. May be stopped or dropped at any time: what it has done by then stays done.
async fn forget(store: &Store, keep: Keep, progress: &Progress) -> Result<Gone, UserError> {
    let mut all = Gone::default();
    loop {
        let parts = store.forgettable(keep).await.map_err(user_error)?;
        let before = all;
        for part in &parts {
            if progress.is_stopped() {
                return Ok(all);
            }
            let counts = counted(store, part).await?;
            let gone = store.forget(part, &counts).await.map_err(user_error)?;
            all.changes += gone.changes;
            all.bytes += gone.bytes;
            progress.advance(usize::try_from(gone.changes).unwrap_or(usize::MAX));
        }
        // What was needed again at each look would be looked at for ever.
        if all == before {
            return Ok(all);
        }
    }
}

/// What the list of changes goes on saying of those that lose their texts.
async fn counted(store: &Store, part: &Part) -> Result<Vec<(EffectId, LineCounts)>, UserError> {
    let uncounted: Vec<&Losing> = part.losing().iter().filter(|one| one.uncounted).collect();
    let mut counts = Vec::with_capacity(uncounted.len());
    for few in uncounted.chunks(COUNTED) {
        let names = few.iter().flat_map(|one| one.before.iter().chain(&one.after));
        let names: Vec<_> = names.cloned().collect();
        let contents = store.contents(&names).await.unwrap_or_else(|error| {
            // What is damaged can still be forgotten.
            tracing::warn!(%error, "the lines of a change cannot be counted");
            HashMap::new()
        });
        let few: Vec<Losing> = few.iter().copied().cloned().collect();
        let count = move || few.iter().map(|one| lines_of(one, &contents)).collect::<Vec<_>>();
        counts.extend(aside(count).await?);
    }
    Ok(counts)
}

fn lines_of<'a>(
    one: &Losing,
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
