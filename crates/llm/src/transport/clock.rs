//! The one place where this crate reads the wall clock.

use protocol::Timestamp;

/// Now, as it is stored.
pub(crate) fn now() -> Timestamp {
    Timestamp(utc_now().as_millisecond())
}

/// Now, to compare with a date that a server names.
pub(crate) fn utc_now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}
