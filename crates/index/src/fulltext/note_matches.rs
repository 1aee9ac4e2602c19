//! One note read with a query in mind, and its best passage.

use std::borrow::Cow;
use std::ops::Range;

use protocol::chat::tool_event::MatchReason;
use protocol::{NotePath, Passage};

use crate::fulltext::blocks::{PassageBlock, PassageBlockKind, blocks, excerpt};
use crate::query::matcher::{TermMark, count_adjacent_terms, find_marks};
use crate::query::{ParsedQuery, QueryTerm};

/// A note to find.
#[derive(Debug, Clone)]
pub struct SearchableNote<'a> {
    /// A short unique id of the note, where paths would be too long.
    pub key: u64,
    /// Where it is; its title is the last part.
    pub path: &'a NotePath,
    /// The other names that its properties give it.
    pub aliases: Cow<'a, [String]>,
    /// All of it, properties included.
    pub text: Cow<'a, str>,
}

impl SearchableNote<'_> {
    /// Its title and its aliases.
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.title()).chain(self.aliases.iter().map(String::as_str))
    }
}

/// A note, its blocks and where it has what is asked for.
#[derive(Debug)]
pub(crate) struct NoteMatches<'a> {
    pub(crate) note: &'a SearchableNote<'a>,
    /// Empty when nothing is in the text and nothing in a name.
    pub(crate) blocks: Vec<PassageBlock>,
    /// In the text, ascending.
    pub(crate) marks: Vec<TermMark>,
    /// In each of the names, ascending; the title is the first of these.
    pub(crate) names: Vec<(&'a str, Vec<TermMark>)>,
}

impl<'a> NoteMatches<'a> {
    /// `None` when the note has none of it, lacks a phrase or has what is excluded.
    pub(crate) fn find(query: &ParsedQuery, note: &'a SearchableNote<'a>) -> Option<Self> {
        let named = |name| Some((name, find_marks(query, name)?));
        let names = note.names().map(named).collect::<Option<Vec<_>>>()?;
        let marks = find_marks(query, &note.text)?;
        let mut all = names.iter().flat_map(|(_, marks)| marks).chain(&marks);
        let has = |term: usize| all.clone().any(|mark| mark.term == term);
        let lacks = |(at, term): (usize, &QueryTerm)| term.is_required && !has(at);
        if query.terms.iter().enumerate().any(lacks) || all.next().is_none() {
            return None;
        }
        Some(Self { note, blocks: blocks(&note.text), marks, names })
    }

    /// The marks that begin in `span`.
    pub(crate) fn marks_in(&self, span: &Range<usize>) -> &[TermMark] {
        let from = self.marks.partition_point(|mark| mark.start < span.start);
        let to = self.marks.partition_point(|mark| mark.start < span.end);
        self.marks.get(from..to).unwrap_or_default()
    }

    /// The paragraph with the most weight of words in it and in its heading; the first paragraph
    /// when only a name matches.
    pub(crate) fn best_passage(&self, weights: &[f64]) -> Passage {
        // Neighbours stand under one heading, which may be long.
        let mut above = (None, 0.0);
        let valued = self.blocks.iter().map(|block| {
            if above.0 != block.heading {
                above = (block.heading.clone(), self.heading_weight(block, weights));
            }
            (self.block_value(block, weights, above.1), block)
        });
        // Of equals the first: a later one must be better.
        let best = valued.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let best = best.filter(|(value, _)| *value > 0.0).map(|(_, block)| block);
        let block =
            best.or_else(|| self.blocks.iter().find(|block| block.kind == PassageBlockKind::Text));
        let excerpt =
            block.map(|block| excerpt(&self.note.text, block, self.marks_in(&block.span)));
        let heading = block.and_then(|block| self.note.text.get(block.heading.clone()?));
        let why = self.match_reason(block, weights);
        let properties = block.is_some_and(|block| block.kind == PassageBlockKind::Properties);
        let path = self.note.path.clone();
        let heading = heading.map(str::to_owned);
        let (line, text, marks) = excerpt
            .map_or_else(|| (1, String::new(), Vec::new()), |cut| (cut.line, cut.text, cut.marks));
        Passage { path, heading, line, text, marks, why, properties }
    }

    fn block_value(&self, block: &PassageBlock, weights: &[f64], above: f64) -> f64 {
        let own = self.marks_in(&block.span);
        let neighbours = f64::from(count_adjacent_terms(&self.note.text, own).min(2));
        let text = distinct_weight(own, weights) * (1.0 + neighbours / 2.0);
        match block.kind {
            PassageBlockKind::Text => text + 0.8 * above,
            PassageBlockKind::Heading => 0.7 * text,
            PassageBlockKind::Properties => 0.3 * text,
        }
    }

    fn heading_weight(&self, block: &PassageBlock, weights: &[f64]) -> f64 {
        block
            .heading
            .as_ref()
            .map_or(0.0, |heading| distinct_weight(self.marks_in(heading), weights))
    }

    /// The place with the most weight; of equals the one a person sees first.
    fn match_reason(&self, block: Option<&PassageBlock>, weights: &[f64]) -> MatchReason {
        let mut names = self.names.iter().map(|(_, marks)| distinct_weight(marks, weights));
        let title = names.next().unwrap_or_default();
        let alias = names.fold(0.0, f64::max);
        let heading = block.map_or(0.0, |block| self.heading_weight(block, weights));
        let in_text = |block: &&PassageBlock| block.kind != PassageBlockKind::Heading;
        let text = block
            .filter(in_text)
            .map_or(0.0, |block| distinct_weight(self.marks_in(&block.span), weights));
        if title > 0.0 && title >= alias.max(heading).max(text) {
            MatchReason::Title
        } else if alias > 0.0 && alias >= heading.max(text) {
            MatchReason::Alias
        } else if heading > 0.0 && heading >= text {
            MatchReason::Heading
        } else if block.is_some_and(|block| block.kind == PassageBlockKind::Properties) {
            MatchReason::Property
        } else {
            MatchReason::Text
        }
    }
}

/// The first paragraph, for a note that was not found by its words.
pub(crate) fn first_passage(note: &SearchableNote<'_>) -> Passage {
    let blocks = blocks(&note.text);
    let block = blocks.iter().find(|block| block.kind == PassageBlockKind::Text);
    let heading = block.and_then(|block| note.text.get(block.heading.clone()?));
    let (line, text) = block
        .map(|block| excerpt(&note.text, block, &[]))
        .map_or((1, String::new()), |cut| (cut.line, cut.text));
    let (path, heading) = (note.path.clone(), heading.map(str::to_owned));
    let (marks, why) = (Vec::new(), MatchReason::Text);
    Passage { path, heading, line, text, marks, why, properties: false }
}

/// The weight of the different terms among `marks`.
fn distinct_weight(marks: &[TermMark], weights: &[f64]) -> f64 {
    let has = |term: usize| marks.iter().any(|mark| mark.term == term);
    weights.iter().enumerate().filter(|(term, _)| has(*term)).map(|(_, weight)| weight).sum()
}
