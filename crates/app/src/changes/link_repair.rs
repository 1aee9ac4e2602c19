//! Undoing a move also repairs the links that were added since.

use index::links::LinkGraph;
use protocol::{Change, ChangeSet, NotePath};
use vault::Vault;

/// `changes` with what keeps every link that leads to what moves in it, and the paths of the notes with such links.
/// Where the links cannot all be kept, or not be looked at, the changes stay as they are: the move counts more.
pub(crate) fn with_link_updates(vault: &Vault, changes: ChangeSet) -> (ChangeSet, Vec<NotePath>) {
    if !changes.is_unit() {
        return (changes, Vec::new());
    }
    let renames = changes.renames();
    let contents = changes.filter(|change| !change.is_rename());
    let whole = vault.unfiltered();
    let graph = match LinkGraph::from_vault(&whole, &contents) {
        Ok(graph) => graph,
        Err(error) => {
            tracing::warn!(%error, "the links of what moves back were not looked at");
            return (changes, Vec::new());
        }
    };
    let went = |file: &NotePath| {
        let to = renames.forward(file);
        (to.as_str() != file.as_str()).then(|| (file.clone(), to))
    };
    let moves: Vec<_> = graph.files().iter().filter_map(went).collect();
    let rewriting = graph.after_moving(&moves);
    if !rewriting.problems.is_empty() {
        return (changes, Vec::new());
    }
    let linking = rewriting.files.iter().map(|file| file.path.clone()).collect();
    // A later plan names files where the renames have put them.
    let follow = rewriting
        .files
        .into_iter()
        .map(|file| Change::replace(renames.forward(&file.path), file.before, file.after));
    let mut whole_set = changes.clone();
    match whole_set.extend(follow.collect()) {
        Ok(()) => (whole_set, linking),
        Err(_) => (changes, Vec::new()),
    }
}
