//! Literal and regex search through all notes, with the lines around each hit.

mod file_search;
mod hits;
mod line_matcher;
mod query;
mod view_search;

use std::time::{Duration, Instant};

use protocol::ChangeSet;
use vault::Vault;

use self::line_matcher::LineMatcher;
pub use self::query::{GrepHit, GrepQuery, GrepResult};
use self::view_search::ViewSearch;
use crate::search::glob::path_filter;
use crate::{Index, SearchError};

/// A pattern that matches `text` and nothing else.
#[must_use]
pub fn escape_literal(text: &str) -> String {
    regex::escape(text)
}

impl Index {
    /// Searches all notes that `vault` shows, until done or until `deadline` has passed since the
    /// search began, which is when those before it have ended. Hits are
    /// those of ripgrep. Until the index stands the notes themselves are read, which takes longer
    /// and finds the same.
    pub fn search(
        &self,
        vault: &Vault,
        overlay: &ChangeSet,
        query: &GrepQuery,
        deadline: Duration,
    ) -> Result<GrepResult, SearchError> {
        LineMatcher::check_length(query)?;
        let wanted = path_filter(query.file_pattern.as_deref())?;
        // Each takes all cores, so one after the other is no slower, and takes the memory of one. A pattern takes
        // memory already when it is read.
        let _alone = self.lock_searches();
        let lines = LineMatcher::from_query(query)?;
        let deadline = Instant::now() + deadline;
        let matching = match self.view() {
            Some(view) => {
                let (view, lines) = (&*view.planned(overlay, vault), &lines);
                ViewSearch { view, vault, lines, query }.search_view(&wanted, deadline)
            }
            None => file_search::search_files(vault, overlay, &wanted, &lines, deadline, query)?,
        };
        Ok(matching.into_result(usize::from(query.max_results)))
    }
}
