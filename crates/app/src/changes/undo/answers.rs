//! The user's answers to the conflicts of an undo, a redo or a reapplied change: which note is meant, and which version stays.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::changes::history::{
    ConflictingLines, UndoAction, UndoCandidate, UndoConflict, UndoResult, UndoScope, UndoTarget,
};
use protocol::{
    Change, ChangeKind, ContentHash, Effect, EffectId, FileId, MovedNote, TrashedFile, UserError,
};
use store::UserChangeSet;
use vault::undo::{ConflictAnswer, EffectivePart, UndoRequest, VaultReader as _};
use vault::{Applied, Progress, VaultError};

use super::displayed_bytes::bytes_shown_as;
use super::turn_scope::is_move;
use super::undoable_hunks::requested_hunks;
use super::{applied_by, not_yet_undone, nothing_to_redo, nothing_undone, request_for};
use crate::App;
use crate::adapters::notes::VaultNotes;
use crate::changes::NoteChanges;
use crate::changes::history::{effective_changes, find_effect};
use crate::events::domain_event::DomainEvent;
use crate::support::blocking::run_blocking;
use crate::support::clock::{new_id, now};
use crate::user_texts;

/// The reason for asking again: another file or none is at the chosen path.
const CHOSEN_FILE_IS_AWAY: &str = "The note that you chose is no longer at that path, so nothing \
                                   was changed. Choose the note that was changed, or keep \
                                   everything as it is.";

/// How long an answer waits for the watch to see a save that replaced the note's file, and how often it looks.
const WATCH_TIMEOUT: Duration = Duration::from_secs(3);
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// The note of a conflict as it is, which is as the user was shown it.
struct ShownNote {
    /// The file at its path.
    file: Option<FileId>,
    /// Its bytes; `None` for a note that is gone.
    bytes: Option<Vec<u8>>,
    /// Its file in the trash, if it went there.
    trashed: Option<TrashedFile>,
}

impl App {
    /// Records the user's answer which note a change is about, and undoes, redoes or reapplies the change
    /// there, whichever asked. Durable when it returns: later undos of the same note know it too. If the file that the user was shown is not at
    /// its path any more, nothing is changed, and the result asks again.
    pub async fn undo_in_note(&self, identified: &UndoTarget) -> Result<UndoResult, UserError> {
        let open = self.session().await?;
        let changes = &open.changes;
        let _alone = changes.lock_changes().await?;
        let UndoTarget { action, effect, hunks, note } = identified;
        let moved = changes.identify_note(effect, note).await?;
        let Some(moved) = moved else { return changes.ask_again(identified).await };
        let turn = find_effect(&changes.store, effect).await?.turn;
        let own = UserChangeSet {
            id: &new_id(),
            call: &new_id(),
            by: applied_by(*action),
            reverts: &[],
            moved: &[moved],
            turn: &turn,
            at: now(),
        };
        changes.store.begin_user_change_set(&own).await?;
        changes.complete(*action, effect, hunks).await
    }

