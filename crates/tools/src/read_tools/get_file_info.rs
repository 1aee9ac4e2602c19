//! `get_file_info`: everything about a note but its text.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolFailure, ToolOutcome};
use markdown::parser::{Document, Heading};
use protocol::{PlannedState, Timestamp, ToolEvent};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{CurrentNote, NotesView, run_blocking};
use crate::ports::environment::Environment;
use crate::read_tools::get_links::{self, incoming, outgoing};
use crate::text::text_encoding::{decode, pluralize};

/// Headings, and links in each direction, listed at most.
const MAX_LISTED: usize = 30;

/// Returns the metadata of a note without its text: dates, size, number of words, properties, tags,
/// outline, and links in both directions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetFileInfoInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
}

pub(crate) struct GetFileInfo {
    pub(crate) notes: NotesView,
    pub(crate) environment: Arc<dyn Environment>,
}

#[async_trait]
impl Tool for GetFileInfo {
    const NAME: &'static str = "get_file_info";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = GetFileInfoInput;

    async fn run(&self, input: GetFileInfoInput, context: &ToolContext) -> ToolOutcome {
        self.info(&input, context).await.unwrap_or_else(ToolOutcome::from)
    }
}

impl GetFileInfo {
    async fn info(
        &self,
        input: &GetFileInfoInput,
        context: &ToolContext,
    ) -> Result<ToolOutcome, ToolFailure> {
        let note = self.notes.find_note(&input.path, context).await?;
        let mut out = format!("`{}` · {}", note.path, pluralize(note.bytes.len(), "byte"));
        let text =
            if note.path.is_markdown() { decode(&note.path, &note.bytes).ok() } else { None };
        match text {
            Some(text) => describe_text(text, &note, &mut out),
            None => out.push_str("\nIt is not a note with text."),
        }
        out.push_str(&self.dates(&note, context).await?);
        let (links, backlinks) = self.notes.links_of(&note.path, context).await?;
        get_links::record_sources(&note.path, &links, &backlinks, context);
        let links = [
            outgoing(&note.path, &links, MAX_LISTED),
            incoming(&note.path, &backlinks, MAX_LISTED),
        ];
        let _ = write!(out, "\n{}", links.join("\n"));
        let reactions = vec![ToolEvent::Read { path: note.path }];
        Ok(ToolOutcome { output: out, reactions, ..ToolOutcome::default() }.labeled())
    }

    /// A line with its dates here, or that it is pending.
    async fn dates(
        &self,
        note: &CurrentNote,
        context: &ToolContext,
    ) -> Result<String, ToolFailure> {
        let waits = "\nIt holds changes that wait for the user's review.";
        let PlannedState::OnDisk(path) = context.overlay.planned_state(&note.path) else {
            return Ok(waits.to_owned());
        };
        let vault = self.notes.vault();
        let dates = run_blocking(move || vault.file_times(&path)).await?;
        let dates = dates.map_err(|error| ToolFailure::new(error.to_string()))?;
        let mut line = format!("\nChanged {}", self.local_time(dates.modified));
        if let Some(created) = dates.created {
            let _ = write!(line, ", created {}", self.local_time(created));
        }
        Ok(if note.pending { line + waits } else { line })
    }

    fn local_time(&self, at: Timestamp) -> String {
        let zone = self.environment.now().time_zone().clone();
        jiff::Timestamp::from_millisecond(at.0)
            .map(|at| at.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string())
            .unwrap_or_default()
    }
}

/// The properties of the note's text.
fn describe_text(text: &str, note: &CurrentNote, out: &mut String) {
    let document = Document::parse(text);
    let body = document.frontmatter.as_ref().map_or(0, |matter| matter.span.end);
    let words = pluralize(word_count(text.get(body..).unwrap_or_default()), "word");
    let _ = write!(out, " · {} · {words} · hash {}", line_count(text), note.hash.short());
    if !document.properties.is_empty() {
        out.push_str("\nProperties:");
    }
    for property in &document.properties {
        let _ = write!(out, "\n- {}: {}", property.name, property.values.join(", "));
    }
    let tags = document.tag_names();
    if !tags.is_empty() {
        let _ = write!(out, "\nTags: #{}", tags.join(", #"));
    }
    outline(&document.headings, out);
}

fn outline(headings: &[Heading], out: &mut String) {
    if headings.is_empty() {
        return;
    }
    out.push_str("\nOutline:");
    for heading in headings.iter().take(MAX_LISTED) {
        let _ = write!(out, "\n- line {}: {}", heading.line, heading.to_markdown());
    }
    if let Some(more) = headings.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        let _ = write!(out, "\nand {} not shown.", pluralize(more, "more heading"));
    }
}

fn line_count(text: &str) -> String {
    pluralize(text.lines().count(), "line")
}

/// Words between blanks; in scripts that part no words, every sign is one.
fn word_count(text: &str) -> usize {
    let mut words = 0;
    let mut inside = false;
    for sign in text.chars() {
        let alone = matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
        let begins = sign.is_alphanumeric() && !inside;
        words += usize::from(alone || begins);
        let joins = matches!(sign, '\'' | '’' | '-' | '_' | '.');
        inside = !alone && (sign.is_alphanumeric() || (inside && joins));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_as_a_person_counts_them() {
        assert_eq!(word_count("One two-three, it's 3.5 — **four**."), 5);
        assert_eq!(word_count("日本語 text"), 4);
        assert_eq!(word_count("- \n\n# "), 0);
    }
}
