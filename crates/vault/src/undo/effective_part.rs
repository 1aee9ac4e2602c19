//! Which effects count, and which were undone: an undo that was itself undone does not count.

use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::EffectId;

use super::Hunks;

/// One effect undid another one, in whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    /// The effect that did it.
    pub by: EffectId,
    /// The one that it undid.
    pub effect: EffectId,
    /// The undone hunks of that effect.
    pub hunks: Hunks,
}

/// All reverts of the ledger.
#[derive(Debug, Default)]
pub struct Reverts(HashMap<EffectId, Vec<Revert>>);

/// The part of an effect that still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectivePart {
    /// None of it is undone.
    Whole,
    /// It, but for these hunks.
    Without(BTreeSet<usize>),
    /// The whole effect is undone.
    Nothing,
}

impl Reverts {
    /// From everything that was done, in any order.
    #[must_use]
    pub fn from_reverts(done: impl IntoIterator<Item = Revert>) -> Self {
        let mut all: HashMap<EffectId, Vec<Revert>> = HashMap::new();
        for done in done {
            all.entry(done.effect.clone()).or_default().push(done);
        }
        Self(all)
    }

    /// The part of an effect that still counts, if the number of its hunks is known.
    #[must_use]
    pub fn effective_part(&self, effect: &EffectId) -> EffectivePart {
        self.resolve_part(effect, &mut HashSet::new())
    }

    fn resolve_part(&self, effect: &EffectId, asked: &mut HashSet<EffectId>) -> EffectivePart {
        let mut gone = BTreeSet::new();
        // No effect undoes a later one, so no effect is visited twice on the way; but wrongly
        // stored reverts must not be followed for ever.
        if !asked.insert(effect.clone()) {
            return EffectivePart::Whole;
        }
        for done in self.0.get(effect).into_iter().flatten() {
            match (self.resolve_part(&done.by, asked), &done.hunks) {
                (EffectivePart::Nothing, _) => {}
                (_, Hunks::All) => {
                    asked.remove(effect);
                    return EffectivePart::Nothing;
                }
                (_, Hunks::Some(hunks)) => gone.extend(hunks),
            }
        }
        asked.remove(effect);
        if gone.is_empty() { EffectivePart::Whole } else { EffectivePart::Without(gone) }
    }
}

impl Hunks {
    /// Whether a hunk is among them.
    #[must_use]
    pub fn contains(&self, hunk: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(hunks) => hunks.contains(&hunk),
        }
    }
}
