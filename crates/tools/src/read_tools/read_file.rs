//! `read_file`: a note with numbered lines.

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolBrief, ToolContext, ToolEffect, ToolFailure, ToolOutcome};
use protocol::ToolEvent;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{CurrentNote, NotesView};
use crate::text::numbered_page::{NumberedPage, PendingChanges};
use crate::text::text_encoding::{decode, pluralize};

/// Reads a note with numbered lines, at most 2,000 lines or 100 kB at a time. The first line of the
/// result has the note's path, its length and its hash. The result for a long note starts with its
/// outline. Read a note before you edit it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFileInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
    /// First line to show, counted from 1. Leave out to begin at the top.
    #[schemars(range(min = 1))]
    start_line: Option<u32>,
    /// Last line to show. Leave out to read to the end.
    #[schemars(range(min = 1))]
    end_line: Option<u32>,
    /// Where to begin in the first line, in bytes, to read on in a long line that was cut. The end of the cut
    /// result names it.
    line_offset: Option<u32>,
}

pub(crate) struct ReadFile(pub(crate) NotesView);

#[async_trait]
impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = ReadFileInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Shows a note with numbered lines. Read a note before you edit it.",
        required: &["path"],
        optional: &["start_line", "end_line"],
    });

    async fn run(&self, input: ReadFileInput, context: &ToolContext) -> ToolOutcome {
        self.read(&input, context).await.unwrap_or_else(ToolOutcome::from)
    }
}

impl ReadFile {
    async fn read(
        &self,
        input: &ReadFileInput,
        context: &ToolContext,
    ) -> Result<ToolOutcome, ToolFailure> {
        let note = self.0.find_note(&input.path, context).await?;
        let text = decode(&note.path, &note.bytes).map_err(ToolFailure::labeled)?;
        let all: Vec<&str> = text.lines().collect();
        let total = all.len();
        let first = line_or(input.start_line, 1);
        let last = line_or(input.end_line, usize::MAX);
        if first == 0 {
            return Err(ToolFailure::labeled("Lines start at 1. Use start_line 1."));
        }
        if last < first {
            return Err(ToolFailure::labeled(format!(
                "end_line {last} is before start_line {first}. `{}` has {}.",
                note.path,
                pluralize(total, "line")
            )));
        }
        if first > total.max(1) {
            return Err(ToolFailure::labeled(format!(
                "`{}` has only {}, so it cannot be read from line {first}. Leave out start_line.",
                note.path,
                pluralize(total, "line")
            )));
        }
        let offset = line_or(input.line_offset, 0);
        let length = all.get(first.saturating_sub(1)).map_or(0, |line| line.len());
        require_offset_in_line(&note, first, offset, length)?;
        let pending = match note.pending {
            true => PendingChanges::Shown,
            false if context.withheld.contains(&note.path) => PendingChanges::Withheld,
            false => PendingChanges::None,
        };
        let page = NumberedPage {
            path: &note.path,
            text,
            all: &all,
            hash: &note.hash,
            pending,
            lines: first..=last,
            offset,
            max_bytes: context.max_output_bytes,
        };
        Ok(ToolOutcome {
            output: page.print(),
            reactions: vec![ToolEvent::Read { path: note.path.clone() }],
            seen: vec![(note.path, note.hash)],
            ..ToolOutcome::default()
        }
        .labeled())
    }
}

fn require_offset_in_line(
    note: &CurrentNote,
    line: usize,
    offset: usize,
    length: usize,
) -> Result<(), ToolFailure> {
    if offset == 0 || offset < length {
        return Ok(());
    }
    Err(ToolFailure::labeled(format!(
        "Line {line} of `{}` has only {}. Call again without line_offset.",
        note.path,
        pluralize(length, "byte")
    )))
}

fn line_or(given: Option<u32>, otherwise: usize) -> usize {
    given.map_or(otherwise, |line| usize::try_from(line).unwrap_or(usize::MAX))
}
