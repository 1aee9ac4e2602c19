//! Requests to undo or reapply effects.

use std::collections::{BTreeMap, BTreeSet};

use protocol::EffectId;

/// The effects to undo or to reapply. To undo one effect of a unit whole is to undo all that its turn planned in the
/// unit, and all of each turn that moves something there ([`LedgerView::undone_with`](super::LedgerView::undone_with)); only the requested effects are
/// reapplied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRequest {
    /// The requested effects, and the hunks of each.
    pub effects: BTreeMap<EffectId, Hunks>,
    /// For requested effects that undid several edits of one note, the edits to make again and how much of each; the
    /// others stay undone. Those effects are not undone as a whole, but for those in `whole_first`.
    pub redone: BTreeMap<EffectId, BTreeMap<EffectId, Hunks>>,
    /// Effects in `redone` that are undone as a whole. If only a part of one can be undone, its edits are made again one
    /// by one, provided that the note gets the same text.
    pub whole_first: BTreeSet<EffectId>,
    /// Whether they are undone or reapplied.
    pub direction: UndoDirection,
}

/// Which hunks of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hunks {
    /// All of them, and everything else the effect did.
    All,
    /// These, by their places in [`crate::merge::hunks`] of its two versions.
    Some(BTreeSet<usize>),
}

/// Back or forth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoDirection {
    /// As if they had never been.
    Back,
    /// Again, where another program wrote the note as if they had never been. Only contents are made
    /// again: a rename, a deletion or a folder is not overwritten, so it is left as it is.
    Again,
}

impl UndoRequest {
    /// Undoes some effects whole.
    #[must_use]
    pub fn undo(effects: impl IntoIterator<Item = EffectId>) -> Self {
        let effects = effects.into_iter().map(|effect| (effect, Hunks::All)).collect();
        let (redone, whole_first) = (BTreeMap::new(), BTreeSet::new());
        Self { effects, redone, whole_first, direction: UndoDirection::Back }
    }

    /// As much of an edit as is to be made again.
    #[must_use]
    pub fn redone_hunks(&self, edit: &EffectId) -> Option<&Hunks> {
        self.redone.values().find_map(|edits| edits.get(edit))
    }
}
