//! The properties of a note: names and values for reading, and the links in them.
//!
//! Reads what people write on the left edge: texts, numbers, lists in brackets or on lines of
//! their own. Nested maps are kept as their text.

use std::ops::Range;

use super::entry::entries;
use super::link::{Link, LinkForm, Quoting};
use super::{Frontmatter, wikilink};

/// One property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name, without quotes.
    pub name: String,
    /// Its value, or the items of its list, without quotes; empty when it has none.
    pub values: Vec<String>,
}

/// The properties of a frontmatter, in order.
pub(super) fn read(text: &str, matter: &Frontmatter) -> Vec<Property> {
    let part = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let entries = entries(text, &matter.yaml);
    entries
        .iter()
        .map(|entry| Property {
            name: scalar(part(&entry.key)),
            values: values(part(&entry.value)),
        })
        .collect()
}

/// Wikilinks in the values, wherever they stand in them.
pub(super) fn links(text: &str, yaml: Range<usize>) -> Vec<Link> {
    let mut found = Vec::new();
    for entry in entries(text, &yaml) {
        let mut at = entry.value.start;
        for line in text.get(entry.value).unwrap_or_default().split_inclusive('\n') {
            for (quoting, piece) in pieces(line) {
                let piece = at + piece.start..at + piece.end;
                wikilink::scan(text, piece, LinkForm::Property(quoting), |_| false, &mut found);
            }
            at += line.len();
        }
    }
    found
}

/// The tags that `tags` or `tag` name: a list, or a text with blanks or commas between them.
pub(super) fn tags(properties: &[Property]) -> impl Iterator<Item = String> {
    let own = |property: &&Property| {
        ["tags", "tag"].iter().any(|name| property.name.eq_ignore_ascii_case(name))
    };
    let values = properties.iter().filter(own).flat_map(|property| &property.values);
    let names = values.flat_map(|value| value.split([',', ' ', '\t']));
    names.map(|name| name.trim().trim_start_matches('#').to_owned()).filter(|name| !name.is_empty())
}

fn values(value: &str) -> Vec<String> {
    let value = value.trim();
    if let Some(inner) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        // `[[note]]` without quotes is a list in a list for YAML and a link for people.
        if inner.starts_with('[') && inner.ends_with(']') && !inner.contains("]]") {
            return vec![value.to_owned()];
        }
        return split(inner).into_iter().map(scalar).filter(|item| !item.is_empty()).collect();
    }
    if value.starts_with("- ") || value == "-" {
        let items = value.lines().filter_map(|line| line.trim_start().strip_prefix('-'));
        return items.map(scalar).filter(|item| !item.is_empty()).collect();
    }
    let single = scalar(value);
    if single.is_empty() { Vec::new() } else { vec![single] }
}

/// The items between commas that stand outside of quotes and brackets.
fn split(list: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0_usize, None);
    for (at, sign) in list.char_indices() {
        match (quote, sign) {
            (Some(open), sign) if open == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'')
                if list.get(start..at).is_some_and(|before| before.trim().is_empty()) =>
            {
                quote = Some(sign);
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                items.push(list.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(list.get(start..).unwrap_or_default());
    items
}

/// A value without its quotes or the comment behind it.
fn scalar(spelled: &str) -> String {
    let spelled = spelled.trim();
    let (quoting, piece) = pieces(spelled).into_iter().next().unwrap_or((Quoting::Plain, 0..0));
    let inner = spelled.get(piece).unwrap_or_default();
    match quoting {
        Quoting::Plain => inner.trim().to_owned(),
        quoting => LinkForm::Property(quoting).read(inner),
    }
}

/// A line of YAML cut where quotes begin and end; comments are left out.
fn pieces(line: &str) -> Vec<(Quoting, Range<usize>)> {
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
                return non_empty(found);
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
    non_empty(found)
}

fn non_empty(mut pieces: Vec<(Quoting, Range<usize>)>) -> Vec<(Quoting, Range<usize>)> {
    pieces.retain(|(quoting, piece)| *quoting != Quoting::Plain || !piece.is_empty());
    pieces
}
