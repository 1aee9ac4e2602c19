//! An undo brings back lines whose links name notes by their places at that time. Where a note has another place
//! since, and keeps it, such a link is rewritten: it would be broken, or lead to another note.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use index::links::{FormerPaths, LinkGraph};
use protocol::{
    Change, ChangeAction, ChangeKind, ChangeSet, ChangeSetId, ContentHash, Effect, EffectId,
    NotePath, Renames,
};
use vault::Vault;
use vault::undo::{LedgerView, UndoPlan, UndoRequest, current_paths};

use super::turn_scope::is_move;
use crate::adapters::notes::VaultNotes;
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
    let mut rewritten = rewritten_texts(vault, &graph, (ledger, plan), &groups);
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

/// The present paths of notes that went to the trash before all moves that the plan undoes, and come back with the plan or
/// came back with an earlier one of `set`. Their links name other notes by the places to which the plan leads these. A
/// note is left out if a move since then stays, which is neither requested nor of `set`.
pub(super) fn trashed_during_moves(
    vault: &Vault,
    ledger: &LedgerView,
    (plan, request): (&UndoPlan, &UndoRequest),
    set: Option<&ChangeSetId>,
) -> HashSet<NotePath> {
    let undone: HashSet<&EffectId> = plan.undone.iter().map(|undone| &undone.effect).collect();
    let requested: HashSet<&EffectId> =
        ledger.undone_with(request).map(|effect| &effect.id).collect();
    let effects = ledger.effects();
    let is_undone_move = |effect: &Effect| is_move(effect.kind) && undone.contains(&effect.id);
    let Some(first_move) = effects.iter().position(is_undone_move) else { return HashSet::new() };
    let stays = |effect: &Effect| {
        is_move(effect.kind)
            && ledger.stands(effect)
            && !requested.contains(&effect.id)
            && set != Some(&effect.change_set)
    };
    let last_kept = effects.iter().rposition(stays);
    let is_trashing = |(_, effect): &(usize, &Effect)| effect.kind == ChangeKind::Trash;
    let trashings = effects.iter().enumerate().filter(is_trashing);
    // A name in the trash is given again once it is free: the last note that got it counts.
    let last: HashMap<&str, usize> =
        trashings.filter_map(|(at, effect)| Some((effect.trashed.as_deref()?, at))).collect();
    // One that is not in the ledger view is from before its first effect.
    let went_before = |name: &str| {
        let at = last.get(name).copied();
        at < Some(first_move) && last_kept <= at
    };
    let comes_back = |change: &Change| match &change.act {
        ChangeAction::Create { like: Some(like), .. } if went_before(&like.name) => {
            Some(change.path.clone())
        }
        _ => None,
    };
    let came_back = |effect: &&Effect| {
        effect.kind == ChangeKind::Create
            && set == Some(&effect.change_set)
            && effect.trashed.as_deref().is_some_and(went_before)
    };
    let restored: Vec<&Effect> = effects.iter().filter(came_back).collect();
    let ids = restored.iter().map(|effect| &effect.id);
    let paths = current_paths(ledger, ids, &VaultNotes(vault.clone()));
    let is_unchanged = |effect: &Effect, path: &NotePath| {
        let now = vault.read_bytes(path).ok().map(|bytes| ContentHash::of(&bytes));
        now.is_some() && now == effect.after
    };
    let unchanged = restored.into_iter().zip(paths).filter_map(|(effect, path)| {
        let path = path?;
        is_unchanged(effect, &path).then_some(path)
    });
    plan.changes.changes().filter_map(comes_back).chain(unchanged).collect()
}

/// How many groups of notes with different former paths are looked at, those of the newest edits first. Each takes the
/// time to look at the paths of all files.
const MAX_GROUPS: usize = 16;

/// Notes in which the plan restores lines that were removed, or made, between the same two steps of paths.
struct RestoredNotes<'p> {
    changes: Vec<&'p Change>,
    /// The position in the ledger of the first of these edits.
    edited: usize,
}

