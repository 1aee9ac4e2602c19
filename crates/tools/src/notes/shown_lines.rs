//! The lines that a conversation was shown or wrote itself, so that no line of a note is replaced unseen.

use std::collections::HashSet;
use std::ops::Range;

use llm::tool_api::tool::{ToolContext, ToolFailure};
use protocol::NotePath;

use crate::notes::notes_view::run_blocking;
use crate::ports::conversation_archive::ConversationArchive;
use crate::text::numbered_page;

/// A longer line may be shown in pieces: where results are short, no single one has room for it.
const MIN_PIECE_BYTES: usize = 1_000;

/// Refuses to replace the lines in `range` of `text`, which is the text of the note at `path`, while one of
/// them was not shown in this conversation. What the call itself writes counts as shown: it is not lost.
pub(crate) async fn require_shown(
    archive: &dyn ConversationArchive,
    path: &NotePath,
    text: &str,
    range: Range<usize>,
    context: &ToolContext,
) -> Result<(), ToolFailure> {
    let told = archive.told_texts(&context.conversation, &context.turn, &context.call).await;
    let Some(told) = told.map_err(|error| ToolFailure::new(error.to_string()))? else {
        return Ok(());
    };
    let text = text.to_owned();
    // The texts of a long conversation are many.
    let unseen =
        run_blocking(move || ShownLines::in_texts(&told).first_unseen(&text, &range)).await?;
    match unseen {
        None => Ok(()),
        Some(line) => Err(ToolFailure::labeled(format!(
            "Line {line} of `{path}` was not shown as it is now.\nRead it with read_file from \
             start_line {line}, so that nothing in it is lost unseen, then call again."
        ))),
    }
}

/// Lines without the spaces at both ends.
struct ShownLines<'a>(HashSet<&'a str>);

impl<'a> ShownLines<'a> {
    fn in_texts(texts: &'a [String]) -> Self {
        let mut shown = HashSet::new();
        for line in texts.iter().flat_map(|text| text.lines()) {
            shown.insert(line.trim());
            shown.extend(numbered_page::texts_of_line(line).map(str::trim));
        }
        Self(shown)
    }

    /// The number of the first line in `range` that was not shown. Blank lines hold nothing to lose.
    fn first_unseen(&self, text: &str, range: &Range<usize>) -> Option<usize> {
        let mut start = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let end = start + line.len();
            let is_within = start < range.end && end > range.start;
            if is_within && !self.was_shown(line.trim()) {
                return Some(number);
            }
            start = end;
        }
        None
    }

    fn was_shown(&self, line: &str) -> bool {
        line.is_empty() || self.0.contains(line) || self.was_shown_in_pieces(line)
    }

    fn was_shown_in_pieces(&self, line: &str) -> bool {
        let mut rest = line;
        while rest.len() > MIN_PIECE_BYTES {
            let pieces = self.0.iter().filter(|piece| piece.len() >= MIN_PIECE_BYTES);
            let longest =
                pieces.filter_map(|piece| rest.strip_prefix(*piece)).min_by_key(|it| it.len());
            let Some(after) = longest else { return false };
            rest = after.trim_start();
            if rest.is_empty() || self.0.contains(rest) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_unseen(told: &[&str], text: &str) -> Option<usize> {
        let told: Vec<String> = told.iter().map(|text| (*text).to_owned()).collect();
        ShownLines::in_texts(&told).first_unseen(text, &(0..text.len()))
    }

    #[test]
    fn a_line_counts_as_shown_with_a_number_and_without() {
        let text = "# One\r\n\r\n  - two | 2\nthree";
        assert_eq!(first_unseen(&["---\n1| # One\n2| \n3|   - two | 2\n4| three"], text), None);
        assert_eq!(first_unseen(&["# One", "1| x\n- two | 2\nthree"], text), None);
        assert_eq!(first_unseen(&["1| # One\n4| three"], text), Some(3));
        assert_eq!(first_unseen(&[], text), Some(1));
        assert_eq!(first_unseen(&[], " \n\n"), None);
        let told = ["1| # One".to_owned()];
        let section = text.find("  - two").unwrap()..text.len();
        assert_eq!(ShownLines::in_texts(&told).first_unseen(text, &section), Some(3));
    }

    #[test]
    fn a_long_line_counts_as_shown_once_all_its_pieces_were() {
        let line: String = (0..400).map(|n| format!("word {n} ")).collect();
        let (one, two) = line.trim().split_at(1_500);
        let pieces = [
            format!("1| {one} [cut: the line has 3489 bytes]"),
            format!("1| [goes on at byte 1500] {two}"),
        ];
        let [one, two] = &pieces;
        assert_eq!(first_unseen(&[one, two], &line), None);
        assert_eq!(first_unseen(&[one], &line), Some(1));
        assert_eq!(first_unseen(&[two], &line), Some(1));
    }

    #[test]
    fn a_line_that_holds_the_marks_of_a_cut_itself_counts_as_shown() {
        for line in [
            "[goes on at byte 12] says the page",
            "It says [cut: the line has 12 bytes]",
            "[goes on at byte 12] and [cut: the line has 12 bytes]",
        ] {
            assert_eq!(first_unseen(&[&format!("1| {line}")], line), None, "{line}");
            assert_eq!(first_unseen(&["1| It says", "2| says the page"], line), Some(1), "{line}");
        }
        // A long one that was cut behind its own mark.
        let line = format!("[goes on at byte 12] {}", "word ".repeat(400));
        let (one, two) = line.trim().split_at(1_200);
        let pieces = [
            format!("1| {one} [cut: the line has 2021 bytes]"),
            format!("1| [goes on at byte 1200] {two}"),
        ];
        let [one, two] = &pieces;
        assert_eq!(first_unseen(&[one, two], &line), None);
        assert_eq!(first_unseen(&[two], &line), Some(1));
    }
}
