//! An undo brings back lines whose links name notes by their places at that time. Where a note has another place
//! since, and keeps it, such a link is rewritten: it would be broken, or lead to another note.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use index::links::{FormerPaths, LinkGraph};
use protocol::{Change, ChangeAction, ChangeSet, EffectId, NotePath, Renames};
use vault::Vault;
use vault::undo::{LedgerView, UndoPlan};

use super::turn_scope::is_move;
use crate::changes::link_repair::{link_graph, with_rewritten_lines};

/// The changes of the plan with links that lead where they led when the restored lines were written, and the paths of
/// those that differ. Where the links cannot be looked at, or not be kept, the lines stay as they were.
pub(super) fn with_restored_links(
    vault: &Vault,
    ledger: &LedgerView,
    plan: &UndoPlan,
) -> (ChangeSet, Vec<NotePath>) {
    let groups = restored_notes(ledger, plan);
    let whole = vault.unfiltered();
    let graph = (!groups.is_empty()).then(|| link_graph(&whole, &plan.changes)).flatten();
    let Some(graph) = graph else { return (plan.changes.clone(), Vec::new()) };
    let mut rewritten = rewritten_texts(&graph, plan, &groups);
    let paths = rewritten.keys().cloned().collect();
    let with_links = |change: &Change| match &change.act {
        ChangeAction::Replace { before, .. } => rewritten
            .remove(&change.path)
            .map(|after| Change::replace(change.path.clone(), before.clone(), after))
            .unwrap_or_else(|| change.clone()),
        _ => change.clone(),
    };
    (plan.changes.changes().map(with_links).collect(), paths)
}

/// Notes in which the plan restores lines, all of which were written before the same moves.
struct RestoredNotes<'p> {
    /// What was renamed since the lines were written, by us and by others, and what the plan renames.
    renames: Renames,
    changes: Vec<&'p Change>,
}

/// The notes in which the plan restores lines with links. Left out are those whose lines were written before different
/// moves, and those before which no file had another path.
fn restored_notes<'p>(ledger: &LedgerView, plan: &'p UndoPlan) -> Vec<RestoredNotes<'p>> {
    let effects = ledger.effects();
    let positions: HashMap<&EffectId, usize> =
        effects.iter().enumerate().map(|(at, effect)| (&effect.id, at)).collect();
    let moves: Vec<usize> =
        (0..).zip(effects).filter(|(_, one)| is_move(one.kind)).map(|(at, _)| at).collect();
    // By the place among the moves before which an effect was made.
    let mut places: HashMap<&NotePath, BTreeSet<usize>> = HashMap::new();
    for undone in &plan.undone {
        if let Some(at) = positions.get(&undone.effect) {
            let place = moves.partition_point(|moved| moved < at);
            places.entry(&undone.path).or_default().insert(place);
        }
    }
    let mut notes: BTreeMap<usize, Vec<&Change>> = BTreeMap::new();
    for change in plan.changes.changes().filter(|change| may_restore_links(change)) {
        let places = places.get(&change.path).filter(|places| places.len() == 1);
        if let Some(place) = places.and_then(|places| places.first()) {
            notes.entry(*place).or_default().push(change);
        }
    }
    let groups = notes.into_iter().map(|(place, changes)| {
        let first = moves.get(place).copied().unwrap_or(effects.len());
        RestoredNotes { renames: renames_since(ledger, first, plan), changes }
    });
    groups.filter(|group| moves_something(&group.renames)).collect()
}

fn may_restore_links(change: &Change) -> bool {
    let ChangeAction::Replace { after, .. } = &change.act else { return false };
    change.path.is_markdown() && after.contains(&b'[')
}

/// The new texts by the paths of the changes.
fn rewritten_texts(
    graph: &LinkGraph<'_>,
    plan: &UndoPlan,
    groups: &[RestoredNotes<'_>],
) -> HashMap<NotePath, Vec<u8>> {
    let mut rewritten = HashMap::new();
    let undoing = plan.changes.renames();
    let by_others: HashSet<&NotePath> = plan.moved.iter().map(|moved| &moved.to).collect();
    for RestoredNotes { renames, changes } in groups {
        let mut former = former_paths(graph, renames);
        if former.moves.is_empty() {
            continue;
        }
        let former_path = |change: &Change| {
            let path = undoing.forward(&change.path);
            renames.back(&path).unwrap_or(path)
        };
        let notes: HashMap<NotePath, &Change> =
            changes.iter().map(|change| (former_path(change), *change)).collect();
        let is_by_others = |(_, change): &(&NotePath, &&Change)| by_others.contains(&change.path);
        former.by_others =
            notes.iter().filter(is_by_others).map(|(path, _)| path.clone()).collect();
        let restored = graph.after_restoring(notes.keys().cloned(), &former);
        for file in restored.files {
            let change = notes.get(&file.path);
            if let Some((change, before)) = change.and_then(|one| Some((one, one.before()?))) {
                let after = with_rewritten_lines(before, &file.before, &file.after);
                let after = after.filter(|after| *after != file.before);
                rewritten.extend(after.map(|after| (change.path.clone(), after)));
            }
        }
    }
    rewritten
}

/// What was renamed from an effect on, by us and by others, and what the plan renames.
fn renames_since(ledger: &LedgerView, first: usize, plan: &UndoPlan) -> Renames {
    let moves = ledger.effects().iter().skip(first).filter(|effect| is_move(effect.kind));
    let ours = moves.filter_map(|effect| Some((effect.path.clone(), effect.target.clone()?)));
    let others = plan.moved.iter().map(|moved| (moved.from.clone(), moved.to.clone()));
    let planned = plan.changes.rename_changes();
    let planned =
        planned.filter_map(|change| Some((change.path.clone(), change.target()?.clone())));
    ours.chain(others).chain(planned).collect()
}

/// Whether something has another path after the renames than before. Of very many that is not looked at: it takes time
/// that grows as the square of their number, and the notes show it.
fn moves_something(renames: &Renames) -> bool {
    const MAX_RENAMES: usize = 1_000;
    let pairs: Vec<(NotePath, NotePath)> =
        renames.pairs().map(|(from, to)| (from.clone(), to.clone())).collect();
    let ends_elsewhere = |(at, (_, to)): (usize, &(NotePath, NotePath))| {
        let later: Renames = pairs.iter().skip(at + 1).cloned().collect();
        let end = later.forward(to);
        renames.back(&end).is_some_and(|first| first.as_str() != end.as_str())
    };
    pairs.len() > MAX_RENAMES || pairs.iter().enumerate().any(ends_elsewhere)
}

/// The former paths of the files of the graph that the renames moved, back and forth too.
fn former_paths(graph: &LinkGraph<'_>, renames: &Renames) -> FormerPaths {
    let ends: HashSet<&NotePath> = renames.pairs().flat_map(|(from, to)| [from, to]).collect();
    let may_be_moved = |file: &&NotePath| {
        ends.contains(file) || file.folders().any(|folder| ends.contains(&folder))
    };
    let mut former = FormerPaths::default();
    for file in graph.files().iter().filter(may_be_moved) {
        let Some(path) = renames.back(file) else { continue };
        if path.as_str() != file.as_str() {
            former.moves.insert(path.clone(), file.clone());
        }
        former.known.insert(path);
    }
    former
}
