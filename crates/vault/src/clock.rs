//! The one place where the vault reads the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now, to compare with the times of files.
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// The time since 1970; none on a computer whose clock is set before it.
pub(crate) fn since_epoch() -> Duration {
    now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Now, where the user is.
pub(crate) fn local_now() -> jiff::Zoned {
    jiff::Zoned::now()
}
