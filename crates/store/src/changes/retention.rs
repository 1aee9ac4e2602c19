//! The rule which earlier versions are kept: all recent ones, and the newest of the rest.

use protocol::Timestamp;

/// How long and how much is kept, whichever keeps more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Contents that were needed at this time or later are kept.
    pub since: Timestamp,
    /// The packed bytes that are kept of all contents together; those that were needed last are
    /// kept first.
    pub bytes: u64,
}

/// A content that nothing holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnreferencedContent {
    /// When it was needed last; `None` if nothing ever did.
    pub(crate) last_needed: Option<Timestamp>,
    /// Its packed bytes.
    pub(crate) packed: u64,
}

impl RetentionPolicy {
    /// How many of these, from the first on, may go. They come in the order in which they were
    /// needed last, oldest first; `all` is the packed bytes of everything there is, what is held
    /// included.
    pub(crate) fn count_purgeable(self, oldest_first: &[UnreferencedContent], all: u64) -> usize {
        let mut with_newer = all;
        let goes = |loose: &&UnreferencedContent| {
            let is_old = loose.last_needed.is_none_or(|needed| needed < self.since);
            let is_beyond = with_newer > self.bytes;
            with_newer = with_newer.saturating_sub(loose.packed);
            is_old && is_beyond
        };
        oldest_first.iter().take_while(goes).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unreferenced(needed: i64, packed: u64) -> UnreferencedContent {
        UnreferencedContent { last_needed: Some(Timestamp(needed)), packed }
    }

    fn policy(since: i64, bytes: u64) -> RetentionPolicy {
        RetentionPolicy { since: Timestamp(since), bytes }
    }

    #[test]
    fn what_is_young_stays_however_much_it_is() {
        assert_eq!(
            policy(10, 0)
                .count_purgeable(&[unreferenced(10, 1 << 40), unreferenced(11, 1 << 40)], 2 << 40),
            0
        );
    }

    #[test]
    fn what_is_old_stays_while_there_is_room() {
        assert_eq!(
            policy(100, 20).count_purgeable(&[unreferenced(1, 10), unreferenced(2, 10)], 20),
            0
        );
        assert_eq!(
            policy(100, 19).count_purgeable(&[unreferenced(1, 10), unreferenced(2, 10)], 20),
            1
        );
        assert_eq!(
            policy(100, 9).count_purgeable(&[unreferenced(1, 10), unreferenced(2, 10)], 20),
            2
        );
    }

    #[test]
    fn what_is_held_takes_room_like_what_is_newest() {
        assert_eq!(
            policy(100, 25).count_purgeable(&[unreferenced(1, 10), unreferenced(2, 10)], 20 + 10),
            1
        );
    }

    #[test]
    fn what_nothing_ever_needed_goes_first_and_only_for_want_of_room() {
        let orphan = UnreferencedContent { last_needed: None, packed: 10 };
        assert_eq!(policy(0, 15).count_purgeable(&[orphan, unreferenced(1, 10)], 20), 1);
        assert_eq!(policy(0, 20).count_purgeable(&[orphan, unreferenced(1, 10)], 20), 0);
    }

    proptest! {
        /// The rule, in the other direction: no content is deleted that one of the limits keeps,
        /// and every content that stays is kept by one of them.
        #[test]
        fn only_what_both_limits_let_go_may_go(
            mut all in prop::collection::vec((0_i64..20, 0_u64..50), 0..40),
            since in 0_i64..20,
            bytes in 0_u64..600,
            held in 0_u64..200,
        ) {
            all.sort_unstable();
            let contents: Vec<_> = all.iter().map(|(needed, packed)| unreferenced(*needed, *packed)).collect();
            let sum = held + all.iter().map(|(_, packed)| packed).sum::<u64>();
            let go = policy(since, bytes).count_purgeable(&contents, sum);
            let mut newest_first = held;
            for (place, (needed, packed)) in all.iter().enumerate().rev() {
                newest_first += packed;
                let kept = *needed >= since || newest_first <= bytes;
                prop_assert_eq!(place >= go, kept, "place {} of {:?}", place, all);
            }
        }
    }
}
