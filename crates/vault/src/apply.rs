//! Applies planned changes: intents first, then every temporary file, then one atomic step for each note.
//!
//! Contents come first and renames last (ADR 8). Changes with the same unit are an atomic group: they happen all or not at
//! all. A stop takes effect between two notes or groups; the rest is reported as not done. Before a batch begins, every
//! intent with an unknown outcome is resolved. A note that changed since the plan was made gets the change merged into
//! its newer text.

pub(crate) mod atomic_file;
pub(crate) mod atomic_group;
pub(crate) mod execute;
pub(crate) mod missing_folders;
pub(crate) mod outcome;
pub(crate) mod progress;
pub(crate) mod rebase;
pub(crate) mod recover;
pub(crate) mod rename;
pub(crate) mod replace;
pub(crate) mod replaced_backup;
pub(crate) mod replaced_file;
pub(crate) mod system_trash;
pub(crate) mod trash;

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use protocol::{
    CallId, Change, ChangeAction, ChangeKind, ChangeSetId, EffectId, FileId, Intent, IntentState,
    NotePath, SettledIntent, TurnId,
};
use tokio::sync::OwnedMutexGuard;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::apply::missing_folders::MissingFolders;
use crate::apply::outcome::{IntentGroup, Outcomes};
use crate::apply::progress::Progress;
use crate::apply::rebase::{RetryLimit, RetryPlan};

use crate::filesystem::fault_point::with_fault_points;
use crate::filesystem::temp_files::{TEMP_PREFIX, TEMP_SUFFIX};
use crate::ledger::Ledger;
use crate::vault::ChangeLockState;
use crate::{ApplyError, Vault, VaultError};

/// Changes to carry out together, ordered as a [`protocol::ChangeSet`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeBatch {
    /// The set they belong to.
    pub change_set: ChangeSetId,
    /// The changes, in the order in which they are applied.
    pub changes: Vec<PlannedChange>,
}

/// A change, with its origin in a conversation and the file that it is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChange {
    /// The change to apply.
    pub change: Change,
    /// The turn that planned it.
    pub turn: TurnId,
    /// The call that planned it last.
    pub call: CallId,
    /// Changes with the same unit happen all or not at all.
    pub unit: Option<CallId>,
    /// The only file that the change may be applied to. It is set for a change about one note, even
    /// if another file gets the path and the same text. `None` applies the change to any file with
    /// the text that the plan was based on.
    pub file: Option<FileId>,
}

/// The result of [`Vault::apply`]. Every path of the order is either in `done` or in `problems`.
#[derive(Debug, Default)]
pub struct Applied {
    /// Notes that are durably changed as planned, in the order of the changes.
    pub done: Vec<NotePath>,
    /// Of these, the notes that had changed elsewhere since the plan was made: the change as it
    /// was made on what was there.
    pub rebased: Vec<Change>,
    /// Notes that were left as they are, and why.
    pub problems: Vec<(NotePath, VaultError)>,
}

impl Vault {
    /// Carries out `order`, note by note: one that is stale or cannot be written does not stop
    /// the others, unless they are of one unit, which happens whole or not at all. A note's own
    /// folder is never without the note, not even for a moment; but where the disk ignores case, a note that only
    /// gets another spelling of its name has a temporary one in between.
    ///
    /// A note that changed since the plan was made is stale only where the lines of the plan did:
    /// else the change is made on what is there now, with an intent of its own. One that another program
    /// has open for writing is waited for, five seconds at most, and then left as it is, with
    /// [`VaultError::BeingWritten`].
    ///
    /// Cancel safe: if the future is dropped, the files are finished behind it, or by [`Vault::recover`] or
    /// the next order, which also settle the intents. Orders run one after the other.
    pub async fn apply(
        &self,
        batch: ChangeBatch,
        ledger: &dyn Ledger,
    ) -> Result<Applied, ApplyError> {
        self.apply_until(&Progress::default(), batch, ledger).await
    }

