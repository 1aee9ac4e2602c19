//! Changes that happen all or not at all: a move with the links to it.

use std::borrow::Cow;

use protocol::{Change, ChangeKind, EffectId, Intent, IntentState, NotePath, Renames};

use crate::apply::missing_folders::{self, MissingFolders};
use crate::apply::outcome::{FileAfter, IntentGroup, Outcomes, StepError};
use crate::apply::{execute, rename, replace};
use crate::{Vault, VaultError};

/// Splits what is in order into groups; a unit stands where its last change stood.
pub(crate) fn groups(intents: Vec<Intent>) -> Vec<IntentGroup> {
    let mut groups: Vec<IntentGroup> = Vec::new();
    for intent in intents {
        let same = |group: &IntentGroup| {
            let unit = group.first().and_then(|first| first.unit.as_ref());
            unit.is_some() && unit == intent.unit.as_ref()
        };
        let mut group = match groups.iter().position(same) {
            Some(at) => groups.remove(at),
            None => IntentGroup::new(),
        };
        group.push(intent);
        groups.push(group);
    }
    groups
}

/// Makes a group ready; if a part cannot be, no part is. A note in a folder that the order restores is made ready when it
/// is carried out: its folder must not be made before it is back. What is renamed after a folder around it
/// is looked for where it is before that.
pub(crate) fn stage(
    vault: &Vault,
    mut group: IntentGroup,
    missing: &MissingFolders,
) -> Result<IntentGroup, Outcomes> {
    let comes_later =
        |change: &Change| change.kind() == ChangeKind::Create && missing.is_needed_by(change);
    let mut staged = Vec::with_capacity(group.len());
    for (at, intent) in group.iter().enumerate() {
        if comes_later(&intent.change) {
            staged.push(None);
            continue;
        }
        match execute::stage(vault, &before_renames(intent, group.get(..at).unwrap_or_default())) {
            Ok(file) => staged.push(file),
            Err(refusal) => {
                for ready in group.iter().take(at) {
                    execute::unstage(vault, ready);
                }
                return Err(fail_group(group, at, refusal, &[]));
            }
        }
    }
    for (intent, file) in group.iter_mut().zip(staged) {
        intent.staged = file;
    }
    pin_staged_files(&mut group);
    Ok(group)
}

/// A rename with the path that its file or folder has before the earlier changes of its group.
fn before_renames<'a>(intent: &'a Intent, earlier: &[Intent]) -> Cow<'a, Intent> {
    let renames: Renames = earlier.iter().filter_map(rename_paths).collect();
    match renames.back(&intent.change.path) {
        Some(path) if intent.change.is_rename() && path != intent.change.path => {
            Cow::Owned(at_path(intent, path))
        }
        _ => Cow::Borrowed(intent),
    }
}

/// From where to where a rename goes.
fn rename_paths(intent: &Intent) -> Option<(NotePath, NotePath)> {
    Some((intent.change.path.clone(), intent.change.target()?.clone()))
}

/// Lets a later change of the group move exactly the file that an earlier one puts at a path, and
/// no file that another program puts there in between.
fn pin_staged_files(group: &mut IntentGroup) {
    for at in 0..group.len() {
        let (earlier, later) = group.split_at_mut(at);
        let Some(intent) = later.first_mut() else { return };
        if intent.change.is_rename()
            && let Some(file) = file_put_at(earlier, &intent.change.path)
        {
            intent.base = file;
        }
    }
}

/// The file that changes before put at a path, if one of them did; folders that they rename are followed.
pub(crate) fn file_put_at(earlier: &[Intent], path: &NotePath) -> Option<FileAfter> {
    let mut path = path.clone();
    for Intent { change, base, staged, .. } in earlier.iter().rev() {
        match change.target() {
            Some(target) if *target == path => return Some(*base),
            Some(target) => path = path.after_move(target, &change.path).unwrap_or(path),
            None if change.path == path => return Some(*staged),
            None => {}
        }
    }
    None
}

/// Applies a group that is staged; if a part fails, the parts before it are reverted.
pub(crate) fn commit(vault: &Vault, group: IntentGroup) -> Outcomes {
    all_or_nothing(vault, group, execute::stage_late, execute::commit, |vault, waiting| {
        execute::unstage(vault, waiting);
        Ok(())
    })
}

/// Leaves a group that is ready as if it had never been.
pub(crate) fn discard_group(vault: &Vault, group: IntentGroup) -> Outcomes {
    for ready in &group {
        execute::unstage(vault, ready);
    }
    mark_stopped(group)
}

/// Leaves a group as if it had never been, because a folder that it needs did not come back.
pub(crate) fn refuse_without_folder(
    vault: &Vault,
    group: IntentGroup,
    folder: &NotePath,
) -> Outcomes {
    for ready in &group {
        execute::unstage(vault, ready);
    }
    let refused = |intent: Intent| {
        let refusal = missing_folders::refusal(&intent.change.path, folder);
        (intent, Err(refusal))
    };
    group.into_iter().map(refused).collect()
}

