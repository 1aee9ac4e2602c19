//! An edit whose note changed elsewhere is made on what is there now.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use protocol::{Change, ChangeAction, EffectId, FileId, Intent};
use uuid::Uuid;

use crate::apply::missing_folders::MissingFolders;
use crate::apply::outcome::{IntentGroup, Outcomes, StepError};
use crate::apply::{TouchedPaths, atomic_group, temp_name, trash};
use crate::filesystem::folder::is_same_file;
use crate::filesystem::note_file;
use crate::merge::merge;
use crate::{Vault, VaultError, clock};

/// The least number of times that an edit is rebased when the note changes again meanwhile. An
/// editor that saves every two seconds needs one.
const MIN_RETRIES: usize = 6;
/// The greatest number of times: a program that never stops writing shall not hold up the others.
const MAX_RETRIES: usize = 40;
/// The time within which it may be more than a few times. A unit of many notes takes a while to
/// make ready, and each note of it that is saved meanwhile wants another try.
const RETRY_TIMEOUT: Duration = Duration::from_secs(5);

/// The time after its last write after which a save is over.
const SAVE_SETTLE_TIME: Duration = Duration::from_millis(20);

/// The same for a note that holds nothing, or not the end of what it held: a program that empties a
/// file first can be held up before it writes.
const TRUNCATED_SETTLE_TIME: Duration = Duration::from_millis(500);

/// For how long at most a note that is being saved, or that a program has open for writing, holds up the
/// others. A save in several writes is over by then.
pub(crate) const WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for a note that is not there: some programs remove it for a moment when they save.
const MISSING_NOTE_TIMEOUT: Duration = Duration::from_millis(250);

/// How long to wait until a watch has told whether a file that took the note's place goes on as the note.
const REPLACEMENT_TIMEOUT: Duration = Duration::from_millis(500);

/// How soon to look again whether a program has a note still open for writing.
const WRITER_POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Whether an order is tried once more.
#[derive(Debug)]
pub(crate) struct RetryLimit {
    began: Instant,
}

impl Default for RetryLimit {
    fn default() -> Self {
        Self { began: Instant::now() }
    }
}

impl RetryLimit {
    /// Whether another try is allowed after `tries` tries.
    pub(crate) fn allows_retry(&self, tries: usize) -> bool {
        tries < MIN_RETRIES || (tries < MAX_RETRIES && self.began.elapsed() < RETRY_TIMEOUT)
    }
}

/// The changes of an order that can be tried again.
#[derive(Debug, Default)]
pub(crate) struct RetryPlan {
    /// The intents to carry out instead of stale ones, with the bytes that are there now as
    /// `before`.
    pub(crate) intents: Vec<Intent>,
    /// Of these, the ones whose note is not as it was when they were planned.
    pub(crate) rebased: Vec<EffectId>,
    /// The stale ones that they stand for.
    pub(crate) replaced_intents: Vec<EffectId>,
    /// Stale ones whose change is in the note already.
    pub(crate) already_applied: Vec<EffectId>,
    /// For how long to wait before looking again: another program may be in the middle of saving
    /// a note that the others cannot be made on.
    pub(crate) pause: Option<Duration>,
}

/// Finds stale edits whose own lines are as they were, and plans them on the notes as they are.
/// Touches nothing. A change that needs a missing folder is not tried again. `waited` is the time
/// that was spent waiting until now.
pub(crate) fn plan_retry(
    vault: &Vault,
    outcomes: &Outcomes,
    missing: &MissingFolders,
    waited: Duration,
) -> RetryPlan {
    let why: HashMap<&EffectId, &StepError> = outcomes
        .iter()
        .filter_map(|(intent, outcome)| Some((&intent.effect, outcome.as_ref().err()?)))
        .collect();
    let refused = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
    let refused = refused.map(|(intent, _)| intent.clone()).collect();
    let mut again = RetryPlan::default();
    let is_stale = |intent: &Intent| {
        why.get(&intent.effect).is_some_and(|refusal| {
            matches!(
                refusal.why,
                VaultError::Stale { .. }
                    | VaultError::BeingWritten { .. }
                    | VaultError::NotFound { .. }
                    | VaultError::Reverted { .. }
            )
        })
    };
    let is_missing = |intent: &Intent| {
        intent.change.before().is_some() && vault.file_id(&intent.change.path).is_none()
    };
    for group in atomic_group::groups(refused) {
        if !group.iter().all(is_stale) || missing.needed_by_group(&group).is_some() {
            continue;
        }
        let being_written = |intent: &Intent| match &why.get(&intent.effect)?.why {
            VaultError::BeingWritten { path } => Some(vault.is_being_written(path)),
            _ => Some(vault.is_being_written(&intent.change.path)),
        };
        let replaced = |intent: &Intent| !is_planned_file(vault, intent);
        if group.iter().any(|intent| being_written(intent) == Some(true))
            || (waited < MISSING_NOTE_TIMEOUT && group.iter().any(is_missing))
            || (waited < REPLACEMENT_TIMEOUT && group.iter().any(replaced))
        {
            again.pause = again.pause.max(Some(WRITER_POLL_INTERVAL));
        } else if !group.iter().any(is_missing) && !group.iter().any(replaced) {
            again.rebase_group(vault, &group);
        }
    }
    again
}