    /// As [`Vault::apply`], until `progress` is stopped: the note, or the unit, that is under way is
    /// finished, those after it are left as they are, with [`VaultError::Stopped`].
    pub async fn apply_until(
        &self,
        progress: &Progress,
        batch: ChangeBatch,
        ledger: &dyn Ledger,
    ) -> Result<Applied, ApplyError> {
        let mut held = self.change_lock().lock_owned().await;
        if held.unsettled {
            held = self.settle_open_intents(held, ledger).await?.0;
        }
        held.unsettled = true;
        let mut settled = LedgerRecord::All;
        let places: Vec<NotePath> =
            batch.changes.iter().map(|planned| planned.change.path.clone()).collect();
        // Before anything is recorded: by it a later start knows what the record is about.
        self.write_pending_id();
        let mut intents = batch.into_intents(self);
        let mut missing = MissingFolders::of_order(&intents);
        let (mut attempts, limit) = (Attempts::default(), RetryLimit::default());
        for tries in 1.. {
            if intents.is_empty() {
                break;
            }
            match with_fault_points!("intend", ledger.record_intents(&intents).await) {
                Ok(()) => attempts.stale.clear(),
                Err(error) if tries == 1 => return Err(error.into()),
                // The result of the first attempt stands.
                Err(_) => {
                    settled = LedgerRecord::Part;
                    break;
                }
            }
            let outcomes;
            (held, outcomes) =
                self.apply_intents(held, intents, &missing, progress, ledger).await?;
            missing.record(&outcomes);
            record_replacements(ledger, self).await;
            // An intent that may still be open must not exist next to another one for its note.
            if record_outcomes(ledger, &mut held, &outcomes).await == LedgerRecord::Part {
                settled = LedgerRecord::Part;
                attempts.record_attempt(outcomes, RetryPlan::default());
                break;
            }
            // Looked at last of all: what is saved from here on makes the next try stale.
            let (outcomes, again) = match limit.allows_retry(tries) {
                true => self.wait_and_plan_retry(outcomes, &missing).await?,
                false => (outcomes, RetryPlan::default()),
            };
            intents = attempts.record_attempt(outcomes, again);
        }
        held.unsettled = settled == LedgerRecord::Part;
        let (vault, trashed) = (self.clone(), attempts.trashed());
        let tidy_up = move || {
            let _held = held;
            replaced_backup::remove_expired(&vault);
            vault.release_replaced_files();
            for (path, name) in trashed {
                system_trash::move_to_system_trash(&vault, &path, &name);
            }
        };
        spawn_blocking(tidy_up).await.map_err(|_| ApplyError::Interrupted)?;
        Ok(attempts.into_applied(&places))
    }
}

impl Vault {
    /// Makes what is intended, for whom the vault is `held`.
    async fn apply_intents(
        &self,
        held: OwnedMutexGuard<ChangeLockState>,
        intents: Vec<Intent>,
        missing: &MissingFolders,
        progress: &Progress,
        ledger: &dyn Ledger,
    ) -> Result<(OwnedMutexGuard<ChangeLockState>, Outcomes), ApplyError> {
        let (vault, away, going) = (self.with_folder_names(), missing.clone(), progress.clone());
        let work = move || (held, stage_all(&vault, intents, &away, &going));
        let (held, staged) = spawn_blocking(work).await.map_err(|_| ApplyError::Interrupted)?;
        record_staged_files(ledger, &staged).await;
        let (vault, away, going) = (self.with_folder_names(), missing.clone(), progress.clone());
        let work = move || {
            let mut held = held;
            let outcomes = commit_all(&vault, staged, away, &going);
            held.unrecorded.extend(settled_intents(&outcomes));
            (held, outcomes)
        };
        spawn_blocking(work).await.map_err(|_| ApplyError::Interrupted)
    }

    /// Plans the failed changes again where that can help. First waits a while for programs that
    /// are in the middle of saving a note.
    async fn wait_and_plan_retry(
        &self,
        mut outcomes: Outcomes,
        missing: &MissingFolders,
    ) -> Result<(Outcomes, RetryPlan), ApplyError> {
        let began = Instant::now();
        loop {
            let (vault, away, waited) = (self.clone(), missing.clone(), began.elapsed());
            let look = move || {
                let again = rebase::plan_retry(&vault, &outcomes, &away, waited);
                (outcomes, again)
            };
            let again;
            (outcomes, again) = spawn_blocking(look).await.map_err(|_| ApplyError::Interrupted)?;
            match again.pause {
                Some(pause) if began.elapsed() < rebase::WRITER_TIMEOUT => {
                    tokio::time::sleep(pause).await
                }
                _ => return Ok((outcomes, again)),
            }
        }
    }
}

/// Whether the ledger knows how all changes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LedgerRecord {
    All,
    Part,
}

/// How far an order has come.
#[derive(Default)]
struct Attempts {
    finished: Outcomes,
    /// Stale, and about to be tried again.
    stale: Outcomes,
    /// Made on something else than what they were planned on.
    rebased: Vec<EffectId>,
}

impl Attempts {
    /// The notes that are in the trash now, and their names there.
    fn trashed(&self) -> Vec<(NotePath, String)> {
        let is_trash = |intent: &Intent| matches!(intent.change.act, ChangeAction::Trash { .. });
        let done = self.finished.iter().filter(|(intent, how)| how.is_ok() && is_trash(intent));
        done.map(|(intent, _)| (intent.change.path.clone(), intent.temp_name.clone())).collect()
    }

