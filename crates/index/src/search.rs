//! Literal and regex search through all notes, with the lines around each hit.

use std::io;
use std::time::{Duration, Instant};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use protocol::{ChangeSet, NotePath};
use vault::Vault;

use crate::glob::path_filter;
use crate::notes::Notes;
use crate::parallel::Looked;
use crate::{Cut, SearchError};

/// What to look for and how much to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// A regular expression in ripgrep's syntax, matched line by line.
    pub pattern: String,
    /// Only notes whose path matches this glob, case aside. Without a `/` it is about names in
    /// every folder, as in ripgrep: `*.md` is every note, `Projects/*.md` those of one folder.
    pub file_pattern: Option<String>,
    /// Lines to show before and after each hit.
    pub context_lines: u8,
    /// How many hits to return at most.
    pub max_results: u16,
    /// Whether `a` and `A` differ.
    pub case_sensitive: bool,
}

/// Hits in the order of the notes' paths, then of their lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// At most five a note, at most `max_results` in all.
    pub hits: Vec<Hit>,
    /// How many lines matched, shown or not, in the notes that were looked at.
    pub total: u32,
    /// How many notes they are in.
    pub files: u32,
    /// Why `hits` is not all.
    pub cut: Option<Cut>,
}

/// One matching line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The note.
    pub path: NotePath,
    /// 1-based.
    pub line: u32,
    /// The line, without its line end and cut at 1,000 characters; bytes that are not UTF-8 are
    /// replaced.
    pub text: String,
    /// The lines before it, nearest last.
    pub before: Vec<String>,
    /// The lines after it, nearest first.
    pub after: Vec<String>,
}

/// Searches all notes until done or until `deadline` has passed.
pub fn search(
    vault: &Vault,
    overlay: &ChangeSet,
    query: &Query,
    deadline: Duration,
) -> Result<Found, SearchError> {
    let deadline = Instant::now() + deadline;
    let matcher = matcher(query)?;
    let wanted = path_filter(query.file_pattern.as_deref())?;
    let notes = Notes::list(vault, overlay, wanted)?;
    let looked = notes.look(deadline, |path, bytes| {
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let places = places(&matcher, text);
        let hits = places.first.iter().map(|place| hit(path, text, *place, query)).collect();
        (places.total > 0).then_some((places.total, hits))
    });
    Ok(collect(looked, usize::from(query.max_results)))
}

/// How many hits of one note are shown.
const HITS_A_NOTE: usize = 5;

/// How much of a line is shown, in characters; notes of one endless line exist.
const LINE_SHOWN: usize = 1000;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Where a line matched: its number and the bytes it spans, line end included.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u64,
    start: usize,
    end: usize,
}

/// The first matching lines of one note, and how many there are.
#[derive(Debug, Default)]
struct Places {
    first: Vec<Place>,
    total: u32,
}

impl Sink for Places {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.total = self.total.saturating_add(1);
        let start = usize::try_from(found.absolute_byte_offset()).unwrap_or(usize::MAX);
        if self.first.len() < HITS_A_NOTE {
            let end = start.saturating_add(found.bytes().len());
            self.first.push(Place { line: found.line_number().unwrap_or(1), start, end });
        }
        Ok(true)
    }
}

fn matcher(query: &Query) -> Result<RegexMatcher, SearchError> {
    RegexMatcherBuilder::new()
        .case_insensitive(!query.case_sensitive)
        .crlf(true)
        .build(&query.pattern)
        .map_err(|error| SearchError::BadPattern {
            pattern: query.pattern.clone(),
            why: last_line(&error.to_string()),
            literal: regex::escape(&query.pattern),
        })
}

/// The parser draws the place on several lines; what is wrong stands on the last.
fn last_line(error: &str) -> String {
    let last = error.lines().last().unwrap_or(error).trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

fn places(matcher: &RegexMatcher, text: &[u8]) -> Places {
    let mut places = Places::default();
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .line_terminator(LineTerminator::crlf())
        .bom_sniffing(false)
        .binary_detection(BinaryDetection::quit(0))
        .build();
    if let Err(error) = searcher.search_slice(matcher, text, &mut places) {
        // Neither a slice nor the sink fails; what was found until then stands in any case.
        tracing::error!(%error, "a note could not be searched to its end");
    }
    places
}

fn hit(path: &NotePath, text: &[u8], place: Place, query: &Query) -> Hit {
    let context = usize::from(query.context_lines);
    let before = text.get(..place.start).unwrap_or_default();
    let before = before.strip_suffix(b"\n").map(|before| before.rsplit(|&byte| byte == b'\n'));
    let mut before: Vec<String> = before.into_iter().flatten().take(context).map(shown).collect();
    before.reverse();
    let after = text.get(place.end..).unwrap_or_default();
    let lines = after.split_inclusive(|&byte| byte == b'\n');
    Hit {
        path: path.clone(),
        line: u32::try_from(place.line).unwrap_or(u32::MAX),
        text: shown(text.get(place.start..place.end).unwrap_or_default()),
        before,
        after: lines.take(context).map(shown).collect(),
    }
}

/// A line without its end, cut when it is endless.
fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    match line.char_indices().nth(LINE_SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.into_owned(),
    }
}

fn collect(looked: Looked<(u32, Vec<Hit>)>, limit: usize) -> Found {
    let files = u32::try_from(looked.found.len()).unwrap_or(u32::MAX);
    let total = looked.found.iter().fold(0_u32, |sum, (total, _)| sum.saturating_add(*total));
    let hits: Vec<Hit> = looked.found.into_iter().flat_map(|(_, hits)| hits).take(limit).collect();
    let is_all = u32::try_from(hits.len()).is_ok_and(|shown| shown == total);
    let cut = match (looked.timed_out, is_all) {
        (true, _) => Some(Cut::Time),
        (false, false) => Some(Cut::Results),
        (false, true) => None,
    };
    Found { hits, total, files, cut }
}
