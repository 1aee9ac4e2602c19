//! `search_files`: every line that matches a pattern.

use std::fmt::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use index::{CutReason, GrepQuery, GrepResult};
use llm::tool_api::tool::{LookupScope, Tool, ToolContext, ToolEffect, ToolFailure, ToolOutcome};
use protocol::ToolEvent;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{NotesView, run_blocking, search_failure};
use crate::text::text_encoding::pluralize;

const MAX_RESULTS: u16 = 200;
const MAX_CONTEXT_LINES: u8 = 10;
/// With the listing before it and the words after it, an answer comes within five seconds.
const DEADLINE: Duration = Duration::from_secs(4);

/// Finds the lines in notes that match a regular expression, with the lines around them. Use it for
/// exact text; to find notes about something, use find_notes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFilesInput {
    /// A regular expression, matched line by line. Escape special characters such as `(` with `\`.
    pattern: String,
    /// Only notes whose path matches, such as `Projects/**/*.md`. Leave out for all notes.
    file_pattern: Option<String>,
    /// Lines to show before and after each match.
    #[serde(default = "two")]
    #[schemars(range(max = MAX_CONTEXT_LINES))]
    context_lines: u8,
    /// How many matches to show, of one note at most 5.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    max_results: u16,
    /// How many of them may be in one note. The schema leaves it out: commands alone give it.
    #[serde(default = "five")]
    #[schemars(skip)]
    max_per_note: u16,
    /// Match case.
    #[serde(default)]
    case_sensitive: bool,
}

const fn two() -> u8 {
    2
}

const fn ten() -> u16 {
    10
}

const fn five() -> u16 {
    5
}

pub(crate) struct SearchFiles(pub(crate) NotesView);

#[async_trait]
impl Tool for SearchFiles {
    const NAME: &'static str = "search_files";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = SearchFilesInput;

    async fn run(&self, input: SearchFilesInput, context: &ToolContext) -> ToolOutcome {
        let pattern = input.pattern.clone();
        match self.search(input, context).await {
            Ok(found) => {
                found.hits.iter().for_each(|hit| context.sources.record_note(&hit.path));
                ToolOutcome {
                    output: result_text(&pattern, &found),
                    reactions: vec![ToolEvent::Searched { query: pattern, hits: found.total }],
                    ..ToolOutcome::default()
                }
                .labeled()
            }
            Err(failure) => failure.into(),
        }
    }
}

impl SearchFiles {
    async fn search(
        &self,
        input: SearchFilesInput,
        context: &ToolContext,
    ) -> Result<GrepResult, ToolFailure> {
        if input.pattern.is_empty() {
            return Err(ToolFailure::labeled("pattern is empty. Give the text to look for."));
        }
        let scope = match input.file_pattern.as_deref() {
            Some(pattern) => self.0.lookup_scope(pattern).await?,
            None => LookupScope::Vault,
        };
        let query = GrepQuery {
            pattern: input.pattern,
            file_pattern: input.file_pattern,
            context_lines: input.context_lines.min(MAX_CONTEXT_LINES),
            max_results: input.max_results.clamp(1, MAX_RESULTS),
            max_per_note: input.max_per_note.clamp(1, MAX_RESULTS),
            case_sensitive: input.case_sensitive,
        };
        let (vault, index, overlay) = (self.0.vault(), self.0.index(), context.overlay.clone());
        let found = run_blocking(move || index.search(&vault, &overlay, &query, DEADLINE))
            .await?
            .map_err(|error| search_failure(&error))?;
        // A pattern that is none is told without a look.
        context.sources.record_search(&scope);
        Ok(found)
    }
}

/// The matching lines as they were told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParsedMatches<'a> {
    /// How many lines match, shown or not.
    pub(crate) total: usize,
    /// Notes with their lines that are shown.
    pub(crate) notes: Vec<(&'a str, Vec<&'a str>)>,
}

/// Reads a result back; `None` when no line matches.
pub(crate) fn parse_result(output: &str) -> Option<ParsedMatches<'_>> {
    let (total, _) = output.split_once(" matching line")?;
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in output.lines().skip(1) {
        if let Some(path) = line.strip_prefix('`').and_then(|line| line.strip_suffix('`')) {
            notes.push((path, Vec::new()));
        } else if let Some((_, lines)) = notes.last_mut() {
            let matching = line.strip_prefix("> ").and_then(|line| Some(line.split_once("| ")?.1));
            lines.extend(matching);
        }
    }
    Some(ParsedMatches { total: total.parse().ok()?, notes })
}

fn result_text(pattern: &str, found: &GrepResult) -> String {
    let cut = match found.cut {
        Some(CutReason::Time) => {
            "\nThe time was up before all notes were searched. Narrow the search with file_pattern."
        }
        Some(CutReason::Results) => {
            "\nNot all are shown. Narrow the pattern, or raise max_results."
        }
        None => "",
    };
    if found.hits.is_empty() {
        return format!(
            "No line matches `{pattern}`.{cut}\nTry a shorter pattern, or find_notes with a few \
             words."
        );
    }
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let mut out = format!(
        "{} in {}{}",
        pluralize(number(found.total), "matching line"),
        pluralize(number(found.files), "note"),
        cut
    );
    let mut note = None;
    for hit in &found.hits {
        if note.replace(&hit.path) != Some(&hit.path) {
            let _ = write!(out, "\n\n`{}`", hit.path);
        } else if !hit.before.is_empty() || !hit.after.is_empty() {
            out.push_str("\n  …");
        }
        let before = u32::try_from(hit.before.len()).unwrap_or_default();
        for (line, text) in (hit.line.saturating_sub(before)..).zip(&hit.before) {
            let _ = write!(out, "\n  {line}| {}", truncate_line(text));
        }
        let _ = write!(out, "\n> {}| {}", hit.line, truncate_line(&hit.text));
        for (line, text) in (hit.line + 1..).zip(&hit.after) {
            let _ = write!(out, "\n  {line}| {}", truncate_line(text));
        }
    }
    out
}

fn truncate_line(line: &str) -> String {
    const MOST: usize = 400;
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}… (cut)", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}
