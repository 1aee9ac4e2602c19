//! `append_file`: lines at the end of a note, or of the text under one of its headings.

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, SourceLabels, ToolBrief, ToolContext, ToolEffect, ToolFailure,
    ToolOffer,
};
use markdown::LineEnd;
use protocol::{Change, ChangeSet, NotePath};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::daily_note::DAILY_NAME;
use crate::notes::notes_view::{CurrentNote, NotesView, PathState};
use crate::ports::environment::means_today;
use crate::text::heading_ref;
use crate::text::text_encoding::{decode, pluralize};

/// Adds lines to the end of a note, or to the end of the text under one of its headings. Creates the
/// note if there is none. Read the note first to match its form, such as `- [ ] ` before a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppendFileInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`. `daily`
    /// means today's daily note.
    path: String,
    /// The lines to add, in Markdown. Begin with an empty line to start a new paragraph.
    content: String,
    /// The heading to add under, with or without its `#` signs.
    heading: Option<String>,
}

pub(crate) struct AppendFile {
    /// The notes that it adds to.
    pub(crate) notes: NotesView,
    /// The notes that it may tell of where a new note changes links in others.
    pub(crate) told: NotesView,
}

#[async_trait]
impl ChangingTool for AppendFile {
    const NAME: &'static str = "append_file";
    type Input = AppendFileInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Adds lines at the end of a note, or makes the note. path `daily` is today's note.",
        required: &["path", "content"],
        optional: &["heading"],
    });

    async fn plan(
        &self,
        input: AppendFileInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        if input.content.trim().is_empty() {
            return Err(ToolFailure::labeled(
                "content is empty, so there is nothing to add. Give the lines to add.",
            ));
        }
        let has_a_name = input.path.trim() != DAILY_NAME && means_today(&input.path);
        if has_a_name && self.notes.find_note(&input.path, context).await.is_err() {
            return Err(ToolFailure::labeled(format!(
                "There is no note “{}” to add to.\nFor today's daily note give path `{DAILY_NAME}`.",
                input.path.trim()
            )));
        }
        match self.notes.find_or_free_path(&input.path, context).await? {
            PathState::Free(path) => {
                let content =
                    new_note(&path, &input, &context.offered).map_err(ToolFailure::labeled)?;
                let kept = self.told.updates_after_creation(&path, context).await?;
                let lines = pluralize(content.lines().count(), "line");
                let summary = format!("create `{path}` with {lines}");
                Ok(kept.plan_creation(path, content.into_bytes(), &summary, context))
            }
            PathState::Taken(note) => {
                self.notes.require_writable(&note).await?;
                let path = note.path.clone();
                let plan = plan_append(note, &input).map_err(ToolFailure::labeled)?;
                if input.heading.is_some() {
                    // The heading is told as it stands in the note.
                    context.sources.record_name(&path);
                }
                Ok((ToolEffect::Create, plan))
            }
        }
    }
}

/// The text of a new note.
fn new_note(
    path: &NotePath,
    input: &AppendFileInput,
    offered: &ToolOffer,
) -> Result<String, String> {
    match &input.heading {
        Some(heading) => Err(format!(
            "There is no note `{path}` yet, so it has no heading “{heading}”.\nLeave out heading{}.",
            offered.hint(&["write_file"], ", or create the note with write_file")
        )),
        None => Ok(with_line_end(&input.content, LineEnd::Lf)),
    }
}

fn plan_append(note: CurrentNote, input: &AppendFileInput) -> Result<ChangePlan, String> {
    let text = decode(&note.path, &note.bytes)?;
    let ends = LineEnd::of(text);
    let (at, under) = match &input.heading {
        None => (text.len(), String::new()),
        Some(asked) => {
            let heading = heading_ref::resolve_heading(&note.path, text, asked)?;
            (heading.end, format!(" under “{}”", heading.title))
        }
    };
    let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
    let mut added = with_line_end(&input.content, ends);
    let lines = pluralize(added.lines().count(), "line");
    if !before.is_empty() && !before.ends_with('\n') {
        added.insert_str(0, ends.as_str());
    }
    let mark = note.bytes.len() - text.len();
    let mut after = note.bytes.get(..mark + before.len()).unwrap_or_default().to_vec();
    after.extend_from_slice(added.as_bytes());
    after.extend_from_slice(behind.as_bytes());
    let summary = format!("append {lines}{under} to `{}`", note.path);
    let change = Change::replace(note.path, note.bytes, after);
    Ok(ChangePlan { change_set: ChangeSet::one(change), summary, labels: SourceLabels::Complete })
}

/// `content` in the note's own line ends, its last line ended.
fn with_line_end(content: &str, ends: LineEnd) -> String {
    let mut content = ends.convert(content);
    if !content.ends_with('\n') {
        content.push_str(ends.as_str());
    }
    content
}
