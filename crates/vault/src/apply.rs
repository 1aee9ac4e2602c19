//! Changing notes: intents first, then every temporary file, then one atomic step a note.

use protocol::{Act, CallId, Change, ChangeSetId, EffectId, Intent, IntentState, NotePath, TurnId};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::ledger::Ledger;
use crate::step::step;
use crate::swap::Refusal;
use crate::unit::{self, Group, Outcomes};
use crate::{ApplyError, Vault, VaultError, trash};

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
}

/// What became of an order. Every path of the order is in exactly one of the two.
#[derive(Debug, Default)]
pub struct Applied {
    /// Notes that now durably hold the bytes after, in the order of the changes.
    pub done: Vec<NotePath>,
    /// Notes that were left as they are, and why.
    pub problems: Vec<(NotePath, VaultError)>,
}

impl Vault {
    /// Carries out `order`, note by note: one that is stale or cannot be written does not stop
    /// the others, unless they are of one unit, which happens whole or not at all. A note's own
    /// folder is never without the note, not even for a moment.
    ///
    /// Cancel safe: if the future is dropped, the files are finished behind it and the intents
    /// stay open until [`Vault::recover`] settles them. Orders run one after the other.
    pub async fn apply(&self, order: Order, ledger: &dyn Ledger) -> Result<Applied, ApplyError> {
        let held = self.changing().lock_owned().await;
        let intents = order.into_intents(self);
        if intents.is_empty() {
            return Ok(Applied::default());
        }
        step!("intend", ledger.intend(&intents).await)?;
        let vault = self.clone();
        let work = move || (held, carry_out(&vault, intents));
        let (_held, outcomes) = spawn_blocking(work).await.map_err(|_| ApplyError::Interrupted)?;
        let mut applied = Applied::default();
        settle(ledger, &outcomes).await;
        for (intent, outcome) in outcomes {
            match outcome {
                Ok(()) => applied.done.push(intent.change.path),
                Err(refusal) => applied.problems.push((intent.change.path, refusal.why)),
            }
        }
        Ok(applied)
    }
}

impl Order {
    fn into_intents(self, vault: &Vault) -> Vec<Intent> {
        let Self { change_set, changes } = self;
        let mut trashed = Vec::new();
        let mut name = |change: &Change| match change.act {
            Act::Trash { .. } | Act::TrashFolder => {
                let name = trash::free_name(vault, change.path.name(), &trashed);
                trashed.push(name.clone());
                name
            }
            _ => format!(".vaultmate-{:016x}.tmp", fastrand::u64(..)),
        };
        let intent = |Planned { change, turn, call, unit }| Intent {
            effect: EffectId::from(Uuid::now_v7()),
            change_set: change_set.clone(),
            turn,
            call,
            unit,
            temp_name: name(&change),
            change,
        };
        changes.into_iter().map(intent).collect()
    }
}

/// Stores how intents ended, but for those of which nobody knows. The notes are what counts: if the
/// ledger does not take it, the next recovery finds the same out again.
pub(crate) async fn settle(ledger: &dyn Ledger, outcomes: &Outcomes) {
    let ended = |(intent, outcome): &(Intent, Result<(), Refusal>)| {
        let state = outcome.as_ref().map_or_else(|refusal| refusal.state, |()| IntentState::Done);
        (state != IntentState::Open).then(|| (intent.effect.clone(), state))
    };
    let ended: Vec<_> = outcomes.iter().filter_map(ended).collect();
    if !ended.is_empty()
        && let Err(error) = step!("settle", ledger.settle(&ended).await)
    {
        tracing::warn!(%error, "how changes ended could not be stored");
    }
}

/// All temporary files are durable before the first note changes. No folder is held open between
/// the two, because an order may touch more folders than a process may hold open.
fn carry_out(vault: &Vault, intents: Vec<Intent>) -> Outcomes {
    let staged = unit::groups(intents).into_iter().map(|group| unit::stage(vault, group));
    let staged: Vec<_> = staged.collect();
    let commit = |staged: Result<Group, Outcomes>| match staged {
        Ok(group) => unit::commit(vault, group),
        Err(outcomes) => outcomes,
    };
    staged.into_iter().flat_map(commit).collect()
}
