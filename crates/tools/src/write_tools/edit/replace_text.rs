//! One text of a note for another.

use std::ops::Range;

use protocol::NotePath;
use vault::NOTE_LIMIT;

use super::edited_text::EditResult;
use super::freshness::Freshness;
use crate::text::similar_lines::describe_near_miss;
use crate::text::text_encoding::pluralize;
use crate::text::text_span;

/// Matches listed at most when there are several.
const MAX_LISTED: usize = 10;

/// `old_text` and `new_text`.
#[derive(Debug)]
pub(crate) struct TextReplacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) replace_all: bool,
}

impl TextReplacement<'_> {
    pub(super) fn apply(
        &self,
        path: &NotePath,
        text: &str,
        freshness: Freshness,
    ) -> Result<EditResult, String> {
        let regions = text_span::find(text, self.old);
        let lines = first_lines(text, &regions);
        match (regions.len(), self.replace_all) {
            (0, _) => return Err(self.not_found(path, text, freshness)),
            (1, _) => {}
            (_, false) => return Err(ambiguous(path, text, regions.len(), &lines)),
            (_, true) if freshness != Freshness::Current => {
                return Err(read_first(path, regions.len(), freshness));
            }
            (_, true) => {}
        }
        if self.old == self.new {
            return Err(format!(
                "new_text is the same as old_text, so `{path}` would not change.\nGive the text \
                 that shall stand there instead."
            ));
        }
        let text = text_span::replace(text, &regions, self.new).ok_or_else(|| {
            format!(
                "`{path}` would be larger than {} MiB with new_text in {}, and no note may be.\nGive \
                 a shorter new_text, or replace fewer places.",
                NOTE_LIMIT >> 20,
                pluralize(regions.len(), "place")
            )
        })?;
        let more = if regions.len() > MAX_LISTED { ", …" } else { "" };
        let summary = format!(
            "replace {} in `{path}` (line {}{more})",
            pluralize(regions.len(), "place"),
            lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
        );
        Ok(EditResult { text, summary })
    }

    fn not_found(&self, path: &NotePath, text: &str, freshness: Freshness) -> String {
        let changed = if freshness == Freshness::Outdated {
            "The note changed since it was read. Read it again. "
        } else {
            ""
        };
        format!(
            "old_text does not occur in `{path}`.\n{changed}{}",
            describe_near_miss(text, self.old)
        )
    }
}

fn read_first(path: &NotePath, occurrences: usize, freshness: Freshness) -> String {
    format!(
        "old_text occurs {occurrences} times in `{path}`, which {}.\nRead it with read_file, then \
         call again with replace_all.",
        if freshness == Freshness::Never {
            "was not read yet"
        } else {
            "changed since it was read"
        }
    )
}

/// The 1-based lines at which the first regions begin, at most [`MAX_LISTED`].
fn first_lines(text: &str, regions: &[Range<usize>]) -> Vec<usize> {
    let (mut at, mut line) = (0, 1);
    let begin = |region: &Range<usize>| {
        let passed = text.get(at..region.start).unwrap_or_default();
        line += passed.bytes().filter(|byte| *byte == b'\n').count();
        at = region.start;
        line
    };
    regions.iter().take(MAX_LISTED).map(begin).collect()
}

fn ambiguous(path: &NotePath, text: &str, occurrences: usize, lines: &[usize]) -> String {
    let listed: Vec<String> = lines
        .iter()
        .map(|number| {
            let line = text.lines().nth(number.saturating_sub(1)).unwrap_or_default();
            format!("{number}| {}", line.chars().take(200).collect::<String>())
        })
        .collect();
    let more = match occurrences.saturating_sub(lines.len()) {
        0 => String::new(),
        more => format!("\nand {more} more"),
    };
    format!(
        "old_text occurs {occurrences} times in `{path}`; it must occur exactly once.\nCopy more of the lines \
         around the one you mean, or set replace_all to change them all. The matches begin at:\n\
         {}{more}",
        listed.join("\n")
    )
}
