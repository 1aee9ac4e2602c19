//! How long to wait before the next dial, and how many dials are too many.

use std::collections::VecDeque;
use std::time::Duration;

/// The link's times. The defaults are the product's; tests run the same link faster.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkTiming {
    /// From dialling to an open socket.
    pub handshake: Duration,
    /// From an open socket to the hub's word on our name.
    pub registration: Duration,
    /// Between our own pings: a reader alone never notices a lost peer.
    pub ping_every: Duration,
    /// The time without any frame after which the hub counts as gone.
    pub dead_after: Duration,
    /// The time that the hub has for a sign of life after the computer wakes.
    pub wake_grace: Duration,
    /// The time online after which earlier failures no longer count.
    pub healthy_after: Duration,
    /// The wait after each of the first four failures.
    pub quick_wait: Duration,
    /// The wait after the fifth; it doubles with each further one.
    pub slow_wait: Duration,
    /// No wait is longer, but for chance, which adds up to half.
    pub longest_wait: Duration,
    /// The same for a hub on this computer where nobody listens.
    pub longest_wait_here: Duration,
    /// At most twenty dials fall into this time, without those where nobody on this computer listens.
    pub dial_window: Duration,
}

impl Default for LinkTiming {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            registration: Duration::from_secs(10),
            ping_every: Duration::from_secs(25),
            dead_after: Duration::from_secs(60),
            wake_grace: Duration::from_secs(5),
            healthy_after: Duration::from_secs(60),
            quick_wait: Duration::from_millis(250),
            slow_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(60),
            longest_wait_here: Duration::from_secs(3),
            dial_window: Duration::from_secs(600),
        }
    }
}

impl LinkTiming {
    /// Everything `times` as fast, for tests. Zero counts as one.
    #[must_use]
    pub fn faster(self, times: u32) -> Self {
        let times = times.max(1);
        Self {
            handshake: self.handshake / times,
            registration: self.registration / times,
            ping_every: self.ping_every / times,
            dead_after: self.dead_after / times,
            wake_grace: self.wake_grace / times,
            healthy_after: self.healthy_after / times,
            quick_wait: self.quick_wait / times,
            slow_wait: self.slow_wait / times,
            longest_wait: self.longest_wait / times,
            longest_wait_here: self.longest_wait_here / times,
            dial_window: self.dial_window / times,
        }
    }
}

const QUICK_WAITS: u32 = 4;
const MAX_DIALS: usize = 20;

/// The failures in a row and the dials of late.
#[derive(Debug)]
pub(super) struct Backoff {
    timing: LinkTiming,
    failures: u32,
    /// Those where nobody listened on this computer, since the hub was last reached.
    free_failures: u32,
    dials: VecDeque<Duration>,
}

impl Backoff {
    pub(super) const fn new(timing: LinkTiming) -> Self {
        Self { timing, failures: 0, free_failures: 0, dials: VecDeque::new() }
    }

    /// Resets the delays: the user acted, or the link was healthy.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
        self.free_failures = 0;
        self.dials.clear();
    }

    /// The hub was reached: when it is gone next, dials for free begin with short waits.
    pub(super) fn record_online(&mut self) {
        self.free_failures = 0;
    }

    pub(super) fn record_dial(&mut self, now: Duration) {
        self.dials.push_back(now);
        if self.dials.len() > MAX_DIALS {
            self.dials.pop_front();
        }
    }

    /// The first time at which another dial is not one too many.
    pub(super) fn earliest_dial(&self, now: Duration) -> Duration {
        match self.dials.front() {
            Some(oldest) if self.dials.len() == MAX_DIALS => {
                now.max(*oldest + self.timing.dial_window)
            }
            _ => now,
        }
    }

    /// Counts a failure and says when to dial next. `chance` spreads clients that lost the same
    /// hub at the same time.
    pub(super) fn next_dial(&mut self, now: Duration, chance: f64) -> Duration {
        self.failures = self.failures.saturating_add(1);
        let wait = self.wait_after(self.failures);
        self.earliest_dial(now).max(now + with_jitter(wait, chance))
    }

    /// The same where nobody listens on this computer: that dial was for free, and delays no dial of a
    /// hub that was reached.
    pub(super) fn next_free_dial(&mut self, now: Duration, chance: f64) -> Duration {
        self.free_failures = self.free_failures.saturating_add(1);
        self.dials.pop_back();
        let wait = self.wait_after(self.free_failures).min(self.timing.longest_wait_here);
        now + with_jitter(wait, chance)
    }

    fn wait_after(&self, failures: u32) -> Duration {
        match failures.checked_sub(QUICK_WAITS + 1) {
            None => self.timing.quick_wait,
            Some(doublings) => {
                let factor = 2_u32.saturating_pow(doublings);
                self.timing.slow_wait.saturating_mul(factor).min(self.timing.longest_wait)
            }
        }
    }
}

fn with_jitter(wait: Duration, chance: f64) -> Duration {
    wait.mul_f64(1.0 + chance.clamp(0.0, 1.0) / 2.0)
}
