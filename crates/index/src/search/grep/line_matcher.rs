//! Matching line by line, as ripgrep does it.

use std::io;
use std::ops::Range;
use std::time::Instant;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use regex_syntax::hir::Look;

use super::query::GrepQuery;
use crate::SearchError;
use crate::error::shorten_pattern;
use crate::snapshot::is_binary;

/// The longest pattern, in bytes. A class such as `\w` takes up to 13 KB while it is parsed, before the program has a
/// size.
const MAX_PATTERN_BYTES: usize = 4 << 10;

/// How large the program of a pattern may be, in bytes. It is what a letter of a note may cost.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// The cache of each thread for the automaton, in bytes; without a limit a thread takes up to a
/// gigabyte.
const MAX_DFA_CACHE_BYTES: usize = 4 << 20;

/// The number of bytes that are searched between two looks at the clock.
const BYTES_PER_CLOCK_CHECK: usize = 1 << 16;

/// Finds lines that match a query.
#[derive(Debug, Clone)]
pub(super) struct LineMatcher {
    matcher: RegexMatcher,
    /// Whether it asks for the start or the end of a whole note.
    has_text_anchors: bool,
    /// How many lines of one note are shown.
    max_per_note: usize,
}

/// A line that matched: the bytes it spans, line end included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchedLine {
    /// 1-based.
    pub(super) line: u64,
    pub(super) span: Range<usize>,
}

/// The first matching lines of one note, and how many there are.
#[derive(Debug)]
pub(super) struct MatchedLines {
    pub(super) first: Vec<MatchedLine>,
    pub(super) total: u32,
    /// How many `first` may hold.
    limit: usize,
}

impl MatchedLines {
    /// None so far, of which the first `limit` will be kept.
    pub(super) const fn with_limit(limit: usize) -> Self {
        Self { first: Vec::new(), total: 0, limit }
    }

    /// Counts a line, which comes behind those before it.
    pub(super) fn add(&mut self, line: MatchedLine) {
        self.total = self.total.saturating_add(1);
        if self.first.len() < self.limit {
            self.first.push(line);
        }
    }
}

impl LineMatcher {
    /// Of the query's pattern, with ripgrep's meaning.
    pub(super) fn from_query(query: &GrepQuery) -> Result<Self, SearchError> {
        Self::check_length(query)?;
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(!query.case_sensitive)
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .size_limit(MAX_REGEX_BYTES)
            .dfa_size_limit(MAX_DFA_CACHE_BYTES)
            .build(&query.pattern)
            .map_err(|error| SearchError::BadPattern {
                pattern: shorten_pattern(&query.pattern),
                why: last_line(&error.to_string()),
                literal: shorten_pattern(&regex::escape(&query.pattern)),
            })?;
        let parsed = regex_syntax::ParserBuilder::new().utf8(false).build().parse(&query.pattern);
        let is_about_ends = parsed.is_ok_and(|parsed| {
            let looks = parsed.properties().look_set();
            looks.contains(Look::Start) || looks.contains(Look::End)
        });
        let max_per_note = usize::from(query.max_per_note);
        Ok(Self { matcher, has_text_anchors: is_about_ends, max_per_note })
    }

    /// Refuses a pattern that takes much memory already while it is parsed.
    pub(super) const fn check_length(query: &GrepQuery) -> Result<(), SearchError> {
        if query.pattern.len() > MAX_PATTERN_BYTES {
            return Err(SearchError::LongPattern);
        }
        Ok(())
    }

    /// Whether notes may be searched several at a time.
    pub(super) const fn can_span_notes(&self) -> bool {
        !self.has_text_anchors
    }

    /// A searcher for one note after the other.
    pub(super) fn note_searcher(&self) -> NoteSearcher<'_> {
        NoteSearcher { lines: self, searcher: new_searcher(true, BinaryDetection::none()) }
    }

    /// The lines of a long text that match, by their bytes; `found` hears of each, in order. Ends
    /// at `deadline`.
    pub(super) fn scan_run(
        &self,
        text: &[u8],
        deadline: Instant,
        mut found: impl FnMut(Range<usize>),
    ) {
        let mut searcher = new_searcher(false, BinaryDetection::none());
        let mut at = 0;
        while at < text.len() && Instant::now() < deadline {
            let rest = text.get(at..).unwrap_or_default();
            let whole = rest
                .get(BYTES_PER_CLOCK_CHECK..)
                .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'));
            let slice =
                whole.and_then(|more| rest.get(..BYTES_PER_CLOCK_CHECK + more + 1)).unwrap_or(rest);
            let hear = LineSink(|line: Range<usize>| found(at + line.start..at + line.end));
            search(&self.matcher, &mut searcher, slice, hear);
            at += slice.len();
        }
    }

    /// The bytes of one line that match, in order; empty matches are omitted.
    pub(super) fn matches_in(&self, line: &str) -> Vec<Range<usize>> {
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
pub(super) struct NoteSearcher<'a> {
    lines: &'a LineMatcher,
    searcher: Searcher,
}

impl NoteSearcher<'_> {
    /// The places in a note with this text. One that holds zero bytes, or text of another encoding,
    /// is read piece by piece to its first zero byte.
    pub(super) fn find_lines(&mut self, text: &[u8]) -> MatchedLines {
        let mut places = MatchedLines::with_limit(self.lines.max_per_note);
        let matcher = &self.lines.matcher;
        if !is_binary(text) {
            // Most notes hold nothing of it, and that is told sooner than where it is.
            if self.lines.has_text_anchors || matcher.is_match(text).unwrap_or(true) {
                search(matcher, &mut self.searcher, text, &mut places);
            }
            return places;
        }
        let mut searcher = new_searcher(true, BinaryDetection::quit(0));
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
        // Neither a slice nor the sink fails; the matches so far count in any case.
        tracing::error!(%error, "a note could not be searched to its end");
    }
}

impl Sink for MatchedLines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = found.line_number().unwrap_or(1);
        self.add(MatchedLine { line, span: line_span(found) });
        Ok(true)
    }
}

/// Tells somebody of each line.
struct LineSink<F>(F);

impl<F: FnMut(Range<usize>)> Sink for LineSink<F> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        (self.0)(line_span(found));
        Ok(true)
    }
}

fn line_span(found: &SinkMatch<'_>) -> Range<usize> {
    let start = usize::try_from(found.absolute_byte_offset()).unwrap_or(usize::MAX);
    start..start.saturating_add(found.bytes().len())
}

fn new_searcher(line_numbers: bool, binary: BinaryDetection) -> Searcher {
    SearcherBuilder::new().line_number(line_numbers).binary_detection(binary).build()
}

/// The parser draws the place on several lines; the reason is on the last.
fn last_line(error: &str) -> String {
    let last = error.lines().last().unwrap_or(error).trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