/// The notes in which the plan restores lines with links, by the number of steps in the ledger before their edits. Left
/// out are notes with edits before different moves.
fn restored_notes<'p>(
    ledger: &LedgerView,
    plan: &'p UndoPlan,
) -> BTreeMap<usize, RestoredNotes<'p>> {
    let effects = ledger.effects();
    let positions: HashMap<&EffectId, usize> =
        effects.iter().enumerate().map(|(at, effect)| (&effect.id, at)).collect();
    let moves: Vec<usize> =
        (0..).zip(effects).filter(|(_, one)| is_move(one.kind)).map(|(at, _)| at).collect();
    let moves_before = |at: usize| moves.partition_point(|moved| *moved < at);
    let is_step = |(_, effect): &(usize, &Effect)| PathStep::of_effect(effect).is_some();
    let steps: Vec<usize> = (0..).zip(effects).filter(is_step).map(|(at, _)| at).collect();
    let undone = plan.undone.iter().map(|undone| (&undone.effect, &undone.path));
    // The lines of edits that are made again with the change that had undone them are those that it removed.
    let all_undone: HashSet<&EffectId> = plan.undone.iter().map(|undone| &undone.effect).collect();
    let redone = plan.redone.iter().filter(|redone| !all_undone.contains(&redone.by));
    let redone = redone.map(|redone| (&redone.effect, &redone.path));
    let mut edits: HashMap<&NotePath, BTreeSet<usize>> = HashMap::new();
    for (effect, path) in undone.chain(redone) {
        if let Some(at) = positions.get(effect) {
            edits.entry(path).or_default().insert(*at);
        }
    }
    let is_moved = plan.changes.is_unit() || !plan.moved.is_empty();
    let mut notes: BTreeMap<usize, RestoredNotes<'_>> = BTreeMap::new();
    for change in plan.changes.changes().filter(|change| may_restore_links(change)) {
        let edits = edits.get(&change.path);
        let Some((first, last)) = edits.and_then(|edits| edits.first().zip(edits.last())) else {
            continue;
        };
        let moves_before_edit = moves_before(*first);
        if moves_before_edit == moves_before(*last) && (is_moved || moves_before_edit < moves.len())
        {
            let key = steps.partition_point(|step| step < first);
            let new = || RestoredNotes { changes: Vec::new(), edited: *first };
            let restored = notes.entry(key).or_insert_with(new);
            restored.changes.push(change);
            restored.edited = restored.edited.min(*first);
        }
    }
    notes
}

/// Whether the file at this path after the plan was there before the edit at a position of the ledger.
fn was_there(
    vault: &Vault,
    ledger: &LedgerView,
    undoing: &Renames,
    file: &NotePath,
    edited: usize,
) -> bool {
    let now = undoing.back(file).and_then(|path| vault.file_id(&path));
    now.is_some_and(|now| ledger.was_there_before(now, edited))
}

fn may_restore_links(change: &Change) -> bool {
    let ChangeAction::Replace { after, .. } = &change.act else { return false };
    change.path.is_markdown() && after.contains(&b'[')
}

