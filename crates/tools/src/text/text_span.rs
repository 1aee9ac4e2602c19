//! Finding the text that an edit names, whatever its lines end with, and replacing just it.

use std::cell::LazyCell;
use std::ops::Range;

use markdown::LineEnd;
use protocol::notes::invisible::{invisible_ranges, without_invisible};
use vault::NOTE_LIMIT;

/// Where `old` stands in `text`: byte ranges in order, not overlapping. A `\n` in `old` also
/// stands for `\r\n`, and the other way round; what nobody sees may be missing in `old`.
pub(crate) fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    let old = old.replace("\r\n", "\n");
    if old.is_empty() {
        return Vec::new();
    }
    let found = exact_matches(text, &old);
    if found.is_empty() { visible_matches(text, &old) } else { found }
}

fn exact_matches(text: &str, old: &str) -> Vec<Range<usize>> {
    let folded = FoldedText::new(text);
    let starts = folded.text.match_indices(old);
    starts
        .map(|(at, _)| folded.original_offset(at)..folded.original_offset(at + old.len()))
        .collect()
}

/// A model is told a note without its invisible characters, and quotes it so. Those between the
/// first and the last character that it quotes belong to the region.
fn visible_matches(text: &str, old: &str) -> Vec<Range<usize>> {
    let strays = invisible_ranges(text);
    if strays.is_empty() {
        return Vec::new();
    }
    // Regions are in order and apart, so each end of one is looked for behind the last.
    let (mut starts, mut ends) = (OffsetMap::new(&strays), OffsetMap::new(&strays));
    let region = |seen: Range<usize>| {
        starts.original_offset(seen.start, |stray, at| stray <= at)
            ..ends.original_offset(seen.end, |stray, at| stray < at)
    };
    exact_matches(&without_invisible(text), old).into_iter().map(region).collect()
}

/// Tells offsets in a text from those in what is seen of it.
struct OffsetMap<'a> {
    /// Stray spans that were not passed yet.
    strays: &'a [Range<usize>],
    /// How many bytes nobody sees were passed.
    passed: usize,
}

impl<'a> OffsetMap<'a> {
    const fn new(strays: &'a [Range<usize>]) -> Self {
        Self { strays, passed: 0 }
    }

    /// Where the offset `seen` is, which is not before the last one asked for; `is_passed` says
    /// whether a stray counts as before a place.
    fn original_offset(&mut self, seen: usize, is_passed: fn(usize, usize) -> bool) -> usize {
        while let Some((first, rest)) = self.strays.split_first()
            && is_passed(first.start, seen + self.passed)
        {
            self.passed += first.len();
            self.strays = rest;
        }
        seen + self.passed
    }
}

