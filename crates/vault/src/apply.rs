//! Changing notes: intents first, then every temporary file, then one atomic step a note.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use protocol::{
    Act, CallId, Change, ChangeKind, ChangeSetId, EffectId, Ended, FileId, Intent, IntentState,
    NotePath, Succession, TurnId,
};
use tokio::sync::OwnedMutexGuard;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::ledger::Ledger;
use crate::leftovers::{TEMP_PREFIX, TEMP_SUFFIX};
use crate::progress::Progress;
use crate::rebase::{self, Again, Patience};
use crate::root::Changing;
use crate::step::step;
use crate::swap::Refusal;
use crate::unit::{self, Group, Left, Outcomes};
use crate::{ApplyError, Vault, VaultError, system_trash, trash};

/// Changes to carry out together, ordered as a [`protocol::ChangeSet`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The set they belong to.
    pub change_set: ChangeSetId,
    /// What to do, in order.
    pub changes: Vec<Planned>,
}

/// A change and who planned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// What to do.
    pub change: Change,
    /// The turn that planned it.
    pub turn: TurnId,
    /// The call that planned it last.
    pub call: CallId,
    /// Changes with the same unit happen all or not at all.
    pub unit: Option<CallId>,
    /// The file that it is to be made on, and on no other: for a change about one note, whatever else
    /// gets its path and says the same. `None` for a change of what says what the plan was made on.
    pub file: Option<FileId>,
}

/// What became of an order. Every path of the order is either in `done` or in `problems`.
#[derive(Debug, Default)]
pub struct Applied {
    /// What now durably is as planned, in the order of the changes.
    pub done: Vec<NotePath>,
    /// Of these, the notes that had changed elsewhere since the plan was made: the change as it
    /// was made on what was there.
    pub rebased: Vec<Change>,
    /// Notes that were left as they are, and why.
    pub problems: Vec<(NotePath, VaultError)>,
    /// Of the notes that were left, those that are in another file now, because they had been changed and
    /// were taken back with their unit. To be stored, so that earlier changes of them can be undone.
    pub replaced: Vec<Succession>,
}

impl Vault {
    /// Carries out `order`, note by note: one that is stale or cannot be written does not stop
    /// the others, unless they are of one unit, which happens whole or not at all. A note's own
    /// folder is never without the note, not even for a moment.
    ///
    /// A note that changed since the plan was made is stale only where the lines of the plan did:
    /// else the change is made on what is there now, with an intent of its own. One that another program
    /// has open for writing is waited for, five seconds at most, and then left as it is, with
    /// [`VaultError::BeingWritten`].
    ///
    /// Cancel safe: if the future is dropped, the files are finished behind it, or by [`Vault::recover`] or
    /// the next order, which also settle the intents. Orders run one after the other.
    pub async fn apply(&self, order: Order, ledger: &dyn Ledger) -> Result<Applied, ApplyError> {
        self.apply_until(&Progress::default(), order, ledger).await
    }

    /// As [`Vault::apply`], until `progress` is stopped: the note, or the unit, that is under way is
    /// finished, those after it are left as they are, with [`VaultError::Stopped`].
    pub async fn apply_until(
        &self,
        progress: &Progress,
        order: Order,
        ledger: &dyn Ledger,
    ) -> Result<Applied, ApplyError> {
        let mut held = self.changing().lock_owned().await;
        if held.unsettled {
            held = self.put_right(held, ledger).await?.0;
        }
        held.unsettled = true;
        let mut settled = Settled::All;
        let places: Vec<NotePath> =
            order.changes.iter().map(|planned| planned.change.path.clone()).collect();
        // Before anything is recorded: by it a later start knows what the record is about.
        self.identify();
        let mut intents = order.into_intents(self);
        let (mut course, patience) = (Course::default(), Patience::default());
        for tries in 1.. {
            if intents.is_empty() {
                break;
            }
            match step!("intend", ledger.intend(&intents).await) {
                Ok(()) => course.stale.clear(),
                Err(error) if tries == 1 => return Err(error.into()),
                // What was tried before stands as it ended.
                Err(_) => {
                    settled = Settled::Part;
                    break;
                }
            }
            let outcomes;
            (held, outcomes) = self.make(held, intents, progress, ledger).await?;
            // An intent that may still be open must not stand beside another one for its note.
            if settle(ledger, &outcomes).await == Settled::Part {
                settled = Settled::Part;
                course.take(outcomes, Again::default());
                break;
            }
            // Looked at last of all: what is saved from here on makes the next try stale.
            let (outcomes, again) = match patience.lasts(tries) {
                true => self.once_saved(outcomes).await?,
                false => (outcomes, Again::default()),
            };
            intents = course.take(outcomes, again);
        }
        held.unsettled = settled == Settled::Part;
        let (vault, trashed) = (self.clone(), course.trashed());
        let tidy_up = move || {
            let _held = held;
            vault.let_go();
            for (path, name) in trashed {
                system_trash::hand_on(&vault, &path, &name);
            }
        };
        spawn_blocking(tidy_up).await.map_err(|_| ApplyError::Interrupted)?;
        Ok(Applied { replaced: self.seats().take_ours(), ..course.applied(&places) })
    }
}

