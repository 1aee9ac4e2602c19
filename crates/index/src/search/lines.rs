//! Matching line by line, as ripgrep does it.

use std::io;
use std::ops::Range;
use std::time::Instant;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use regex_syntax::hir::Look;

use super::Query;
use crate::SearchError;
use crate::snapshot::is_odd;

/// How many lines of one note are shown.
pub(super) const LINES_A_NOTE: usize = 5;

/// How large the program of a pattern may be, in bytes. It is what a letter of a note may cost.
const PROGRAM: usize = 1 << 20;

/// How much each thread may keep of what the program came to, in bytes; without it a thread takes up
/// to a gigabyte.
const CACHE: usize = 4 << 20;

/// So much text is searched between two looks at the clock.
const SLICE: usize = 1 << 16;

/// Finds lines that match a query.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    matcher: RegexMatcher,
    /// Whether it asks for the start or the end of a whole note.
    is_about_ends: bool,
}

/// A line that matched: the bytes it spans, line end included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// 1-based.
    pub(super) line: u64,
    pub(super) span: Range<usize>,
}

/// The first matching lines of one note, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) first: Vec<Place>,
    pub(super) total: u32,
}

impl Lines {
    /// Of the query's pattern, with ripgrep's meaning.
    pub(super) fn of(query: &Query) -> Result<Self, SearchError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(!query.case_sensitive)
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .size_limit(PROGRAM)
            .dfa_size_limit(CACHE)
            .build(&query.pattern)
            .map_err(|error| SearchError::BadPattern {
                pattern: cut(&query.pattern),
                why: last_line(&error.to_string()),
                literal: cut(&regex::escape(&query.pattern)),
            })?;
        let parsed = regex_syntax::ParserBuilder::new().utf8(false).build().parse(&query.pattern);
        let is_about_ends = parsed.is_ok_and(|parsed| {
            let looks = parsed.properties().look_set();
            looks.contains(Look::Start) || looks.contains(Look::End)
        });
        Ok(Self { matcher, is_about_ends })
    }

    /// Whether notes may be searched several at a time.
    pub(super) const fn spans_notes(&self) -> bool {
        !self.is_about_ends
    }

    /// Who looks into one note after the other.
    pub(super) fn one_by_one(&self) -> OneByOne<'_> {
        OneByOne { lines: self, searcher: searcher(true, BinaryDetection::none()) }
    }

    /// The lines of a long text that match, by their bytes; `found` hears of each, in order. Ends
    /// at `deadline`.
    pub(super) fn scan(&self, text: &[u8], deadline: Instant, mut found: impl FnMut(Range<usize>)) {
        let mut searcher = searcher(false, BinaryDetection::none());
        let mut at = 0;
        while at < text.len() && Instant::now() < deadline {
            let rest = text.get(at..).unwrap_or_default();
            let whole =
                rest.get(SLICE..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'));
            let slice = whole.and_then(|more| rest.get(..SLICE + more + 1)).unwrap_or(rest);
            let hear = Hear(|line: Range<usize>| found(at + line.start..at + line.end));
            search(&self.matcher, &mut searcher, slice, hear);
            at += slice.len();
        }
    }

    /// Which bytes of one line match, in order; what is empty is left out.
    pub(super) fn marks(&self, line: &str) -> Vec<Range<usize>> {
        let mut marks = Vec::new();
        let found = self.matcher.find_iter(line.as_bytes(), |found| {
            if !found.is_empty() {
                marks.push(found.start()..found.end());
            }
            true
        });
        if let Err(error) = found {
            // A regular expression of this engine never fails.
            tracing::error!(%error, "the matches of a line could not be told");
        }
        marks
    }
}

/// Looks into notes one by one. Making it costs more than searching a note with it.
pub(super) struct OneByOne<'a> {
    lines: &'a Lines,
    searcher: Searcher,
}

impl OneByOne<'_> {
    /// The places in a note with this text. One that holds zero bytes, or text of another encoding,
    /// is read piece by piece to its first zero byte.
    pub(super) fn places(&mut self, text: &[u8]) -> Places {
        let mut places = Places::default();
        let matcher = &self.lines.matcher;
        if !is_odd(text) {
            // Most notes hold nothing of it, and that is told sooner than where it is.
            if self.lines.is_about_ends || matcher.is_match(text).unwrap_or(true) {
                search(matcher, &mut self.searcher, text, &mut places);
            }
            return places;
        }
        let mut searcher = searcher(true, BinaryDetection::quit(0));
        if let Err(error) = searcher.search_reader(matcher, text, &mut places) {
            // Memory does not fail to be read.
            tracing::error!(%error, "a note could not be searched to its end");
        }
        places
    }
}

fn search<S: Sink<Error = io::Error>>(
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    text: &[u8],
    sink: S,
) {
    if let Err(error) = searcher.search_slice(matcher, text, sink) {
        // Neither a slice nor the sink fails; what was found until then stands in any case.
        tracing::error!(%error, "a note could not be searched to its end");
    }
}

impl Sink for Places {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.total = self.total.saturating_add(1);
        if self.first.len() < LINES_A_NOTE {
            let line = found.line_number().unwrap_or(1);
            self.first.push(Place { line, span: span(found) });
        }
        Ok(true)
    }
}

/// Tells somebody of each line.
struct Hear<F>(F);

impl<F: FnMut(Range<usize>)> Sink for Hear<F> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        (self.0)(span(found));
        Ok(true)
    }
}

fn span(found: &SinkMatch<'_>) -> Range<usize> {
    let start = usize::try_from(found.absolute_byte_offset()).unwrap_or(usize::MAX);
    start..start.saturating_add(found.bytes().len())
}

fn searcher(line_numbers: bool, binary: BinaryDetection) -> Searcher {
    SearcherBuilder::new().line_number(line_numbers).binary_detection(binary).build()
}

/// A pattern as an error quotes it.
fn cut(pattern: &str) -> String {
    const SHOWN: usize = 200;
    match pattern.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", pattern.get(..at).unwrap_or_default()),
        None => pattern.to_owned(),
    }
}

/// The parser draws the place on several lines; what is wrong stands on the last.
fn last_line(error: &str) -> String {
    let last = error.lines().last().unwrap_or(error).trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
