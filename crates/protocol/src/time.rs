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
