//! `get_active_note`: which note the user looks at.

use std::sync::Arc;

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolOutcome};
use protocol::{NotePath, PlannedState};
use schemars::JsonSchema;
use serde::Deserialize;
use vault::ObsidianFile;

use crate::notes::notes_view::{NotesView, run_blocking};
use crate::notes::obsidian_workspace;
use crate::ports::environment::{ActiveNote, ActiveNoteSource, Environment, SentNote};

/// Returns the note that the user has open, and the selected text. Use it when the user says "this
/// note". Read the note itself with read_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetActiveNoteInput {}

const NONE_OPEN: &str =
    "No note is open. Ask the user which note is meant, or look for it with find_notes.";

const NOTE_EXCLUDED: &str = "The user did not send the open note with this message. Ask which \
                             note is meant, or look for it with find_notes.";

pub(crate) struct GetActiveNote {
    pub(crate) notes: NotesView,
    pub(crate) environment: Arc<dyn Environment>,
}

#[async_trait]
impl Tool for GetActiveNote {
    const NAME: &'static str = "get_active_note";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = GetActiveNoteInput;

    async fn run(&self, _: GetActiveNoteInput, context: &ToolContext) -> ToolOutcome {
        let active = match self.environment.sent_note(&context.turn).await {
            SentNote::Sent(note) => Some(note),
            SentNote::Excluded => return ToolOutcome::ok(NOTE_EXCLUDED).labeled(),
            SentNote::NoneOpen => self.in_obsidian(),
        };
        let Some(active) = active else { return ToolOutcome::ok(NONE_OPEN).labeled() };
        let (vault, path) = (self.notes.vault(), active.path.clone());
        if run_blocking(move || vault.hides(&path)).await.unwrap_or(true) {
            return ToolOutcome::ok(
                "A note is open that the user keeps private. You cannot see it; say so if it is \
                 meant.",
            )
            .labeled();
        }
        let Some(path) = self.place_of(&active, context).await else {
            return ToolOutcome::ok(
                "The note that was open is not there any more: it was moved or deleted. Ask the user \
                 which note is meant.",
            )
            .labeled();
        };
        context.sources.record_note(&active.path);
        let source = match active.source {
            ActiveNoteSource::Message => "open when the user sent the message",
            ActiveNoteSource::Obsidian => {
                "open in Obsidian (this may lag behind: ask if it matters)"
            }
        };
        match self.notes.read_current(path, context).await {
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
    /// The path of exactly this note, pending changes included; no other note of its name.
    async fn place_of(&self, active: &ActiveNote, context: &ToolContext) -> Option<NotePath> {
        let (vault, path) = (self.notes.vault(), active.path.clone());
        let is_there = run_blocking(move || vault.file_times(&path).is_ok()).await.unwrap_or(false);
        match context.overlay.planned_state(&active.path) {
            PlannedState::Planned(_) => Some(active.path.clone()),
            _ if is_there => context.overlay.disk_path(&active.path),
            _ => None,
        }
    }

    fn in_obsidian(&self) -> Option<ActiveNote> {
        let file = obsidian_workspace::open_file(
            &self.notes.vault().obsidian_config(ObsidianFile::Workspace)?,
        )?;
        let path = NotePath::parse(&file).ok()?;
        Some(ActiveNote {
            path,
            source: ActiveNoteSource::Obsidian,
            selected: String::new(),
            heading: None,
        })
    }
}

/// The selection, each line marked as a quotation of the note.
fn selection(active: &ActiveNote) -> String {
    if active.selected.trim().is_empty() {
        return String::new();
    }
    let under = active.heading.as_ref().map(|heading| format!(" under “{heading}”"));
    let lines: String = active.selected.lines().map(|line| format!("\n> {line}")).collect();
    format!("\nThe user has selected these words{}:{lines}", under.unwrap_or_default())
}
