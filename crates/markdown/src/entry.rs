//! The lines of a frontmatter as its entries on the left edge.

use std::ops::Range;

/// `key:` on the left edge, with the text behind and below it.
#[derive(Debug, PartialEq, Eq)]
pub struct FrontmatterEntry {
    /// The name, quotes included.
    pub key: Range<usize>,
    /// Behind the colon to the end of the last line that belongs to it.
    pub value: Range<usize>,
}

/// The entries of `yaml`, a range of `text`. Other lines are skipped.
pub fn entries(text: &str, yaml: &Range<usize>) -> Vec<FrontmatterEntry> {
    let mut found: Vec<FrontmatterEntry> = Vec::new();
    let mut at = yaml.start;
    for line in text.get(yaml.clone()).unwrap_or_default().split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_end();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let is_below =
            line.starts_with([' ', '\t', ']', '}']) || bare == "-" || bare.starts_with("- ");
        match (is_below, found.last_mut()) {
            (true, Some(last)) => last.value.end = start + bare.len(),
            (true, None) => {}
            (false, _) => found.extend(find_colon(bare).map(|colon| FrontmatterEntry {
                key: start..start + bare.get(..colon).unwrap_or_default().trim_end().len(),
                value: start + colon + 1..start + bare.len(),
            })),
        }
    }
    found
}

/// The offset of the colon behind a name.
fn find_colon(line: &str) -> Option<usize> {
    let quoted = line.chars().next().filter(|sign| matches!(sign, '"' | '\''));
    let from = quoted.and_then(|quote| Some(line.get(1..)?.find(quote)? + 2)).unwrap_or(0);
    let ends = |at: &usize| {
        line.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    line.get(from..)?.match_indices(':').map(|(at, _)| from + at).find(ends)
}
