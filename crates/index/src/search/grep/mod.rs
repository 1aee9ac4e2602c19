//! Literal and regex search through all notes, with the lines around each hit.

mod file_search;
mod line_matcher;
mod view_search;

use std::ops::Range;
use std::time::{Duration, Instant};

use protocol::{ChangeSet, NotePath};
use vault::Vault;

use self::line_matcher::{LineMatcher, MatchedLine};
use self::view_search::ViewSearch;
use crate::search::glob::path_filter;
use crate::{CutReason, Index, SearchError};

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
        let lines = LineMatcher::from_query(query)?;
        // Each takes all cores, so one after the other is no slower, and takes the memory of one.
        let _alone = self.lock_searches();
        let deadline = Instant::now() + deadline;
        let wanted = path_filter(query.file_pattern.as_deref())?;
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

/// The matches in all notes that were searched.
#[derive(Debug)]
struct GrepMatches {
    /// In order; not all, but more than are shown if there are more.
    hits: Vec<GrepHit>,
    total: u32,
    files: usize,
    timed_out: bool,
}

impl GrepMatches {
    fn into_result(self, limit: usize) -> GrepResult {
        let Self { mut hits, total, files, timed_out } = self;
        hits.truncate(limit);
        let is_all = u32::try_from(hits.len()).is_ok_and(|shown| shown == total);
        let cut = match (timed_out, is_all) {
            (true, _) => Some(CutReason::Time),
            (false, false) => Some(CutReason::Results),
            (false, true) => None,
        };
        GrepResult { hits, total, files: u32::try_from(files).unwrap_or(u32::MAX), cut }
    }
}

/// How much of a line is shown, in characters; notes of one endless line exist.
const MAX_LINE_CHARS: usize = 1000;

/// The hits of one note.
fn hits(
    path: &NotePath,
    text: &[u8],
    places: &[MatchedLine],
    lines: &LineMatcher,
    query: &GrepQuery,
) -> Vec<GrepHit> {
    places.iter().map(|place| hit(path, text, place, lines, query)).collect()
}

fn hit(
    path: &NotePath,
    text: &[u8],
    place: &MatchedLine,
    lines: &LineMatcher,
    query: &GrepQuery,
) -> GrepHit {
    let context = usize::from(query.context_lines);
    let before = text.get(..place.span.start).unwrap_or_default();
    let before = before.strip_suffix(b"\n").map(|before| before.rsplit(|&byte| byte == b'\n'));
    let mut before: Vec<String> =
        before.into_iter().flatten().take(context).map(shorten_line).collect();
    before.reverse();
    let after = text.get(place.span.end..).unwrap_or_default();
    let following = after.split_inclusive(|&byte| byte == b'\n');
    let line = shorten_line(text.get(place.span.clone()).unwrap_or_default());
    GrepHit {
        path: path.clone(),
        line: u32::try_from(place.line).unwrap_or(u32::MAX),
        marks: lines.matches_in(&line),
        text: line,
        before,
        after: following.take(context).map(shorten_line).collect(),
    }
}

/// A line without its end, cut when it is endless.
fn shorten_line(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes, so no more than these are shown.
    let line = String::from_utf8_lossy(line.get(..4 * (MAX_LINE_CHARS + 1)).unwrap_or(line));
    if line.len() <= MAX_LINE_CHARS {
        return line.into_owned();
    }
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.into_owned(),
    }
}