/// `text` with every region replaced by `new`, whose lines then end as those of the region do,
/// or of the note where the region has none. All other bytes stay. `None` when the result is larger
/// than a note may be; then it is not made.
pub(crate) fn replace(text: &str, regions: &[Range<usize>], new: &str) -> Option<String> {
    let of_note = LineEnd::of(text);
    let spelled = |ends: LineEnd| ends.convert(new);
    let (lf, crlf) = (spelled(LineEnd::Lf), LazyCell::new(|| spelled(LineEnd::CrLf)));
    let fit = |region: &Range<usize>| -> &str {
        let old = text.get(region.clone()).unwrap_or_default();
        match if old.contains('\n') { LineEnd::of(old) } else { of_note } {
            LineEnd::Lf => &lf,
            LineEnd::CrLf => &crlf,
        }
    };
    let grown = regions.iter().map(|region| fit(region).len());
    let size = grown.fold(text.len(), usize::saturating_add);
    let size = size - regions.iter().map(ExactSizeIterator::len).sum::<usize>();
    if u64::try_from(size).is_ok_and(|size| size > NOTE_LIMIT) && size > text.len() {
        return None;
    }
    let mut out = String::with_capacity(size);
    let mut kept = 0;
    for region in regions {
        out.push_str(text.get(kept..region.start).unwrap_or_default());
        out.push_str(fit(region));
        kept = region.end;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Some(out)
}

/// A text whose `\r\n` were folded to `\n`, and where.
struct FoldedText {
    text: String,
    /// Offsets in `text` of each `\n` that had a `\r` before it, ascending.
    dropped: Vec<usize>,
}

impl FoldedText {
    fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut dropped = Vec::new();
        for line in original.split_inclusive('\n') {
            match line.strip_suffix("\r\n") {
                Some(bare) => {
                    text.push_str(bare);
                    dropped.push(text.len());
                    text.push('\n');
                }
                None => text.push_str(line),
            }
        }
        Self { text, dropped }
    }

    /// The offset in the original; of a folded `\n`, that of its `\r`.
    fn original_offset(&self, offset: usize) -> usize {
        offset + self.dropped.partition_point(|newline| *newline < offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, old: &str, new: &str, expected: &str) {
        assert_eq!(replace(text, &find(text, old), new).unwrap(), expected, "{text:?} {old:?}");
    }

    #[test]
    fn only_the_named_bytes_change() {
        check("a b a", "a", "c", "c b c");
        check("one\r\ntwo\r\nthree", "two", "2\n2", "one\r\n2\r\n2\r\nthree");
        check("one\r\ntwo\r\nthree", "one\ntwo", "1\n2", "1\r\n2\r\nthree");
        check("one\r\ntwo\r\n", "two\n", "", "one\r\n");
        check("one\r\ntwo", "one", "1", "1\r\ntwo");
        check("a\nb\n", "a\r\nb", "c\r\nd", "c\nd\n");
        check("mixed\nends\r\nhere\r\n", "mixed\nends", "1\n2", "1\n2\r\nhere\r\n");
        check("lone\rreturn\r\n", "return", "x", "lone\rx\r\n");
    }

    #[test]
    fn nothing_is_found_where_nothing_is_named() {
        assert!(find("abc", "").is_empty());
        assert!(find("abc", "d").is_empty());
        assert!(find("a\r\nb", "\r").is_empty());
    }

    #[test]
    fn a_text_is_found_with_the_invisible_characters_that_stand_in_it() {
        let hidden = "pay\u{E0041}\u{E0042} 10 \u{200B}\u{200B}now";
        check(hidden, "pay 10", "owe 20", "owe 20 \u{200B}\u{200B}now");
        check(hidden, "now", "then", "pay\u{E0041}\u{E0042} 10 \u{200B}\u{200B}then");
        check("\u{202E}a\r\nb\u{202C}", "a\nb", "c", "\u{202E}c\u{202C}");
        assert!(find(hidden, "pay 11").is_empty());
    }

    proptest! {
        #[test]
        fn what_is_found_in_a_text_reads_as_it_was_asked_for(
            text in "[ab\u{200B}\u{E0041}\r\n]{0,20}",
            old in "[ab]{1,4}",
        ) {
            for region in find(&text, &old) {
                prop_assert_eq!(without_invisible(&text[region]), old.as_str());
            }
        }

        #[test]
        fn replacing_a_region_by_itself_keeps_every_byte(
            text in "[ab\\r\\n]{0,30}",
            old in "[ab\\n]{1,4}",
        ) {
            let found = find(&text, &old);
            for region in &found {
                let same =
                    replace(&text, std::slice::from_ref(region), &text[region.clone()]).unwrap();
                // A region of mixed ends takes the first; all others come back as they were.
                let piece = &text[region.clone()];
                prop_assume!(LineEnd::of(piece).convert(piece) == piece);
                prop_assume!(piece.contains('\n') || !piece.contains('\r'));
                prop_assert_eq!(&same, &text);
            }
        }

        #[test]
        fn regions_are_exactly_the_folded_matches(
            text in "[ab\\r\\né]{0,30}",
            old in "[ab\\né]{1,3}",
        ) {
            let folded = text.replace("\r\n", "\n");
            let found = find(&text, &old);
            prop_assert_eq!(found.len(), folded.matches(old.as_str()).count());
            for region in found {
                prop_assert_eq!(text[region].replace("\r\n", "\n"), old.clone());
            }
        }
    }
}
