//! `list_files`: what there is, newest first.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use index::{GlobResult, SearchError};
use llm::tool_api::tool::{Tool, ToolBrief, ToolContext, ToolEffect, ToolFailure, ToolOutcome};
use protocol::ToolEvent;
use schemars::JsonSchema;
use serde::Deserialize;
use vault::{EntryKind, Unlisted, VaultEntry, VaultError};

use crate::notes::notes_view::{NotesView, run_blocking, search_failure};
use crate::ports::environment::Environment;
use crate::text::text_encoding::pluralize;

const MAX_RESULTS: u16 = 1_000;

/// Lists notes, files and folders by name, newest first. `*` matches within one folder, `**/*.md`
/// finds notes in all folders below.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListFilesInput {
    /// A file pattern such as `*`, `*.md`, `**/*.md` or `**/*garden*`. Case is ignored.
    #[serde(default = "everything")]
    pattern: String,
    /// The folder to list, such as `Projects`. Leave out for the top folder.
    path: Option<String>,
    /// How many entries to return.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    max_results: u16,
}

fn everything() -> String {
    "*".to_owned()
}

const fn hundred() -> u16 {
    100
}

pub(crate) struct ListFiles {
    pub(crate) notes: NotesView,
    pub(crate) environment: Arc<dyn Environment>,
}

#[async_trait]
impl Tool for ListFiles {
    const NAME: &'static str = "list_files";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = ListFilesInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Lists notes and folders by name.",
        required: &[],
        optional: &["path", "pattern"],
    });

    async fn run(&self, input: ListFilesInput, context: &ToolContext) -> ToolOutcome {
        match self.list(&input, context).await {
            Ok(found) => {
                found.entries.iter().for_each(|entry| context.sources.record_note(&entry.path));
                let told = ToolOutcome {
                    output: self.result_text(&input, &found),
                    reactions: vec![ToolEvent::Searched {
                        query: input.folder_name(),
                        hits: found.total,
                    }],
                    ..ToolOutcome::default()
                };
                // An entry that cannot be listed has a name all the same, and it may be no path.
                if found.problems.is_empty() { told.labeled() } else { told }
            }
            Err(failure) => failure.into(),
        }
    }
}

impl ListFiles {
    async fn list(
        &self,
        input: &ListFilesInput,
        context: &ToolContext,
    ) -> Result<GlobResult, ToolFailure> {
        if let Some(path) = &input.path
            && path.trim_matches([' ', '.', '/']).is_empty()
            && !path.contains("..")
        {
            return Err(ToolFailure::labeled(format!(
                "`{path}` names no folder.\nLeave out path to list the top folder, or write a \
                 folder such as `Projects`."
            )));
        }
        context.sources.record_search(&self.notes.lookup_scope(&input.folder_name()).await?);
        let (vault, overlay) = (self.notes.vault(), context.overlay.clone());
        let (pattern, base) = (input.pattern().to_owned(), input.folder().map(str::to_owned));
        let limit = input.max_results.clamp(1, MAX_RESULTS);
        run_blocking(move || index::glob(&vault, &overlay, &pattern, base.as_deref(), limit))
            .await?
            .map_err(|error| refusal(input, &error))
    }

    fn result_text(&self, input: &ListFilesInput, found: &GlobResult) -> String {
        if found.entries.is_empty() {
            return format!(
                "Nothing matches `{}`.\n`**/*.md` lists all notes; find_notes looks for words in \
                 them.{}",
                input.folder_name(),
                unlisted_text(&found.problems)
            );
        }
        let total = usize::try_from(found.total).unwrap_or(usize::MAX);
        let noun = if total == 1 { "1 entry matches" } else { &format!("{total} entries match") };
        let mut out = format!("{noun} `{}`, newest first:", input.folder_name());
        for entry in &found.entries {
            let _ = write!(out, "\n- `{}`{}", entry.path, self.entry_line(entry));
        }
        if total > found.entries.len() {
            let _ = write!(
                out,
                "\n{} more are not shown. Narrow the pattern, or raise max_results (at most {MAX_RESULTS}).",
                total - found.entries.len()
            );
        }
        out + &unlisted_text(&found.problems)
    }

    fn entry_line(&self, entry: &VaultEntry) -> String {
        match entry.kind {
            EntryKind::Folder => " (folder)".to_owned(),
            EntryKind::Link => " (link, not followed)".to_owned(),
            EntryKind::Placeholder => " (not downloaded)".to_owned(),
            EntryKind::Note | EntryKind::Attachment | EntryKind::Conflict => {
                let bytes = usize::try_from(entry.size).unwrap_or(usize::MAX);
                let zone = self.environment.now().time_zone().clone();
                let written = jiff::Timestamp::from_millisecond(entry.modified.0)
                    .map(|at| format!(", {}", at.to_zoned(zone).strftime("%Y-%m-%d %H:%M")))
                    .unwrap_or_default();
                let copy = match entry.kind {
                    EntryKind::Conflict => ", a conflict copy that searches leave out",
                    _ => "",
                };
                format!(" ({}{written}{copy})", pluralize(bytes, "byte"))
            }
        }
    }
}

/// Names the entries that cannot be listed, so that the list is not taken for complete.
fn unlisted_text(problems: &[Unlisted]) -> String {
    const SHOWN: usize = 20;
    let mut out = String::new();
    for problem in problems.iter().take(SHOWN) {
        let _ = write!(out, "\nLeft out: `{}`: {}", problem.name, problem.why);
    }
    match problems.len().saturating_sub(SHOWN) {
        0 => out,
        more => out + &format!("\n{more} more are left out."),
    }
}

/// Where the folder is at fault, how to list without it.
fn refusal(input: &ListFilesInput, error: &SearchError) -> ToolFailure {
    match (error, input.folder()) {
        (SearchError::Vault(VaultError::NotFound { .. }), Some(folder)) => {
            ToolFailure::labeled(format!(
                "There is no folder `{folder}`.\nLeave out path to list the top folder, where the \
                 others are; to see a note use read_file."
            ))
        }
        _ => search_failure(error),
    }
}

/// Reads a result back: how many entries match, and the paths shown; `None` when none does.
pub(crate) fn parse_result(output: &str) -> Option<(usize, Vec<&str>)> {
    let (total, _) = output.split_once(' ')?;
    let paths =
        output.lines().filter_map(|line| Some(line.strip_prefix("- `")?.split_once('`')?.0));
    Some((total.parse().ok()?, paths.collect()))
}

impl ListFilesInput {
    /// The folder without a slash at its end.
    fn folder(&self) -> Option<&str> {
        self.path.as_deref().map(|path| path.trim().trim_end_matches('/'))
    }

    /// The pattern from the top folder, also where it is written like a path of the system.
    fn pattern(&self) -> &str {
        self.pattern.trim_start_matches("./").trim_start_matches('/')
    }

    fn folder_name(&self) -> String {
        match self.folder() {
            Some(folder) => format!("{folder}/{}", self.pattern()),
            None => self.pattern().to_owned(),
        }
    }
}
