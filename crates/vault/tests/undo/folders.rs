//! Folders that go to the trash and come back, and notes that the user takes out of it; undo in as many plans as the
//! application makes.

use std::collections::BTreeSet;

use protocol::{
    Change, ChangeAction, ChangeKind, ChangeSet, ChangeSetId, ContentHash, Effect, EffectId,
    NotePath,
};
use vault::undo::{EffectivePart, Hunks, UndoPlan, UndoRequest, plan_undo};

use crate::oracle::edits;
use crate::random_histories::{any_path, with_whole_units};
use crate::simulation::{SimulatedVault, path};

/// The folder of a note goes to the trash, unless it is all there is, or a file in it has two names.
pub(crate) fn agent_trashes_folder(
    world: &mut SimulatedVault,
    random: &mut fastrand::Rng,
    step: usize,
) -> usize {
    let Some(at) = any_path(world, random) else { return 0 };
    let folder = path(at.folder().unwrap());
    let inside = world.notes.keys().filter(|path| path.is_in(&folder)).count();
    let links = world.notes.values().filter_map(|note| note.link.as_ref());
    let is_linked = links.clone().any(|link| link.is_in(&folder))
        || world.notes.iter().any(|(at, note)| at.is_in(&folder) && note.link.is_some());
    if inside == world.notes.len() || is_linked {
        return 0;
    }
    let act = ChangeAction::TrashFolder { holds: Some(world.folder_contents(&folder)) };
    let set = ChangeSet::one(Change { path: folder, act });
    world.apply(&set, &format!("turn {}", step / 2));
    1
}

/// The user takes a note out of the trash: back to its place, or elsewhere.
pub(crate) fn user_restores_note(world: &mut SimulatedVault, random: &mut fastrand::Rng) -> usize {
    if world.trashed.is_empty() {
        return 0;
    }
    let (home, note) = world.trashed.remove(random.usize(0..world.trashed.len()));
    let to = match random.bool() && !world.notes.contains_key(&home) {
        true => home,
        false => world.free_path("Hand"),
    };
    world.put_moved(to, note);
    1
}

/// The notes in folders that these effects restored, which go to the trash again with an undo.
pub(crate) fn notes_in_restored_folders<'a>(
    world: &'a SimulatedVault,
    chosen: impl IntoIterator<Item = &'a EffectId>,
) -> Vec<u32> {
    let effects = chosen.into_iter().map(|id| world.effect(id));
    let restored: Vec<&NotePath> = effects
        .filter(|effect| effect.kind == ChangeKind::RestoreFolder)
        .map(|effect| &effect.path)
        .collect();
    let inside = world.notes.iter().filter(|(at, _)| restored.iter().any(|path| at.is_in(path)));
    inside.map(|(_, note)| note.identity).collect()
}

/// Whether the folders of these effects that came back are as they came, and nothing else that is undone is in them.
/// The vault leaves another one as it is.
pub(crate) fn are_folders_as_restored(world: &SimulatedVault, request: &UndoRequest) -> bool {
    let chosen = with_whole_units(world, request);
    let effects: Vec<&Effect> = chosen.iter().map(|id| world.effect(id)).collect();
    let is_as_restored = |effect: &Effect| {
        let contents = world.folder_contents(&effect.path);
        let is_alone = effects.iter().all(|other| {
            let mut paths = std::iter::once(&other.path).chain(&other.target);
            other.id == effect.id || !paths.any(|path| path.is_in(&effect.path))
        });
        world.folders.get(&effect.path).copied() == effect.file
            && effect.before == Some(ContentHash::of(contents.as_bytes()))
            && is_alone
    };
    let mut restored = effects.iter().filter(|effect| effect.kind == ChangeKind::RestoreFolder);
    restored.all(|effect| is_as_restored(effect))
}

/// As much of the asked hunks of an effect as is not undone; `None` for nothing.
fn hunks_left(world: &SimulatedVault, id: &EffectId, asked: Hunks) -> Option<Hunks> {
    let gone = match world.reverts().effective_part(id) {
        EffectivePart::Nothing => return None,
        EffectivePart::Whole => return Some(asked),
        EffectivePart::Without(gone) => gone,
    };
    let (before, after) = &world.lines[id];
    let all = (0..edits(before, after).len()).filter(|hunk| asked.contains(*hunk));
    let left: BTreeSet<usize> = all.filter(|hunk| !gone.contains(hunk)).collect();
    (!left.is_empty()).then_some(Hunks::Some(left))
}

/// Undoes as the application does, which plans again as long as a plan leaves more. Returns the set, and the first
/// plan with all that was undone and with the conflicts that are left.
pub(crate) fn undo(world: &mut SimulatedVault, request: &UndoRequest) -> (ChangeSetId, UndoPlan) {
    let set = ChangeSetId::from(format!("set {}", world.number()));
    let mut wanted = request.clone();
    let mut first: Option<UndoPlan> = None;
    loop {
        let plan = plan_undo(&world.ledger_view(&wanted), &wanted, world);
        plan.moved.iter().for_each(|moved| world.observe_move(moved));
        world.apply_as(&set, &plan.changes, "undo");
        world.remember(&set, &plan);
        let asked = std::mem::take(&mut wanted.effects).into_iter();
        let left =
            asked.filter_map(|(id, hunks)| hunks_left(world, &id, hunks).map(|left| (id, left)));
        wanted.effects = left.collect();
        let leaves_more = plan.leaves_more() && !plan.changes.is_empty();
        let is_over = !leaves_more || wanted.effects.is_empty();
        let mut whole = match first.take() {
            None => plan,
            Some(mut first) => {
                first.undone.extend(plan.undone);
                UndoPlan { conflicts: plan.conflicts, ..first }
            }
        };
        if is_over {
            if leaves_more {
                whole.conflicts.clear();
            }
            return (set, whole);
        }
        first = Some(whole);
    }
}
