//! The notes that a query finds, before their texts are read.

/// Notes that a query finds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankedCandidates {
    /// The places of the best ones, best first.
    pub places: Vec<u64>,
    /// How many of these have all terms; they come first.
    pub with_all: usize,
    /// For each term of the query the number of notes with it, before filters.
    pub document_frequencies: Vec<usize>,
    /// The number of notes, before filters.
    pub notes: usize,
    /// How many the query finds in all, of those that have a place.
    pub found: usize,
}

impl RankedCandidates {
    /// The places of those whose texts may be among the best `limit`: when enough have all terms, no
    /// other one comes before them.
    #[must_use]
    pub fn worth_reading(&self, limit: usize) -> &[u64] {
        let all = self.places.get(..self.with_all).filter(|all| all.len() >= limit);
        all.unwrap_or(&self.places)
    }
}
