//! `list_files`: what there is, newest first.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use index::Globbed;
use llm::tool::{Effect, Tool, ToolContext, ToolFailure, ToolOutcome};
use protocol::Reaction;
use schemars::JsonSchema;
use serde::Deserialize;
use vault::{Entry, EntryKind};

use crate::desk::Desk;
use crate::note_text::count;
use crate::notes::{Notes, off_thread};

const MOST: u16 = 1_000;

/// Lists notes, files and folders by name, newest first. `*` matches within one folder, `**/*.md`
/// finds notes in all folders below.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListFilesInput {
    /// A file pattern such as `*`, `*.md`, `**/*.md` or `**/*garden*`; upper and lower case are
    /// the same.
    #[serde(default = "everything")]
    pattern: String,
    /// The folder to list, such as `Projects`. Leave out for the top folder.
    path: Option<String>,
    /// How many entries to return, at most 1000.
    #[serde(default = "hundred")]
    max_results: u16,
}

fn everything() -> String {
    "*".to_owned()
}

const fn hundred() -> u16 {
    100
}

pub(crate) struct ListFiles {
    pub(crate) notes: Notes,
    pub(crate) desk: Arc<dyn Desk>,
}

#[async_trait]
impl Tool for ListFiles {
    const NAME: &'static str = "list_files";
    const EFFECT: Effect = Effect::Read;
    type Input = ListFilesInput;

    async fn run(&self, input: ListFilesInput, context: &ToolContext) -> ToolOutcome {
        match self.list(&input, context).await {
            Ok(found) => ToolOutcome {
                output: self.words(&input, &found),
                reactions: vec![Reaction::Searched { query: input.place(), hits: found.total }],
                ..ToolOutcome::default()
            },
            Err(failure) => ToolOutcome::failed(failure.0),
        }
    }
}

impl ListFiles {
    async fn list(
        &self,
        input: &ListFilesInput,
        context: &ToolContext,
    ) -> Result<Globbed, ToolFailure> {
        let (vault, overlay) = (self.notes.vault(), context.overlay.clone());
        let (pattern, base) = (input.pattern.clone(), input.folder().map(str::to_owned));
        let limit = input.max_results.clamp(1, MOST);
        off_thread(move || index::glob(&vault, &overlay, &pattern, base.as_deref(), limit))
            .await?
            .map_err(|error| ToolFailure(error.to_string()))
    }

    fn words(&self, input: &ListFilesInput, found: &Globbed) -> String {
        if found.entries.is_empty() {
            return format!(
                "Nothing matches `{}`.\n`**/*.md` lists all notes; find_notes looks for words in \
                 them.",
                input.place()
            );
        }
        let total = usize::try_from(found.total).unwrap_or(usize::MAX);
        let noun = if total == 1 { "1 entry matches" } else { &format!("{total} entries match") };
        let mut out = format!("{noun} `{}`, newest first:", input.place());
        for entry in &found.entries {
            let _ = write!(out, "\n- `{}`{}", entry.path, self.about(entry));
        }
        if total > found.entries.len() {
            let _ = write!(
                out,
                "\n{} more are not shown: narrow the pattern, or raise max_results (at most {MOST}).",
                total - found.entries.len()
            );
        }
        out
    }

    fn about(&self, entry: &Entry) -> String {
        match entry.kind {
            EntryKind::Folder => " (folder)".to_owned(),
            EntryKind::Link => " (link, not followed)".to_owned(),
            EntryKind::Note | EntryKind::Attachment => {
                let bytes = usize::try_from(entry.size).unwrap_or(usize::MAX);
                let zone = self.desk.now().time_zone().clone();
                let written = jiff::Timestamp::from_millisecond(entry.modified.0)
                    .map(|at| format!(", {}", at.to_zoned(zone).strftime("%Y-%m-%d %H:%M")))
                    .unwrap_or_default();
                format!(" ({}{written})", count(bytes, "byte"))
            }
        }
    }
}

/// Reads a result back: how many entries match, and the paths shown; `None` when none does.
pub(crate) fn read(output: &str) -> Option<(usize, Vec<&str>)> {
    let (total, _) = output.split_once(' ')?;
    let paths =
        output.lines().filter_map(|line| Some(line.strip_prefix("- `")?.split_once('`')?.0));
    Some((total.parse().ok()?, paths.collect()))
}

impl ListFilesInput {
    /// The folder without slashes around it; the top folder in any of its spellings is `None`.
    fn folder(&self) -> Option<&str> {
        let folder = self.path.as_deref()?.trim().trim_matches('/');
        (!folder.is_empty() && folder != ".").then_some(folder)
    }

    fn place(&self) -> String {
        match self.folder() {
            Some(folder) => format!("{folder}/{}", self.pattern),
            None => self.pattern.clone(),
        }
    }
}
