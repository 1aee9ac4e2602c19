//! Which effects count, and which were taken back: a taking back that was itself taken back is none.

use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::EffectId;

use super::Hunks;

/// That one effect took another one back, in whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The effect that did it.
    pub by: EffectId,
    /// The one that it took back.
    pub effect: EffectId,
    /// How much of it.
    pub hunks: Hunks,
}

/// All that was ever taken back.
#[derive(Debug, Default)]
pub struct Standings(HashMap<EffectId, Vec<Done>>);

/// What of an effect still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counts {
    /// All of it.
    Whole,
    /// It, but for these hunks.
    Without(BTreeSet<usize>),
    /// Nothing.
    Nothing,
}

impl Standings {
    /// From everything that was done, in any order.
    #[must_use]
    pub fn of(done: impl IntoIterator<Item = Done>) -> Self {
        let mut all: HashMap<EffectId, Vec<Done>> = HashMap::new();
        for done in done {
            all.entry(done.effect.clone()).or_default().push(done);
        }
        Self(all)
    }

    /// What of an effect still counts, where it is known how many hunks it has.
    #[must_use]
    pub fn counts(&self, effect: &EffectId) -> Counts {
        self.look(effect, &mut HashSet::new())
    }

    fn look(&self, effect: &EffectId, asked: &mut HashSet<EffectId>) -> Counts {
        let mut gone = BTreeSet::new();
        // No effect takes back a later one, so nothing is asked twice on the way; but what was
        // stored wrongly must not be followed for ever.
        if !asked.insert(effect.clone()) {
            return Counts::Whole;
        }
        for done in self.0.get(effect).into_iter().flatten() {
            match (self.look(&done.by, asked), &done.hunks) {
                (Counts::Nothing, _) => {}
                (_, Hunks::All) => {
                    asked.remove(effect);
                    return Counts::Nothing;
                }
                (_, Hunks::Some(hunks)) => gone.extend(hunks),
            }
        }
        asked.remove(effect);
        if gone.is_empty() { Counts::Whole } else { Counts::Without(gone) }
    }
}

impl Hunks {
    /// Whether a hunk is among them.
    #[must_use]
    pub fn has(&self, hunk: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(hunks) => hunks.contains(&hunk),
        }
    }
}
