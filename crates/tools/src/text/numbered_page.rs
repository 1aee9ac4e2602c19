//! The format in which `read_file` prints a note, and how the commands read it back.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use index::parser::headings;
use protocol::{ContentHash, NotePath};

use crate::text::text_encoding::pluralize;

/// Lines printed at most.
const MAX_LINES: usize = 2_000;
/// Bytes of lines printed at most.
const MAX_BYTES: usize = 100_000;
/// From this many lines on, a note read from its start begins with its outline.
const OUTLINE_MIN_LINES: usize = 150;
/// Headings of an outline at most.
const MAX_HEADINGS: usize = 100;
/// Bytes of a heading in an outline at most.
const MAX_HEADING_BYTES: usize = 1_000;
/// Behind a line that was cut inside.
const CUT_MARK: &str = " [cut: the line has ";
/// Before the rest of such a line.
const CONTINUED_MARK: &str = "[goes on at byte ";
/// Stands between the head and the lines.
const HEAD_SEPARATOR: &str = "---";

/// How far a page shows the pending changes of its note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PendingChanges {
    /// There are none.
    None,
    /// It shows them.
    Shown,
    /// It shows the note as it is on disk, because the turn may not see them.
    Withheld,
}

/// A note to print.
pub(crate) struct NumberedPage<'a> {
    pub(crate) path: &'a NotePath,
    pub(crate) text: &'a str,
    /// All of its lines.
    pub(crate) all: &'a [&'a str],
    pub(crate) hash: &'a ContentHash,
    pub(crate) pending: PendingChanges,
    /// 1-based, not beyond the last line.
    pub(crate) lines: RangeInclusive<usize>,
    /// How many bytes the model has room for.
    pub(crate) max_bytes: usize,
}

impl NumberedPage<'_> {
    /// The head, the outline of a long note, and the numbered lines; says what was cut.
    pub(crate) fn print(&self) -> String {
        let lines = self.all;
        let mut out = String::with_capacity(
            self.text.len().min(MAX_BYTES) + 8 * lines.len().min(MAX_LINES) + 200,
        );
        let _ = write!(
            out,
            "`{}` · {} · hash {}",
            self.path,
            pluralize(lines.len(), "line"),
            self.hash.short()
        );
        out.push_str(match self.pending {
            PendingChanges::None => "",
            PendingChanges::Shown => "\nShown with changes that wait for the user's review.",
            PendingChanges::Withheld => {
                "\nShown without changes that wait for the user's review: they may come from notes that \
                 are private."
            }
        });
        // The outline of a page that holds little would take its place.
        if *self.lines.start() == 1
            && lines.len() >= OUTLINE_MIN_LINES
            && self.max_bytes >= MAX_BYTES
        {
            self.outline(&mut out);
        }
        let _ = write!(out, "\n{HEAD_SEPARATOR}");
        let first = *self.lines.start();
        let wanted = lines.get(first.saturating_sub(1)..(*self.lines.end()).min(lines.len()));
        let most = MAX_BYTES.min(self.max_bytes);
        let shown = print_lines(wanted.unwrap_or_default(), first, most, &mut out);
        let next = first + shown;
        if next <= *self.lines.end() && next <= lines.len() {
            let _ = write!(
                out,
                "\n{HEAD_SEPARATOR}\nCut after line {} of {}. Go on with start_line {next}.",
                next - 1,
                lines.len()
            );
        }
        out
    }

    fn outline(&self, out: &mut String) {
        let headings = headings(self.text);
        if headings.is_empty() {
            return;
        }
        out.push_str("\nOutline:");
        for heading in headings.iter().take(MAX_HEADINGS) {
            let spelled = heading.to_markdown();
            let shown =
                spelled.get(..spelled.floor_char_boundary(MAX_HEADING_BYTES)).unwrap_or(&spelled);
            let _ = write!(out, "\n  line {}: {shown}", heading.line);
        }
        if let Some(more) = headings.len().checked_sub(MAX_HEADINGS).filter(|more| *more > 0) {
            let _ = write!(out, "\n  and {}", pluralize(more, "more heading"));
        }
    }
}

/// Prints until a limit is reached; returns the number of lines. One line that alone is too long is
/// cut inside, so that reading always moves on.
fn print_lines(lines: &[&str], first: usize, most: usize, out: &mut String) -> usize {
    let begun = out.len();
    let mut shown = 0;
    for (number, line) in (first..).zip(lines).take(MAX_LINES) {
        if out.len() - begun + line.len() <= most {
            out.push('\n');
            print_number(number, out);
            out.push_str("| ");
            out.push_str(line);
        } else if shown == 0 {
            let end = line.floor_char_boundary(most);
            let _ = write!(
                out,
                "\n{number}| {} [cut: the line has {} bytes]",
                line.get(..end).unwrap_or_default(),
                line.len()
            );
        } else {
            break;
        }
        shown += 1;
    }
    shown
}

