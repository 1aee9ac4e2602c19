//! `edit_file`: one text of a note for another.

use async_trait::async_trait;
use llm::tool::{ChangingTool, Effect, Plan, ToolContext, ToolFailure};
use protocol::{Change, ChangeSet};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::closest::near_miss;
use crate::note_text::{count, decode, line_at};
use crate::notes::{Current, Notes};
use crate::region;

/// Matches listed at most when there are several.
const MAX_LISTED: usize = 10;

/// Replaces old_text by new_text in a note. old_text must occur exactly once, so give enough of the
/// lines around it. Read the note first and copy old_text from it without the line numbers. To
/// delete text, give an empty new_text. To add lines at the end, use append_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
    /// The text to replace, exactly as it stands in the note, line breaks included.
    old_text: String,
    /// The text to put in its place.
    new_text: String,
    /// The hash that read_file showed, to be told when the note has changed since.
    expect_hash: Option<String>,
    /// True to replace every occurrence instead of exactly one.
    #[serde(default)]
    replace_all: bool,
}

pub(crate) struct EditFile(pub(crate) Notes);

#[async_trait]
impl ChangingTool for EditFile {
    const NAME: &'static str = "edit_file";
    type Input = EditFileInput;

    async fn plan(
        &self,
        input: EditFileInput,
        context: &ToolContext,
    ) -> Result<(Effect, Plan), ToolFailure> {
        if input.old_text.is_empty() {
            return Err(ToolFailure(
                "old_text is empty, so there is nothing to replace.\nTo add lines use append_file; \
                 to write a whole note use write_file."
                    .to_owned(),
            ));
        }
        let note = self.0.named(&input.path, context).await?;
        let reading = Reading::of(&note, input.expect_hash.as_deref(), context);
        edit(note, &input, reading).map(|plan| (Effect::Edit, plan)).map_err(ToolFailure)
    }
}

/// What the conversation knows of the note that it edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Never,
    Current,
    /// The note was changed since.
    Outdated,
}

impl Reading {
    fn of(note: &Current, expected: Option<&str>, context: &ToolContext) -> Self {
        let is_current = match (expected, context.seen.get(&note.path)) {
            (Some(expected), _) => note.hash.matches(expected),
            (None, Some(seen)) => *seen == note.hash,
            (None, None) => return Self::Never,
        };
        if is_current { Self::Current } else { Self::Outdated }
    }
}

fn edit(note: Current, input: &EditFileInput, reading: Reading) -> Result<Plan, String> {
    let text = decode(&note.path, &note.bytes)?;
    let regions = region::find(text, &input.old_text);
    let lines: Vec<usize> = regions.iter().map(|region| line_at(text, region.start)).collect();
    match (regions.len(), input.replace_all) {
        (0, _) => return Err(missing(&note, text, input, reading)),
        (1, _) => {}
        (_, false) => return Err(ambiguous(&note, text, &lines)),
        (_, true) if reading != Reading::Current => {
            return Err(format!(
                "old_text occurs {} times in `{}`, which {}.\nRead it with read_file, then call \
                 again with replace_all.",
                regions.len(),
                note.path,
                if reading == Reading::Never {
                    "was not read yet"
                } else {
                    "changed since it was read"
                }
            ));
        }
        (_, true) => {}
    }
    let mark = note.bytes.len() - text.len();
    let mut after = note.bytes.get(..mark).unwrap_or_default().to_vec();
    after.extend_from_slice(region::replace(text, &regions, &input.new_text).as_bytes());
    if after == note.bytes {
        return Err(format!(
            "new_text is the same as old_text, so `{}` would not change.\nGive the text that shall \
             stand there instead.",
            note.path
        ));
    }
    let mut summary = format!(
        "Replaced {} in `{}` (line {})",
        count(regions.len(), "place"),
        note.path,
        numbers(&lines)
    );
    if reading == Reading::Outdated {
        summary.push_str(
            "; the note had changed since it was read, and the edit was made on what is there now",
        );
    }
    let change = Change { path: note.path, before: Some(note.bytes), after };
    Ok(Plan { change_set: ChangeSet::one(change), summary })
}

fn missing(note: &Current, text: &str, input: &EditFileInput, reading: Reading) -> String {
    let changed = if reading == Reading::Outdated {
        "The note changed since it was read: read it again. "
    } else {
        ""
    };
    format!(
        "old_text does not occur in `{}`.\n{changed}{}",
        note.path,
        near_miss(text, &input.old_text)
    )
}

fn ambiguous(note: &Current, text: &str, lines: &[usize]) -> String {
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
        "old_text occurs {} times in `{}`; it must occur exactly once.\nCopy more of the lines \
         around the one you mean, or set replace_all to change them all. The matches begin at:\n\
         {}{more}",
        lines.len(),
        note.path,
        listed.join("\n")
    )
}

fn numbers(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(MAX_LISTED).map(usize::to_string).collect();
    let more = if lines.len() > MAX_LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