    /// Writes the version that the request of a conflict wants in each of its places, where the note is as the
    /// user saw it, and so completes the request. If all that is left of a change was asked for and the change belongs
    /// to a move, the rest of the move is completed too, all or nothing; if other conflicts are in its way, only this
    /// note is written, and the result has them.
    pub async fn resolve_conflict(&self, conflict: &UndoConflict) -> Result<UndoResult, UserError> {
        let open = self.session().await?;
        let changes = &open.changes;
        let _alone = changes.lock_changes().await?;
        let effect = find_effect(&changes.store, &conflict.effect).await?;
        if conflict.action == UndoAction::Reapply {
            changes.refuse_undone(&effect.id).await?;
        }
        let is_about_unit = effect.unit.is_some()
            && conflict.hunks.is_empty()
            && conflict.action != UndoAction::Reapply;
        let asked = requested_hunks(&conflict.hunks);
        let is_redone =
            conflict.action == UndoAction::Redo && changes.makes_again(&effect.id, &asked).await?;
        let request = match is_about_unit || is_redone {
            true => changes.request_about(conflict.action, &effect.id, &conflict.hunks).await?,
            false => request_for(conflict.action, [effect.id.clone()]),
        };
        let shown = changes.shown_note(&request, conflict).await?;
        let wanted = changes.wanted_bytes(&effect, conflict).await?;
        let change = resolution_change(&effect, conflict, &wanted, &shown)?;
        let answer = ConflictAnswer { effect: effect.id.clone(), change, file: shown.file };
        let (plan, conflicts) = match is_about_unit {
            true => {
                let planned =
                    changes.plan_with_answer(&request, conflict.action, Some(answer), None);
                let (plan, conflicts, _) = planned.await?;
                (plan, conflicts)
            }
            false => {
                let redone = answer.redone_edit(&request, &asked);
                let mut plan = answer.into_plan(asked);
                if is_redone {
                    (plan.undone, plan.redone) = (Vec::new(), redone);
                }
                (plan, Vec::new())
            }
        };
        let (set, by, unwatched) = (new_id(), applied_by(conflict.action), Progress::default());
        let applied = changes.apply_user_set(&set, &plan, &effect.turn, by, &unwatched).await?;
        if applied.done.is_empty()
            && let Some(error) = refusal(&applied)
        {
            return Err(error.into());
        }
        if conflict.action == UndoAction::Reapply {
            changes.store.clear_overwritten(std::slice::from_ref(&effect.id)).await?;
        }
        let mut touched = changes.sets_undone_by(&request).await?;
        touched.extend([set.clone(), effect.change_set]);
        changes.emit(DomainEvent::Applied(touched.into_iter().collect()));
        let renames = plan.changes.renames();
        let changed = applied.done.iter().map(|path| renames.forward(path)).collect();
        let left = u32::try_from(applied.problems.len()).unwrap_or(u32::MAX);
        Ok(UndoResult { change_set: Some(set), changed, conflicts, left })
    }
}

/// Why changes were refused: a note that was only reverted with another one does not say.
fn refusal(applied: &Applied) -> Option<&VaultError> {
    let mut problems = applied.problems.iter().map(|(_, error)| error);
    let cause = problems.clone().find(|error| !matches!(error, VaultError::Reverted { .. }));
    cause.or_else(|| problems.next())
}