/// As `write!` does it, without what that costs a line.
fn print_number(number: usize, out: &mut String) {
    if number >= 10 {
        print_number(number / 10, out);
    }
    let digit = u8::try_from(number % 10).unwrap_or_default();
    out.push(char::from(b'0' + digit));
}

/// The text of a printed line, or the piece of it that was printed; `None` when the line has no number.
pub(crate) fn text_of_line(line: &str) -> Option<&str> {
    let (number, text) = line.split_once('|')?;
    number.parse::<usize>().ok()?;
    let text = text.strip_prefix(' ').unwrap_or(text);
    let text = text
        .strip_prefix(CONTINUED_MARK)
        .and_then(|rest| rest.split_once("] "))
        .map_or(text, |(_, rest)| rest);
    let cut = text.rsplit_once(CUT_MARK).filter(|(_, mark)| mark.ends_with(" bytes]"));
    Some(cut.map_or(text, |(text, _)| text))
}

/// The content of a print, for the commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedPage<'a> {
    /// The note.
    pub(crate) path: &'a str,
    /// How many lines the note has.
    pub(crate) total: usize,
    /// The lines that were printed.
    pub(crate) lines: Vec<&'a str>,
    /// The number of the last of them; 0 when none was.
    pub(crate) last: usize,
}

/// Reads a print back; `None` when the text is none.
pub(crate) fn parse(output: &str) -> Option<ParsedPage<'_>> {
    let (path, rest) = output.strip_prefix('`')?.split_once("` · ")?;
    let (total, _) = rest.split_once(' ')?;
    let body = output.lines().skip_while(|line| *line != HEAD_SEPARATOR).skip(1);
    let numbered: Vec<(usize, &str)> = body
        .map_while(|line| {
            let (number, text) = line.split_once('|')?;
            Some((number.parse().ok()?, text.strip_prefix(' ').unwrap_or(text)))
        })
        .collect();
    Some(ParsedPage {
        path,
        total: total.parse().ok()?,
        last: numbered.last().map_or(0, |(number, _)| *number),
        lines: numbered.into_iter().map(|(_, text)| text).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str, lines: RangeInclusive<usize>) -> String {
        let path = NotePath::parse("a/Note.md").unwrap();
        let hash = ContentHash::of(text.as_bytes());
        let all: Vec<&str> = text.lines().collect();
        let room = usize::MAX;
        NumberedPage {
            path: &path,
            text,
            all: &all,
            hash: &hash,
            pending: PendingChanges::None,
            lines,
            max_bytes: room,
        }
        .print()
    }

    #[test]
    fn a_print_is_read_back_as_it_was_printed() {
        let output = print("# One\r\n\r\n| a | b |\r\n---\r\nend", 1..=5);
        let printed = parse(&output).unwrap();
        assert_eq!(printed.path, "a/Note.md");
        assert_eq!((printed.total, printed.last), (5, 5));
        assert_eq!(printed.lines, ["# One", "", "| a | b |", "---", "end"]);
    }

    #[test]
    fn a_note_that_is_too_long_is_cut_and_says_where_to_go_on() {
        let text = "line\n".repeat(MAX_LINES + 5);
        let output = print(&text, 1..=usize::MAX);
        assert!(output.ends_with("Cut after line 2000 of 2005. Go on with start_line 2001."));
        let printed = parse(&output).unwrap();
        assert_eq!((printed.total, printed.last), (2_005, 2_000));
        assert!(!print(&text, 2_001..=usize::MAX).contains("Cut after"));
    }

    #[test]
    fn a_line_longer_than_the_limit_is_cut_inside_and_reading_moves_on() {
        let text = format!("{}\nnext\n", "é".repeat(MAX_BYTES));
        let output = print(&text, 1..=2);
        assert!(output.contains("[cut: the line has 200000 bytes]"));
        assert!(
            output.ends_with("Cut after line 1 of 2. Go on with start_line 2."),
            "{}",
            &output[output.len() - 80..]
        );
        assert!(output.len() < MAX_BYTES + 300);
    }

    #[test]
    fn only_a_long_note_read_from_its_start_begins_with_its_outline() {
        let long = format!("# Top\n{}## Later\n", "text\n".repeat(OUTLINE_MIN_LINES));
        assert!(
            print(&long, 1..=9).contains("Outline:\n  line 1: # Top\n  line 152: ## Later\n---")
        );
        assert!(!print(&long, 2..=9).contains("Outline"));
        assert!(!print("# Top\n", 1..=1).contains("Outline"));
    }
}