/// The outcomes of a group before which the user stopped.
pub(crate) fn mark_stopped(group: IntentGroup) -> Outcomes {
    let stopped = |intent: Intent| {
        let path = intent.change.path.clone();
        (intent, Err(StepError::failed(VaultError::Stopped { path })))
    };
    group.into_iter().map(stopped).collect()
}

/// Parks a group that was interrupted in another folder than this one: nothing is touched.
pub(crate) fn park_foreign(group: IntentGroup) -> Outcomes {
    let parked = |intent: Intent| {
        let refusal = StepError::parked_at(&intent.change.path);
        (intent, Err(refusal))
    };
    group.into_iter().map(parked).collect()
}

/// Finishes a group that was interrupted, or reverts its applied part. What did not happen is not put into a folder that
/// is missing.
pub(crate) fn finish(vault: &Vault, mut group: IntentGroup, missing: &MissingFolders) -> Outcomes {
    let missing = missing.outside(&group);
    // Recovery makes ready what it needs itself.
    let check = |vault: &Vault, intent: &mut Intent| missing.check(vault, intent);
    pin_staged_files(&mut group);
    for intent in group.iter().filter(|intent| intent.change.is_rename()) {
        if rename::finish_respelling(vault, intent)
            .is_err_and(|refusal| refusal.state == IntentState::Open)
        {
            return mark_unknown(group);
        }
    }
    // Renames come last: where one has happened, all contents have, and are looked for in vain
    // under their first paths.
    let (mut happened, mut untold) = (Vec::new(), Vec::new());
    for intent in group.iter().filter(|intent| intent.change.is_rename()) {
        if execute::is_applied(vault, intent).unwrap_or(false) {
            happened.push(intent.effect.clone());
        } else if rename::is_untold(vault, intent).unwrap_or(false) {
            untold.push(intent.effect.clone());
        }
    }
    let renames = group.iter().filter(|intent| intent.change.is_rename());
    if !untold.is_empty() && contents_stand(vault, &group) {
        happened.append(&mut untold.clone());
    }
    let moved_on = moved_on(&group, &happened);
    happened.extend(moved_on.iter().cloned());
    let is_over = renames.clone().count() == happened.len();
    let renames: Vec<_> = renames
        .filter(|intent| happened.contains(&intent.effect))
        .filter_map(rename_paths)
        .collect();
    if renames.is_empty() {
        return all_or_nothing(vault, group, check, execute::finish, roll_back);
    }
    let finish = |vault: &Vault, intent: &Intent| match intent.change.is_rename() {
        // A later rename tells that it was carried, or its contents; a file that is there now is another one.
        true if moved_on.contains(&intent.effect) => {
            Ok(intent.base.filter(|file| file.born.is_some()))
        }
        true if untold.contains(&intent.effect) && happened.contains(&intent.effect) => Ok(None),
        true => execute::finish(vault, intent),
        false => finish_moved(vault, intent, carried_path(intent, &renames)),
    };
    if !is_over {
        return all_or_nothing(vault, group, check, finish, roll_back);
    }
    // All renames have happened and stay, so each of the others is for itself.
    let finished = |intent: Intent| {
        let outcome = finish(vault, &intent);
        (intent, outcome)
    };
    group.into_iter().map(finished).collect()
}

/// The renames that must have happened, beside those that `happened`: a later one that happened took on what they carried,
/// so it is at neither of their paths.
fn moved_on(group: &IntentGroup, happened: &[EffectId]) -> Vec<EffectId> {
    let (mut found, mut starts) = (Vec::new(), Vec::<&NotePath>::new());
    for intent in group.iter().rev() {
        let Some(target) = intent.change.target() else { continue };
        let is_moved_on = starts.iter().any(|start| target.is_in(start));
        let is_known = happened.contains(&intent.effect);
        if is_moved_on && !is_known {
            found.push(intent.effect.clone());
        }
        if is_moved_on || is_known {
            starts.push(&intent.change.path);
        }
    }
    found
}

/// Where what a change is about is after these renames.
fn carried_path(intent: &Intent, renames: &[(NotePath, NotePath)]) -> NotePath {
    renames.iter().fold(intent.change.path.clone(), |path, (from, to)| {
        path.after_move(from, to).unwrap_or(path)
    })
}

/// Whether the contents of a group were exchanged, so that the renames after them may have been carried out:
/// one of them certainly, and none waits.
fn contents_stand(vault: &Vault, group: &IntentGroup) -> bool {
    let renames: Vec<_> = group.iter().filter_map(rename_paths).collect();
    let contents = group.iter().filter(|intent| intent.change.kind() == ChangeKind::Replace);
    let mut stands = false;
    for intent in contents {
        let moved = at_path(intent, carried_path(intent, &renames));
        let is_there =
            |intent: &Intent| execute::is_applied(vault, intent).is_ok_and(|happened| happened);
        if is_there(intent) || is_there(&moved) {
            stands = true;
        } else if execute::is_waiting(vault, intent) || execute::is_waiting(vault, &moved) {
            return false;
        }
    }
    stands
}

/// The same change at another path.
fn at_path(intent: &Intent, path: NotePath) -> Intent {
    Intent { change: Change { path, ..intent.change.clone() }, ..intent.clone() }
}

