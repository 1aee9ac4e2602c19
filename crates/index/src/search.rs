//! The four searches: by pattern, by relevance, by file name and by glob.

pub(crate) mod file_finder;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod ranked_search;
