//! `get_links`: what a note links to and what links to it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use async_trait::async_trait;
use index::links::{Backlink, MAX_TARGETS, OutgoingLink};
use llm::tool_api::tool::{LookupScope, Tool, ToolContext, ToolEffect, ToolFailure, ToolOutcome};
use protocol::{NotePath, ToolEvent};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::NotesView;
use crate::text::text_encoding::pluralize;

/// Links listed at most in each direction.
const MAX_LINKS: usize = 100;

/// Lists the links of a note: the links in it, each with the note it leads to, and the links in
/// other notes that lead to it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetLinksInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
    /// `out` for the links in the note, `in` for the links to it. Leave out for both.
    #[serde(default)]
    direction: LinkDirection,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LinkDirection {
    In,
    Out,
    #[default]
    Both,
}

pub(crate) struct GetLinks(pub(crate) NotesView);

#[async_trait]
impl Tool for GetLinks {
    const NAME: &'static str = "get_links";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = GetLinksInput;

    async fn run(&self, input: GetLinksInput, context: &ToolContext) -> ToolOutcome {
        self.links(&input, context).await.unwrap_or_else(ToolOutcome::from)
    }
}

impl GetLinks {
    async fn links(
        &self,
        input: &GetLinksInput,
        context: &ToolContext,
    ) -> Result<ToolOutcome, ToolFailure> {
        let path = self.0.find_path(&input.path, context).await?;
        self.0.record_real_path(&path, context).await?;
        let (out, into) = self.0.links_of(&path, context).await?;
        record_sources(&path, &out, &into, context);
        let mut parts = Vec::new();
        let mut hits = 0;
        if input.direction != LinkDirection::In {
            hits += out.len();
            parts.push(outgoing(&path, &out, MAX_LINKS));
        }
        if input.direction != LinkDirection::Out {
            hits += into.len();
            parts.push(incoming(&path, &into, MAX_LINKS));
        }
        let hits = u32::try_from(hits).unwrap_or(u32::MAX);
        let query = path.as_str().to_owned();
        Ok(ToolOutcome {
            output: parts.join("\n"),
            reactions: vec![ToolEvent::Searched { query, hits }],
            ..ToolOutcome::default()
        }
        .labeled())
    }
}

/// Records the sources of links: the note that has them, and the names of their targets and of the
/// notes that link to it.
pub(crate) fn record_sources(
    path: &NotePath,
    links: &[OutgoingLink],
    backlinks: &[Backlink],
    context: &ToolContext,
) {
    // That no other note links here, or has the name of a link, is told of every note.
    context.sources.record_search(&LookupScope::Vault);
    if !links.is_empty() {
        context.sources.record_note(path);
    }
    links
        .iter()
        .flat_map(|link| &link.targets)
        .for_each(|target| context.sources.record_note(target));
    backlinks.iter().for_each(|link| context.sources.record_note(&link.source));
}

/// The links of a note, one a line, at most `most`.
pub(crate) fn outgoing(path: &NotePath, links: &[OutgoingLink], most: usize) -> String {
    if links.is_empty() {
        return format!("`{path}` links to nothing.");
    }
    let mut out = format!("`{path}` has {}:", pluralize(links.len(), "link"));
    for OutgoingLink { link, targets } in links.iter().take(most) {
        let embed = if link.is_embed { "shows " } else { "" };
        let _ = match targets.as_slice() {
            [] => {
                write!(out, "\n- line {}: {embed}“{}”, which does not exist", link.line, link.path)
            }
            [to, ..] => write!(out, "\n- line {}: {embed}`{to}`{}", link.line, link.subpath),
        };
        if let Some((_, others @ [_, ..])) = targets.split_first() {
            let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
            let more = if targets.len() < MAX_TARGETS { "" } else { ", …" };
            let others = others.join(", ");
            let _ = write!(out, " (“{}” could also mean {others}{more})", link.path);
        }
    }
    out + &more_note(links.len(), most)
}

/// The links to a note, one line a note that has some, at most `most`.
pub(crate) fn incoming(path: &NotePath, links: &[Backlink], most: usize) -> String {
    if links.is_empty() {
        return format!("No note links to `{path}`.");
    }
    let sources: Vec<&[Backlink]> = links.chunk_by(|a, b| a.source == b.source).collect();
    let noun = if sources.len() == 1 { "note links" } else { "notes link" };
    let mut out = format!("{} {noun} to `{path}`:", sources.len());
    for links in sources.iter().take(most) {
        let Some(first) = links.first() else { continue };
        let mut lines: Vec<usize> = links.iter().map(|link| link.link.line).collect();
        lines.dedup();
        let noun = if lines.len() == 1 { "line" } else { "lines" };
        let cut = if lines.len() > most { ", …" } else { "" };
        let told: Vec<String> = lines.iter().take(most).map(usize::to_string).collect();
        let _ = write!(out, "\n- `{}`, {noun} {}{cut}", first.source, told.join(", "));
    }
    out + &more_note(sources.len(), most)
}

/// The links of a note as they were told, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedLinks<'a> {
    /// Files that it links to.
    pub(crate) out: Vec<&'a str>,
    /// Its broken links.
    pub(crate) broken: Vec<&'a str>,
    /// Notes that link to it.
    pub(crate) back: Vec<&'a str>,
    /// Whether there are more.
    pub(crate) more: bool,
}

/// Reads a result back.
pub(crate) fn parse_result(output: &str) -> ParsedLinks<'_> {
    let mut linked = ParsedLinks::default();
    for line in output.lines() {
        if line.starts_with("and ") {
            linked.more = true;
        } else if let Some(back) = line.strip_prefix("- `") {
            linked.back.extend(back.split_once('`').map(|(path, _)| path));
        } else if let Some((_, link)) =
            line.strip_prefix("- line ").and_then(|line| line.split_once(": "))
        {
            let link = link.strip_prefix("shows ").unwrap_or(link);
            if let Some(to) = link.strip_prefix('`') {
                linked.out.extend(to.split_once('`').map(|(path, _)| path));
            } else if let Some((name, _)) =
                link.strip_prefix('“').and_then(|link| link.rsplit_once("”, which does not exist"))
            {
                linked.broken.push(name);
            }
        }
    }
    for all in [&mut linked.out, &mut linked.broken, &mut linked.back] {
        let mut seen = BTreeSet::new();
        all.retain(|one| seen.insert(*one));
    }
    linked
}

fn more_note(total: usize, most: usize) -> String {
    match total.checked_sub(most) {
        None | Some(0) => String::new(),
        Some(more) => format!("\nand {more} more, not shown."),
    }
}
