//! The one place where the index reads the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time since 1970; none on a computer whose clock is set before it.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
