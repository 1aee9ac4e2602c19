//! Which heading of a note a call means, and how to say it so that only one is meant.

use markdown::parser::{Heading, headings};
use protocol::NotePath;
use protocol::notes::invisible::without_invisible;

use crate::text::similar_lines::similarity;

/// Headings listed at most.
const MAX_LISTED: usize = 50;
/// A longer reference is no help: the line is.
const MAX_REFERENCE_BYTES: usize = 1_000;
/// Stands between a heading and the one it is under.
const HEADING_SEPARATOR: &str = " > ";
/// From this likeness on (0 to 1) a heading is offered as the one that was meant.
const MIN_SIMILARITY: f64 = 0.5;

/// The one heading that `asked` means: its text, with or without its `#` signs; the text of
/// headings above it before ` > `; or `line 12`. A failure lists the candidates.
pub(crate) fn resolve_heading(path: &NotePath, text: &str, asked: &str) -> Result<Heading, String> {
    let all = headings(text);
    let bare = without_signs(asked);
    match matching(&all, asked).as_slice() {
        [one] => Ok((*one).clone()),
        [] if all.is_empty() => Err(format!(
            "`{path}` has no headings.\nLeave out heading to add to the end of the note."
        )),
        [] => Err(format!(
            "`{path}` has no heading “{bare}”.{}\nIts headings are:\n{}",
            not_found(&all, bare),
            heading_list(&all)
        )),
        several => Err(format!(
            "`{path}` has {} headings “{bare}”.\nCall again with heading set to exactly one of \
             these:\n{}",
            several.len(),
            unique_references(&all, several)
        )),
    }
}

/// All headings of `all` that `asked` may mean. Each way of meaning counts only if none before it
/// found any.
fn matching<'a>(all: &'a [Heading], asked: &str) -> Vec<&'a Heading> {
    let asked = asked.trim();
    if let Some(line) = asked.strip_prefix("line ").and_then(|line| line.parse::<usize>().ok()) {
        let there: Vec<_> = all.iter().filter(|heading| heading.line == line).collect();
        if !there.is_empty() {
            return there;
        }
    }
    // Its signs, where given, tell headings of the same text apart.
    let spelled: Vec<_> = all.iter().filter(|heading| heading.to_markdown() == asked).collect();
    if !spelled.is_empty() {
        return spelled;
    }
    let whole = [asked];
    let parts: Vec<&str> = asked.split(HEADING_SEPARATOR).collect();
    [&whole[..], parts.as_slice()]
        .iter()
        .flat_map(|parts| {
            [matching_path(all, parts, lowercase), matching_path(all, parts, words_only)]
        })
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The headings that the last of `parts` names, under headings that the others name, compared
/// after `fold`.
fn matching_path<'a>(
    all: &'a [Heading],
    parts: &[&str],
    fold: fn(&str) -> String,
) -> Vec<&'a Heading> {
    let wanted: Vec<String> = parts.iter().map(|part| fold(without_signs(part))).collect();
    let Some((last, above)) = wanted.split_last().filter(|(last, _)| !last.is_empty()) else {
        return Vec::new();
    };
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for heading in all {
        open.retain(|(level, _)| *level < heading.level);
        let title = fold(&heading.title);
        let mut chain = open.iter().map(|(_, title)| title);
        if title == *last && above.iter().all(|part| chain.any(|one| one == part)) {
            found.push(heading);
        }
        open.push((heading.level, title));
    }
    found
}

fn without_signs(asked: &str) -> &str {
    let bare = asked.trim().trim_start_matches('#').trim();
    // A heading of nothing but signs is asked for as it is.
    if bare.is_empty() { asked.trim() } else { bare }
}

fn lowercase(title: &str) -> String {
    without_invisible(title).to_lowercase()
}

