//! Which effects count, and which were undone: an undo that was itself undone does not count. An edit that only rewrote
//! links for moves of its unit does not count while these moves are undone.

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
pub struct Reverts {
    by_effect: HashMap<EffectId, Vec<Revert>>,
    edits_with_moves: HashMap<EffectId, EditWithMoves>,
}

/// An edit with hunks that only rewrote links for moves of its unit.
#[derive(Debug)]
struct EditWithMoves {
    moves: Vec<EffectId>,
    other_hunks: BTreeSet<usize>,
}

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
        Self { by_effect: all, edits_with_moves: HashMap::new() }
    }

    /// Adds an edit with hunks that only rewrote links for these moves, of which there is one at least, and its other
    /// hunks. It counts as undone while all the moves and the other hunks are.
    pub fn add_edit_with_moves(
        &mut self,
        edit: EffectId,
        moves: Vec<EffectId>,
        other_hunks: BTreeSet<usize>,
    ) {
        self.edits_with_moves.insert(edit, EditWithMoves { moves, other_hunks });
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
        for done in self.by_effect.get(effect).into_iter().flatten() {
            match (self.resolve_part(&done.by, resolved), &done.hunks) {
                (EffectivePart::Nothing, _) => {}
                (_, Hunks::All) => return EffectivePart::Nothing,
                (_, Hunks::Some(hunks)) => gone.extend(hunks),
            }
        }
        if self.is_undone_with_moves(effect, &gone, resolved) {
            return EffectivePart::Nothing;
        }
        if gone.is_empty() { EffectivePart::Whole } else { EffectivePart::Without(gone) }
    }

    /// Whether the hunks of an effect that are left only rewrote links for moves, and all these moves are undone.
    fn is_undone_with_moves(
        &self,
        effect: &EffectId,
        gone: &BTreeSet<usize>,
        resolved: &mut HashMap<EffectId, EffectivePart>,
    ) -> bool {
        self.edits_with_moves.get(effect).is_some_and(|edit| {
            let mut moves = edit.moves.iter();
            edit.other_hunks.is_subset(gone)
                && moves.all(|one| self.resolve_part(one, resolved) == EffectivePart::Nothing)
        })
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
    use std::collections::BTreeSet;

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

    fn id(name: &str) -> EffectId {
        EffectId::from(name.to_owned())
    }

    fn revert(by: &str, effect: &str, hunks: Hunks) -> Revert {
        Revert { by: id(by), effect: id(effect), hunks }
    }

    /// The rest of an edit in whose hunk 0 two moves rewrote a link, with this other hunk.
    #[track_caller]
    fn check_edit_with_moves(other: Option<usize>, reverts: &[Revert], expected: EffectivePart) {
        let mut reverts = Reverts::from_reverts(reverts.iter().cloned());
        let moves = vec![id("move 1"), id("move 2")];
        reverts.add_edit_with_moves(id("edit"), moves, other.into_iter().collect());
        assert_eq!(reverts.effective_part(&id("edit")), expected);
    }

    #[test]
    fn an_edit_of_links_alone_is_undone_while_all_its_moves_are() {
        let undo = ["move 1", "move 2"].map(|one| revert("undo", one, Hunks::All));
        let part = Hunks::Some(BTreeSet::from([0]));
        check_edit_with_moves(None, &[], EffectivePart::Whole);
        check_edit_with_moves(None, &undo, EffectivePart::Nothing);
        // The control: one of the moves stands.
        check_edit_with_moves(None, &undo[..1], EffectivePart::Whole);
        let in_part = [undo.to_vec(), vec![revert("undo", "edit", part)]].concat();
        check_edit_with_moves(None, &in_part, EffectivePart::Nothing);
        let redone = [in_part, vec![revert("redo", "undo", Hunks::All)]].concat();
        check_edit_with_moves(None, &redone, EffectivePart::Whole);
        let again = [redone, vec![revert("undo 2", "redo", Hunks::All)]].concat();
        check_edit_with_moves(None, &again, EffectivePart::Nothing);
    }

    #[test]
    fn an_edit_of_more_than_links_is_undone_with_its_other_hunks() {
        let undo = ["move 1", "move 2"].map(|one| revert("undo", one, Hunks::All)).to_vec();
        check_edit_with_moves(Some(1), &undo, EffectivePart::Whole);
        let other = revert("other", "edit", Hunks::Some(BTreeSet::from([1])));
        let without = EffectivePart::Without(BTreeSet::from([1]));
        check_edit_with_moves(Some(1), std::slice::from_ref(&other), without);
        check_edit_with_moves(Some(1), &[undo, vec![other]].concat(), EffectivePart::Nothing);
    }

    /// An edit of an undo that was left when the undo was undone: it undoes nothing any more.
    #[test]
    fn an_edit_that_is_undone_with_its_moves_undoes_nothing() {
        let undo =
            [revert("move back", "move", Hunks::All), revert("link back", "link", Hunks::All)];
        let redo = revert("redo", "move back", Hunks::All);
        let mut reverts = Reverts::from_reverts(undo.into_iter().chain([redo]));
        assert_eq!(reverts.effective_part(&id("link")), EffectivePart::Nothing);
        reverts.add_edit_with_moves(id("link back"), vec![id("move back")], BTreeSet::new());
        assert_eq!(reverts.effective_part(&id("link")), EffectivePart::Whole);
    }
}
