//! What must change in other notes so that links lead where they led when a plan moves or makes
//! something.

use index::links::{Backlink, Graph, Left, LeftBecause, LinkProblem, Outgoing, Rewriting};
use llm::tool::{Effect, Labels, Plan, ToolContext, ToolFailure};
use protocol::{Change, ChangeSet, NotePath, Source};
use vault::{Vault, VaultError};

use crate::note_text::count;
use crate::notes::{Notes, off_thread};

/// Links that could not be kept, told at most.
const TOLD: usize = 5;

/// Links written anew.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The notes that hold them, with new bytes.
    pub(crate) changes: Vec<Change>,
    /// How many links, in how many notes that may be spoken of.
    told: (usize, usize),
    /// Notes that may be spoken of and stay as they are, with links that will not lead where they
    /// led.
    left: Vec<Left>,
    /// Places that could not be looked at.
    unlisted: usize,
}

impl Kept {
    /// The rest of a sentence about the plan; empty when no link had to change and all were seen. Its
    /// sources are noted: it counts links in notes that the call is not about, and names some.
    pub(crate) fn words(&self, context: &ToolContext) -> String {
        let words = self.worded();
        if !words.is_empty() {
            context.shows.tell(Source::Vault);
        }
        self.left.iter().for_each(|left| context.shows.name(&left.path));
        words
    }

    fn worded(&self) -> String {
        let mut words = String::new();
        if let (links @ 1.., notes) = self.told {
            let (links, notes) = (count(links, "link"), count(notes, "note"));
            words = format!(
                ", and rewrote {links} in {notes} so that they still lead to the same place"
            );
        }
        for because in [LeftBecause::BesideVault, LeftBecause::NotText, LeftBecause::Protected] {
            words += &left(&self.left, because);
        }
        if self.unlisted > 0 {
            let places = count(self.unlisted, "place");
            words += &format!(
                ". Links in {places} of the vault that cannot be read stay as they are: tell the user"
            );
        }
        words
    }

    /// The plan that makes a note. Rewriting other notes for it is an edit, and waits like one.
    pub(crate) fn create(
        self,
        path: NotePath,
        content: Vec<u8>,
        did: &str,
        context: &ToolContext,
    ) -> (Effect, Plan) {
        let effect = if self.changes.is_empty() { Effect::Create } else { Effect::Edit };
        let summary = format!("{did}{}", self.words(context));
        let change = Change::create(path, content);
        let change_set: ChangeSet = std::iter::once(change).chain(self.changes).collect();
        (effect, Plan { change_set, summary, labels: Labels::Complete })
    }
}

impl Notes {
    /// What keeps the links to and in `from`, a file or folder, once it is at `to`.
    pub(crate) async fn links_after_moving(
        &self,
        from: &NotePath,
        to: &NotePath,
        context: &ToolContext,
    ) -> Result<Kept, ToolFailure> {
        let (from, to) = (from.clone(), to.clone());
        self.kept(context, move |graph| {
            let files = graph.files().iter();
            let moves = files.filter_map(|file| Some((file.clone(), file.moved(&from, &to)?)));
            graph.after_moving(&moves.collect::<Vec<_>>())
        })
        .await
    }