    /// Takes in how one try ended; returns what to try next.
    fn record_attempt(&mut self, outcomes: Outcomes, again: RetryPlan) -> Vec<Intent> {
        for (intent, outcome) in outcomes {
            if again.replaced_intents.contains(&intent.effect) {
                self.stale.push((intent, outcome));
            } else if again.already_applied.contains(&intent.effect) {
                self.finished.push((intent, Ok(None)));
            } else {
                self.finished.push((intent, outcome));
            }
        }
        self.rebased.extend(again.rebased);
        again.intents
    }

    fn into_applied(self, places: &[NotePath]) -> Applied {
        let Self { finished: mut ended, stale, rebased } = self;
        ended.extend(stale);
        let places: HashMap<&NotePath, usize> = places.iter().zip(0..).collect();
        ended.sort_by_key(|(intent, _)| places.get(&intent.change.path).copied());
        let mut applied = Applied::default();
        for (intent, outcome) in ended {
            let path = intent.change.path.clone();
            match outcome {
                Ok(_) => {
                    applied.done.push(path);
                    if rebased.contains(&intent.effect) {
                        applied.rebased.push(intent.change);
                    }
                }
                Err(refusal) => applied.problems.push((path, refusal.why)),
            }
        }
        applied
    }
}

impl ChangeBatch {
    fn into_intents(self, vault: &Vault) -> Vec<Intent> {
        let Self { change_set, changes } = self;
        let mut trashed = Vec::new();
        let mut name = |change: &Change| match change.act {
            ChangeAction::Trash { .. } | ChangeAction::TrashFolder { .. } => {
                let name = trash::free_name(vault, change.path.name(), &trashed);
                trashed.push(name.clone());
                name
            }
            _ => temp_name(),
        };
        let mut touched = TouchedPaths::default();
        let intent = |PlannedChange { change, turn, call, unit, file }| {
            let is_fresh = touched.add(&change);
            // Where an earlier change of the order makes the file there is none to ask for. A note that is
            // away for a moment is still the one that is meant, and not the one that comes in its place.
            let meant = file.filter(|_| is_fresh);
            let stands = is_fresh.then(|| vault.file_id(&change.path)).flatten();
            // In a folder that the order moves, a note that is renamed keeps the file that is meant.
            let carried = file.filter(|_| change.is_rename());
            let access = trash::access_before(vault, &change).filter(|_| is_fresh);
            Intent {
                effect: EffectId::from(Uuid::now_v7()),
                change_set: change_set.clone(),
                turn,
                call,
                unit,
                temp_name: name(&change),
                base: meant.or(stands).or(carried),
                access,
                is_exact: meant.is_some(),
                staged: None,
                change,
            }
        };
        changes.into_iter().map(intent).collect()
    }
}

/// Paths that earlier changes of an order create or move: the file that a later one changes may not
/// exist yet.
#[derive(Default)]
pub(crate) struct TouchedPaths {
    paths: HashSet<NotePath>,
    folders: Vec<NotePath>,
}

impl TouchedPaths {
    /// Adds a change; says whether no earlier one of the order makes the file that it is made on.
    pub(crate) fn add(&mut self, change: &Change) -> bool {
        let is_fresh = !self.paths.contains(&change.path)
            && !self.folders.iter().any(|folder| change.path.is_in(folder));
        let is_folder = matches!(
            change.kind(),
            ChangeKind::RenameFolder | ChangeKind::TrashFolder | ChangeKind::RestoreFolder
        );
        for path in std::iter::once(&change.path).chain(change.target()) {
            match is_folder {
                true => self.folders.push(path.clone()),
                false => drop(self.paths.insert(path.clone())),
            }
        }
        is_fresh
    }
}

/// A name for a temporary file that nothing has.
pub(crate) fn temp_name() -> String {
    format!("{TEMP_PREFIX}{:016x}{TEMP_SUFFIX}", fastrand::u64(..))
}

/// How intents ended, but for those of which nobody knows.
pub(crate) fn settled_intents(outcomes: &Outcomes) -> impl Iterator<Item = SettledIntent> {
    outcomes.iter().filter_map(|(intent, outcome)| {
        let state = outcome.as_ref().map_or_else(|refusal| refusal.state, |_| IntentState::Done);
        let file = outcome.as_ref().ok().copied().flatten();
        let effect = intent.effect.clone();
        (state != IntentState::Open).then_some(SettledIntent { effect, state, file })
    })
}

