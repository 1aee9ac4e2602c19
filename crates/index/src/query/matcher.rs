//! Where a text has what a query asks for: case, diacritics and endings do not matter.

use std::ops::Range;

use crate::fulltext::tokenizer::{WordToken, WordTokens, fold_into};
use crate::query::{ParsedQuery, TermPattern};

/// A word or a phrase found in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TermMark {
    /// The first byte.
    pub(crate) start: usize,
    /// The byte after the last.
    pub(crate) end: usize,
    /// Which term of the query it is.
    pub(crate) term: usize,
    /// How much of it was asked for: less than 1 when it is a longer word that begins so.
    pub(crate) share: f64,
}

/// Where `text` has what is asked for, in order; `None` when it has what is excluded.
pub(crate) fn find_marks(query: &ParsedQuery, text: &str) -> Option<Vec<TermMark>> {
    let mut marker = TermMatcher { asked: query, text, marks: Vec::new(), folded: String::new() };
    let mut at = 0;
    while at < text.len() {
        let wide = at + ascii_length(text.as_bytes().get(at..)?);
        let start = word_start(text.as_bytes(), at, wide);
        marker.match_ascii(at..start)?;
        at = marker.match_non_ascii(start, wide)?;
    }
    Some(marker.marks)
}

/// How many bytes from the first on are ASCII.
fn ascii_length(bytes: &[u8]) -> usize {
    const STEP: usize = 128;
    let steps = bytes.chunks(STEP).take_while(|step| step.is_ascii()).count();
    let rest = bytes.get(steps * STEP..).unwrap_or_default();
    let length = steps * STEP + rest.iter().take_while(|byte| byte.is_ascii()).count();
    length.min(bytes.len())
}

/// Where the word begins, not before `from`, whose next letter is at `end`.
fn word_start(bytes: &[u8], from: usize, end: usize) -> usize {
    if end == bytes.len() {
        return end;
    }
    let before = bytes.get(from..end).unwrap_or_default();
    end - before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// Marks a text piece by piece. Its steps give `None` at what is excluded.
struct TermMatcher<'a> {
    asked: &'a ParsedQuery,
    text: &'a str,
    marks: Vec<TermMark>,
    folded: String,
}

impl TermMatcher<'_> {
    /// A piece of whole words in ASCII: most of them are passed over without a look.
    fn match_ascii(&mut self, piece: Range<usize>) -> Option<()> {
        let Some(beginnings) = &self.asked.ascii else { return Some(()) };
        let bytes = self.text.as_bytes().get(piece.clone()).unwrap_or_default();
        for found in beginnings.find_iter(bytes) {
            let before = found.start().checked_sub(1).and_then(|before| bytes.get(before));
            if before.is_none_or(|byte| !byte.is_ascii_alphanumeric()) {
                let mut units = WordTokens::starting_at(self.text, piece.start + found.start());
                let unit = units.next();
                unit.map_or(Some(()), |unit| self.match_token(unit, &units))?;
            }
        }
        Some(())
    }

    /// The unit that begins at `start` and holds the letter at `wide`, or what parts units there;
    /// where the next one may begin. Nothing is looked at twice for that, however far it is.
    fn match_non_ascii(&mut self, start: usize, wide: usize) -> Option<usize> {
        let letter = self.text.get(wide..).and_then(|rest| rest.chars().next());
        let after = wide + letter.map_or(1, char::len_utf8);
        let mut units = WordTokens::starting_at(self.text, start);
        match units.next() {
            Some(unit) if unit.start < after => {
                self.match_token(unit, &units)?;
                Some(unit.end)
            }
            next => Some(next.map_or(self.text.len(), |unit| unit.start)),
        }
    }

    fn match_token(&mut self, token: WordToken, rest: &WordTokens<'_>) -> Option<()> {
        let Self { asked, text, marks, folded } = self;
        fold_into(text.get(token.start..token.end).unwrap_or_default(), folded);
        let found = |spelled: &TermPattern| spelled.match_end(text, token, folded, rest);
        if asked.excluded.iter().any(|spelled| found(spelled).is_some()) {
            return None;
        }
        for (term, asked) in asked.terms.iter().enumerate() {
            let mark = |(end, share)| TermMark { start: token.start, end, term, share };
            marks.extend(found(&asked.pattern).map(mark));
        }
        Some(())
    }
}

/// How often two terms of the query stand side by side in its order.
pub(crate) fn count_adjacent_terms(text: &str, marks: &[TermMark]) -> u32 {
    let adjacent = |(a, b): &(&TermMark, &TermMark)| {
        let between = text.get(a.end..b.start).unwrap_or("x");
        b.term == a.term + 1 && !between.contains(char::is_alphanumeric)
    };
    let count = marks.iter().zip(marks.iter().skip(1)).filter(adjacent).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn asked(query: &str) -> ParsedQuery {
        ParsedQuery::parse(query).expect("a query")
    }

    /// The slow reference: every word of the text is compared with the query.
    fn marks_by_looking_at_all(query: &ParsedQuery, text: &str) -> Option<Vec<TermMark>> {
        let mut marker =
            TermMatcher { asked: query, text, marks: Vec::new(), folded: String::new() };
        let mut units = WordTokens::new(text);
        while let Some(unit) = units.next() {
            marker.match_token(unit, &units)?;
        }
        Some(marker.marks)
    }

    #[test]
    fn words_behind_signs_are_marked_where_they_are() {
        for (text, places) in [
            ("───tea", &[(9, 12)][..]),
            ("tea───", &[(0, 3)]),
            ("─ ─\n#\u{200b}tea ─Tea", &[(12, 15), (19, 22)]),
            ("\u{301}\u{301}─\u{301}tea", &[(7, 12)]),
            ("─────", &[]),
        ] {
            let found = find_marks(&asked("tea"), text).expect("nothing is excluded");
            let found: Vec<_> = found.iter().map(|mark| (mark.start, mark.end)).collect();
            assert_eq!(found, places, "{text}");
        }
    }

    #[test]
    fn time_grows_with_the_text_whatever_signs_are_in_it() {
        const BYTES: usize = 256 << 10;
        let query = asked("tea \"green tea\" 茶の -mint");
        for piece in
            ["─", "#\u{200b}", "\u{301}", "─\u{301}", "─\n\n", "─ ", "、", "é", "a\u{200b}", "─a"]
        {
            let text = piece.repeat(BYTES / piece.len());
            let begun = Instant::now();
            assert_eq!(find_marks(&query, &text), Some(Vec::new()));
            // Where each sign is followed to the end of the text this takes minutes.
            assert!(begun.elapsed() < Duration::from_secs(5), "{piece:?}: {:?}", begun.elapsed());
        }
    }

    proptest! {
        #[test]
        fn what_is_passed_over_has_no_marks(
            text in "([a-cA-Cäß茶の1]{1,4}|[─、\u{200b}\u{301}\u{e31}#.-]{1,5}|[ \n]{1,3}){0,24}",
            query in "([\"-]?[a-cäß茶の1]{1,3}[\" ]{0,2}){1,4}",
        ) {
            let Some(asked) = ParsedQuery::parse(&query) else { return Ok(()) };
            prop_assert_eq!(find_marks(&asked, &text), marks_by_looking_at_all(&asked, &text));
        }
    }
}
