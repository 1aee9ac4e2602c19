//! The one place where the link reads the wall clock.

use std::time::SystemTime;

use protocol::Timestamp;

/// To compare with the monotonic clock: it goes on while the computer sleeps.
pub(crate) fn system_time() -> SystemTime {
    SystemTime::now()
}

/// To tell somebody when something is.
pub(crate) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
