//! Conflicts of an undo in the user's words.

use std::collections::HashSet;

use protocol::changes::history::{ConflictingLines, UndoAction, UndoConflict};
use protocol::{Change, ChangeKind, EffectId, NotePath};
use vault::undo::{EffectConflict, EffectConflictReason, Hunks, UndoPlan, UndoneEffect};
use vault::{Applied, Vault, VaultError};

use super::is_stopped;

/// A conflict in the user's words, as if its change were listed. Reads a note that could not be read again, to say why.
pub(super) fn to_undo_conflict(
    action: UndoAction,
    conflict: &EffectConflict,
    vault: &Vault,
) -> UndoConflict {
    let why: &str = match conflict.why {
        EffectConflictReason::Changed => {
            "The same lines have changed since then. Choose which version to keep."
        }
        EffectConflictReason::Gone if !conflict.candidates.is_empty() => {
            "The note isn’t where it was. Restore it, or choose which note it is now."
        }
        EffectConflictReason::Gone => {
            "This note no longer exists. Restore it, or undo its deletion."
        }
        EffectConflictReason::Unsure => {
            "Another file is now at the note’s path, and Vaultmate didn’t see how it got there. \
             Choose the note that was changed, or keep everything as it is."
        }
        EffectConflictReason::Taken => {
            "Something else is in its place now. Move that away, then try again."
        }
        EffectConflictReason::Moved => "The note was moved again since. Undo that move first.",
        EffectConflictReason::Purged => "This change is too old. Its text is no longer stored.",
        EffectConflictReason::Entangled => {
            "This can’t be undone together with the other changes. Undo it separately."
        }
        EffectConflictReason::Unreadable => &unreadable_reason(vault, &conflict.path),
    };
    let shows = matches!(conflict.why, EffectConflictReason::Changed | EffectConflictReason::Gone);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let place = |place: &vault::undo::ConflictLines| ConflictingLines {
        line: u32::try_from(place.line).unwrap_or(u32::MAX).saturating_add(1),
        now: text(&place.now),
        back: text(&place.restored),
    };
    UndoConflict {
        action,
        effect: conflict.effect.clone(),
        listed: conflict.effect.clone(),
        path: conflict.path.clone(),
        hunks: listed_hunks(&conflict.hunks),
        shown: conflict.note.clone().filter(|_| shows),
        why: why.to_owned(),
        places: conflict.lines.iter().filter(|_| shows).map(place).collect(),
        candidates: conflict.candidates.clone(),
    }
}

/// Hunks as the window lists them: none for all.
fn listed_hunks(hunks: &Hunks) -> Vec<u32> {
    match hunks {
        Hunks::All => Vec::new(),
        Hunks::Some(some) => some.iter().filter_map(|hunk| u32::try_from(*hunk).ok()).collect(),
    }
}

/// Why a note that is there cannot be undone.
fn unreadable_reason(vault: &Vault, path: &NotePath) -> String {
    match vault.read_bytes(path) {
        // The file is known to be the note's, so it is no folder, symlink or device.
        Err(VaultError::NotANote { .. }) => {
            "This note has a second name (a hard link), so it was left as it is. Remove the other name, then \
             try again."
                .to_owned()
        }
        Err(VaultError::TooLarge { .. }) => {
            "This note is over 10 MiB, so it was left as it is. Make it shorter, then try again."
                .to_owned()
        }
        Err(other) => other.to_string(),
        Ok(_) => "This note couldn’t be read for a moment. Try again.".to_owned(),
    }
}

/// Whether it is this note that could not be changed.
const fn is_note_failure(error: &VaultError) -> bool {
    !is_stopped(error) && !matches!(error, VaultError::Reverted { .. })
}

/// The reason for a note that changed between each plan and its write.
pub(super) const NOTE_KEEPS_CHANGING: &str =
    "Another program kept changing the note. Wait until it’s done, then try again.";

/// The reason for a folder that is to go to the trash and does not hold what it held, whoever wrote there.
const FOLDER_CHANGED: &str = "Files in this folder have changed since then, so it was left as it is. If you still want \
                              to delete it, delete it again.";

/// The reason for a folder in the trash that holds something else than the one that went there.
const OTHER_FOLDER_IN_TRASH: &str = "The folder in the trash no longer holds what it held when it was deleted, so it \
                                     was left there. If it is the right one, move it back by hand.";

/// The refusals of the vault as conflicts of the effects that they are about, as if these were listed. A note of an atomic group that was
/// only reverted with another one is not reported, unless no conflict of the group is: then the first one is.
pub(super) fn refused_conflicts(
    action: UndoAction,
    plan: &UndoPlan,
    applied: &Applied,
) -> Vec<UndoConflict> {
    let redone = plan.redone.iter().map(|redone| UndoneEffect {
        effect: redone.effect.clone(),
        path: redone.path.clone(),
        hunks: redone.hunks.clone(),
    });
    // The edits tell more than the change that had undone them.
    let by_edits: HashSet<&EffectId> = plan.redone.iter().map(|redone| &redone.by).collect();
    let undone = plan.undone.iter().filter(|undone| !by_edits.contains(&undone.effect)).cloned();
    let all: Vec<UndoneEffect> = undone.chain(redone).collect();
    let told = |is_meant: fn(&VaultError) -> bool| {
        let about = move |undoing: &UndoneEffect| {
            let is_its =
                |(path, error): &&(NotePath, VaultError)| *path == undoing.path && is_meant(error);
            let (_, error) = applied.problems.iter().find(is_its)?;
            let mut changes = plan.changes.changes();
            let change = changes.find(|change| change.path == undoing.path);
            Some(failed_conflict(action, undoing, (change.map(Change::kind), error)))
        };
        all.iter().filter_map(about)
    };
    let mut causes: Vec<_> = told(is_note_failure).collect();
    if !causes.iter().any(|cause| plan.unit.contains(&cause.path)) {
        causes.extend(told(|error| matches!(error, VaultError::Reverted { .. })).take(1));
    }
    causes
}

/// The conflict for a change of this kind that the vault refused.
fn failed_conflict(
    action: UndoAction,
    undoing: &UndoneEffect,
    (kind, error): (Option<ChangeKind>, &VaultError),
) -> UndoConflict {
    let why = match (error, kind) {
        (VaultError::Stale { .. }, _) => NOTE_KEEPS_CHANGING.to_owned(),
        (VaultError::FolderChanged { .. }, Some(ChangeKind::RestoreFolder)) => {
            OTHER_FOLDER_IN_TRASH.to_owned()
        }
        (VaultError::FolderChanged { .. }, _) => FOLDER_CHANGED.to_owned(),
        (other, _) => other.to_string(),
    };
    UndoConflict {
        action,
        effect: undoing.effect.clone(),
        listed: undoing.effect.clone(),
        path: undoing.path.clone(),
        hunks: listed_hunks(&undoing.hunks),
        shown: None,
        why,
        places: Vec::new(),
        candidates: Vec::new(),
    }
}
