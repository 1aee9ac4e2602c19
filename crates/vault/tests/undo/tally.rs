//! How often things happened in the random histories.

use crate::naive_identity::GuessScore;
use crate::naive_inverse::{NaiveInverse, NaiveInverseScore, old_line_numbers, whole_text_before};

/// How often things happened, so that a history that tests nothing is noticed.
#[derive(Debug, Default)]
pub(crate) struct HistoryTally {
    pub(crate) clean: usize,
    /// Notes without a conflict in plans with conflicts, each as if it had been undone alone.
    pub(crate) clean_among_conflicts: usize,
    /// Notes of certain effects where others of the request are not certain, each as if it had been undone alone.
    pub(crate) clean_among_asked: usize,
    pub(crate) conflicts: usize,
    pub(crate) redone: usize,
    pub(crate) renamed_by_hand: usize,
    pub(crate) by_hunk: usize,
    pub(crate) nothing_left: usize,
    /// Nobody could know which note is meant, and the user was asked.
    pub(crate) asked: usize,
    /// Notes that others copied, deleted, or put in the place of another.
    pub(crate) confused: usize,
    /// Notes that were moved or saved while the watch was off.
    pub(crate) unwatched: usize,
    pub(crate) linked: usize,
    pub(crate) moved_with_folder: usize,
    pub(crate) trashed_folders: usize,
    pub(crate) restored_folders: usize,
    /// Notes that the user took out of the trash.
    pub(crate) taken_out: usize,
    /// Uncertain notes that a planner would have changed if it took every move for one that was seen.
    pub(crate) credulous: usize,
    pub(crate) guesses: GuessScore,
    /// For each of [`NAIVE_INVERSES`].
    pub(crate) careless: [NaiveInverseScore; NAIVE_INVERSES.len()],
}

/// Controls, tried at every undo of the same histories.
pub(crate) const NAIVE_INVERSES: [NaiveInverse; 2] = [whole_text_before, old_line_numbers];

impl HistoryTally {
    pub(crate) fn and(self, other: Self) -> Self {
        let pair = |at: usize| self.careless[at].and(other.careless[at]);
        Self {
            careless: std::array::from_fn(pair),
            clean: self.clean + other.clean,
            clean_among_conflicts: self.clean_among_conflicts + other.clean_among_conflicts,
            clean_among_asked: self.clean_among_asked + other.clean_among_asked,
            conflicts: self.conflicts + other.conflicts,
            redone: self.redone + other.redone,
            renamed_by_hand: self.renamed_by_hand + other.renamed_by_hand,
            by_hunk: self.by_hunk + other.by_hunk,
            nothing_left: self.nothing_left + other.nothing_left,
            asked: self.asked + other.asked,
            confused: self.confused + other.confused,
            unwatched: self.unwatched + other.unwatched,
            linked: self.linked + other.linked,
            moved_with_folder: self.moved_with_folder + other.moved_with_folder,
            trashed_folders: self.trashed_folders + other.trashed_folders,
            restored_folders: self.restored_folders + other.restored_folders,
            taken_out: self.taken_out + other.taken_out,
            credulous: self.credulous + other.credulous,
            guesses: self.guesses.and(other.guesses),
        }
    }
}
