//! The name of a content: BLAKE3 over the bytes, 64 lower-case hex digits.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Two contents with the same hash are the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(type = "string")]
pub struct ContentHash(String);

impl ContentHash {
    /// Hashes `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    /// Takes a stored hash at its word.
    #[must_use]
    pub const fn from_stored(hex: String) -> Self {
        Self(hex)
    }

    /// The full 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits: what a model is shown and sends back.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }

    /// Whether `given` (full, or at least 8 leading digits) names this content.
    #[must_use]
    pub fn matches(&self, given: &str) -> bool {
        given.len() >= 8 && self.0.starts_with(given)
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
