//! The query of a literal or regex search, and its result.

use std::ops::Range;

use protocol::NotePath;

use crate::CutReason;

/// The pattern, and how much to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression in ripgrep's syntax, matched line by line.
    pub pattern: String,
    /// Only notes whose path matches this glob, in any case. Without a `/` it applies to names in
    /// every folder, as in ripgrep: `*.md` is every note, `Projects/*.md` those of one folder.
    pub file_pattern: Option<String>,
    /// Lines to show before and after each hit.
    pub context_lines: u8,
    /// How many hits to return at most.
    pub max_results: u16,
    /// How many of them may be in one note.
    pub max_per_note: u16,
    /// Whether `a` and `A` differ.
    pub case_sensitive: bool,
}

/// Hits in the order of the notes' paths, then of their lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrepResult {
    /// At most `max_per_note` a note, at most `max_results` in all.
    pub hits: Vec<GrepHit>,
    /// How many lines matched, shown or not, in the notes that were looked at.
    pub total: u32,
    /// How many notes they are in.
    pub files: u32,
    /// Why `hits` is not all.
    pub cut: Option<CutReason>,
}

/// One matching line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepHit {
    /// The note with the line.
    pub path: NotePath,
    /// 1-based.
    pub line: u32,
    /// The line, without its line end and cut at 1,000 characters; bytes that are not UTF-8 are
    /// replaced.
    pub text: String,
    /// Which bytes of `text` match, in order.
    pub marks: Vec<Range<usize>>,
    /// The lines before it, nearest last.
    pub before: Vec<String>,
    /// The lines after it, nearest first.
    pub after: Vec<String>,
}
