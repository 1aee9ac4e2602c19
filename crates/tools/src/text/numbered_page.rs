//! The format in which `read_file` prints a note, and how the commands read it back.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use llm::tool_api::page_marks::{CONTINUED_MARK, CUT_MARK, HEAD_SEPARATOR, PAGE_END};
use markdown::parser::headings;
use protocol::{ContentHash, NotePath};

use crate::text::text_encoding::pluralize;

/// Lines printed at most.
pub(crate) const MAX_LINES: usize = 2_000;
/// Bytes of lines printed at most.
pub(crate) const MAX_BYTES: usize = 100_000;
/// From this many lines on, a note read from its start begins with its outline.
const OUTLINE_MIN_LINES: usize = 150;
/// Headings of an outline at most.
const MAX_HEADINGS: usize = 100;
/// Bytes of a heading in an outline at most.
const MAX_HEADING_BYTES: usize = 1_000;

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
    /// The byte of the first of these lines at which it begins.
    pub(crate) offset: usize,
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
        match print_lines(wanted.unwrap_or_default(), first, self.offset, most, &mut out) {
            PageEnd::InLine { number, offset } => {
                let _ = write!(
                    out,
                    "\n{HEAD_SEPARATOR}\n{PAGE_END}inside line {number} of {}. Go on with start_line {number} \
                     and line_offset {offset}.",
                    lines.len()
                );
            }
            PageEnd::BeforeLine(next) if next <= *self.lines.end() && next <= lines.len() => {
                let _ = write!(
                    out,
                    "\n{HEAD_SEPARATOR}\n{PAGE_END}after line {} of {}. Go on with start_line {next}.",
                    next - 1,
                    lines.len()
                );
            }
            PageEnd::BeforeLine(_) => {}
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

enum PageEnd {
    /// Before this line, or behind the last one.
    BeforeLine(usize),
    /// At a byte of this line.
    InLine { number: usize, offset: usize },
}

/// Prints until a limit is reached, the first line from `offset` on. One line that alone is too long is cut
/// inside, and by at least a character, so that reading always moves on.
fn print_lines(
    lines: &[&str],
    first: usize,
    offset: usize,
    most: usize,
    out: &mut String,
) -> PageEnd {
    let begun = out.len();
    let mut next = first;
    for line in lines.iter().take(MAX_LINES) {
        let start = if next == first { line.floor_char_boundary(offset) } else { 0 };
        let rest = line.get(start..).unwrap_or_default();
        let has_room = out.len() - begun + rest.len() <= most;
        if !has_room && next > first {
            break;
        }
        out.push('\n');
        print_number(next, out);
        out.push_str("| ");
        if start > 0 {
            let _ = write!(out, "{CONTINUED_MARK}{start}] ");
        }
        if !has_room {
            let end = rest.floor_char_boundary(most).max(rest.ceil_char_boundary(1));
            let piece = rest.get(..end).unwrap_or_default();
            let _ = write!(out, "{piece}{CUT_MARK}{} bytes]", line.len());
            return PageEnd::InLine { number: next, offset: start + end };
        }
        out.push_str(rest);
        next += 1;
    }
    PageEnd::BeforeLine(next)
}

/// As `write!` does it, without what that costs a line.
fn print_number(number: usize, out: &mut String) {
    if number >= 10 {
        print_number(number / 10, out);
    }
    let digit = u8::try_from(number % 10).unwrap_or_default();
    out.push(char::from(b'0' + digit));
}

/// The texts that a printed line may show: all of it, and the piece inside each mark, since a note may hold the
/// marks itself. The last has the fewest. Empty when the line has no number.
pub(crate) fn texts_of_line(line: &str) -> impl Iterator<Item = &str> {
    let whole = printed_text(line);
    let continued = whole.and_then(|text| text.strip_prefix(CONTINUED_MARK)?.split_once("] "));
    let begins = [whole, continued.map(|(_, rest)| rest)];
    begins.into_iter().flatten().flat_map(|text| [Some(text), before_cut_mark(text)]).flatten()
}

/// The text behind the number of a printed line.
fn printed_text(line: &str) -> Option<&str> {
    let (number, text) = line.split_once('|')?;
    number.parse::<usize>().ok()?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

fn before_cut_mark(text: &str) -> Option<&str> {
    let (piece, mark) = text.rsplit_once(CUT_MARK)?;
    mark.ends_with(" bytes]").then_some(piece)
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
        print_from(text, lines, 0)
    }

    fn print_from(text: &str, lines: RangeInclusive<usize>, offset: usize) -> String {
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
            offset,
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
    fn a_line_longer_than_the_limit_is_cut_inside_and_read_on_from_there() {
        let line = "é".repeat(MAX_BYTES) + "end";
        let text = format!("{line}\nnext\n");
        let (mut offset, mut read) = (0, String::new());
        for page in 1..=2 {
            let output = print_from(&text, 1..=2, offset);
            assert!(output.contains("[cut: the line has 200003 bytes]"));
            assert!(output.len() < MAX_BYTES + 300);
            let (_, next) = output.rsplit_once("Go on with start_line 1 and line_offset ").unwrap();
            offset = next.trim_end_matches('.').parse().unwrap();
            assert_eq!(offset, page * MAX_BYTES);
            read.extend(output.lines().filter_map(|line| texts_of_line(line).last()));
        }
        let output = print_from(&text, 1..=2, offset);
        assert!(output.ends_with("\n1| [goes on at byte 200000] end\n2| next"), "{output}");
        assert_eq!(read + "end", line);
    }

    #[test]
    fn a_page_with_hardly_any_room_moves_on_by_a_character() {
        let mut out = String::new();
        let end = print_lines(&["éa", "b"], 1, 0, 0, &mut out);
        assert!(matches!(end, PageEnd::InLine { number: 1, offset: 2 }), "{out}");
        assert_eq!(out, "\n1| é [cut: the line has 3 bytes]");
        out.clear();
        let end = print_lines(&["éa", "b"], 1, 2, 1, &mut out);
        assert!(matches!(end, PageEnd::BeforeLine(2)), "{out}");
        assert_eq!(out, "\n1| [goes on at byte 2] a");
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
