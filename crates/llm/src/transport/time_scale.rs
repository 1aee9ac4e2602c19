//! How fast clocks go: tests scale them.

use std::time::Duration;

/// How long a wait really takes: before a retry, between notifications, of the hub's link. Tests
/// shorten it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeScale {
    divisor: u32,
}

impl TimeScale {
    /// A second is a second.
    pub const REAL_TIME: Self = Self { divisor: 1 };

    /// Waits are divided by `divisor`.
    #[must_use]
    pub fn divided_by(divisor: u32) -> Self {
        Self { divisor: divisor.max(1) }
    }

    /// How long `wait` takes.
    #[must_use]
    pub fn scale(self, wait: Duration) -> Duration {
        wait / self.divisor
    }

    /// How many times as fast as they really are clocks go.
    #[must_use]
    pub const fn speedup(self) -> u32 {
        self.divisor
    }

    /// How long `real` counts as, where waits are divided.
    pub(crate) fn unscale(self, real: Duration) -> Duration {
        real * self.divisor
    }
}
