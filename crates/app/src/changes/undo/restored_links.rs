//! An undo brings back lines whose links name notes by their places at that time. Where a note has another place
//! since, and keeps it, such a link is rewritten: it would be broken, or lead to another note.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use index::links::{FormerPaths, LinkGraph};
use protocol::{Change, ChangeAction, ChangeKind, ChangeSet, Effect, EffectId, NotePath};
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
    let mut rewritten = rewritten_texts(&graph, ledger, plan, &groups);
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

/// How many groups of notes with different former paths are looked at, those of the newest edits first. Each takes the
/// time to look at the paths of all files.
const MAX_GROUPS: usize = 16;

/// The notes in which the plan restores lines with links, by the position in the ledger of the first move after the lines
/// were written. Left out are notes with lines that were written before different moves.
fn restored_notes<'p>(ledger: &LedgerView, plan: &'p UndoPlan) -> BTreeMap<usize, Vec<&'p Change>> {
    let effects = ledger.effects();
    let positions: HashMap<&EffectId, usize> =
        effects.iter().enumerate().map(|(at, effect)| (&effect.id, at)).collect();
    let moves: Vec<usize> =
        (0..).zip(effects).filter(|(_, one)| is_move(one.kind)).map(|(at, _)| at).collect();
    let mut firsts: HashMap<&NotePath, BTreeSet<usize>> = HashMap::new();
    for undone in &plan.undone {
        if let Some(at) = positions.get(&undone.effect) {
            let next = moves.partition_point(|moved| moved < at);
            let first = moves.get(next).copied().unwrap_or(effects.len());
            firsts.entry(&undone.path).or_default().insert(first);
        }
    }
    let mut notes: BTreeMap<usize, Vec<&Change>> = BTreeMap::new();
    for change in plan.changes.changes().filter(|change| may_restore_links(change)) {
        let firsts = firsts.get(&change.path).filter(|firsts| firsts.len() == 1);
        if let Some(first) = firsts.and_then(|firsts| firsts.first()) {
            notes.entry(*first).or_default().push(change);
        }
    }
    let is_moved = plan.changes.is_unit() || !plan.moved.is_empty();
    notes.retain(|first, _| is_moved || *first < effects.len());
    notes
}

fn may_restore_links(change: &Change) -> bool {
    let ChangeAction::Replace { after, .. } = &change.act else { return false };
    change.path.is_markdown() && after.contains(&b'[')
}

/// The new texts by the paths of the changes.
fn rewritten_texts(
    graph: &LinkGraph<'_>,
    ledger: &LedgerView,
    plan: &UndoPlan,
    groups: &BTreeMap<usize, Vec<&Change>>,
) -> HashMap<NotePath, Vec<u8>> {
    let mut rewritten = HashMap::new();
    let undoing = plan.changes.renames();
    let by_others: HashSet<&NotePath> = plan.moved.iter().map(|moved| &moved.to).collect();
    let mut steps = PathSteps::new(ledger, plan);
    let mut files = FilesThen::new(graph, &steps);
    let mut looked_at = 0;
    for (first, changes) in groups.iter().rev() {
        for step in steps.take_since(*first) {
            files.step_back(&step);
        }
        if files.are_all_in_place() {
            continue;
        }
        looked_at += 1;
        if looked_at > MAX_GROUPS {
            tracing::warn!("some links of lines that were restored were not looked at");
            break;
        }
        let mut former = files.former_paths();
        let path_then: HashMap<&NotePath, &NotePath> =
            former.moves.iter().map(|(then, now)| (now, then)).collect();
        let mut notes: HashMap<NotePath, &Change> = HashMap::new();
        for change in changes {
            let path = undoing.forward(&change.path);
            let then = path_then.get(&path).map(|then| (*then).clone());
            notes.insert(then.unwrap_or(path), change);
        }
        let is_by_others = |(_, change): &(&NotePath, &&Change)| by_others.contains(&change.path);
        former.by_others =
            notes.iter().filter(is_by_others).map(|(path, _)| path.clone()).collect();
        for file in graph.after_restoring(notes.keys().cloned(), &former).files {
            let change = notes.get(&file.path);
            if let Some((change, before)) = change.and_then(|one| Some((one, one.before()?))) {
                let after = with_rewritten_lines(before, &file.before, &file.after);
                // Without the links of the plan nothing may be left of it, and there would be nothing to redo.
                let after = after.filter(|after| *after != file.before && *after != before);
                rewritten.extend(after.map(|after| (change.path.clone(), after)));
            }
        }
    }
    rewritten
}

