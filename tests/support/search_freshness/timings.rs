//! Measured times, and their summary.

use std::fmt;
use std::time::Duration;

/// Times of one kind.
#[derive(Debug, Clone, Default)]
pub struct Timings(Vec<Duration>);

impl Timings {
    /// Keeps them sorted.
    pub(crate) fn add(&mut self, time: Duration) {
        let at = self.0.partition_point(|known| *known <= time);
        self.0.insert(at, time);
    }

    /// The time that this share of them does not exceed; zero when there are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let rank = (self.0.len() as f64 * share).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// The middle one.
    #[must_use]
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |share| format_ms(self.quantile(share));
        write!(f, "p50={} p99={} max={} n={}", at(0.5), at(0.99), at(1.0), self.len())
    }
}

pub(crate) fn format_ms(time: Duration) -> String {
    format!("{:.1}ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_the_time_that_so_many_do_not_exceed() {
        let mut times = Timings::default();
        assert_eq!((times.median(), times.is_empty()), (Duration::ZERO, true));
        (1..=100).rev().for_each(|ms| times.add(Duration::from_millis(ms)));
        let shares = [0.5, 0.99, 1.0].map(|share| times.quantile(share).as_millis());
        assert_eq!((shares, times.len()), ([50, 99, 100], 100));
    }
}