impl RetryPlan {
    /// Plans a group again, if each edit of it can be rebased.
    fn rebase_group(&mut self, vault: &Vault, group: &IntentGroup) {
        let effects = || group.iter().map(|intent| intent.effect.clone());
        let mut planned = Vec::with_capacity(group.len());
        for intent in group {
            let Some(change) = rebase_change(vault, &intent.change) else {
                self.pause = self.pause.max(settle_time(vault, &intent.change));
                return;
            };
            planned.push(change);
        }
        let is_idle =
            |change: &Change| change.before().is_some() && change.before() == change.after();
        if planned.iter().all(is_idle) {
            self.already_applied.extend(effects());
            return;
        }
        self.replaced_intents.extend(effects());
        let mut touched = TouchedPaths::default();
        for (at, (intent, change)) in group.iter().zip(planned).enumerate() {
            let earlier = group.get(..at).unwrap_or_default();
            let effect = EffectId::from(Uuid::now_v7());
            if change.before() != intent.change.before() {
                self.rebased.push(effect.clone());
            }
            let temp_name = match change.act {
                ChangeAction::Create { .. } | ChangeAction::Replace { .. } => temp_name(),
                // For the trash it is the name there.
                _ => intent.temp_name.clone(),
            };
            let is_fresh = touched.add(&change);
            let base = match intent.is_exact {
                // One that went away in this moment is still the one that is meant.
                true => successor_file(vault, intent).or(intent.base),
                false if is_fresh => vault.file_id(&change.path),
                // Where an earlier change of the group makes the file, staging finds out which.
                false if atomic_group::file_put_at(earlier, &change.path).is_some() => None,
                false => intent.base.filter(|_| change.is_rename()),
            };
            let access = trash::access_before(vault, &change).filter(|_| is_fresh);
            self.intents.push(Intent {
                effect,
                temp_name,
                base,
                access,
                staged: None,
                change,
                ..intent.clone()
            });
        }
    }
}

/// The file that a change which keeps to its file is about by now: a program that saves the note puts a
/// new one in its place.
fn successor_file(vault: &Vault, intent: &Intent) -> Option<FileId> {
    let (base, now) = (intent.base?, vault.file_id(&intent.change.path)?);
    (is_same_file(base, now) || vault.was_replaced_by(base, now)).then_some(now)
}

fn is_planned_file(vault: &Vault, intent: &Intent) -> bool {
    !intent.is_exact || successor_file(vault, intent).is_some()
}

/// For how long the note cannot be trusted to be whole: programs empty a file first and write it a
/// moment later.
fn settle_time(vault: &Vault, change: &Change) -> Option<Duration> {
    let stat = vault.root().stat(change.path.as_str()).ok()?;
    let now = vault.read_bytes(&change.path).unwrap_or_default();
    let is_cut =
        change.before().is_some_and(|before| now.len() < before.len() && before.starts_with(&now));
    let settling = if is_cut { TRUNCATED_SETTLE_TIME } else { SAVE_SETTLE_TIME };
    let written = u64::try_from(note_file::modified(&stat).0).ok()?;
    let age = clock::since_epoch().checked_sub(Duration::from_millis(written))?;
    settling.checked_sub(age).filter(|pause| !pause.is_zero())
}

/// The same change of the note as it is now; `None` where the lines it is about are not as they
/// were, or the note cannot be read.
fn rebase_change(vault: &Vault, change: &Change) -> Option<Change> {
    let ChangeAction::Replace { before, after } = &change.act else {
        // A rename does not care what is in the note, and other acts say themselves.
        return Some(change.clone());
    };
    let now = vault.read_bytes(&change.path).ok()?;
    let merged = merge(before, &now, after).without_shared_changes()?;
    Some(Change::replace(change.path.clone(), now, merged))
}
