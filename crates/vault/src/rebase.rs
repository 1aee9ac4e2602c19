//! An edit whose note changed elsewhere is made on what is there now.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::{Act, Change, EffectId, FileId, Intent};
use uuid::Uuid;

use crate::apply::{Touched, temp_name};
use crate::folder::is_same;
use crate::merge::merge;
use crate::swap::Refusal;
use crate::unit::{self, Group, Outcomes};
use crate::{Vault, VaultError, read};

/// So often an edit is made anew in any case when the note changes again meanwhile. An editor that
/// saves every two seconds needs one.
const FEW: usize = 6;
/// So often at most: a program that never stops writing shall not hold up the others.
const MANY: usize = 40;
/// More than a few only for so long. A unit of many notes takes a while to make ready, and each note
/// of it that is saved meanwhile wants another try.
const LONG: Duration = Duration::from_secs(5);

/// A save is over so long after its last write.
const SETTLING: Duration = Duration::from_millis(20);

/// The same for a note that holds nothing, or not the end of what it held: a program that empties a
/// file first can be held up before it writes.
const SETTLING_CUT: Duration = Duration::from_millis(500);

/// For how long at most a note that is being saved, or that a program has open for writing, holds up the
/// others. A save in several writes is over by then.
pub(crate) const WAIT: Duration = Duration::from_secs(5);

/// How long to wait for a note that is not there: some programs remove it for a moment when they save.
const MISSING: Duration = Duration::from_millis(250);

/// How long to wait until a watch has told whether a file that took the note's place goes on as the note.
const REPLACED: Duration = Duration::from_millis(500);

/// How soon to look again whether a program has a note still open for writing.
const OPEN: Duration = Duration::from_millis(25);

/// Whether an order is tried once more.
#[derive(Debug)]
pub(crate) struct Patience {
    began: Instant,
}

impl Default for Patience {
    fn default() -> Self {
        Self { began: Instant::now() }
    }
}

impl Patience {
    /// Whether it lasts after so many tries.
    pub(crate) fn lasts(&self, tries: usize) -> bool {
        tries < FEW || (tries < MANY && self.began.elapsed() < LONG)
    }
}

/// What can be tried again of an order.
#[derive(Debug, Default)]
pub(crate) struct Again {
    /// The intents to carry out instead of stale ones, with the bytes that are there now as
    /// `before`.
    pub(crate) intents: Vec<Intent>,
    /// Of these, the ones whose note is not as it was when they were planned.
    pub(crate) rebased: Vec<EffectId>,
    /// The stale ones that they stand for.
    pub(crate) instead_of: Vec<EffectId>,
    /// Stale ones whose change is in the note already.
    pub(crate) there_already: Vec<EffectId>,
    /// For how long to wait before looking again: another program may be in the middle of saving
    /// a note that the others cannot be made on.
    pub(crate) pause: Option<Duration>,
}

/// Finds stale edits whose own lines are as they were, and plans them on the notes as they are.
/// Touches nothing. It was waited for so long already.
pub(crate) fn again(vault: &Vault, outcomes: &Outcomes, waited: Duration) -> Again {
    let why: HashMap<&EffectId, &Refusal> = outcomes
        .iter()
        .filter_map(|(intent, outcome)| Some((&intent.effect, outcome.as_ref().err()?)))
        .collect();
    let refused = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
    let refused = refused.map(|(intent, _)| intent.clone()).collect();
    let mut again = Again::default();
    let is_stale = |intent: &Intent| {
        why.get(&intent.effect).is_some_and(|refusal| {
            matches!(
                refusal.why,
                VaultError::Stale { .. }
                    | VaultError::BeingWritten { .. }
                    | VaultError::NotFound { .. }
                    | VaultError::TakenBack { .. }
            )
        })
    };
    let is_missing = |intent: &Intent| {
        intent.change.before().is_some() && vault.file_id(&intent.change.path).is_none()
    };
    for group in unit::groups(refused) {
        if !group.iter().all(is_stale) {
            continue;
        }
        let being_written = |intent: &Intent| match &why.get(&intent.effect)?.why {
            VaultError::BeingWritten { path } => Some(vault.is_being_written(path)),
            _ => Some(vault.is_being_written(&intent.change.path)),
        };
        let replaced = |intent: &Intent| !is_meant_still(vault, intent);
        if group.iter().any(|intent| being_written(intent) == Some(true))
            || (waited < MISSING && group.iter().any(is_missing))
            || (waited < REPLACED && group.iter().any(replaced))
        {
            again.pause = again.pause.max(Some(OPEN));
        } else if !group.iter().any(is_missing) && !group.iter().any(replaced) {
            again.add(vault, &group);
        }
    }
    again
}