impl NoteChanges {
    /// The note of a conflict. Fails unless its bytes are those that the user was shown.
    async fn shown_note(
        &self,
        request: &UndoRequest,
        conflict: &UndoConflict,
    ) -> Result<ShownNote, UserError> {
        let past = self.history_since(request).await?;
        let (vault, path) = (self.vault.clone(), conflict.path.clone());
        let (notes, id) = (VaultNotes(self.vault.clone()), conflict.effect.clone());
        // The file first: the change is made on it, and only if it is still the note afterwards.
        let read = move || {
            let (file, bytes) = (notes.file(&path), vault.read_bytes(&path));
            let its_place = vault::undo::current_path(&past, &id, &notes);
            (file, bytes, its_place, vault::undo::file_in_trash(&past, &id))
        };
        let (file, bytes, its_place, trashed) = run_blocking(read).await?;
        let bytes = match bytes {
            // Another note may have come there since the conflict was shown.
            Ok(_) if its_place.as_ref() != Some(&conflict.path) => return Err(note_changed_error()),
            Ok(bytes) => Some(bytes),
            // It may be back, under another path.
            Err(VaultError::NotFound { .. }) if its_place.is_some() => {
                return Err(note_changed_error());
            }
            Err(VaultError::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        if bytes.as_deref().map(ContentHash::of) != conflict.shown {
            return Err(note_changed_error());
        }
        Ok(ShownNote { file, bytes, trashed })
    }

    /// The wanted version of each place in the bytes of the note: the user was shown it as text, and
    /// a note need not be UTF-8.
    async fn wanted_bytes(
        &self,
        effect: &Effect,
        conflict: &UndoConflict,
    ) -> Result<Vec<Vec<u8>>, UserError> {
        let is_exact = |place: &ConflictingLines| !place.back.contains(char::REPLACEMENT_CHARACTER);
        let kept = match conflict.places.iter().all(is_exact) {
            true => HashMap::new(),
            false => {
                let hashes: Vec<_> = effect.before.iter().chain(&effect.after).cloned().collect();
                self.store.contents(&hashes).await?
            }
        };
        let places = conflict.places.clone();
        let search = move || {
            let versions: Vec<&[u8]> = kept.values().map(Vec::as_slice).collect();
            let wanted = |place: ConflictingLines| match is_exact(&place) {
                true => Some(place.back.into_bytes()),
                false => bytes_shown_as(&place.back, &versions),
            };
            places.into_iter().map(wanted).collect::<Option<_>>()
        };
        run_blocking(search).await?.ok_or_else(|| UserError::other(user_texts::version_not_text()))
    }

    /// Identifies the note of an effect as the file that the user was shown, or as the file that took its place.
    /// A program may have saved the note a moment ago: waits a little for the watch to see that.
    async fn identify_note(
        &self,
        effect: &EffectId,
        shown: &UndoCandidate,
    ) -> Result<Option<MovedNote>, UserError> {
        let ledger = self.history_since(&UndoRequest::undo([effect.clone()])).await?;
        let ledger = Arc::new(ledger);
        let until = Instant::now() + WATCH_TIMEOUT;
        loop {
            let (ledger, effect, shown) = (Arc::clone(&ledger), effect.clone(), shown.clone());
            let vault = self.vault.clone();
            let identify = move || {
                let notes = VaultNotes(vault.clone());
                let now = notes.file(&shown.path)?;
                let is_replaced = vault.was_replaced_by(shown.file, now);
                let file = if is_replaced { now } else { shown.file };
                let chosen = UndoCandidate { path: shown.path, file };
                vault::undo::identify_note(&ledger, &effect, &chosen, &notes)
            };
            let moved = run_blocking(identify).await?;
            if moved.is_some() || Instant::now() >= until {
                return Ok(moved);
            }
            tokio::time::sleep(WATCH_INTERVAL).await;
        }
    }

    /// The request for what an undo or a redo asked about: this effect with its unit, or these hunks of it. A creation
    /// of a turn that moves nothing in the unit is undone by itself.
    async fn request_about(
        &self,
        action: UndoAction,
        effect: &EffectId,
        hunks: &[u32],
    ) -> Result<UndoRequest, UserError> {
        let scope = UndoScope::Effect { effect: effect.clone(), hunks: hunks.to_vec() };
        let mut effects = self.store.effects_in_scope(&scope).await?;
        if !hunks.is_empty() || is_creation_without_move(&effects, effect) {
            effects.retain(|one| one.id == *effect);
        }
        let asked = requested_hunks(hunks);
        if action != UndoAction::Redo || !self.makes_again(effect, &asked).await? {
            return not_yet_undone(&self.store, &scope, &effects).await;
        }
        let request = self.redo_request(&effects).await?;
        if request.effects.is_empty() { Err(nothing_to_redo()) } else { Ok(request) }
    }

    /// Does to an effect what was asked for; the caller holds `change_lock`.
    async fn complete(
        &self,
        action: UndoAction,
        effect: &EffectId,
        hunks: &[u32],
    ) -> Result<UndoResult, UserError> {
        match action {
            UndoAction::Reapply => self.reapply_effect(effect).await,
            UndoAction::Undo | UndoAction::Redo => {
                let wanted = self.request_about(action, effect, hunks).await?;
                self.undo_as_one_set(&wanted, action).await
            }
        }
    }

    /// Fails for a change that is undone: reapplied, it would be in its note and yet be listed as undone, and the links of a
    /// move would lead to where no note is.
    pub(super) async fn refuse_undone(&self, effect: &EffectId) -> Result<(), UserError> {
        match effective_changes(&self.store).await?.effective_part(effect) {
            EffectivePart::Nothing => Err(UserError::other(user_texts::redo_before_reapply())),
            EffectivePart::Whole | EffectivePart::Without(_) => Ok(()),
        }
    }

    /// The question about an effect with the notes as they are now, after an answer that no longer fits. If the
    /// note is known with certainty by now and is at the chosen path, the request is completed there.
    async fn ask_again(&self, answer: &UndoTarget) -> Result<UndoResult, UserError> {
        let UndoTarget { action, effect, hunks, note } = answer;
        let wanted = match action {
            UndoAction::Reapply => request_for(*action, [effect.clone()]),
            UndoAction::Undo | UndoAction::Redo => {
                self.request_about(*action, effect, hunks).await?
            }
        };
        let (plan, conflicts, _) = self.plan_undo(&wanted, *action).await?;
        let undone = plan.undone.iter().map(|undone| (&undone.effect, &undone.path));
        let redone = plan.redone.iter().map(|redone| (&redone.effect, &redone.path));
        if undone.chain(redone).any(|done| done == (effect, &note.path)) {
            return self.complete(*action, effect, hunks).await;
        }
        let about = conflicts.into_iter().find(|conflict| conflict.effect == *effect);
        let mut question = about.ok_or_else(|| UserError::other(user_texts::chosen_note_gone()))?;
        if !question.candidates.is_empty() {
            CHOSEN_FILE_IS_AWAY.clone_into(&mut question.why);
        }
        Ok(UndoResult { conflicts: vec![question], ..nothing_undone() })
    }
}

/// Whether an effect is a creation, and its turn moves nothing in its unit.
fn is_creation_without_move(unit: &[Effect], effect: &EffectId) -> bool {
    let asked = unit.iter().find(|one| one.id == *effect);
    asked.is_some_and(|asked| {
        let is_own_move = |one: &Effect| is_move(one.kind) && one.turn == asked.turn;
        matches!(asked.kind, ChangeKind::Create | ChangeKind::MakeFolder)
            && !unit.iter().any(is_own_move)
    })
}

fn note_changed_error() -> UserError {
    UserError::other(user_texts::note_changed_since_shown())
}

/// The change that writes the wanted version in the places of the note. One that is gone gets the owner and permissions
/// that it had, as far as they are known.
fn resolution_change(
    effect: &Effect,
    conflict: &UndoConflict,
    wanted: &[Vec<u8>],
    shown: &ShownNote,
) -> Result<Change, UserError> {
    let path = conflict.path.clone();
    let Some(bytes) = shown.bytes.as_deref() else {
        let whole = wanted.first().ok_or_else(note_changed_error)?;
        return Ok(Change::restore(path, whole.clone(), shown.trashed.clone()));
    };
    if effect.kind == ChangeKind::Create && conflict.action != UndoAction::Reapply {
        return Ok(Change::trash(path, bytes));
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut after = Vec::new();
    let mut from = 0;
    for (place, back) in conflict.places.iter().zip(wanted) {
        let at = usize::try_from(place.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let now = place.now.split_inclusive('\n').count();
        let there = lines.get(at..at.saturating_add(now)).filter(|_| at >= from);
        let there = there.ok_or_else(note_changed_error)?.concat();
        if String::from_utf8_lossy(&there) != place.now {
            return Err(note_changed_error());
        }
        after.extend(lines.get(from..at).unwrap_or_default().concat());
        after.extend_from_slice(back);
        from = at + now;
    }
    after.extend(lines.get(from..).unwrap_or_default().concat());
    Ok(Change::replace(path, bytes, after))
}