/// The new texts by the paths of the changes.
fn rewritten_texts(
    vault: &Vault,
    graph: &LinkGraph<'_>,
    (ledger, plan): (&LedgerView, &UndoPlan),
    groups: &BTreeMap<usize, RestoredNotes<'_>>,
) -> HashMap<NotePath, Vec<u8>> {
    let mut rewritten = HashMap::new();
    let undoing = plan.changes.renames();
    let by_others: HashSet<&NotePath> = plan.moved.iter().map(|moved| &moved.to).collect();
    let mut steps = PathSteps::new(ledger, plan);
    let mut files = FilesThen::new(graph, &steps);
    let mut looked_at = 0;
    for restored in groups.values().rev() {
        for step in steps.take_since(restored.edited) {
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
        let sources: HashSet<NotePath> =
            restored.changes.iter().map(|change| undoing.forward(&change.path)).collect();
        let mut former = files.former_paths(|file| {
            sources.contains(file) || was_there(vault, ledger, &undoing, file, restored.edited)
        });
        let path_then: HashMap<&NotePath, &NotePath> =
            former.moves.iter().map(|(then, now)| (now, then)).collect();
        let mut notes: HashMap<NotePath, &Change> = HashMap::new();
        for change in &restored.changes {
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

/// A step that changed which file has a path.
enum PathStep {
    Moved {
        from: NotePath,
        to: NotePath,
        is_of_folder: bool,
    },
    Made(NotePath),
    /// With the name in the trash.
    Trashed(NotePath, String),
    /// The same way back.
    Restored(NotePath, String),
}

impl PathStep {
    fn of_effect(effect: &Effect) -> Option<Self> {
        let (path, trashed) = (effect.path.clone(), effect.trashed.clone());
        match (effect.kind, effect.target.clone(), trashed) {
            (ChangeKind::Create, _, None) => Some(Self::Made(path)),
            (ChangeKind::Create, _, Some(name)) => Some(Self::Restored(path, name)),
            (ChangeKind::Trash, _, Some(name)) => Some(Self::Trashed(path, name)),
            (kind, Some(to), _) => {
                let is_of_folder = kind == ChangeKind::RenameFolder;
                Some(Self::Moved { from: path, to, is_of_folder })
            }
            _ => None,
        }
    }

    fn paths(&self) -> impl Iterator<Item = &NotePath> {
        let (one, other) = match self {
            Self::Moved { from, to, .. } => (from, Some(to)),
            Self::Made(path) | Self::Trashed(path, _) | Self::Restored(path, _) => (path, None),
        };
        std::iter::once(one).chain(other)
    }
}

/// The steps since the first effect of the ledger, with the position of each there, and those that the plan takes.
struct PathSteps(Vec<(usize, PathStep)>);

impl PathSteps {
    fn new(ledger: &LedgerView, plan: &UndoPlan) -> Self {
        let effects = ledger.effects();
        let ours = effects.iter().enumerate();
        let ours = ours.filter_map(|(at, effect)| Some((at, PathStep::of_effect(effect)?)));
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

/// The files of a graph that some step may be about, by the path at a time before.
struct FilesThen {
    /// The present path of each; `None` for a file that nobody knows by now.
    present: HashMap<NotePath, Option<NotePath>>,
    /// By the name there.
    in_trash: HashMap<String, Option<NotePath>>,
    absent: HashSet<NotePath>,
}

impl FilesThen {
    fn new(graph: &LinkGraph<'_>, steps: &PathSteps) -> Self {
        let ends: HashSet<&NotePath> = steps.0.iter().flat_map(|(_, step)| step.paths()).collect();
        let may_be_moved = |file: &&NotePath| {
            ends.contains(file) || file.folders().any(|folder| ends.contains(&folder))
        };
        let files = graph.files().iter().filter(may_be_moved);
        let present = files.map(|file| (file.clone(), Some(file.clone()))).collect();
        Self { present, in_trash: HashMap::new(), absent: HashSet::new() }
    }

    /// Goes back to the time before a step.
    fn step_back(&mut self, step: &PathStep) {
        match step {
            PathStep::Made(path) => self.remove(path),
            PathStep::Restored(path, name) => {
                if let Some(file) = self.present.remove(path) {
                    self.in_trash.insert(name.clone(), file);
                }
            }
            PathStep::Trashed(path, name) => {
                let file = self.in_trash.remove(name).flatten();
                if self.present.contains_key(path) {
                    self.absent.extend(file);
                } else {
                    self.present.insert(path.clone(), file);
                }
            }
            PathStep::Moved { from, to, is_of_folder: false } => {
                let file = self.present.remove(to).flatten();
                self.remove(from);
                self.present.insert(from.clone(), file);
            }
            PathStep::Moved { from, to, is_of_folder: true } => {
                for (path, file) in std::mem::take(&mut self.present) {
                    match path.after_move(to, from) {
                        Some(before) => drop(self.present.insert(before, file)),
                        None if path.is_in(from) => self.absent.extend(file),
                        None => drop(self.present.insert(path, file)),
                    }
                }
            }
        }
    }

    fn remove(&mut self, path: &NotePath) {
        self.absent.extend(self.present.remove(path).flatten());
    }

    fn are_all_in_place(&self) -> bool {
        self.present
            .iter()
            .all(|(then, now)| now.as_ref().is_some_and(|now| then.as_str() == now.as_str()))
    }

    /// `was_there` says of the present path of a file whether it is certain that the file was there by then.
    fn former_paths(&self, was_there: impl Fn(&NotePath) -> bool) -> FormerPaths {
        let mut former = FormerPaths {
            absent: self.absent.iter().chain(self.in_trash.values().flatten()).cloned().collect(),
            ..FormerPaths::default()
        };
        for (then, now) in &self.present {
            match now {
                Some(now) if then.as_str() == now.as_str() => {
                    former.known.insert(then.clone());
                }
                Some(now) if was_there(now) => {
                    former.known.insert(then.clone());
                    former.moves.insert(then.clone(), now.clone());
                }
                now => {
                    former.lost.insert(then.clone());
                    former.absent.extend(now.clone());
                }
            }
        }
        former
    }
}
