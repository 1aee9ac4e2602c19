//! Makes hits of the lines that match.

use protocol::NotePath;

use super::line_matcher::{LineMatcher, MatchedLine};
use super::query::{GrepHit, GrepQuery, GrepResult};
use crate::CutReason;

/// The matches in all notes that were searched.
#[derive(Debug)]
pub(super) struct GrepMatches {
    /// In order; not all, but more than are shown if there are more.
    pub(super) hits: Vec<GrepHit>,
    pub(super) total: u32,
    pub(super) files: usize,
    pub(super) timed_out: bool,
}

impl GrepMatches {
    pub(super) fn into_result(self, limit: usize) -> GrepResult {
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
pub(super) fn hits(
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
