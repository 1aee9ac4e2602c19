//! The links in the properties of a note, with their bytes.

use std::ops::Range;

use super::link::{Link, LinkForm, Quoting};
use super::wikilink;
use crate::entries;

/// Wikilinks in the values, wherever they stand in them.
pub(super) fn property_links(text: &str, yaml: Range<usize>) -> Vec<Link> {
    let mut found = Vec::new();
    for entry in entries(text, &yaml) {
        let mut at = entry.value.start;
        for line in text.get(entry.value).unwrap_or_default().split_inclusive('\n') {
            for (quoting, piece) in quoted_pieces(line) {
                let piece = at + piece.start..at + piece.end;
                wikilink::scan(text, piece, LinkForm::Property(quoting), |_| false, &mut found);
            }
            at += line.len();
        }
    }
    found
}

/// A line of YAML cut where quotes begin and end, without comments.
fn quoted_pieces(line: &str) -> Vec<(Quoting, Range<usize>)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut quoting = Quoting::Plain;
    let mut before = ' ';
    let mut signs = line.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let begins = matches!(before, ' ' | '\t' | '[' | ',' | '{' | '-' | ':');
        match (quoting, sign) {
            (Quoting::Plain, '#') if matches!(before, ' ' | '\t') => {
                found.push((quoting, start..at));
                return without_empty(found);
            }
            (Quoting::Plain, '"' | '\'') if begins => {
                found.push((quoting, start..at));
                quoting = if sign == '"' { Quoting::Double } else { Quoting::Single };
                start = at + 1;
            }
            (Quoting::Double, '\\') => {
                signs.next();
            }
            (Quoting::Single, '\'') if signs.peek().is_some_and(|(_, next)| *next == '\'') => {
                signs.next();
            }
            (Quoting::Double, '"') | (Quoting::Single, '\'') => {
                found.push((quoting, start..at));
                quoting = Quoting::Plain;
                start = at + 1;
            }
            _ => {}
        }
        before = sign;
    }
    found.push((quoting, start..line.len()));
    without_empty(found)
}

fn without_empty(mut pieces: Vec<(Quoting, Range<usize>)>) -> Vec<(Quoting, Range<usize>)> {
    pieces.retain(|(quoting, piece)| *quoting != Quoting::Plain || !piece.is_empty());
    pieces
}
