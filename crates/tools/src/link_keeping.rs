//! What must change in other notes so that links lead where they led when a plan moves or makes
//! something.

use index::links::{Backlink, Graph, Outgoing, Rewriting};
use llm::tool::{Effect, Plan, ToolContext, ToolFailure};
use protocol::{Change, ChangeSet, NotePath};
use vault::VaultError;

use crate::note_text::count;
use crate::notes::{Notes, off_thread};

/// Links that cannot be kept, told at most.
const TOLD: usize = 5;

/// Links written anew.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The notes that hold them, with new bytes.
    pub(crate) changes: Vec<Change>,
    links: usize,
}

impl Kept {
    /// The rest of a sentence about the plan; empty when no link had to change.
    pub(crate) fn words(&self) -> String {
        if self.changes.is_empty() {
            return String::new();
        }
        let (links, notes) = (count(self.links, "link"), count(self.changes.len(), "note"));
        format!(", and rewrote {links} in {notes} so that they still lead to the same place")
    }

    /// The plan that makes a note. Rewriting other notes for it is an edit, and waits like one.
    pub(crate) fn create(self, path: NotePath, content: Vec<u8>, did: &str) -> (Effect, Plan) {
        let effect = if self.changes.is_empty() { Effect::Create } else { Effect::Edit };
        let summary = format!("{did}{}", self.words());
        let change = Change::create(path, content);
        let change_set: ChangeSet = std::iter::once(change).chain(self.changes).collect();
        (effect, Plan { change_set, summary })
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
        let rewriting = self.over_links(context, move |graph| {
            let moves = graph
                .files()
                .iter()
                .filter_map(|file| Some((file.clone(), file.moved(&from, &to)?)));
            graph.after_moving(&moves.collect::<Vec<_>>())
        });
        kept(rewriting.await?)
    }

    /// What keeps the links that a new note at `path` would take over.
    pub(crate) async fn links_after_creating(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<Kept, ToolFailure> {
        let path = path.clone();
        let rewriting = self
            .over_links(context, move |graph| graph.after_creating(std::slice::from_ref(&path)));
        kept(rewriting.await?)
    }

    /// The rest of a sentence about links that would lead to nothing without `path`.
    pub(crate) async fn links_to(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<String, ToolFailure> {
        let (_, links) = self.links_of(path, context).await?;
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
        let path = path.clone();
        self.over_links(context, move |graph| (graph.outgoing(&path), graph.backlinks(&path))).await
    }

    async fn over_links<T: Send + 'static>(
        &self,
        context: &ToolContext,
        look: impl FnOnce(&Graph<'_>) -> T + Send + 'static,
    ) -> Result<T, ToolFailure> {
        let (vault, overlay) = (self.vault(), context.overlay.clone());
        off_thread(move || Graph::of(&vault, &overlay).map(|graph| look(&graph)))
            .await?
            .map_err(|error: VaultError| ToolFailure(error.to_string()))
    }
}

fn kept(rewriting: Rewriting) -> Result<Kept, ToolFailure> {
    if rewriting.problems.is_empty() {
        let links = rewriting.files.iter().map(|file| file.links).sum();
        let files = rewriting.files.into_iter();
        let changes = files.map(|file| Change::replace(file.path, file.before, file.after));
        return Ok(Kept { changes: changes.collect(), links });
    }
    let total = rewriting.problems.len();
    let lines = rewriting.problems.iter().take(TOLD);
    let lines: Vec<String> = lines
        .map(|problem| format!("- `{}`, line {}: {}", problem.path, problem.line, problem.why))
        .collect();
    Err(ToolFailure(format!(
        "{} could not be kept, so nothing was planned.\nChoose a name without `#`, `^`, `|`, `[` or \
         `]`, or change these links first:\n{}",
        count(total, "link"),
        lines.join("\n")
    )))
}