impl Vault {
    /// Makes what is intended, for whom the vault is `held`.
    async fn make(
        &self,
        held: OwnedMutexGuard<Changing>,
        intents: Vec<Intent>,
        progress: &Progress,
        ledger: &dyn Ledger,
    ) -> Result<(OwnedMutexGuard<Changing>, Outcomes), ApplyError> {
        let (vault, going) = (self.clone(), progress.clone());
        let work = move || (held, stage(&vault, intents, &going));
        let (held, staged) = spawn_blocking(work).await.map_err(|_| ApplyError::Interrupted)?;
        note_files(ledger, &staged).await;
        let (vault, going) = (self.clone(), progress.clone());
        let work = move || (held, carry_out(&vault, staged, &going));
        spawn_blocking(work).await.map_err(|_| ApplyError::Interrupted)
    }

    /// What can be tried again; waits a while for programs that are in the middle of saving a note.
    async fn once_saved(&self, mut outcomes: Outcomes) -> Result<(Outcomes, Again), ApplyError> {
        let began = Instant::now();
        loop {
            let (vault, waited) = (self.clone(), began.elapsed());
            let look = move || {
                let again = rebase::again(&vault, &outcomes, waited);
                (outcomes, again)
            };
            let again;
            (outcomes, again) = spawn_blocking(look).await.map_err(|_| ApplyError::Interrupted)?;
            match again.pause {
                Some(pause) if began.elapsed() < rebase::WAIT => tokio::time::sleep(pause).await,
                _ => return Ok((outcomes, again)),
            }
        }
    }
}

/// Whether the ledger knows how all changes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    All,
    Part,
}

/// How far an order has come.
#[derive(Default)]
struct Course {
    ended: Outcomes,
    /// Stale, and about to be tried again.
    stale: Outcomes,
    /// Made on something else than what they were planned on.
    rebased: Vec<EffectId>,
}

impl Course {
    /// The notes that are in the trash now, and their names there.
    fn trashed(&self) -> Vec<(NotePath, String)> {
        let is_trash = |intent: &Intent| matches!(intent.change.act, Act::Trash { .. });
        let done = self.ended.iter().filter(|(intent, how)| how.is_ok() && is_trash(intent));
        done.map(|(intent, _)| (intent.change.path.clone(), intent.temp_name.clone())).collect()
    }

    /// Takes in how one try ended; returns what to try next.
    fn take(&mut self, outcomes: Outcomes, again: Again) -> Vec<Intent> {
        for (intent, outcome) in outcomes {
            if again.instead_of.contains(&intent.effect) {
                self.stale.push((intent, outcome));
            } else if again.there_already.contains(&intent.effect) {
                self.ended.push((intent, Ok(None)));
            } else {
                self.ended.push((intent, outcome));
            }
        }
        self.rebased.extend(again.rebased);
        again.intents
    }

