//! Notices that the computer slept: the wall clock moved on while the monotonic one stood still.

use std::time::{Duration, Instant, SystemTime};

/// A jump that no timer's lateness explains.
const MIN_CLOCK_JUMP: Duration = Duration::from_secs(20);

/// Compares the two clocks between looks.
#[derive(Debug)]
pub(crate) struct SleepDetector {
    looked: (Instant, SystemTime),
}

impl SleepDetector {
    /// Begins to watch.
    pub(crate) const fn new(monotonic: Instant, wall: SystemTime) -> Self {
        Self { looked: (monotonic, wall) }
    }

    /// Whether there was a sleep since the last look. A clock set forward looks the same, and does
    /// no harm; one set back is no sleep.
    pub(crate) fn has_slept(&mut self, monotonic: Instant, wall: SystemTime) -> bool {
        let (then, wall_then) = std::mem::replace(&mut self.looked, (monotonic, wall));
        let awake = monotonic.saturating_duration_since(then);
        wall.duration_since(wall_then).is_ok_and(|passed| passed > awake + MIN_CLOCK_JUMP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Q-sequence-17 and -18
    #[test]
    fn only_a_wall_clock_that_ran_ahead_means_sleep() {
        let (at, wall) = (Instant::now(), SystemTime::now());
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        let check =
            |monotonic, wall_now| SleepDetector::new(at, wall).has_slept(monotonic, wall_now);
        assert!(check(at + second, wall + hour));
        assert!(!check(at + second, wall + second));
        assert!(!check(at + hour, wall + hour));
        assert!(!check(at + second, wall - hour));
    }

    #[test]
    fn a_sleep_is_noticed_once() {
        let (at, wall) = (Instant::now(), SystemTime::now());
        let hour = Duration::from_secs(3600);
        let mut watch = SleepDetector::new(at, wall);
        assert!(watch.has_slept(at, wall + hour));
        assert!(!watch.has_slept(at, wall + hour));
    }
}
