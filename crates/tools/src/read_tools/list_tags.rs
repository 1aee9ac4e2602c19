//! `list_tags`: the tags there are, and how many notes have each.

use std::fmt::Write as _;

use async_trait::async_trait;
use index::TagCount;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolFailure, ToolOutcome};
use protocol::ToolEvent;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{NotesView, run_blocking};
use crate::text::text_encoding::pluralize;

const MAX_RESULTS: u16 = 1_000;

/// Lists the tags of all notes with the number of notes that have each, most used first. A tag counts
/// those nested in it: `food` has the notes of `food/bread` too.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListTagsInput {
    /// Only tags with this text in their name. Leave out for all.
    pattern: Option<String>,
    /// How many tags to return.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    limit: u16,
}

const fn hundred() -> u16 {
    100
}

pub(crate) struct ListTags(pub(crate) NotesView);

#[async_trait]
impl Tool for ListTags {
    const NAME: &'static str = "list_tags";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = ListTagsInput;

    async fn run(&self, input: ListTagsInput, context: &ToolContext) -> ToolOutcome {
        match self.list(&input, context).await {
            Ok(tags) => {
                // Which notes have a tag is not looked up: tags come from any of them, and that there
                // is none is told of all.
                ToolOutcome {
                    output: result_text(&input, &tags),
                    reactions: vec![ToolEvent::Searched {
                        query: input.name_filter(),
                        hits: u32::try_from(tags.len()).unwrap_or(u32::MAX),
                    }],
                    ..ToolOutcome::default()
                }
            }
            Err(failure) => failure.into(),
        }
    }
}

impl ListTagsInput {
    /// The text to look for in names, without the sign that a model may write before it.
    fn name_filter(&self) -> String {
        let pattern = self.pattern.as_deref().unwrap_or_default();
        pattern.trim().trim_start_matches('#').to_lowercase()
    }
}

impl ListTags {
    async fn list(
        &self,
        input: &ListTagsInput,
        context: &ToolContext,
    ) -> Result<Vec<TagCount>, ToolFailure> {
        let index = self.0.ready_index(context).await?;
        let (vault, plan, wanted) = (self.0.vault(), context.overlay.clone(), input.name_filter());
        let tags = run_blocking(move || index.tags(&vault, &plan)).await?.unwrap_or_default();
        Ok(tags.into_iter().filter(|tag| tag.tag.to_lowercase().contains(&wanted)).collect())
    }
}

/// Reads a result back: how many tags there are, and those shown with how many notes have each;
/// `None` when there is none.
pub(crate) fn parse_result(output: &str) -> Option<(usize, Vec<(&str, usize)>)> {
    let (total, _) = output.lines().next()?.split_once(' ')?;
    let tags = output.lines().filter_map(|line| {
        let (tag, notes) = line.strip_prefix("- #")?.rsplit_once(", ")?;
        Some((tag, notes.split_once(' ')?.0.parse().ok()?))
    });
    Some((total.parse().ok()?, tags.collect()))
}

fn result_text(input: &ListTagsInput, tags: &[TagCount]) -> String {
    let wanted = input.name_filter();
    match (tags.is_empty(), wanted.is_empty()) {
        (true, true) => return "No note has a tag.".to_owned(),
        (true, false) => {
            return format!("No tag has “{wanted}” in its name. Leave out `pattern` to see all.");
        }
        (false, _) => {}
    }
    let limit = usize::from(input.limit.clamp(1, MAX_RESULTS));
    let mut out = format!("{}:", pluralize(tags.len(), "tag"));
    for tag in tags.iter().take(limit) {
        let _ = write!(out, "\n- #{}, {}", tag.tag, pluralize(tag.notes, "note"));
    }
    if let Some(more @ 1..) = tags.len().checked_sub(limit) {
        let _ = write!(out, "\nand {more} more, not shown: raise `limit` or give a `pattern`.");
    }
    out
}
