//! The control for identity: which note is taken for the one that an effect left by who goes by its
//! text and its name.

use std::collections::{BTreeSet, HashSet};

use protocol::{EffectId, NotePath};

use crate::simulation::{LineId, SimulatedVault};

/// How often the right note was guessed, and how often another one.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct GuessScore {
    pub(crate) right: usize,
    pub(crate) wrong: usize,
}

impl GuessScore {
    pub(crate) fn and(self, other: Self) -> Self {
        Self { right: self.right + other.right, wrong: self.wrong + other.wrong }
    }
}

/// The score of guessing for some effects.
pub(crate) fn guesses(world: &SimulatedVault, effects: &BTreeSet<EffectId>) -> GuessScore {
    let mut guesses = GuessScore::default();
    for effect in effects {
        let at = world.position(effect);
        match guessed(world, at).map(|path| world.notes[path].identity == world.note_of_effect[at])
        {
            Some(true) => guesses.right += 1,
            Some(false) => guesses.wrong += 1,
            None => {}
        }
    }
    guesses
}

/// Where it was, if some line is the same; else the only note that says the same; else the one of its
/// name with the most lines of it.
fn guessed(world: &SimulatedVault, at: usize) -> Option<&NotePath> {
    let effect = &world.ledger[at];
    let home = effect.target.as_ref().unwrap_or(&effect.path);
    let (before, after) = &world.lines[&effect.id];
    let said = if after.is_empty() { before } else { after };
    let shared = |lines: &[LineId]| {
        let said: HashSet<&LineId> = said.iter().collect();
        lines.iter().filter(|line| said.contains(line)).count()
    };
    if let Some((path, note)) = world.notes.get_key_value(home)
        && shared(&note.lines) > 0
    {
        return Some(path);
    }
    let mut same = world.notes.iter().filter(|(_, note)| note.lines == *said);
    if let (Some((path, _)), None) = (same.next(), same.next()) {
        return Some(path);
    }
    let named = world.notes.iter().filter(|(path, _)| path.name() == home.name());
    let scored =
        named.map(|(path, note)| (shared(&note.lines), path)).filter(|(score, _)| *score > 0);
    scored.max().map(|(_, path)| path)
}
