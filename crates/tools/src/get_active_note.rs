//! `get_active_note`: which note the user looks at.

use std::sync::Arc;

use async_trait::async_trait;
use llm::tool::{Effect, Tool, ToolContext, ToolOutcome};
use protocol::NotePath;
use schemars::JsonSchema;
use serde::Deserialize;
use vault::Setting;

use crate::desk::{ActiveNote, Desk, Source};
use crate::notes::{Notes, off_thread};
use crate::workspace;

/// Says which note the user has open, and the words that are selected in it. Use it when the user
/// speaks of "this note". Read the note with read_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetActiveNoteInput {}

pub(crate) struct GetActiveNote {
    pub(crate) notes: Notes,
    pub(crate) desk: Arc<dyn Desk>,
}

#[async_trait]
impl Tool for GetActiveNote {
    const NAME: &'static str = "get_active_note";
    const EFFECT: Effect = Effect::Read;
    type Input = GetActiveNoteInput;

    async fn run(&self, _: GetActiveNoteInput, context: &ToolContext) -> ToolOutcome {
        let Some(active) = self.desk.active_note().or_else(|| self.in_obsidian()) else {
            return ToolOutcome::ok(
                "No note is open. Ask the user which note is meant, or look for it with find_notes.",
            )
            .labeled();
        };
        let (vault, path) = (self.notes.vault(), active.path.clone());
        if off_thread(move || vault.hides(&path)).await.unwrap_or(true) {
            return ToolOutcome::ok(
                "A note is open that the user keeps private. You cannot see it; say so if it is \
                 meant.",
            )
            .labeled();
        }
        context.shows.note(&active.path);
        let source = match active.source {
            Source::Window => "open beside the chat",
            Source::CommandLine => "named on the command line",
            Source::Obsidian => "open in Obsidian (this may lag behind: ask if it matters)",
        };
        match self.notes.named(active.path.as_str(), context).await {
            Ok(note) => {
                let hash = note.hash.short();
                let at = selection(&active);
                ToolOutcome::ok(format!("`{}` · {source} · hash {hash}{at}", note.path)).labeled()
            }
            Err(failure) => ToolOutcome::failed(format!(
                "`{}` is {source}, but it cannot be read now: {}",
                active.path, failure.text
            )),
        }
    }
}

impl GetActiveNote {
    fn in_obsidian(&self) -> Option<ActiveNote> {
        let file = workspace::open_file(&self.notes.vault().obsidian(Setting::Workspace)?)?;
        let path = NotePath::parse(&file).ok()?;
        Some(ActiveNote { path, source: Source::Obsidian, selected: String::new(), heading: None })
    }
}

/// What is selected, each line marked as a quotation of the note.
fn selection(active: &ActiveNote) -> String {
    if active.selected.trim().is_empty() {
        return String::new();
    }
    let under = active.heading.as_ref().map(|heading| format!(" under “{heading}”"));
    let lines: String = active.selected.lines().map(|line| format!("\n> {line}")).collect();
    format!("\nThe user has selected these words{}:{lines}", under.unwrap_or_default())
}
