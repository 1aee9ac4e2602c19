//! How many pings a hub may send: each one costs an answer.

use std::time::Duration;

/// A hub pings every 30 s; one that is a little wild is still answered.
const MAX_PINGS_PER_SECOND: u32 = 100;

/// The pings of the running second.
#[derive(Debug, Default)]
pub(super) struct PingLimit {
    since: Duration,
    pings: u32,
}

impl PingLimit {
    /// Counts a ping; `false` when it is one too many.
    pub(super) fn allows(&mut self, now: Duration) -> bool {
        if now.saturating_sub(self.since) >= Duration::from_secs(1) {
            *self = Self { since: now, pings: 0 };
        }
        self.pings += 1;
        self.pings <= MAX_PINGS_PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_pings_a_second_are_answered_and_no_more() {
        let mut flood = PingLimit::default();
        let mut taken = |now| (0..101).filter(|_| flood.allows(Duration::from_millis(now))).count();
        assert_eq!(taken(500), 100);
        assert_eq!(taken(1500), 100);
        assert_eq!(taken(2499), 0);
        assert_eq!(taken(2500), 100);
    }
}
