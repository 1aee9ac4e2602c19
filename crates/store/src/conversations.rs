//! The tables of conversations: their list, branches, titles, search and export.

pub(crate) mod branch;
pub(crate) mod cjk_search;
pub(crate) mod conversation;
pub(crate) mod export;
pub(crate) mod fulltext;
pub(crate) mod lifecycle;
pub(crate) mod match_excerpt;
pub(crate) mod shown_branch;
pub(crate) mod title_queue;
