//! The marks that tools write around the parts of a long text, so that a reader can put them together again.

/// Stands between the head of a page and its lines.
pub const HEAD_SEPARATOR: &str = "---";
/// Behind a line that was cut inside; the bytes of the line follow.
pub const CUT_MARK: &str = " [cut: the line has ";
/// Before the rest of such a line; the byte follows at which it goes on.
pub const CONTINUED_MARK: &str = "[goes on at byte ";
/// Begins the sentence behind a page that has not all lines.
pub const PAGE_END: &str = "Cut ";
/// Begins the sentence behind a part of a long result.
pub const PART_END: &str = "[Part ";

/// The text of a result without these marks at its beginning and its end. A result without them stays as it is.
pub(crate) fn strip(output: &str) -> &str {
    let mut text = output;
    if text.starts_with('`')
        && let Some((_, lines)) = text.split_once(&format!("\n{HEAD_SEPARATOR}\n"))
    {
        text = lines;
    }
    for end in [format!("\n{HEAD_SEPARATOR}\n{PAGE_END}"), format!("\n\n{PART_END}")] {
        // A note may hold the same words, but not in the last line.
        let before = text.rsplit_once(&end).filter(|(_, behind)| !behind.contains('\n'));
        text = before.map_or(text, |(before, _)| before);
    }
    let first = text.lines().next().unwrap_or_default();
    let (number, line) = first.split_once("| ").unwrap_or_default();
    let goes_on = line.strip_prefix(CONTINUED_MARK).and_then(|line| line.split_once("] "));
    if let Some((_, rest)) = goes_on.filter(|_| number.bytes().all(|sign| sign.is_ascii_digit())) {
        text = text.get(first.len() - rest.len()..).unwrap_or(text);
    }
    let last = text.rfind('\n').map_or(0, |newline| newline + 1);
    let cut = text.get(last..).and_then(|line| line.rfind(CUT_MARK));
    cut.and_then(|cut| text.get(..last + cut)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_text_are_the_text_without_their_marks() {
        let pages = [
            "`a.md` · 2 lines · hash abc\n---\n1| one\n2| tw [cut: the line has 3 bytes]\n---\n\
             Cut inside line 2 of 2. Go on with start_line 2 and line_offset 2.",
            "`a.md` · 2 lines · hash abc\n---\n2| [goes on at byte 2] o",
        ];
        assert_eq!(pages.map(strip).concat(), "1| one\n2| two");
        let parts = ["on\n\n[Part 2 of 3, next: part 3.]", "e\n\n[Part 3 of 3, the last.]"];
        assert_eq!(parts.map(strip).concat(), "one");
        // The control: what has no marks.
        let quoted = "a\n\n[Part 1 of 2, next: part 2.]\nb";
        for text in ["", "2 notes match", "a\n---\nb", "1| [a] b", "[cut] it", quoted] {
            assert_eq!(strip(text), text);
        }
    }
}