    fn applied(self, places: &[NotePath]) -> Applied {
        let Self { mut ended, stale, rebased } = self;
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

impl Order {
    fn into_intents(self, vault: &Vault) -> Vec<Intent> {
        let Self { change_set, changes } = self;
        let mut trashed = Vec::new();
        let mut name = |change: &Change| match change.act {
            Act::Trash { .. } | Act::TrashFolder { .. } => {
                let name = trash::free_name(vault, change.path.name(), &trashed);
                trashed.push(name.clone());
                name
            }
            _ => temp_name(),
        };
        let mut touched = Touched::default();
        let intent = |Planned { change, turn, call, unit, file }| {
            let stands = touched.base(vault, &change);
            // Where an earlier change of the order makes the file there is none to ask for.
            let meant = file.filter(|_| stands.is_some());
            Intent {
                effect: EffectId::from(Uuid::now_v7()),
                change_set: change_set.clone(),
                turn,
                call,
                unit,
                temp_name: name(&change),
                base: meant.or(stands),
                is_exact: meant.is_some(),
                staged: None,
                change,
            }
        };
        changes.into_iter().map(intent).collect()
    }
}

/// What earlier changes of an order are about: the file that a later one changes is not there yet.
#[derive(Default)]
pub(crate) struct Touched {
    paths: HashSet<NotePath>,
    folders: Vec<NotePath>,
}

impl Touched {
    /// The file that `change` is made on, if no earlier change of the order makes it.
    pub(crate) fn base(&mut self, vault: &Vault, change: &Change) -> Option<FileId> {
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
        is_fresh.then(|| vault.file_id(&change.path)).flatten()
    }
}

/// A name for a temporary file that nothing has.
pub(crate) fn temp_name() -> String {
    format!("{TEMP_PREFIX}{:016x}{TEMP_SUFFIX}", fastrand::u64(..))
}

/// Stores how intents ended, but for those of which nobody knows. The notes are what counts: if the
/// ledger does not take it, the next recovery finds the same out again.
pub(crate) async fn settle(ledger: &dyn Ledger, outcomes: &Outcomes) -> Settled {
    let ended = |(intent, outcome): &(Intent, Result<Left, Refusal>)| {
        let state = outcome.as_ref().map_or_else(|refusal| refusal.state, |_| IntentState::Done);
        let file = outcome.as_ref().ok().copied().flatten();
        (state != IntentState::Open).then(|| Ended { effect: intent.effect.clone(), state, file })
    };
    let ended: Vec<_> = outcomes.iter().filter_map(ended).collect();
    if !ended.is_empty()
        && let Err(error) = step!("settle", ledger.settle(&ended).await)
    {
        tracing::warn!(%error, "how changes ended could not be stored");
        return Settled::Part;
    }
    if ended.len() == outcomes.len() { Settled::All } else { Settled::Part }
}

/// Follows the files that changes left from now on, and those that they did not change.
pub(crate) fn follow(vault: &Vault, outcomes: &Outcomes) {
    let refused = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
    let as_before = refused.filter_map(|(intent, _)| Some((&intent.change.path, intent.base?)));
    vault.follow_files(as_before.map(|(path, base)| (path.clone(), base)));
    let left: Vec<(&Intent, FileId)> = outcomes
        .iter()
        .filter_map(|(intent, outcome)| Some((intent, outcome.as_ref().ok().copied()??)))
        .collect();
    for (at, (intent, file)) in left.iter().enumerate() {
        let left_at = intent.change.target().unwrap_or(&intent.change.path).clone();
        // What later changes of the order renamed is followed where it is now.
        let later = left.iter().skip(at + 1).map(|(intent, _)| &intent.change);
        let path = later.fold(left_at, |path, change| match change.target() {
            Some(target) => path.moved(&change.path, target).unwrap_or(path),
            None => path,
        });
        vault.follow_files([(path, *file)]);
    }
}

/// Groups in the order in which they are carried out, and those that are not, with why.
type Staged = Vec<Result<Group, Outcomes>>;

/// Makes everything ready. No folder is held open until it is carried out, because an order may touch more
/// folders than a process may hold open.
fn stage(vault: &Vault, intents: Vec<Intent>, progress: &Progress) -> Staged {
    let stage = |group| {
        if progress.is_stopped() { Err(unit::stopped(group)) } else { unit::stage(vault, group) }
    };
    unit::groups(intents).into_iter().map(stage).collect()
}

/// Stores which files were made ready. Without that a copy in the place of a changed note might be taken for
/// it after a kill, and nothing else happens.
async fn note_files(ledger: &dyn Ledger, staged: &Staged) {
    let groups = staged.iter().filter_map(|staged| staged.as_ref().ok());
    let files: Vec<_> = groups
        .flatten()
        .filter_map(|intent| Some((intent.effect.clone(), intent.staged?)))
        .collect();
    if !files.is_empty()
        && let Err(error) = step!("staged", ledger.staged(&files).await)
    {
        tracing::warn!(%error, "the files that were made ready could not be stored");
    }
}

/// Carries out what is ready. All temporary files are durable before the first note changes.
fn carry_out(vault: &Vault, staged: Staged, progress: &Progress) -> Outcomes {
    let commit = |staged: Result<Group, Outcomes>| match staged {
        Ok(group) if progress.is_stopped() => unit::give_up(vault, group),
        Ok(group) => {
            // The watch must not take our own exchange for somebody's save.
            for intent in &group {
                vault.seats().leave(&intent.change.path);
            }
            let outcomes = unit::commit(vault, group);
            // What is refused may be tried again.
            progress.advance(outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count());
            outcomes
        }
        Err(outcomes) => outcomes,
    };
    let mut all = Outcomes::new();
    for staged in staged {
        let outcomes = commit(staged);
        follow(vault, &outcomes);
        all.extend(outcomes);
    }
    all
}