/// A step by which a path came to have a file, or the file another path.
enum PathStep {
    Moved { from: NotePath, to: NotePath, is_of_folder: bool },
    Made(NotePath),
}

/// The steps since the first effect of the ledger, with the position of each there, and those that the plan takes.
struct PathSteps(Vec<(usize, PathStep)>);

impl PathSteps {
    fn new(ledger: &LedgerView, plan: &UndoPlan) -> Self {
        let of_effect = |(at, effect): (usize, &Effect)| {
            let (from, to) = (effect.path.clone(), effect.target.clone());
            let is_of_folder = effect.kind == ChangeKind::RenameFolder;
            match (effect.kind, to) {
                (ChangeKind::Create, _) => Some((at, PathStep::Made(from))),
                (_, Some(to)) => Some((at, PathStep::Moved { from, to, is_of_folder })),
                _ => None,
            }
        };
        let effects = ledger.effects();
        let ours = effects.iter().enumerate().filter_map(of_effect);
        let others = plan.moved.iter().map(|moved| PathStep::Moved {
            from: moved.from.clone(),
            to: moved.to.clone(),
            is_of_folder: false,
        });
        let planned = plan.changes.rename_changes().filter_map(|change| {
            let (from, to) = (change.path.clone(), change.target()?.clone());
            let is_of_folder = change.kind() == ChangeKind::RenameFolder;
            Some(PathStep::Moved { from, to, is_of_folder })
        });
        let later = others.chain(planned).map(|step| (effects.len(), step));
        Self(ours.chain(later).collect())
    }

    /// Takes off the steps from a position on, the newest first.
    fn take_since(&mut self, first: usize) -> Vec<PathStep> {
        let start = self.0.partition_point(|(at, _)| *at < first);
        self.0.split_off(start).into_iter().rev().map(|(_, step)| step).collect()
    }
}

/// The files of a graph that some step may have moved, by the path at a time before.
struct FilesThen {
    present: HashMap<NotePath, NotePath>,
    absent: HashSet<NotePath>,
}

impl FilesThen {
    fn new(graph: &LinkGraph<'_>, steps: &PathSteps) -> Self {
        let mut ends: HashSet<&NotePath> = HashSet::new();
        for (_, step) in &steps.0 {
            match step {
                PathStep::Moved { from, to, .. } => ends.extend([from, to]),
                PathStep::Made(path) => ends.extend([path]),
            }
        }
        let may_be_moved = |file: &&NotePath| {
            ends.contains(file) || file.folders().any(|folder| ends.contains(&folder))
        };
        let files = graph.files().iter().filter(may_be_moved);
        let present = files.map(|file| (file.clone(), file.clone())).collect();
        Self { present, absent: HashSet::new() }
    }

    /// Goes back to the time before a step.
    fn step_back(&mut self, step: &PathStep) {
        match step {
            PathStep::Made(path) => self.remove(path),
            PathStep::Moved { from, to, is_of_folder: false } => {
                let moved = self.present.remove(to);
                self.remove(from);
                if let Some(file) = moved {
                    self.present.insert(from.clone(), file);
                }
            }
            PathStep::Moved { from, to, is_of_folder: true } => {
                for (path, file) in std::mem::take(&mut self.present) {
                    match path.after_move(to, from) {
                        Some(before) => drop(self.present.insert(before, file)),
                        None if path.is_in(from) => drop(self.absent.insert(file)),
                        None => drop(self.present.insert(path, file)),
                    }
                }
            }
        }
    }

    fn remove(&mut self, path: &NotePath) {
        self.absent.extend(self.present.remove(path));
    }

    fn are_all_in_place(&self) -> bool {
        self.present.iter().all(|(then, now)| then.as_str() == now.as_str())
    }

    fn former_paths(&self) -> FormerPaths {
        let is_moved = |(then, now): &(&NotePath, &NotePath)| then.as_str() != now.as_str();
        let moves = self.present.iter().filter(is_moved);
        FormerPaths {
            moves: moves.map(|(then, now)| (then.clone(), now.clone())).collect(),
            absent: self.absent.clone(),
            known: self.present.keys().cloned().collect(),
            by_others: HashSet::new(),
        }
    }
}
