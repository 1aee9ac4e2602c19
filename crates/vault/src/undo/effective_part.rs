//! Which effects count, and which were undone: an undo that was itself undone does not count.

use std::collections::{BTreeSet, HashMap};

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
        self.resolve_part(effect, &mut HashMap::new())
    }

    /// `resolved` holds the parts that are known already: effects that were undone together and redone
    /// one by one lead to each other along very many ways.
    fn resolve_part(
        &self,
        effect: &EffectId,
        resolved: &mut HashMap<EffectId, EffectivePart>,
    ) -> EffectivePart {
        if let Some(part) = resolved.get(effect) {
            return part.clone();
        }
        // No effect undoes a later one, so none leads to itself; but wrongly stored reverts must not
        // be followed for ever.
        resolved.insert(effect.clone(), EffectivePart::Whole);
        let part = self.part_without_reverts(effect, resolved);
        resolved.insert(effect.clone(), part.clone());
        part
    }

    fn part_without_reverts(
        &self,
        effect: &EffectId,
        resolved: &mut HashMap<EffectId, EffectivePart>,
    ) -> EffectivePart {
        let mut gone = BTreeSet::new();
        for done in self.0.get(effect).into_iter().flatten() {
            match (self.resolve_part(&done.by, resolved), &done.hunks) {
                (EffectivePart::Nothing, _) => {}
                (_, Hunks::All) => return EffectivePart::Nothing,
                (_, Hunks::Some(hunks)) => gone.extend(hunks),
            }
        }
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

#[cfg(test)]
mod tests {
    use super::{EffectId, EffectivePart, Hunks, Revert, Reverts};

    fn undoes<'a>(
        by: &str,
        effects: impl IntoIterator<Item = &'a String>,
    ) -> impl Iterator<Item = Revert> {
        let by = EffectId::from(by.to_owned());
        effects.into_iter().map(move |effect| Revert {
            by: by.clone(),
            effect: EffectId::from(effect.clone()),
            hunks: Hunks::All,
        })
    }

    /// Two to the power of sixty ways lead through these reverts.
    #[test]
    fn sixty_edits_that_were_undone_together_and_redone_one_by_one_are_all_whole() {
        let edits: Vec<String> = (0..60).map(|number| format!("edit {number}")).collect();
        let mut undos = vec!["undo".to_owned()];
        let mut reverts: Vec<Revert> = undoes("undo", &edits).collect();
        for (number, edit) in edits.iter().enumerate() {
            let redo = format!("redo of {edit}");
            reverts.extend(undoes(&redo, undos.iter().chain(edits.iter().skip(number + 1))));
            undos.push(redo);
        }
        let reverts = Reverts::from_reverts(reverts);
        for edit in edits {
            assert_eq!(reverts.effective_part(&EffectId::from(edit)), EffectivePart::Whole);
        }
        let gone = undos.iter().filter(|undo| {
            reverts.effective_part(&EffectId::from(undo.to_string())) == EffectivePart::Nothing
        });
        assert_eq!(gone.count(), 60, "the last redo counts");
    }
}