    /// What keeps the links that a new note at `path` would take over.
    pub(crate) async fn links_after_creating(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<Kept, ToolFailure> {
        let path = path.clone();
        self.kept(context, move |graph| graph.after_creating(std::slice::from_ref(&path))).await
    }

    /// The rest of a sentence about links that would lead to nothing without `path`. It tells of every
    /// note, also where there are none.
    pub(crate) async fn links_to(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<String, ToolFailure> {
        let (_, links) = self.links_of(path, context).await?;
        context.shows.tell(Source::Vault);
        let mut sources: Vec<&NotePath> = links.iter().map(|link| &link.source).collect();
        sources.dedup();
        Ok(if links.is_empty() {
            String::new()
        } else {
            let (links, notes) = (count(links.len(), "link"), count(sources.len(), "note"));
            format!(". {links} in {notes} led to it")
        })
    }

    /// The links of a file, and those that lead to it.
    pub(crate) async fn links_of(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<(Vec<Outgoing>, Vec<Backlink>), ToolFailure> {
        let (path, index) = (path.clone(), self.index());
        let (vault, plan, asked) = (self.vault(), context.overlay.clone(), path.clone());
        let known = off_thread(move || {
            let outgoing = index.outgoing(&vault, &plan, &asked)?;
            Some((outgoing, index.backlinks(&vault, &plan, &asked)?))
        });
        if let Some(known) = known.await? {
            return Ok(known);
        }
        over_links(self.vault(), context, move |graph| {
            (graph.outgoing(&path), graph.backlinks(&path))
        })
        .await
    }

    /// Links are kept in private notes too; these are not spoken of.
    async fn kept(
        &self,
        context: &ToolContext,
        plan: impl FnOnce(&Graph<'_>) -> Rewriting + Send + 'static,
    ) -> Result<Kept, ToolFailure> {
        let (shown, whole) = (self.vault(), self.vault().whole());
        over_links(whole, context, move |graph| {
            let is_shown = |path: &NotePath| !shown.hides(path);
            let rewriting = plan(graph);
            if !rewriting.problems.is_empty() {
                return Err(lost(&rewriting.problems, is_shown));
            }
            let files = rewriting.files.iter().map(|file| (&file.path, file.links));
            let told = sum(files.filter(|(path, _)| is_shown(path)));
            let left = rewriting.left.into_iter().filter(|left| is_shown(&left.path)).collect();
            let files = rewriting.files.into_iter();
            let changes = files.map(|file| Change::replace(file.path, file.before, file.after));
            Ok(Kept { changes: changes.collect(), told, left, unlisted: graph.unlisted() })
        })
        .await?
    }
}

/// The sentence about notes that are left for one reason; empty when there are none.
fn left(all: &[Left], because: LeftBecause) -> String {
    let notes: Vec<&Left> = all.iter().filter(|left| left.because == because).collect();
    let links = notes.iter().map(|left| left.links).sum();
    if links == 0 {
        return String::new();
    }
    let names: Vec<String> =
        notes.iter().take(TOLD).map(|left| format!("`{}`", left.path)).collect();
    let more = match notes.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {}", count(more, "more note")),
    };
    let why = match because {
        LeftBecause::BesideVault => "because nothing is changed beside the vault",
        LeftBecause::NotText => "because what is not UTF-8 text is not changed",
        LeftBecause::Protected => "because write-protected notes are not changed",
    };
    format!(
        ". {} in {}{more} will not lead to the same place, {why}: tell the user",
        count(links, "link"),
        names.join(", ")
    )
}

/// All links, and in how many notes they are.
fn sum<'a>(notes: impl Iterator<Item = (&'a NotePath, usize)>) -> (usize, usize) {
    notes.fold((0, 0), |(links, notes), (_, more)| (links + more, notes + 1))
}

async fn over_links<T: Send + 'static>(
    vault: Vault,
    context: &ToolContext,
    look: impl FnOnce(&Graph<'_>) -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    let overlay = context.overlay.clone();
    off_thread(move || Graph::of(&vault, &overlay).map(|graph| look(&graph)))
        .await?
        .map_err(|error: VaultError| ToolFailure::new(error.to_string()))
}

/// Links that could not be kept, those in notes that may be spoken of one by one.
fn lost(problems: &[LinkProblem], is_shown: impl Fn(&NotePath) -> bool) -> ToolFailure {
    let shown = problems.iter().filter(|problem| is_shown(&problem.path)).take(TOLD);
    let lines: Vec<String> = shown
        .map(|problem| format!("\n- `{}`, line {}: {}", problem.path, problem.line, problem.why))
        .collect();
    ToolFailure::new(format!(
        "Links could not be kept, so nothing was planned.\nChoose a name without `#`, `^`, `|`, \
         `[` or `]`, or change the links first.{}",
        lines.concat()
    ))
}
