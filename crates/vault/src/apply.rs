//! Changing notes: intents first, then every temporary file, then one atomic rename a note.

use protocol::{CallId, Change, ChangeSetId, EffectId, Intent, IntentState, NotePath, TurnId};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::ledger::Ledger;
use crate::step::step;
use crate::swap::{self, Refusal};
use crate::{ApplyError, Vault, VaultError};

/// Changes to carry out together, at most one a path.
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
    /// the others. A note's own folder is never without the note, not even for a moment.
    ///
    /// Cancel safe: if the future is dropped, the files are finished behind it and the intents
    /// stay open until [`Vault::recover`] settles them. Orders run one after the other.
    pub async fn apply(&self, order: Order, ledger: &dyn Ledger) -> Result<Applied, ApplyError> {
        let held = self.changing().lock_owned().await;
        let intents = order.into_intents();
        if intents.is_empty() {
            return Ok(Applied::default());
        }
        step!("intend", ledger.intend(&intents).await)?;
        let vault = self.clone();
        let work = move || (held, carry_out(&vault, intents));
        let (_held, outcomes) = spawn_blocking(work).await.map_err(|_| ApplyError::Interrupted)?;
        let mut applied = Applied::default();
        for (intent, outcome) in outcomes {
            settle(ledger, &intent, &outcome).await;
            match outcome {
                Ok(()) => applied.done.push(intent.change.path),
                Err(refusal) => applied.problems.push((intent.change.path, refusal.why)),
            }
        }
        Ok(applied)
    }
}

impl Order {
    fn into_intents(self) -> Vec<Intent> {
        let Self { change_set, changes } = self;
        let intent = |Planned { change, turn, call }| Intent {
            effect: EffectId::from(Uuid::now_v7()),
            change_set: change_set.clone(),
            turn,
            call,
            temp_name: format!(".vaultmate-{:016x}.tmp", fastrand::u64(..)),
            change,
        };
        changes.into_iter().map(intent).collect()
    }
}

/// Stores how an intent ended, unless nobody knows. The note is what counts: if the ledger does
/// not take it, the next recovery finds the same out again.
pub(crate) async fn settle(ledger: &dyn Ledger, intent: &Intent, outcome: &Result<(), Refusal>) {
    let state = outcome.as_ref().map_or_else(|refusal| refusal.state, |()| IntentState::Done);
    if state == IntentState::Open {
        return;
    }
    if let Err(error) = step!("settle", ledger.settle(&intent.effect, state).await) {
        tracing::warn!(%error, effect = %intent.effect, "how a change ended could not be stored");
    }
}

/// All temporary files are durable before the first note changes. No folder is held open between
/// the two, because an order may touch more folders than a process may hold open.
fn carry_out(vault: &Vault, intents: Vec<Intent>) -> Vec<(Intent, Result<(), Refusal>)> {
    let stage = |intent: Intent| {
        let staged = swap::stage(vault, &intent);
        (intent, staged)
    };
    let staged: Vec<_> = intents.into_iter().map(stage).collect();
    let commit = |(intent, staged): (Intent, Result<(), Refusal>)| {
        let outcome = staged.and_then(|()| swap::commit(vault, &intent));
        (intent, outcome)
    };
    staged.into_iter().map(commit).collect()
}