/// Stores how these intents ended, and what was not stored yet. Where the ledger does not take it, it stays in
/// `held`; where this process ends before, recovery goes by the notes.
pub(crate) async fn record_outcomes(
    ledger: &dyn Ledger,
    held: &mut ChangeLockState,
    outcomes: &Outcomes,
) -> LedgerRecord {
    let ended = &held.unrecorded;
    if !ended.is_empty()
        && let Err(error) = with_fault_points!("settle", ledger.record_outcomes(ended).await)
    {
        tracing::warn!(%error, "how changes ended could not be stored");
        return LedgerRecord::Part;
    }
    held.unrecorded.clear();
    if settled_intents(outcomes).count() == outcomes.len() {
        LedgerRecord::All
    } else {
        LedgerRecord::Part
    }
}

/// Stores which notes are in another file of ours, because they were changed and then reverted with their unit. Without
/// that an undo of an earlier change of such a note asks which note is meant, and nothing else happens.
pub(crate) async fn record_replacements(ledger: &dyn Ledger, vault: &Vault) {
    let replaced = vault.tracked_files().take_own_successions();
    if !replaced.is_empty()
        && let Err(error) = ledger.record_replacements(&replaced).await
    {
        tracing::warn!(%error, "it is not remembered which file took the place of a note's");
    }
}

/// Follows the files that changes left from now on, and those that they did not change.
pub(crate) fn track_changed_files(vault: &Vault, outcomes: &Outcomes) {
    let refused = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
    let as_before = refused.filter_map(|(intent, _)| Some((&intent.change.path, intent.base?)));
    vault.track_files(as_before.map(|(path, base)| (path.clone(), base)));
    let left: Vec<(&Intent, FileId)> = outcomes
        .iter()
        .filter_map(|(intent, outcome)| Some((intent, outcome.as_ref().ok().copied()??)))
        .collect();
    for (at, (intent, file)) in left.iter().enumerate() {
        let left_at = intent.change.target().unwrap_or(&intent.change.path).clone();
        // Later changes of the order may have renamed the note: follow it to its present path.
        let later = left.iter().skip(at + 1).map(|(intent, _)| &intent.change);
        let path = later.fold(left_at, |path, change| match change.target() {
            Some(target) => path.after_move(&change.path, target).unwrap_or(path),
            None => path,
        });
        vault.track_files([(path, *file)]);
    }
}

/// Groups in the order in which they are carried out, and those that are not, with why.
type StagedGroups = Vec<Result<IntentGroup, Outcomes>>;

/// Makes everything ready. No folder is held open until it is carried out, because an order may touch more
/// folders than a process may hold open.
fn stage_all(
    vault: &Vault,
    intents: Vec<Intent>,
    missing: &MissingFolders,
    progress: &Progress,
) -> StagedGroups {
    let stage = |group| {
        if progress.is_stopped() {
            Err(atomic_group::mark_stopped(group))
        } else {
            atomic_group::stage(vault, group, missing)
        }
    };
    atomic_group::groups(intents).into_iter().map(stage).collect()
}

/// Stores which files were made ready. Without that recovery might take a copy in the place of a changed note for
/// it, or know of no file, and an undo asks which note is meant; nothing else happens.
async fn record_staged_files(ledger: &dyn Ledger, staged: &StagedGroups) {
    let groups = staged.iter().filter_map(|staged| staged.as_ref().ok());
    let files: Vec<_> = groups
        .flatten()
        .filter_map(|intent| Some((intent.effect.clone(), intent.staged?)))
        .collect();
    if !files.is_empty()
        && let Err(error) = with_fault_points!("staged", ledger.record_staged_files(&files).await)
    {
        tracing::warn!(%error, "the files that were made ready could not be stored");
    }
}

/// Carries out what is ready. All temporary files are durable before the first note changes, but for those of notes
/// in a folder that comes back first.
fn commit_all(
    vault: &Vault,
    staged: StagedGroups,
    mut missing: MissingFolders,
    progress: &Progress,
) -> Outcomes {
    let commit = |staged: Result<IntentGroup, Outcomes>| match staged {
        Ok(group) if progress.is_stopped() => atomic_group::discard_group(vault, group),
        Ok(group) => {
            // The watch must not take our own exchange for somebody's save.
            for intent in &group {
                vault.tracked_files().untrack(&intent.change.path);
            }
            let outcomes = atomic_group::commit(vault, group);
            // A refused change may be tried again.
            progress.advance(outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count());
            outcomes
        }
        Err(outcomes) => outcomes,
    };
    let mut all = Outcomes::new();
    for staged in staged {
        let needed = staged.as_ref().ok().and_then(|group| missing.needed_by_group(group));
        let outcomes = match (staged, needed) {
            (Ok(group), Some(folder)) if !progress.is_stopped() => {
                atomic_group::refuse_without_folder(vault, group, &folder)
            }
            (staged, _) => commit(staged),
        };
        missing.record(&outcomes);
        track_changed_files(vault, &outcomes);
        all.extend(outcomes);
    }
    all
}
