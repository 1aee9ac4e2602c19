//! Which turns of this run of the program heard how much, of the newest of them.

use std::collections::{HashMap, VecDeque};

use protocol::TurnId;

/// So many turns are remembered. Those before are judged by what stands in them, as after a restart.
const REMEMBERED: usize = 1_000;

/// The fingerprints of what was hidden from turns.
#[derive(Debug, Clone, Default)]
pub(super) struct Clean {
    fingerprints: HashMap<TurnId, u64>,
    /// Oldest first.
    order: VecDeque<TurnId>,
}

impl Clean {
    /// All that a turn hears from now on is without what this fingerprint is of.
    pub(super) fn insert(&mut self, turn: &TurnId, fingerprint: u64) {
        if self.fingerprints.insert(turn.clone(), fingerprint).is_none() {
            self.order.push_back(turn.clone());
        }
        while self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.fingerprints.remove(&oldest);
        }
    }

    /// The turn heard something else as well.
    pub(super) fn forget(&mut self, turn: &TurnId) {
        if self.fingerprints.remove(turn).is_some() {
            self.order.retain(|other| other != turn);
        }
    }

    /// Whether exactly what this fingerprint is of was hidden from the turn, as far as is known.
    pub(super) fn has(&self, turn: &TurnId, fingerprint: u64) -> bool {
        self.fingerprints.get(turn) == Some(&fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: usize) -> TurnId {
        TurnId::from(number.to_string().as_str())
    }

    #[test]
    fn the_newest_turns_are_remembered_however_many_there_were() {
        let mut clean = Clean::default();
        for number in 0..3 * REMEMBERED {
            clean.insert(&turn(number), 7);
        }
        assert_eq!(clean.fingerprints.len(), REMEMBERED);
        assert!(!clean.has(&turn(2 * REMEMBERED - 1), 7));
        assert!(clean.has(&turn(2 * REMEMBERED), 7) && clean.has(&turn(3 * REMEMBERED - 1), 7));
    }

    #[test]
    fn a_turn_that_is_forgotten_and_begins_again_is_known_by_its_new_fingerprint() {
        let mut clean = Clean::default();
        clean.insert(&turn(1), 7);
        clean.forget(&turn(1));
        assert!(!clean.has(&turn(1), 7));
        for _ in 0..3 * REMEMBERED {
            clean.forget(&turn(1));
            clean.insert(&turn(1), 8);
        }
        assert!(clean.has(&turn(1), 8) && !clean.has(&turn(1), 7));
        assert_eq!(clean.order.len(), 1);
    }
}