/// Finishes a change of the file that is at `path` by now: somebody may have moved it there by hand
/// before its contents, or those of the notes that link there, were written.
fn finish_moved(vault: &Vault, intent: &Intent, path: NotePath) -> Result<FileAfter, StepError> {
    if intent.change.kind() == ChangeKind::MakeFolder {
        return Ok(vault.file_id(&path));
    }
    if path == intent.change.path && intent.change.kind() != ChangeKind::Replace {
        return execute::finish(vault, intent);
    }
    let there = at_path(intent, path);
    let finished = execute::finish(vault, &there);
    execute::unstage(vault, intent);
    match finished {
        // Its temporary file went with the exchange, and the note was replaced since.
        Err(refusal)
            if refusal.state == IntentState::Parked
                && intent.change.kind() == ChangeKind::Replace
                && intent.staged.is_some()
                && !replace::has_temp(vault, &there) =>
        {
            Ok(None)
        }
        finished => finished,
    }
}

/// Reverts a change that is applied although one before it in the group is not, or removes what was
/// staged for it.
fn roll_back(vault: &Vault, intent: &Intent) -> Result<(), StepError> {
    if execute::is_applied(vault, intent)? {
        let left = execute::finish(vault, intent)?;
        return execute::revert(vault, &left_in(intent, left));
    }
    execute::unstage(vault, intent);
    Ok(())
}

/// An applied change, to be reverted: only the file in which the change left its note counts, not
/// any file with the same path and bytes.
fn left_in(intent: &Intent, left: FileAfter) -> Intent {
    let makes_file = matches!(intent.change.kind(), ChangeKind::Create | ChangeKind::Replace);
    Intent { staged: if makes_file { left } else { intent.staged.or(left) }, ..intent.clone() }
}

fn all_or_nothing(
    vault: &Vault,
    mut group: IntentGroup,
    prepare: impl Fn(&Vault, &mut Intent) -> Result<(), StepError>,
    carry_out: impl Fn(&Vault, &Intent) -> Result<FileAfter, StepError>,
    discard: impl Fn(&Vault, &Intent) -> Result<(), StepError>,
) -> Outcomes {
    let mut lefts = Vec::with_capacity(group.len());
    for at in 0..group.len() {
        let Some(waiting) = group.get_mut(at) else { break };
        let carried = match prepare(vault, waiting) {
            Ok(()) => carry_out(vault, waiting),
            Err(refusal) => Err(refusal),
        };
        let Some(intent) = group.get(at) else { break };
        let mut refusal = match carried {
            Ok(left) => {
                lefts.push(left);
                continue;
            }
            Err(refusal) => refusal,
        };
        let mut parked = Vec::new();
        // One that nobody knows of must not be finished alone by the next recovery.
        let is_open = refusal.state == IntentState::Open;
        // A revert would leave a save of another program under the temporary name; recovery moves it back.
        if is_open && execute::has_displaced_file(vault, intent) {
            return mark_unknown(group);
        }
        if is_open {
            refusal.state = IntentState::Failed;
        }
        let stands = is_open && execute::is_applied(vault, intent).unwrap_or(true);
        let back_to = if stands { at + 1 } else { at };
        for (later, waiting) in group.iter().enumerate().skip(back_to).rev() {
            match discard(vault, waiting) {
                Ok(()) => {}
                Err(why) if why.state == IntentState::Open => return mark_unknown(group),
                Err(_) => parked.push(later),
            }
        }
        for (earlier, done) in group.iter().enumerate().take(back_to).rev() {
            let left = lefts.get(earlier).copied().unwrap_or(done.staged);
            match execute::revert(vault, &left_in(done, left)) {
                Ok(()) => {}
                // The next recovery finishes or reverts a change that cannot be reverted now. The
                // changes before it are in the state that recovery needs.
                Err(why) if why.state == IntentState::Open => return mark_unknown(group),
                Err(_) => parked.push(earlier),
            }
        }
        return fail_group(group, at, refusal, &parked);
    }
    group.into_iter().zip(lefts).map(|(intent, left)| (intent, Ok(left))).collect()
}

/// Nobody knows yet what becomes of the group.
fn mark_unknown(group: IntentGroup) -> Outcomes {
    let unsure = |intent: Intent| {
        let path = intent.change.path.clone();
        (intent, Err(StepError::open(VaultError::Unsure { path })))
    };
    group.into_iter().map(unsure).collect()
}

/// The part that failed says why; the others say that they belong to it.
fn fail_group(group: IntentGroup, at: usize, refusal: StepError, parked: &[usize]) -> Outcomes {
    let why = refusal.why.to_string();
    let mut refusal = Some(refusal);
    let outcome = |(place, intent): (usize, Intent)| {
        let path = intent.change.path.clone();
        let refused = match refusal.take_if(|_| place == at) {
            _ if parked.contains(&place) => StepError::parked_at(&path),
            Some(refusal) => refusal,
            None => StepError::stale(VaultError::Reverted { path, why: why.clone() }),
        };
        (intent, Err(refused))
    };
    group.into_iter().enumerate().map(outcome).collect()
}
