//! `append_file`: lines at the end of a note, or of the text under one of its headings.

use async_trait::async_trait;
use llm::tool::{Brief, ChangingTool, Effect, Labels, Plan, ToolContext, ToolFailure};
use protocol::{Change, ChangeSet, NotePath};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::address;
use crate::daily::DAILY;
use crate::desk::means_today;
use crate::note_text::{LineEnd, count, decode};
use crate::notes::{Current, Notes, Place};

/// Adds lines to the end of a note, or to the end of the text under one heading of it. Creates the
/// note when there is none. Nothing that stands in the note changes. Look at the note first to
/// write in its form, such as `- [ ] ` before a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppendFileInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`. `daily`
    /// means today's daily note.
    path: String,
    /// The lines to add, Markdown. Begin with an empty line to start a new paragraph.
    content: String,
    /// The heading to add under, as it stands in the note, with or without its `#` signs.
    heading: Option<String>,
}

pub(crate) struct AppendFile(pub(crate) Notes);

#[async_trait]
impl ChangingTool for AppendFile {
    const NAME: &'static str = "append_file";
    type Input = AppendFileInput;
    const BRIEF: Option<Brief> = Some(Brief {
        description: "Adds lines at the end of a note, or makes the note. path `daily` is today's note.",
        required: &["path", "content"],
        optional: &["heading"],
    });

    async fn plan(
        &self,
        input: AppendFileInput,
        context: &ToolContext,
    ) -> Result<(Effect, Plan), ToolFailure> {
        if input.content.trim().is_empty() {
            return Err(ToolFailure::labeled(
                "content is empty, so there is nothing to add. Give the lines to add.",
            ));
        }
        let has_a_name = input.path.trim() != DAILY && means_today(&input.path);
        if has_a_name && self.0.named(&input.path, context).await.is_err() {
            return Err(ToolFailure::labeled(format!(
                "There is no note “{}” to add to.\nFor today's daily note give path `{DAILY}`.",
                input.path.trim()
            )));
        }
        match self.0.named_or_free(&input.path, context).await? {
            Place::Free(path) => {
                let content = new_note(&path, &input).map_err(ToolFailure::labeled)?;
                let kept = self.0.links_after_creating(&path, context).await?;
                let lines = count(content.lines().count(), "line");
                let summary = format!("Created `{path}` with {lines}");
                Ok(kept.create(path, content.into_bytes(), &summary, context))
            }
            Place::Taken(note) => {
                self.0.may_change(&note).await?;
                let path = note.path.clone();
                let plan = append(note, &input).map_err(ToolFailure::labeled)?;
                if input.heading.is_some() {
                    // The heading is told as it stands in the note.
                    context.shows.name(&path);
                }
                Ok((Effect::Create, plan))
            }
        }
    }
}

/// What a note that is not there yet shall say.
fn new_note(path: &NotePath, input: &AppendFileInput) -> Result<String, String> {
    match &input.heading {
        Some(heading) => Err(format!(
            "There is no note `{path}` yet, so it has no heading “{heading}”.\nLeave out heading, \
             or create the note with write_file."
        )),
        None => Ok(closed(&input.content, LineEnd::Lf)),
    }
}

fn append(note: Current, input: &AppendFileInput) -> Result<Plan, String> {
    let text = decode(&note.path, &note.bytes)?;
    let ends = LineEnd::of(text);
    let (at, under) = match &input.heading {
        None => (text.len(), String::new()),
        Some(asked) => {
            let heading = address::heading(&note.path, text, asked)?;
            (heading.end, format!(" under “{}”", heading.title))
        }
    };
    let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
    let mut added = closed(&input.content, ends);
    let lines = count(added.lines().count(), "line");
    if !before.is_empty() && !before.ends_with('\n') {
        added.insert_str(0, ends.as_str());
    }
    let mark = note.bytes.len() - text.len();
    let mut after = note.bytes.get(..mark + before.len()).unwrap_or_default().to_vec();
    after.extend_from_slice(added.as_bytes());
    after.extend_from_slice(behind.as_bytes());
    let summary = format!("Appended {lines}{under} to `{}`", note.path);
    let change = Change::replace(note.path, note.bytes, after);
    Ok(Plan { change_set: ChangeSet::one(change), summary, labels: Labels::Complete })
}

/// `content` in the note's own line ends, its last line ended.
fn closed(content: &str, ends: LineEnd) -> String {
    let mut content = ends.spell(content);
    if !content.ends_with('\n') {
        content.push_str(ends.as_str());
    }
    content
}