/// The text alone: without emoji, emphasis and brackets.
fn words_only(title: &str) -> String {
    let words = lowercase(title).replace(|sign: char| !sign.is_alphanumeric(), " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn not_found(all: &[Heading], bare: &str) -> String {
    let asked = bare.rsplit(HEADING_SEPARATOR).next().unwrap_or(bare);
    let near = all
        .iter()
        .map(|heading| (similarity(&heading.title, asked), heading))
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .filter(|(alike, _)| *alike >= MIN_SIMILARITY);
    near.map(|(_, heading)| format!(" Did you mean “{}”?", heading.title)).unwrap_or_default()
}

fn heading_list(all: &[Heading]) -> String {
    let lines = all
        .iter()
        .take(MAX_LISTED)
        .map(|heading| format!("line {}: {}", heading.line, truncated(heading)));
    lines.collect::<Vec<_>>().join("\n")
}

/// A heading as it is listed, cut where it is endless.
fn truncated(heading: &Heading) -> String {
    let mut spelled = heading.to_markdown();
    if let Some((at, _)) = spelled.char_indices().nth(MAX_REFERENCE_BYTES) {
        spelled.truncate(at);
        spelled.push('…');
    }
    spelled
}

/// One line for each of `several`, with a text that means only it: the headings above it and its
/// own, or else its line.
fn unique_references(all: &[Heading], several: &[&Heading]) -> String {
    let address = |heading: &Heading| {
        let path = path_to(all, heading);
        let is_clear =
            path.len() <= MAX_REFERENCE_BYTES && matching(all, &path).as_slice() == [heading];
        if is_clear { path } else { format!("line {}", heading.line) }
    };
    let lines = several.iter().take(MAX_LISTED).map(|heading| {
        format!("- `{}` (line {}: {})", address(heading), heading.line, truncated(heading))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn path_to(all: &[Heading], heading: &Heading) -> String {
    let mut open: Vec<&Heading> = Vec::new();
    for above in all.iter().take_while(|above| above.line < heading.line) {
        open.retain(|open| open.level < above.level);
        open.push(above);
    }
    let above = open.iter().filter(|open| open.level < heading.level).map(|open| &open.title);
    let titles: Vec<&str> =
        above.chain(std::iter::once(&heading.title)).map(String::as_str).collect();
    titles.join(HEADING_SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOTE: &str =
        "# Monday\n## Tasks\n# Tuesday\n## Tasks\n## 🛒 To **buy**\n# A > B\n## ❤️\n## Tasks\n";

    fn line(asked: &str) -> Result<usize, String> {
        let path = NotePath::parse("n.md").unwrap();
        resolve_heading(&path, NOTE, asked).map(|heading| heading.line)
    }

    #[test]
    fn a_heading_is_named_by_its_text_its_path_or_its_line() {
        for (asked, expected) in [
            ("Monday", 1),
            ("# tuesday ", 3),
            ("Monday > Tasks", 2),
            ("# Tuesday > ## tasks", 4),
            ("to buy", 5),
            ("🛒 To **buy**", 5),
            ("A > B", 6),
            ("❤️", 7),
            ("line 4", 4),
        ] {
            assert_eq!(line(asked), Ok(expected), "{asked}");
        }
    }

    #[test]
    fn headings_of_the_same_text_are_listed_with_their_differences() {
        let words = line("Tasks").unwrap_err();
        assert!(words.contains("- `Monday > Tasks` (line 2: ## Tasks)"), "{words}");
        let path = NotePath::parse("n.md").unwrap();
        let words = resolve_heading(&path, "# A\n# B\n# A\n", "A").unwrap_err();
        assert!(words.ends_with("- `line 1` (line 1: # A)\n- `line 3` (line 3: # A)"), "{words}");
        assert!(line("Tusday").unwrap_err().contains("Did you mean “Tuesday”?"));
    }

    proptest! {
        #[test]
        fn every_heading_of_any_note_has_a_reference_of_its_own(
            levels in proptest::collection::vec((1..4_usize, "[ab>]{1,2}"), 1..9),
        ) {
            let lines: Vec<String> =
                levels.iter().map(|(level, title)| format!("{} {title}", "#".repeat(*level))).collect();
            let all = headings(&lines.join("\n"));
            for one in &all {
                let told = unique_references(&all, &[one]);
                let address = told.split('`').nth(1).unwrap();
                prop_assert_eq!(matching(&all, address), vec![one]);
            }
        }
    }
}
