//! A point in time. It is passed in, never read here.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default, TS,
)]
#[serde(transparent)]
#[ts(type = "number")]
pub struct Timestamp(pub i64);

/// One of the seven days, for a title that each language words itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Weekday {
    /// The first day of the week, by ISO 8601.
    Monday,
    /// The second.
    Tuesday,
    /// The third.
    Wednesday,
    /// The fourth.
    Thursday,
    /// The fifth.
    Friday,
    /// The sixth.
    Saturday,
    /// The last.
    Sunday,
}

impl Weekday {
    /// The day that SQLite's `strftime('%w')` numbers so, from 0 for Sunday to 6; `None` for another number.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Sunday),
            1 => Some(Self::Monday),
            2 => Some(Self::Tuesday),
            3 => Some(Self::Wednesday),
            4 => Some(Self::Thursday),
            5 => Some(Self::Friday),
            6 => Some(Self::Saturday),
            _ => None,
        }
    }
}