impl Again {
    /// Plans a group anew, if each edit of it can be.
    fn add(&mut self, vault: &Vault, group: &Group) {
        let effects = || group.iter().map(|intent| intent.effect.clone());
        let mut planned = Vec::with_capacity(group.len());
        for intent in group {
            let Some(change) = on_what_is_there(vault, &intent.change) else {
                self.pause = self.pause.max(unsettled(vault, &intent.change));
                return;
            };
            planned.push(change);
        }
        let is_idle =
            |change: &Change| change.before().is_some() && change.before() == change.after();
        if planned.iter().all(is_idle) {
            self.there_already.extend(effects());
            return;
        }
        self.instead_of.extend(effects());
        let mut touched = Touched::default();
        for (intent, change) in group.iter().zip(planned) {
            let effect = EffectId::from(Uuid::now_v7());
            if change.before() != intent.change.before() {
                self.rebased.push(effect.clone());
            }
            let temp_name = match change.act {
                Act::Create { .. } | Act::Replace { .. } => temp_name(),
                // For the trash it is the name there.
                _ => intent.temp_name.clone(),
            };
            let base = touched.base(vault, &change);
            let base = if intent.is_exact { goes_on_as(vault, intent) } else { base };
            self.intents.push(Intent {
                effect,
                temp_name,
                base,
                staged: None,
                change,
                ..intent.clone()
            });
        }
    }
}

/// The file that a change which keeps to its file is about by now: a program that saves the note puts a
/// new one in its place.
fn goes_on_as(vault: &Vault, intent: &Intent) -> Option<FileId> {
    let (base, now) = (intent.base?, vault.file_id(&intent.change.path)?);
    (is_same(base, now) || vault.goes_on(base, now)).then_some(now)
}

fn is_meant_still(vault: &Vault, intent: &Intent) -> bool {
    !intent.is_exact || goes_on_as(vault, intent).is_some()
}

/// For how long the note cannot be trusted to be whole: programs empty a file first and write it a
/// moment later.
fn unsettled(vault: &Vault, change: &Change) -> Option<Duration> {
    let stat = vault.root().stat(change.path.as_str()).ok()?;
    let now = vault.bytes(&change.path).unwrap_or_default();
    let is_cut =
        change.before().is_some_and(|before| now.len() < before.len() && before.starts_with(&now));
    let settling = if is_cut { SETTLING_CUT } else { SETTLING };
    let written = u64::try_from(read::modified(&stat).0).ok()?;
    let age = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let age = age.checked_sub(Duration::from_millis(written))?;
    settling.checked_sub(age).filter(|pause| !pause.is_zero())
}

/// The same change of the note as it is now; `None` where the lines it is about are not as they
/// were, or the note cannot be read.
fn on_what_is_there(vault: &Vault, change: &Change) -> Option<Change> {
    let Act::Replace { before, after } = &change.act else {
        // A rename does not care what is in the note, and other acts say themselves.
        return Some(change.clone());
    };
    let now = vault.bytes(&change.path).ok()?;
    let merged = merge(before, &now, after).apart()?;
    Some(Change::replace(change.path.clone(), now, merged))
}
