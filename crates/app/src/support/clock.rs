//! The one place that reads the wall clock and makes ids from it.

use protocol::Timestamp;
use uuid::Uuid;

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

/// A fresh id of any kind; ids made later sort later.
pub(crate) fn new_id<Id: From<Uuid>>() -> Id {
    Id::from(Uuid::now_v7())
}
