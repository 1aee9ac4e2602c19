//! A limit on nesting: for each line the parser goes through all quotes, items and footnotes that are open. A megabyte
//! that opens half a million of them and goes on in short lines would be more than a hundred thousand million steps.

use std::borrow::Cow;

/// Quotes, items and footnotes are read as such to this depth, about as deep as the window shows them.
const MAX_DEPTH: usize = 60;

/// `text` as a parser may have it, each byte in its place. In a line that goes deeper than [`MAX_DEPTH`] an `x` stands
/// for the first byte of the mark that is one too many, so that the rest of the line is text.
///
/// Marks count, and so does what may continue an item: two columns of indentation. Without the latter each line could
/// go sixty items deeper than the one before it.
pub(super) fn limit_nesting(text: &str) -> Cow<'_, str> {
    limit_nesting_to(MAX_DEPTH, text)
}

fn limit_nesting_to(most: usize, text: &str) -> Cow<'_, str> {
    let mut excess = Vec::new();
    let (mut start, mut open) = (0_usize, 0_usize);
    for line in text.as_bytes().split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        excess.extend(excess_mark(line, &mut open, most).map(|at| start + at));
        start += line.len();
    }
    if excess.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut copy = String::with_capacity(text.len());
    let mut from = 0;
    for at in excess {
        copy.push_str(text.get(from..at).unwrap_or_default());
        copy.push('x');
        from = at + 1;
    }
    copy.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(copy)
}

/// The offset of the mark in `line` that goes deeper than `most`. Before the line no more than `open` quotes, items and
/// footnotes are open, and behind it no more than `open` then says. That is never less than there are: a line without
/// marks may belong to any of them.
fn excess_mark(line: &[u8], open: &mut usize, most: usize) -> Option<usize> {
    let (mut at, mut marks, mut columns) = (0_usize, 0_usize, 0_usize);
    let mut is_new = false;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| is_blank(**byte));
        at += blanks.clone().count();
        // Behind the mark of a new item nothing continues another one.
        if !is_new {
            columns += blanks.map(|byte| if *byte == b'\t' { 4 } else { 1 }).sum::<usize>();
        }
        let depth = marks + (*open).min(columns / 2);
        let rest = line.get(at..).unwrap_or_default();
        let mark = mark_length(rest).filter(|_| depth < most || !is_rule(line, at));
        let Some(length) = mark else {
            *open = depth.clamp(*open, most);
            return None;
        };
        if depth >= most {
            *open = most;
            return Some(at);
        }
        marks += 1;
        is_new |= !rest.starts_with(b">");
        at += length;
    }
}

/// The length of the mark of a quote, an item or a footnote that `rest` begins with.
fn mark_length(rest: &[u8]) -> Option<usize> {
    let ends = |at: usize| {
        rest.get(at).is_none_or(|byte| is_blank(*byte) || matches!(byte, b'\n' | b'\r'))
    };
    match rest {
        // The blank belongs to the sign.
        [b'>', b' ', ..] => Some(2),
        [b'>', ..] => Some(1),
        [b'-' | b'+' | b'*', ..] => ends(1).then_some(1),
        [b'0'..=b'9', ..] => {
            let digits = rest.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
            let is_mark = matches!(rest.get(digits), Some(b'.' | b')')) && ends(digits + 1);
            is_mark.then_some(digits + 1)
        }
        [b'[', b'^', label @ ..] => label_length(label).map(|length| length + 2),
        _ => None,
    }
}

/// The length of a footnote's label on this line, with the `]:` behind it.
fn label_length(label: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match label.get(at)? {
            b'\\' => at += 2,
            b'[' => return None,
            b']' => return label.get(at..)?.starts_with(b"]:").then_some(at + 2),
            _ => at += 1,
        }
    }
}

/// Whether the sign at `at` is one of a line of them, `- - -`, which is no list.
fn is_rule(line: &[u8], at: usize) -> bool {
    let Some((before, behind)) = line.split_at_checked(at) else { return false };
    let Some(sign @ (b'-' | b'*')) = behind.first() else { return false };
    let is_part = |byte: &u8| byte == sign || matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let all = before.iter().rev().take_while(|&byte| is_part(byte)).chain(behind);
    behind.iter().all(is_part) && all.filter(|byte| *byte == sign).count() >= 3
}

