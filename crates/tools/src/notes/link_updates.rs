//! Finds the changes in other notes that keep links right when a plan moves or creates something.

use index::links::{
    Backlink, LinkGraph, LinkProblem, LinkRewrite, OutgoingLink, SkipReason, SkippedFile,
};
use llm::tool_api::tool::{ChangePlan, SourceLabels, ToolContext, ToolEffect, ToolFailure};
use protocol::{Change, ChangeSet, NotePath, Source};
use vault::{Vault, VaultError};

use crate::notes::notes_view::{NotesView, run_blocking};
use crate::text::text_encoding::pluralize;

/// Links that could not be kept, told at most.
const MAX_REPORTED: usize = 5;

/// Rewritten links.
#[derive(Debug)]
pub(crate) struct LinkUpdates {
    /// The notes that hold them, with new bytes.
    pub(crate) changes: Vec<Change>,
    /// How many links, in how many notes that may be mentioned.
    reported: (usize, usize),
    /// Notes that may be mentioned and stay as they are, with links that will not lead where they
    /// led.
    skipped: Vec<SkippedFile>,
    /// Places that could not be looked at.
    unlisted: usize,
}

impl LinkUpdates {
    /// The rest of a sentence about the plan; empty when no link had to change and all were seen. Its
    /// sources are noted: it counts links in notes that the call is not about, and names some.
    pub(crate) fn summary_suffix(&self, context: &ToolContext) -> String {
        let words = self.summary_text();
        if !words.is_empty() {
            context.sources.record_named_source(Source::Vault);
        }
        self.skipped.iter().for_each(|left| context.sources.record_name(&left.path));
        words
    }

    fn summary_text(&self) -> String {
        let mut words = String::new();
        if let (links @ 1.., notes) = self.reported {
            let (links, notes) = (pluralize(links, "link"), pluralize(notes, "note"));
            words = format!(
                ", and rewrite {links} in {notes} so that they still lead to the same place"
            );
        }
        for because in [SkipReason::OutsideVault, SkipReason::NotText, SkipReason::Protected] {
            words += &skipped_sentence(&self.skipped, because);
        }
        if self.unlisted > 0 {
            let places = pluralize(self.unlisted, "place");
            words += &format!(
                ". Links in {places} of the vault that cannot be read stay as they are. Tell the user"
            );
        }
        words
    }

    /// The plan that creates a note. Rewriting other notes for it is an edit, and reviewed like
    /// one.
    pub(crate) fn plan_creation(
        self,
        path: NotePath,
        content: Vec<u8>,
        summary: &str,
        context: &ToolContext,
    ) -> (ToolEffect, ChangePlan) {
        let effect = if self.changes.is_empty() { ToolEffect::Create } else { ToolEffect::Edit };
        let summary = format!("{summary}{}", self.summary_suffix(context));
        let change = Change::create(path, content);
        let change_set: ChangeSet = std::iter::once(change).chain(self.changes).collect();
        (effect, ChangePlan { change_set, summary, labels: SourceLabels::Complete })
    }
}

impl NotesView {
    /// The changes that keep the links to and in `from`, a file or folder, once it is at `to`.
    pub(crate) async fn updates_after_move(
        &self,
        from: &NotePath,
        to: &NotePath,
        context: &ToolContext,
    ) -> Result<LinkUpdates, ToolFailure> {
        let (from, to) = (from.clone(), to.clone());
        self.link_updates(context, move |graph| {
            let files = graph.files().iter();
            let moves = files.filter_map(|file| Some((file.clone(), file.after_move(&from, &to)?)));
            graph.after_moving(&moves.collect::<Vec<_>>())
        })
        .await
    }

