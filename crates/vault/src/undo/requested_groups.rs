//! Which effects of a unit are undone together.

use std::collections::HashSet;

use protocol::{CallId, ChangeKind, ChangeSetId, Effect, TurnId};

use super::Hunks;

/// A unit of a change set.
pub(super) type UnitKey<'a> = (&'a ChangeSetId, &'a CallId);

fn unit_key(effect: &Effect) -> Option<UnitKey<'_>> {
    Some((&effect.change_set, effect.unit.as_ref()?))
}

/// The units of effects that are undone whole. Several turns may have planned one unit. The undo includes all that the
/// turns of these effects planned there, and all of each turn that moves something there: a move and the links to it
/// belong together. Another turn that only edited, created or deleted notes keeps its changes: they need no move. A turn
/// of which only creations are undone keeps the rest of its changes too, unless it moves something itself.
pub(super) struct RequestedGroups<'a> {
    /// The turns of these effects, by unit.
    turns: HashSet<(UnitKey<'a>, &'a TurnId)>,
    /// The units in which more than creations is undone. Those need no move to be undone.
    units: HashSet<UnitKey<'a>>,
    /// The turns that move something, by unit.
    moving: HashSet<(UnitKey<'a>, &'a TurnId)>,
    /// Those where the links that a move rewrote go back with it.
    undone_moves: HashSet<UnitKey<'a>>,
}

impl<'a> RequestedGroups<'a> {
    pub(super) fn new(
        standing: impl Iterator<Item = &'a Effect>,
        whole: impl Iterator<Item = &'a Effect>,
    ) -> Self {
        let turn_of = |effect: &'a Effect| Some((unit_key(effect)?, &effect.turn));
        let is_move =
            |effect: &&Effect| matches!(effect.kind, ChangeKind::Rename | ChangeKind::RenameFolder);
        let whole: Vec<&'a Effect> = whole.collect();
        let more = whole.iter().copied().filter(|effect| !is_new(effect));
        let turns: HashSet<(UnitKey<'a>, &'a TurnId)> =
            whole.iter().copied().filter_map(turn_of).collect();
        let units: HashSet<UnitKey<'a>> = more.filter_map(unit_key).collect();
        let moving: HashSet<(UnitKey<'a>, &'a TurnId)> =
            standing.filter(is_move).filter_map(turn_of).collect();
        let is_undone = |of_turn: &&(UnitKey<'a>, &'a TurnId)| {
            units.contains(&of_turn.0) || turns.contains(*of_turn)
        };
        let undone_moves = moving.iter().filter(is_undone).map(|(unit, _)| *unit).collect();
        Self { turns, units, moving, undone_moves }
    }

    /// Whether the undo of these effects undoes another effect of their units too.
    pub(super) fn are_undone_with(&self, effect: &Effect) -> bool {
        let Some(unit) = unit_key(effect) else { return false };
        let of_turn = (unit, &effect.turn);
        match self.units.contains(&unit) {
            true => self.turns.contains(&of_turn) || self.moving.contains(&of_turn),
            false => self.turns.contains(&of_turn) && self.moving.contains(&of_turn),
        }
    }

    /// Whether the undo of these effects undoes a move of the unit of an effect.
    pub(super) fn undo_move_with(&self, effect: &Effect) -> bool {
        unit_key(effect).is_some_and(|unit| self.undone_moves.contains(&unit))
    }

    /// The unit with which an effect is undone all or not at all. An effect that is requested by its hunks while the
    /// moves of its unit stand is undone by itself, and so is a creation of a turn that moves nothing there.
    pub(super) fn group_of<'e>(
        &self,
        effect: &'e Effect,
        requested: Option<&Hunks>,
    ) -> Option<UnitKey<'e>> {
        let unit = unit_key(effect)?;
        let is_grouped = match requested {
            Some(Hunks::Some(_)) => self.undo_move_with(effect),
            Some(Hunks::All) | None if is_new(effect) => {
                self.moving.contains(&(unit, &effect.turn))
            }
            Some(Hunks::All) | None => true,
        };
        is_grouped.then_some(unit)
    }
}

const fn is_new(effect: &Effect) -> bool {
    matches!(effect.kind, ChangeKind::Create | ChangeKind::MakeFolder)
}
