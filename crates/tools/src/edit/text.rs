//! One text of a note for another.

use protocol::NotePath;

use super::{Edited, Reading};
use crate::closest::near_miss;
use crate::note_text::{count, line_at};
use crate::region;

/// Matches listed at most when there are several.
const MAX_LISTED: usize = 10;

/// `old_text` and `new_text`.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) replace_all: bool,
}

impl Text<'_> {
    pub(super) fn apply(
        &self,
        path: &NotePath,
        text: &str,
        reading: Reading,
    ) -> Result<Edited, String> {
        let regions = region::find(text, self.old);
        let lines: Vec<usize> = regions.iter().map(|region| line_at(text, region.start)).collect();
        match (regions.len(), self.replace_all) {
            (0, _) => return Err(self.missing(path, text, reading)),
            (1, _) => {}
            (_, false) => return Err(ambiguous(path, text, &lines)),
            (_, true) if reading != Reading::Current => {
                return Err(unread(path, regions.len(), reading));
            }
            (_, true) => {}
        }
        if self.old == self.new {
            return Err(format!(
                "new_text is the same as old_text, so `{path}` would not change.\nGive the text \
                 that shall stand there instead."
            ));
        }
        Ok(Edited {
            text: region::replace(text, &regions, self.new),
            did: format!(
                "Replaced {} in `{path}` (line {})",
                count(regions.len(), "place"),
                numbers(&lines)
            ),
        })
    }

    fn missing(&self, path: &NotePath, text: &str, reading: Reading) -> String {
        let changed = if reading == Reading::Outdated {
            "The note changed since it was read: read it again. "
        } else {
            ""
        };
        format!("old_text does not occur in `{path}`.\n{changed}{}", near_miss(text, self.old))
    }
}

fn unread(path: &NotePath, occurrences: usize, reading: Reading) -> String {
    format!(
        "old_text occurs {occurrences} times in `{path}`, which {}.\nRead it with read_file, then \
         call again with replace_all.",
        if reading == Reading::Never { "was not read yet" } else { "changed since it was read" }
    )
}

fn ambiguous(path: &NotePath, text: &str, lines: &[usize]) -> String {
    let listed: Vec<String> = lines
        .iter()
        .take(MAX_LISTED)
        .map(|number| {
            let line = text.lines().nth(number.saturating_sub(1)).unwrap_or_default();
            format!("{number}| {}", line.chars().take(200).collect::<String>())
        })
        .collect();
    let more = match lines.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!("\nand {more} more"),
    };
    format!(
        "old_text occurs {} times in `{path}`; it must occur exactly once.\nCopy more of the lines \
         around the one you mean, or set replace_all to change them all. The matches begin at:\n\
         {}{more}",
        lines.len(),
        listed.join("\n")
    )
}

fn numbers(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(MAX_LISTED).map(usize::to_string).collect();
    let more = if lines.len() > MAX_LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
