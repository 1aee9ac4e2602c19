//! Long results: a model is given the beginning, what stands in the rest, and a handle to read on.

use std::fmt::Write as _;

use protocol::{CallResult, ContentHash, FullResult};

use crate::context::{model_texts, tokens};

/// The tool that reads on. Where it is not on offer, results are stored whole.
pub const READ_RESULT: &str = "read_result";

/// Results of more tokens are shortened.
const MAX_RESULT_TOKENS: u32 = 2_000;

/// The bytes that a tool may add to say how to read on.
const MAX_NOTE_BYTES: usize = 400;

/// Begins what is said behind the first part.
const SHORTENED: &str = "[Shortened: ";

/// The bytes that a part has at most.
const MAX_PART_BYTES: usize = 5_000;

/// The bytes of headings that are told at most.
const MAX_OUTLINE_BYTES: usize = 1_200;

/// The result as it is stored: with a long text cut after its first part, and the whole beside it.
pub(crate) fn truncate_result(result: CallResult) -> CallResult {
    if tokens::of_text(&result.output) <= MAX_RESULT_TOKENS || result.whole.is_some() {
        return result;
    }
    let handle = format!("result-{}", ContentHash::of(result.output.as_bytes()).short());
    let parts = split_into_parts(&result.output);
    let head = parts.first().copied().unwrap_or_default().trim_end();
    let all = parts.len();
    let mut output = format!("{head}\n\n{SHORTENED}this is part 1 of {all}.");
    let rest = outline(&parts);
    if !rest.is_empty() {
        let _ = write!(output, " In the rest:\n{rest}");
    }
    let _ = write!(output, "\nRead on with {READ_RESULT}: handle `{handle}`, part 2.]");
    let whole = FullResult { handle, text: result.output };
    CallResult { output, whole: Some(whole), ..result }
}

/// The result without what is beyond `room` bytes, cut at a line where there is one. What a tool cut
/// itself is a little longer at most, and stays.
pub(crate) fn cut_result(result: CallResult, room: usize) -> CallResult {
    if result.output.len() <= room.saturating_add(MAX_NOTE_BYTES) {
        return result;
    }
    let (full, _) = result.output.split_at(result.output.floor_char_boundary(room));
    let end = full.rfind('\n').filter(|end| *end > 0).unwrap_or(full.len());
    let output = format!("{}\n{}", full.get(..end).unwrap_or(full), model_texts::TRUNCATED_RESULT);
    CallResult { output, ..result }
}

/// The first part of a stored result, without what is said behind it.
pub(crate) fn strip_note(output: &str) -> &str {
    let found = output.rsplit_once(&format!("\n\n{SHORTENED}"));
    found.filter(|(_, note)| note.ends_with(".]")).map_or(output, |(part, _)| part)
}

/// The handles that a stored result names.
pub(crate) fn handles(output: &str) -> impl Iterator<Item = &str> {
    let ends = output.rfind(SHORTENED).and_then(|at| output.get(at..)).unwrap_or_default();
    let named = ends.split("handle `").skip(1);
    named.filter_map(|rest| rest.split_once('`')).map(|(handle, _)| handle)
}

/// A text in parts that each fit a result: cut at lines, and inside a line only when it alone is
/// too long. The parts one after the other are the text.
#[must_use]
pub fn split_into_parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > MAX_PART_BYTES {
        let most = rest.floor_char_boundary(MAX_PART_BYTES);
        let (full, _) = rest.split_at(most);
        let end = full.rfind('\n').map_or(most, |newline| newline + 1);
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// The headings behind the first part, each with its part.
fn outline(parts: &[&str]) -> String {
    let mut told = String::new();
    for (number, part) in (1..).zip(parts).skip(1) {
        for heading in part.lines().filter_map(heading) {
            let line = format!("  part {number}: {heading}\n");
            if told.len() + line.len() > MAX_OUTLINE_BYTES {
                told.push_str("  and more headings\n");
                return told.trim_end().to_owned();
            }
            told.push_str(&line);
        }
    }
    told.trim_end().to_owned()
}

/// A Markdown heading, behind a line number too.
fn heading(line: &str) -> Option<&str> {
    let unnumbered = line.split_once("| ").filter(|(number, _)| number.parse::<u32>().is_ok());
    let text = unnumbered.map_or(line, |(_, text)| text);
    let level = text.chars().take_while(|c| *c == '#').count();
    let is_heading = (1..=6).contains(&level) && text.get(level..)?.starts_with(' ');
    let end = text.floor_char_boundary(120);
    is_heading.then(|| text.get(..end)).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn result(output: &str) -> CallResult {
        CallResult {
            call: "c".into(),
            output: output.into(),
            is_error: false,
            speech: None,
            reactions: Vec::new(),
            seen: Vec::new(),
            sources: Vec::new(),
            whole: None,
        }
    }

    #[test]
    fn a_long_result_keeps_its_head_the_headings_of_the_rest_and_a_handle() {
        let text =
            format!("`a.md` · 900 lines\n---\n1| # Top\n{}700| ## Late\n", "2| x\n".repeat(2_000));
        let short = truncate_result(result(&text));
        assert!(short.output.starts_with("`a.md` · 900 lines\n---\n1| # Top\n2| x\n"));
        let end = "[Shortened: this is part 1 of 3. In the rest:\n  part 3: ## Late\nRead on with \
                   read_result: handle `result-";
        assert!(short.output.contains(end), "{}", short.output);
        assert_eq!(short.whole.as_ref().map(|whole| whole.text.as_str()), Some(text.as_str()));
        assert_eq!(truncate_result(short.clone()), short, "once");
        let handle = short.whole.as_ref().map(|whole| whole.handle.as_str());
        assert_eq!(
            handles(&short.output).collect::<Vec<_>>(),
            handle.into_iter().collect::<Vec<_>>()
        );
        assert_eq!(handles("[a `b`").next(), None);
    }

    #[test]
    fn a_result_that_is_short_enough_is_left_as_it_is() {
        let short = result(&"x".repeat(7_000));
        assert_eq!(truncate_result(short.clone()), short);
        assert!(truncate_result(result(&"x".repeat(7_001))).whole.is_some());
    }

    proptest! {
        #[test]
        fn whatever_a_tool_says_it_is_short_when_stored_and_its_parts_are_the_whole(
            text in "(#{0,7} ?[a-zé\u{1F600}]{0,40}\n?){0,600}",
        ) {
            prop_assert_eq!(split_into_parts(&text).concat(), text.as_str());
            prop_assert!(split_into_parts(&text).iter().all(|part| part.len() <= MAX_PART_BYTES));
            let short = truncate_result(result(&text));
            prop_assert!(tokens::of_text(&short.output) <= MAX_RESULT_TOKENS);
            prop_assert_eq!(short.whole.map_or(short.output, |whole| whole.text), text);
        }
    }
}
