//! Undoing a move, or accepting one that was planned earlier, also repairs the links that were added since.

use std::collections::HashSet;

use index::links::{LinkGraph, LinkRewrite};
use protocol::{Change, ChangeSet, NotePath, Renames};
use vault::merge::hunks;
use vault::{PlannedChange, Vault};

/// `changes` with what keeps every link that leads to what moves in it, and the paths of the notes with such links.
/// Where the links cannot all be kept, or not be looked at, the changes stay as they are: the move counts more.
pub(crate) fn with_link_updates(vault: &Vault, changes: ChangeSet) -> (ChangeSet, Vec<NotePath>) {
    if !changes.is_unit() {
        return (changes, Vec::new());
    }
    let renames = changes.renames();
    let contents = changes.filter(|change| !change.is_rename());
    let whole = vault.unfiltered();
    let Some(graph) = link_graph(&whole, &contents) else { return (changes, Vec::new()) };
    let rewriting = rewrite_after(&graph, &renames);
    if !rewriting.problems.is_empty() {
        return (changes, Vec::new());
    }
    let mut linking = Vec::new();
    let mut follow = Vec::new();
    for file in rewriting.files {
        let after = with_restored_lines(vault, &file.path, &file.before, file.after);
        if after != file.before {
            // A later plan names files where the renames have put them.
            follow.push(Change::replace(renames.forward(&file.path), file.before, after));
            linking.push(file.path);
        }
    }
    let mut whole_set = changes.clone();
    match whole_set.extend(follow.into_iter().collect()) {
        Ok(()) => (whole_set, linking),
        Err(_) => (changes, Vec::new()),
    }
}

/// The links of all notes as they are with these contents; `None` where they cannot be looked at.
fn link_graph<'a>(whole: &'a Vault, contents: &'a ChangeSet) -> Option<LinkGraph<'a>> {
    let graph = LinkGraph::from_vault(whole, contents);
    let graph = graph.inspect_err(|error| {
        tracing::warn!(%error, "the links to what moves were not looked at");
    });
    graph.ok()
}

/// The new texts that keep the links when the files of the graph go where these renames lead.
fn rewrite_after(graph: &LinkGraph<'_>, renames: &Renames) -> LinkRewrite {
    let went = |file: &NotePath| {
        let to = renames.forward(file);
        (to.as_str() != file.as_str()).then(|| (file.clone(), to))
    };
    let moves: Vec<_> = graph.files().iter().filter_map(went).collect();
    graph.after_moving(&moves)
}

/// The rewritten text of a note, but with the lines that the plan restores as they were: their links name the notes by
/// the places to which the moves lead back. Another note may have such a place now.
fn with_restored_lines(
    vault: &Vault,
    path: &NotePath,
    planned: &[u8],
    rewritten: Vec<u8>,
) -> Vec<u8> {
    let Ok(now) = vault.read_bytes(path) else { return rewritten };
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').count();
    if !path.is_markdown() || lines(planned) != lines(&rewritten) {
        return rewritten;
    }
    let restored: HashSet<usize> =
        hunks(&now, planned).into_iter().flat_map(|hunk| hunk.after).collect();
    let planned = planned.split_inclusive(|byte| *byte == b'\n');
    let pairs = planned.zip(rewritten.split_inclusive(|byte| *byte == b'\n')).enumerate();
    let kept = pairs.map(|(at, (old, new))| if restored.contains(&at) { old } else { new });
    kept.collect::<Vec<_>>().concat()
}

/// `changes` with those that keep the links to what moves in notes that the plan does not change: somebody may have
/// added them since. They belong to the first move. Where the links cannot be looked at, the changes stay as they are.
pub(crate) fn with_links_since_plan(
    vault: &Vault,
    mut changes: Vec<PlannedChange>,
) -> Vec<PlannedChange> {
    let Some(at) = changes.iter().position(|planned| planned.change.is_rename()) else {
        return changes;
    };
    let Some(first) = changes.get(at).cloned() else { return changes };
    let accepted: ChangeSet = changes.iter().map(|planned| planned.change.clone()).collect();
    let renames = accepted.renames();
    // A note that goes to the trash keeps its links: its folder goes only as the plan saw it.
    let contents = accepted.filter(|change| !change.is_rename());
    let whole = vault.unfiltered();
    let Some(graph) = link_graph(&whole, &contents) else { return changes };
    let rewriting = rewrite_after(&graph, &renames);
    let is_planned = |path: &NotePath| changes.iter().any(|planned| planned.change.path == *path);
    let unplanned = rewriting.files.into_iter().filter(|file| !is_planned(&file.path));
    let unplanned: Vec<_> = unplanned
        .map(|file| PlannedChange {
            change: Change::replace(file.path, file.before, file.after),
            ..first.clone()
        })
        .collect();
    changes.splice(at..at, unplanned);
    changes
}
