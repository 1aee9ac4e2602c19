//! One note read with the words of a query in mind, and its best passage.

use std::borrow::Cow;
use std::ops::Range;

use protocol::reaction::Why;
use protocol::{NotePath, Passage};

use crate::passage::{Block, Kind, blocks, excerpt};
use crate::words::{Mark, Words, pairs};

/// A note, its blocks and where it has the words.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Empty when no word is in the text and none is in the title.
    pub(crate) blocks: Vec<Block>,
    /// Words in the text, ascending.
    pub(crate) marks: Vec<Mark>,
    /// Words in the title, ascending.
    pub(crate) title: Vec<Mark>,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(words: &Words, path: &NotePath, bytes: &'a [u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (marks, title) = (words.marks(&text), words.marks(path.title()));
        let is_match = !(marks.is_empty() && title.is_empty());
        let blocks = if is_match { blocks(&text) } else { Vec::new() };
        Self { text, blocks, marks, title }
    }

    /// The words that begin in `span`.
    pub(crate) fn within(&self, span: &Range<usize>) -> &[Mark] {
        let from = self.marks.partition_point(|mark| mark.start < span.start);
        let to = self.marks.partition_point(|mark| mark.start < span.end);
        self.marks.get(from..to).unwrap_or_default()
    }

    /// The paragraph with the most weight of words in it and in its heading; the first paragraph
    /// when only the title matches.
    pub(crate) fn best_passage(&self, path: &NotePath, weights: &[f64]) -> Passage {
        let valued = self.blocks.iter().map(|block| (self.value(block, weights), block));
        // Of equals the first: a later one must be better.
        let best = valued.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let best = best.filter(|(value, _)| *value > 0.0).map(|(_, block)| block);
        let block = best.or_else(|| self.blocks.iter().find(|block| block.kind == Kind::Text));
        let excerpt = block.map(|block| excerpt(&self.text, block, self.within(&block.span)));
        let heading = block.and_then(|block| self.text.get(block.heading.clone()?));
        let why = self.why(block, weights);
        let path = path.clone();
        let heading = heading.map(str::to_owned);
        match excerpt {
            Some(cut) => {
                Passage { path, heading, line: cut.line, text: cut.text, marks: cut.marks, why }
            }
            None => Passage { path, heading, line: 1, text: String::new(), marks: Vec::new(), why },
        }
    }

    fn value(&self, block: &Block, weights: &[f64]) -> f64 {
        let own = self.within(&block.span);
        let neighbours = f64::from(pairs(&self.text, own).min(2));
        let text = weight(own, weights) * (1.0 + neighbours / 2.0);
        match block.kind {
            Kind::Text => text + 0.8 * self.weight_above(block, weights),
            Kind::Heading => 0.7 * text,
            Kind::Properties => 0.3 * text,
        }
    }

    fn weight_above(&self, block: &Block, weights: &[f64]) -> f64 {
        block.heading.as_ref().map_or(0.0, |heading| weight(self.within(heading), weights))
    }

    /// The place with the most weight; of equals the one a person sees first.
    fn why(&self, block: Option<&Block>, weights: &[f64]) -> Why {
        let title = weight(&self.title, weights);
        let heading = block.map_or(0.0, |block| self.weight_above(block, weights));
        let in_text = |block: &&Block| block.kind != Kind::Heading;
        let text =
            block.filter(in_text).map_or(0.0, |block| weight(self.within(&block.span), weights));
        if title > 0.0 && title >= heading.max(text) {
            Why::Title
        } else if heading > 0.0 && heading >= text {
            Why::Heading
        } else {
            Why::Text
        }
    }
}

/// The weight of the different words among `marks`.
fn weight(marks: &[Mark], weights: &[f64]) -> f64 {
    let has = |term: usize| marks.iter().any(|mark| mark.term == term);
    weights.iter().enumerate().filter(|(term, _)| has(*term)).map(|(_, weight)| weight).sum()
}
