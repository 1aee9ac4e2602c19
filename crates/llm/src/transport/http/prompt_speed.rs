//! How long a server on this computer may read a prompt: by what it took for earlier ones.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A prompt may take at most this many times as long as the slowest one before it, byte for byte.
const SLOWDOWN_FACTOR: u32 = 4;

/// Nobody waits longer for the first event of an answer.
pub(super) const MAX_FIRST_EVENT_WAIT: Duration = Duration::from_secs(30 * 60);

/// Bytes that a slow computer reads in a second, until it was measured: ten tokens.
const ASSUMED_BYTES_PER_SECOND: usize = 35;

/// A shorter prompt tells more about what came in between than about reading.
const MIN_MEASURED_BYTES: usize = 4_000;

/// The time that a thousand bytes of a prompt took, of the slowest so far. Clones are not needed: one
/// server has one.
#[derive(Debug, Default)]
pub(super) struct PromptSpeed(Mutex<Option<Duration>>);

impl PromptSpeed {
    /// How long the first event may take after a prompt of `bytes` bytes; `usual` at least.
    pub(super) fn first_event_timeout(&self, bytes: usize, usual: Duration) -> Duration {
        let thousands = u32::try_from(bytes.div_ceil(1_000)).unwrap_or(u32::MAX);
        let measured = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = match measured {
            Some(each) => each.saturating_mul(thousands).saturating_mul(SLOWDOWN_FACTOR),
            None => Duration::from_secs(
                u64::try_from(bytes / ASSUMED_BYTES_PER_SECOND).unwrap_or(u64::MAX),
            ),
        };
        usual.max(wanted.min(MAX_FIRST_EVENT_WAIT))
    }

    fn record(&self, bytes: usize, time: Duration) {
        if bytes < MIN_MEASURED_BYTES {
            return;
        }
        let thousands = u32::try_from(bytes / 1_000).unwrap_or(u32::MAX).max(1);
        let mut measured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A prompt whose beginning the server remembers is read in no time, and the next one is not.
        *measured = (*measured).max(Some(time / thousands));
    }
}

/// A prompt that is being read.
#[derive(Debug)]
pub(super) struct PromptTimer {
    speed: Arc<PromptSpeed>,
    bytes: usize,
    began: Instant,
}

impl PromptTimer {
    /// It is sent now.
    pub(super) fn begin(speed: Arc<PromptSpeed>, bytes: usize) -> Self {
        Self { speed, bytes, began: Instant::now() }
    }

    /// Whether there is time left for it at all, whatever comes meanwhile.
    pub(super) fn has_time_left(&self) -> bool {
        self.began.elapsed() < MAX_FIRST_EVENT_WAIT
    }

    /// The answer begins.
    pub(super) fn end(self) {
        self.speed.record(self.bytes, self.began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(120);

    #[test]
    fn the_wait_grows_with_the_prompt_and_follows_what_was_measured() {
        let speed = PromptSpeed::default();
        assert_eq!(speed.first_event_timeout(1_000, USUAL), USUAL);
        assert_eq!(speed.first_event_timeout(35_000, USUAL), Duration::from_secs(1_000));
        assert_eq!(speed.first_event_timeout(7_000_000, USUAL), MAX_FIRST_EVENT_WAIT);
        speed.record(10_000, Duration::from_secs(50));
        assert_eq!(speed.first_event_timeout(35_000, USUAL), Duration::from_secs(35 * 5 * 4));
        // One that was remembered says nothing of the next.
        speed.record(10_000, Duration::from_millis(10));
        assert_eq!(speed.first_event_timeout(35_000, USUAL), Duration::from_secs(35 * 5 * 4));
        speed.record(100, Duration::from_secs(100));
        assert_eq!(speed.first_event_timeout(35_000, USUAL), Duration::from_secs(35 * 5 * 4));
    }

    #[test]
    fn a_fast_server_is_waited_for_as_any_other() {
        let speed = PromptSpeed::default();
        speed.record(100_000, Duration::from_secs(1));
        assert_eq!(speed.first_event_timeout(35_000, USUAL), USUAL);
    }
}
