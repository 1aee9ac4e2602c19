//! Undoes effects on folders: a folder was made, went to the trash or came back from there.

use protocol::{Change, ChangeAction, Effect, FolderContents, NotePath};

use super::{MissingNote, UndoPlanner};
use crate::undo::{EffectConflictReason, Hunks};

impl UndoPlanner<'_> {
    /// A folder that is used stays.
    pub(super) fn invert_folder_creation(&mut self, place: usize, effect: &Effect) {
        // A folder that was there already was not created, and one that somebody created again is
        // theirs.
        let Ok((now, after)) = self.locate_now_and_after(place, &effect.path) else { return };
        let Some(home) = self.ledger.trace(place, &effect.path) else { return };
        if effect.base.is_some() || now != home.path {
            return;
        }
        let locations = self.planned.disk_locations();
        let is_used = self.notes.files().iter().any(|file| {
            !file.is_folder && locations.locate(&file.path).is_some_and(|path| path.is_in(&after))
        });
        // A note that is moved out of the folder goes only after it.
        let leaves_later = self.notes.files().iter().any(|file| {
            !file.is_folder && file.path.is_in(&now) && locations.locate(&file.path).is_some()
        });
        let is_planned = self.planned.planned_notes().iter().any(|(path, _)| path.is_in(&after));
        if is_used || leaves_later || is_planned {
            return;
        }
        let holds = self.folders_in(&now);
        self.plan_trash_folder(place, effect, (now, after), holds);
    }

    pub(super) fn invert_folder_restore(&mut self, place: usize, effect: &Effect) {
        match self.locate_now_and_after(place, &effect.path) {
            Ok(found) => {
                // Files that somebody put into the folder since do not go with it.
                let Some(holds) = self.recorded_contents(effect) else {
                    return self.add_conflict(place, effect, EffectConflictReason::Purged);
                };
                self.plan_trash_folder(place, effect, found, holds);
            }
            Err(MissingNote::Gone(_)) => {}
            Err(unsure) => self.add_missing_note(place, effect, unsure),
        }
    }

    pub(super) fn invert_folder_trashing(&mut self, place: usize, effect: &Effect) {
        let Some(home) = self.ledger.trace(place, &effect.path) else { return };
        // Where it came back and went again it has another name there.
        let Some(trashed) = home.trash_name.clone() else { return };
        match self.notes.file(&home.path) {
            None => {}
            // It is back already.
            Some(found) if Some(found) == effect.base => return,
            Some(_) if self.is_empty_folder_after(&home.path) => {}
            // The other folder leaves with the same changes.
            Some(_) if self.planned.disk_path(&home.path).as_ref() != Some(&home.path) => {
                return self.add_conflict(place, effect, EffectConflictReason::Entangled);
            }
            Some(_) => return self.add_conflict(place, effect, EffectConflictReason::Taken),
        }
        // Nothing tells it from another folder that has its name in the trash by now.
        if effect.purged.is_some() {
            return self.add_conflict(place, effect, EffectConflictReason::Purged);
        }
        let path = self.restored_path(&home.path);
        if self.is_occupied_after(&path) && !self.is_empty_folder_after(&path) {
            return self.add_conflict(place, effect, EffectConflictReason::Taken);
        }
        let act = ChangeAction::RestoreFolder { trashed, holds: self.recorded_contents(effect) };
        self.plan_change(effect, Hunks::All, home.path, Change { path, act });
    }

    /// The folders in a folder, without those that go before it; nothing else may be in it.
    fn folders_in(&self, home: &NotePath) -> FolderContents {
        let locations = self.planned.disk_locations();
        let files = self.notes.files();
        let below = files.iter().filter_map(|file| {
            let below = file.path.as_str().strip_prefix(home.as_str())?.strip_prefix('/')?;
            locations.locate(&file.path).is_some().then_some((below.as_bytes(), None))
        });
        FolderContents::from_entries(below)
    }

    /// The recorded contents of the folder of an effect.
    fn recorded_contents(&self, effect: &Effect) -> Option<FolderContents> {
        let bytes = self.ledger.content(effect.before.as_ref())?;
        Some(FolderContents::from_bytes(bytes.to_vec()))
    }

    /// A folder goes to the trash that is at the first path now, and at the second once all that is planned
    /// has happened.
    fn plan_trash_folder(
        &mut self,
        place: usize,
        effect: &Effect,
        (now, after): (NotePath, NotePath),
        holds: FolderContents,
    ) {
        if let Some(trace) = self.ledger.trace(place, &effect.path) {
            self.pin_file(&now, &now, &trace);
        }
        let act = ChangeAction::TrashFolder { holds: Some(holds) };
        self.plan_change(effect, Hunks::All, now, Change { path: after, act });
    }
}