    /// The changes that keep the links that a new note at `path` would take over.
    pub(crate) async fn updates_after_creation(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<LinkUpdates, ToolFailure> {
        let path = path.clone();
        self.link_updates(context, move |graph| graph.after_creating(std::slice::from_ref(&path)))
            .await
    }

    /// The rest of a sentence about links that would lead to nothing without `path`. It tells of every
    /// note, also where there are none.
    pub(crate) async fn broken_links_suffix(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<String, ToolFailure> {
        let (_, links) = self.links_of(path, context).await?;
        context.sources.record_named_source(Source::Vault);
        let mut sources: Vec<&NotePath> = links.iter().map(|link| &link.source).collect();
        sources.dedup();
        Ok(if links.is_empty() {
            String::new()
        } else {
            let (links, notes) = (pluralize(links.len(), "link"), pluralize(sources.len(), "note"));
            format!(", which breaks {links} in {notes}")
        })
    }

    /// The links of a file, and those that lead to it.
    pub(crate) async fn links_of(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<(Vec<OutgoingLink>, Vec<Backlink>), ToolFailure> {
        let (path, index) = (path.clone(), self.index());
        let (vault, plan, asked) = (self.vault(), context.overlay.clone(), path.clone());
        let known = run_blocking(move || {
            let outgoing = index.outgoing_links(&vault, &plan, &asked)?;
            Some((outgoing, index.backlinks(&vault, &plan, &asked)?))
        });
        if let Some(known) = known.await? {
            return Ok(known);
        }
        with_link_graph(self.vault(), context, move |graph| {
            (graph.outgoing_links(&path), graph.backlinks(&path))
        })
        .await
    }

    /// Links are kept in private notes too; these are not mentioned.
    async fn link_updates(
        &self,
        context: &ToolContext,
        plan: impl FnOnce(&LinkGraph<'_>) -> LinkRewrite + Send + 'static,
    ) -> Result<LinkUpdates, ToolFailure> {
        let (shown, whole) = (self.vault(), self.vault().unfiltered());
        with_link_graph(whole, context, move |graph| {
            let is_shown = |path: &NotePath| !shown.hides(path);
            let rewriting = plan(graph);
            if !rewriting.problems.is_empty() {
                return Err(unresolved_links(&rewriting.problems, is_shown));
            }
            let files = rewriting.files.iter().map(|file| (&file.path, file.links));
            let told = totals(files.filter(|(path, _)| is_shown(path)));
            let left = rewriting.skipped.into_iter().filter(|left| is_shown(&left.path)).collect();
            let files = rewriting.files.into_iter();
            let changes = files.map(|file| Change::replace(file.path, file.before, file.after));
            Ok(LinkUpdates {
                changes: changes.collect(),
                reported: told,
                skipped: left,
                unlisted: graph.unlisted(),
            })
        })
        .await?
    }
}

/// The sentence about notes that are left for one reason; empty when there are none.
fn skipped_sentence(all: &[SkippedFile], because: SkipReason) -> String {
    let notes: Vec<&SkippedFile> = all.iter().filter(|left| left.reason == because).collect();
    let links = notes.iter().map(|left| left.links).sum();
    if links == 0 {
        return String::new();
    }
    let names: Vec<String> =
        notes.iter().take(MAX_REPORTED).map(|left| format!("`{}`", left.path)).collect();
    let more = match notes.len().saturating_sub(MAX_REPORTED) {
        0 => String::new(),
        more => format!(" and {}", pluralize(more, "more note")),
    };
    let why = match because {
        SkipReason::OutsideVault => "because nothing is changed outside the vault",
        SkipReason::NotText => "because what is not UTF-8 text is not changed",
        SkipReason::Protected => "because write-protected notes are not changed",
    };
    format!(
        ". {} in {}{more} will not lead to the same place, {why}. Tell the user",
        pluralize(links, "link"),
        names.join(", ")
    )
}

/// All links, and in how many notes they are.
fn totals<'a>(notes: impl Iterator<Item = (&'a NotePath, usize)>) -> (usize, usize) {
    notes.fold((0, 0), |(links, notes), (_, more)| (links + more, notes + 1))
}

async fn with_link_graph<T: Send + 'static>(
    vault: Vault,
    context: &ToolContext,
    look: impl FnOnce(&LinkGraph<'_>) -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    let overlay = context.overlay.clone();
    run_blocking(move || LinkGraph::from_vault(&vault, &overlay).map(|graph| look(&graph)))
        .await?
        .map_err(|error: VaultError| ToolFailure::new(error.to_string()))
}

/// Links that could not be kept, one by one for notes that may be mentioned.
fn unresolved_links(problems: &[LinkProblem], is_shown: impl Fn(&NotePath) -> bool) -> ToolFailure {
    let shown = problems.iter().filter(|problem| is_shown(&problem.path)).take(MAX_REPORTED);
    let lines: Vec<String> = shown
        .map(|problem| format!("\n- `{}`, line {}: {}", problem.path, problem.line, problem.why))
        .collect();
    ToolFailure::new(format!(
        "Links could not be kept, so nothing was planned.\nChoose a name without `#`, `^`, `|`, \
         `[` or `]`, or change the links first.{}",
        lines.concat()
    ))
}
