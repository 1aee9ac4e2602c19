//! The notes that match words best, as the user may see them.

use std::time::Duration;

use index::{Narrow, Ranked};
use protocol::{ChangeSet, Passage, UserError};

use crate::App;
use crate::trouble::sentence;

/// How many passages are told.
const PASSAGES: u16 = 10;
/// Nobody waits longer for an answer.
const DEADLINE: Duration = Duration::from_secs(3);

impl App {
    /// The best passages for `query`, best first, as `find_notes` gives them to a model that may
    /// see every note. It holds what was saved until it was asked for.
    pub async fn find_passages(&self, query: &str) -> Result<Vec<Passage>, UserError> {
        let query = query.to_owned();
        let found = self.look_up(move |open| {
            let (index, plan, all) =
                (&open.indexing.index, ChangeSet::default(), Narrow::default());
            index.find(&open.vault, &plan, &query, &all, PASSAGES, DEADLINE)
        });
        let found: Result<Ranked, _> = found.await?;
        found
            .map(|ranked| ranked.passages)
            .map_err(|error| UserError::other(sentence(&error.to_string())))
    }
}