/// Behind a footnote's mark more signs are blanks than elsewhere.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;
    use crate::parser::Document;

    /// Marks, and how much deeper each goes.
    const MARKS: [(&str, usize); 9] = [
        (">", 1),
        ("> ", 1),
        ("- ", 1),
        ("*   ", 1),
        ("+\t", 1),
        ("12) ", 1),
        ("> - ", 2),
        ("- [^a\\]:b]: ", 2),
        ("1. > *\t", 3),
    ];

    #[test]
    fn to_the_limit_a_text_is_left_as_it_is() {
        let marks = MARKS.map(|(mark, depth)| format!("{}a\nb\n", mark.repeat(MAX_DEPTH / depth)));
        let rules = ["- ".repeat(500), "> > ".to_owned() + &"* ".repeat(500)];
        let nested = format!("- a\n  - b\n\n```\n{}- c\n```\n", " ".repeat(500));
        for text in marks.into_iter().chain(rules).chain([nested]) {
            assert!(matches!(limit_nesting(&text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn the_mark_beyond_the_limit_is_text() {
        for (mark, depth) in MARKS {
            let deepest = mark.repeat(MAX_DEPTH / depth);
            for line_end in ["\n", "\r\n", "\r"] {
                let text = format!("é{line_end}{deepest}{mark}[[a]]{line_end}b");
                let limited = format!("é{line_end}{deepest}x{}[[a]]{line_end}b", &mark[1..]);
                assert_eq!(limit_nesting(&text), limited);
            }
        }
    }

    #[test]
    fn lists_that_each_line_nests_deeper_are_limited_too() {
        let text: String = (0..100).map(|depth| "\t".repeat(depth) + "- - - a\n").collect();
        assert!(nesting(&text) > 2 * MAX_DEPTH);
        assert_eq!(nesting(&limit_nesting(&text)), MAX_DEPTH);
    }

    #[test]
    fn a_note_that_is_nested_too_deep_is_read_with_all_its_links_and_headings() {
        for (mark, many) in [(">", 200_000), ("- ", 100_000), ("- [^a]: ", 25_000)] {
            let deep = format!("{}[[deep]] #tag\n{}", mark.repeat(many), "b\n".repeat(20_000));
            let text = format!("[[first]]\n\n{deep}[l](lazy.md)\n\n# Heading\n\n[[last]]\n");
            let note = Document::parse(&text);
            let links: Vec<String> = note.links.iter().map(|link| link.path(&text)).collect();
            assert_eq!(links, ["first", "deep", "lazy.md", "last"], "{mark}");
            let tags: Vec<&str> = note.tags.iter().map(|tag| note.slice(&tag.name)).collect();
            assert_eq!(tags, ["tag"], "{mark}");
            let [heading] = note.headings.as_slice() else { panic!("{:?}", note.headings) };
            assert_eq!(&text[heading.start..heading.end], "# Heading\n\n[[last]]\n", "{mark}");
        }
    }

    /// How many quotes, items and footnotes stand in each other.
    fn nesting(text: &str) -> usize {
        let (mut depth, mut deepest) = (0_usize, 0_usize);
        for event in Parser::new_ext(text, Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS) {
            match event {
                Event::Start(Tag::BlockQuote(_) | Tag::Item | Tag::FootnoteDefinition(_)) => {
                    depth += 1;
                }
                Event::End(TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::FootnoteDefinition) => {
                    depth -= 1;
                }
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        deepest
    }

    proptest! {
        #[test]
        fn no_text_is_nested_deeper_than_the_limit(
            text in r"(>|> |- |\* |\+\t|12\. |\[\^a\]: |\[\^\\\]:b\]:|  |   |\t|\x0c|a|\[ \] |-\n|\n|\n|\r|\r\n){0,80}",
            most in 1_usize..6,
        ) {
            let limited = limit_nesting_to(most, &text);
            prop_assert_eq!(limited.len(), text.len());
            prop_assert!(nesting(&limited) <= most, "{} in {:?}", nesting(&limited), limited);
        }
    }
}
