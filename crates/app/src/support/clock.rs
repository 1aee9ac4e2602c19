//! The one place that reads the wall clock and makes ids from it; and how far the clock of files may be behind it.

use protocol::Timestamp;
use uuid::Uuid;

/// The clock of a file system goes in ticks: the number of milliseconds that it may be behind.
const FILE_CLOCK_LAG_MS: i64 = 20;

/// Now, by the system's clock.
pub(crate) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

/// Now, where the user is.
pub(crate) fn local_now() -> jiff::Zoned {
    jiff::Zoned::now()
}

/// The local date and time for the name of a file, to the second.
pub(crate) fn file_timestamp() -> String {
    local_now().strftime("%Y-%m-%d-%H%M%S").to_string()
}

/// The earliest time that a file made or touched at that time may have.
pub(crate) const fn by_file_clock(at: Timestamp) -> Timestamp {
    Timestamp(at.0.saturating_sub(FILE_CLOCK_LAG_MS))
}

/// A fresh id of any kind; ids made later sort later.
pub(crate) fn new_id<Id: From<Uuid>>() -> Id {
    Id::from(Uuid::now_v7())
}
