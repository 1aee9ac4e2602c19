//! The notes that match words best, as the user may see them.

use std::time::Duration;

use index::{NoteFilter, RankedPassages};
use protocol::error::sentence;
use protocol::{ChangeSet, Passage, UserError};

use crate::App;

/// How many passages are told.
const MAX_PASSAGES: u16 = 10;
/// Nobody waits longer for an answer.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(3);

impl App {
    /// The best passages for `query`, best first, as `find_notes` gives them to a model that may
    /// see every note. It holds what was saved until it was asked for.
    pub async fn find_passages(&self, query: &str) -> Result<Vec<Passage>, UserError> {
        let query = query.to_owned();
        let found = self.run_query(move |open| {
            let (index, plan, all) =
                (&open.indexer.index, ChangeSet::default(), NoteFilter::default());
            index.find(&open.vault, &plan, &query, &all, MAX_PASSAGES, SEARCH_TIMEOUT)
        });
        let found: Result<RankedPassages, _> = found.await?;
        found
            .map(|ranked| ranked.passages)
            .map_err(|error| UserError::other(sentence(&error.to_string())))
    }
}
