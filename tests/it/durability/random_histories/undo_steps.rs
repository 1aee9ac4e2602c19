//! The user undoes, redoes and reapplies changes, and answers the conflicts.

use std::collections::BTreeSet;
use std::fs;

use protocol::changes::history::{
    ChangeStatus, UndoAction, UndoConflict, UndoResult, UndoScope, UndoTarget,
};
use protocol::{ChangeKind, EffectId, UserError};
use testkit::vaults::temp_vault::Files;

use super::applied_effects::{HunkWords, ListedEffect};
use super::history::{CarelessUndo, ChangingStep, RandomHistory};
use super::step_rules::StepPermission;
use super::tracked_notes::{
    are_names_shared, is_in_trash, marking_words, text_of, with_links_by_name,
};

/// So many answers follow each other at most.
const MAX_ANSWERS: usize = 3;

impl RandomHistory {
    /// Undoes or redoes something, not only what was changed last.
    pub(super) async fn undo_step(&mut self) {
        // The window lists no undo to undo: it offers to redo what was undone.
        let all = self.known.effects.all.values();
        let effects: Vec<&ListedEffect> = all.filter(|effect| effect.is_own()).collect();
        let Some(one) = self.random.choice(effects).cloned() else { return };
        if one.note.standing == ChangeStatus::Overwritten && self.random.bool() {
            return self.reapply(&one).await;
        }
        let effect = one.note.effect.clone();
        let scope = match self.random.usize(0..8) {
            0..=3 => UndoScope::ChangeSet { change_set: one.set.clone() },
            4 => UndoScope::Turn { turn: one.turn.clone() },
            5 if one.conversation.is_some() && self.random.u8(0..3) == 0 => {
                UndoScope::Conversation {
                    conversation: one.conversation.clone().expect("a conversation"),
                }
            }
            6 if one.hunks.len() > 1 && one.note.kind == ChangeKind::Replace => {
                let hunks = (0..one.hunks.len()).filter(|_| self.random.bool());
                UndoScope::Effect { effect, hunks: hunks.map(|hunk| hunk as u32).collect() }
            }
            _ => UndoScope::Effect { effect, hunks: Vec::new() },
        };
        let is_undone = self.known.effects.in_scope(&scope).iter().any(|effect| effect.is_undone());
        let action = match is_undone && self.random.u8(0..4) > 0 {
            true => UndoAction::Redo,
            false => UndoAction::Undo,
        };
        self.revert(&scope, action).await;
    }

    /// Undoes or redoes a scope and answers some of its conflicts. Whether nothing is left of it.
    pub(super) async fn revert(&mut self, scope: &UndoScope, action: UndoAction) -> bool {
        self.story.push(format!("the user asks for {action:?} of {scope:?}"));
        let judges_offers = matches!(self.careless, None | Some(CarelessUndo::RefusesOffer));
        let is_offered = judges_offers && self.is_offered(scope, action);
        let permission = self.permission_to_revert(scope, action);
        let restored = self.bytes_to_restore(scope, action);
        let concerned: Vec<EffectId> = self.effects_to_revert(scope, action);
        let appended = self.append_meanwhile();
        let result = match action {
            _ if self.careless == Some(CarelessUndo::RefusesOffer) => Err(UserError::other("No.")),
            UndoAction::Redo => self.app().app.redo(scope).await,
            _ => self.app().app.undo(scope).await,
        };
        if let Some(careless) = self.careless {
            self.act_carelessly(careless, scope, &result);
        }
        self.tell_result(&result);
        let before = self.known.files.clone();
        self.end_step_with(&permission, &appended).await;
        self.check_told(&before, &result);
        // Another program that writes meanwhile may make it impossible.
        if is_offered && appended.is_empty() {
            self.check_offer(scope, action, &result);
        }
        let Ok(result) = result else { return false };
        let is_clean = result.conflicts.is_empty() && result.left == 0;
        if is_clean && appended.is_empty() && result.change_set.is_some() {
            self.check_reverted(scope, action, &concerned);
            self.check_restored(&restored, &before);
        }
        self.tally.clean += usize::from(is_clean);
        self.tally.conflicts += result.conflicts.len();
        self.tally.redone += usize::from(is_clean && action == UndoAction::Redo);
        self.answer_conflicts(result.conflicts, 0).await;
        is_clean
    }

    /// Whether the window offers this for one change, or for one place in it: by the rules of `undo-counts.ts` and
    /// `ChangeEntry.svelte`, over what was listed last.
    fn is_offered(&self, scope: &UndoScope, action: UndoAction) -> bool {
        let UndoScope::Effect { effect, hunks } = scope else { return false };
        let effect = self.known.effects.get(effect);
        let note = &effect.note;
        let (can_undo, can_redo) = match note.standing {
            _ if note.too_old => (false, false),
            ChangeStatus::Stands => (true, false),
            ChangeStatus::PartlyUndone => (true, true),
            ChangeStatus::Undone => (false, true),
            ChangeStatus::Overwritten => (false, false),
        };
        match (hunks.as_slice(), action) {
            ([], UndoAction::Undo) => can_undo && self.leads_unit(effect),
            ([], UndoAction::Redo) => can_redo && self.leads_unit(effect),
            ([place], UndoAction::Undo) => {
                let is_undone = can_redo && effect.undone.contains(&(*place as usize));
                let has_places = note.kind == ChangeKind::Replace && note.unit.is_none();
                can_undo && has_places && !is_undone
            }
            _ => false,
        }
    }

    /// Whether the window lists it by itself, and not below the move that it follows.
    fn leads_unit(&self, effect: &ListedEffect) -> bool {
        let is_peer =
            |one: &&ListedEffect| one.set == effect.set && one.note.unit == effect.note.unit;
        let unit: Vec<&ListedEffect> = self.known.effects.all.values().filter(is_peer).collect();
        let is_move =
            |kind: ChangeKind| matches!(kind, ChangeKind::Rename | ChangeKind::RenameFolder);
        let lead = unit.iter().find(|one| is_move(one.note.kind)).or(unit.first());
        effect.note.unit.is_none()
            || lead.is_some_and(|lead| lead.note.effect == effect.note.effect)
    }

    /// What the window offers is not refused. An offer that is gone from the list by now was outdated.
    fn check_offer(
        &mut self,
        scope: &UndoScope,
        action: UndoAction,
        result: &Result<UndoResult, UserError>,
    ) {
        self.tally.offers += 1;
        if let Err(error) = result
            && self.is_offered(scope, action)
        {
            let why = &error.message;
            self.wrong.push(format!("{action:?} of {scope:?} is offered and was refused: {why}"));
        }
    }

    /// The words that may come and go when a scope is undone or redone.
    fn permission_to_revert(&self, scope: &UndoScope, action: UndoAction) -> StepPermission {
        let mut permission = StepPermission::default();
        let effects = self.known.effects.in_scope(scope);
        for effect in &effects {
            let chosen = match scope {
                // A redo makes the whole change again.
                UndoScope::Effect { effect: one, hunks }
                    if action != UndoAction::Redo
                        && *one == effect.note.effect
                        && !hunks.is_empty() =>
                {
                    hunks.iter().filter_map(|hunk| effect.hunks.get(*hunk as usize)).collect()
                }
                _ => effect.hunks.iter().collect::<Vec<_>>(),
            };
            match action {
                UndoAction::Undo => permission.revert(chosen),
                UndoAction::Redo | UndoAction::Reapply => permission.make(chosen),
            }
        }
        self.known.allow_notes(&mut permission, effects);
        if action == UndoAction::Redo {
            let undone: Vec<_> =
                self.known.effects.all.values().filter(|one| one.is_undone()).collect();
            // A note whose creation is undone comes back for an edit of it, with all that went to the trash with it.
            let is_creation = |one: &&ListedEffect| one.note.kind == ChangeKind::Create;
            let created: BTreeSet<_> =
                undone.iter().copied().filter(is_creation).filter_map(|one| one.number).collect();
            let scope: BTreeSet<_> = permission.notes.iter().flatten().copied().collect();
            let comes_back = |one: &&ListedEffect| {
                one.number
                    .is_some_and(|number| created.contains(&number) && scope.contains(&number))
            };
            // Moves that were undone together are redone together, with all that was decided with them.
            let is_unit = |one: &&ListedEffect| one.note.unit.is_some();
            let with_it: Vec<_> =
                undone.into_iter().filter(|one| is_unit(one) || comes_back(one)).collect();
            with_it.iter().for_each(|effect| permission.make(&effect.hunks));
            self.known.allow_notes(&mut permission, with_it);
        }
        // The answers of the user are reverted with the undo or redo that they completed.
        let answered = self.answered.iter().map(|id| self.known.effects.get(id));
        answered.for_each(|effect| permission.revert(&effect.hunks));
        permission
    }

    /// The same for an answer: the question of a redo is about the undo.
    fn permission_to_answer(&self, scope: &UndoScope) -> StepPermission {
        let mut permission = self.permission_to_revert(scope, UndoAction::Undo);
        let effects = self.known.effects.in_scope(scope);
        effects.iter().for_each(|effect| permission.make(&effect.hunks));
        permission
    }

    fn effects_to_revert(&self, scope: &UndoScope, action: UndoAction) -> Vec<EffectId> {
        let effects = self.known.effects.in_scope(scope).into_iter();
        let is_open = |effect: &&ListedEffect| effect.is_undone() == (action == UndoAction::Redo);
        effects.filter(is_open).map(|effect| effect.note.effect.clone()).collect()
    }

    /// Now and then another program appends a line while the application works.
    fn append_meanwhile(&mut self) -> Vec<String> {
        if self.random.u8(0..6) > 0 || self.careless.is_some() {
            return Vec::new();
        }
        let Some(path) = self.any_note() else { return Vec::new() };
        if !self.text_at(&path).ends_with('\n') {
            return Vec::new();
        }
        self.next_word += 1;
        let word = format!("u-{}", self.next_word);
        let file = self.home.notes.root().join(&path);
        self.story.push(format!("  meanwhile a program appends {word} to {path}"));
        // The note may end without a line break by then.
        let line = format!("\n{word}\n");
        let delay = std::time::Duration::from_micros(self.random.u64(0..20_000));
        self.meanwhile.spawn(async move {
            tokio::time::sleep(delay).await;
            if let Ok(mut file) = fs::OpenOptions::new().append(true).open(file) {
                use std::io::Write as _;
                file.write_all(line.as_bytes()).expect("written");
                return Some(line.trim().to_owned());
            }
            None
        });
        vec![word]
    }

    /// Does what a careless undo would have done besides.
    fn act_carelessly(
        &mut self,
        careless: CarelessUndo,
        scope: &UndoScope,
        result: &Result<UndoResult, UserError>,
    ) {
        let Some(path) = result.as_ref().ok().and_then(|done| done.changed.first()) else { return };
        let root = self.home.notes.root();
        let Ok(text) = fs::read_to_string(root.join(path.as_str())) else { return };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let own = lines.iter().position(|line| line.starts_with("u-"));
        let after = match (careless, own) {
            (CarelessUndo::LosesLine, Some(own)) => lines
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != own)
                .map(|(_, line)| *line)
                .collect(),
            (CarelessUndo::DoublesLine, Some(own)) => format!("{text}{}", lines[own]),
            (CarelessUndo::WritesOldText, _) => {
                let step = self.steps_of(scope).pop();
                let old = step.and_then(|step| step.before.get(path.as_str()).cloned());
                old.map_or(text, |old| text_of(&old))
            }
            _ => return,
        };
        fs::write(root.join(path.as_str()), after).expect("written");
    }

    fn tell_result(&mut self, result: &Result<UndoResult, UserError>) {
        let told = match result {
            Ok(result) => {
                let conflicts =
                    result.conflicts.iter().map(|one| format!("{}: {}", one.path, one.why));
                let conflicts: Vec<_> = conflicts.collect();
                format!(
                    "  changed {:?}, left {}, conflicts {conflicts:?}",
                    result.changed, result.left
                )
            }
            Err(error) => format!("  refused: {}", error.message),
        };
        self.story.push(told);
    }

    /// The result names the notes that are different now, and no others.
    fn check_told(&mut self, before: &Files, result: &Result<UndoResult, UserError>) {
        let after = &self.known.files;
        let none = Vec::new();
        let (told, is_done) = match result {
            Ok(result) => (&result.changed, result.change_set.is_some()),
            Err(_) => (&none, false),
        };
        let is_different =
            |path: &&String| !is_in_trash(path) && before.get(*path) != after.get(*path);
        let is_own = |path: &&String| {
            let added = |word: &String| self.appended_last.contains(word);
            let words = |files: &Files| {
                files.get(*path).map(|bytes| marking_words(&text_of(bytes))).unwrap_or_default()
            };
            words(after).iter().any(added)
        };
        let different: Vec<&String> =
            after.keys().filter(is_different).filter(|path| !is_own(path)).collect();
        if !different.is_empty() && !is_done {
            self.wrong.push(format!("{different:?} changed, and the result says that nothing did"));
        }
        let is_told = |path: &str| {
            let is_in = |told: &&protocol::NotePath| {
                told.as_str() == path || super::tracked_notes::is_below(path, told.as_str())
            };
            told.iter().any(|one| is_in(&one))
        };
        let untold: Vec<_> = different.into_iter().filter(|path| !is_told(path)).collect();
        if !untold.is_empty() {
            self.wrong.push(format!("the result does not name {untold:?}"));
        }
    }

    /// After a clean undo all of it is listed as undone, after a clean redo as standing.
    fn check_reverted(&mut self, scope: &UndoScope, action: UndoAction, concerned: &[EffectId]) {
        // Some hunks are not the whole, and a set that is listed with one turn may hold changes of others.
        match scope {
            UndoScope::Effect { hunks, .. } if !hunks.is_empty() => return,
            UndoScope::Turn { .. } => return,
            _ => {}
        }
        for effect in concerned {
            let effect = self.known.effects.get(effect);
            // The user may have removed the lines already, and a folder stays while something is in it.
            let is_loose = |hunk: &HunkWords| !hunk.added.is_disjoint(&self.known.loose_words);
            // A redo of what a later edit made already finds nothing to do.
            let is_made_again = |hunk: &HunkWords| {
                action == UndoAction::Redo && self.known.effects.made_again(effect, hunk)
            };
            if effect.note.kind == ChangeKind::MakeFolder
                || effect.hunks.iter().any(|hunk| is_loose(hunk) || is_made_again(hunk))
            {
                continue;
            }
            if effect.is_undone() == (action == UndoAction::Redo) {
                let (path, standing) = (&effect.note.path, effect.note.standing);
                self.wrong.push(format!(
                    "after {action:?} without a conflict {path} is listed as {standing:?}"
                ));
            }
        }
    }

    /// The bytes that an undo of a whole set brings back: of notes that are as the set left them.
    fn bytes_to_restore(&self, scope: &UndoScope, action: UndoAction) -> Files {
        let effects = self.known.effects.in_scope(scope);
        let is_whole = |effect: &&ListedEffect| effect.note.standing == ChangeStatus::Stands;
        let (UndoScope::ChangeSet { .. }, UndoAction::Undo, true) =
            (scope, action, effects.iter().all(is_whole))
        else {
            return Files::new();
        };
        let steps = self.steps_of(scope);
        let [step] = steps.as_slice() else { return Files::new() };
        // Links by a name that several notes have may be written in another way.
        if step.is_shared
            || [&step.before, &step.after, &self.known.files].into_iter().any(are_names_shared)
        {
            return Files::new();
        }
        let paths: BTreeSet<&String> = step.before.keys().chain(step.after.keys()).collect();
        let others: Vec<&ListedEffect> = step
            .made
            .iter()
            .map(|id| self.known.effects.get(id))
            .filter(|made| !effects.iter().any(|one| one.note.effect == made.note.effect))
            .collect();
        let is_its = |path: &String| {
            effects.iter().any(|effect| effect.names(path))
                && !others.iter().any(|other| other.names(path))
        };
        let is_touched =
            |path: &String| step.before.get(path) != step.after.get(path) && !is_in_trash(path);
        let touched: Vec<&String> = paths.into_iter().filter(|path| is_touched(path)).collect();
        let is_as_left = |path: &String| step.after.get(path) == self.known.files.get(path);
        if !touched.iter().all(|path| is_its(path) && is_as_left(path)) {
            return Files::new();
        }
        touched
            .into_iter()
            .filter_map(|path| Some((path.clone(), step.before.get(path)?.clone())))
            .collect()
    }

    /// The steps that made changes of a scope.
    fn steps_of(&self, scope: &UndoScope) -> Vec<&ChangingStep> {
        let effects = self.known.effects.in_scope(scope);
        let ids: BTreeSet<&EffectId> = effects.iter().map(|effect| &effect.note.effect).collect();
        self.steps.iter().filter(|step| step.made.iter().any(|id| ids.contains(id))).collect()
    }

    /// Whether these notes are as they were, after a request that found the vault with the files of `before`.
    fn check_restored(&mut self, restored: &Files, before: &Files) {
        for (path, bytes) in restored {
            // A note comes back in its folder, wherever the user moved that.
            let Some(now) = self.known.files.get(path) else { continue };
            let (was, now) = (text_of(bytes), text_of(now));
            // Where the move made a link relative, the way back keeps it so. Where it leads is checked for all notes.
            let has_moved = !before.contains_key(path);
            let is_restored =
                was == now || (has_moved && with_links_by_name(&was) == with_links_by_name(&now));
            if !is_restored {
                self.wrong
                    .push(format!("{path} was {was:?} before, and is {now:?} after the undo"));
            }
        }
        self.tally.restored += restored.len();
    }

    async fn reapply(&mut self, effect: &ListedEffect) {
        self.story.push(format!("the user reapplies the change of {}", effect.note.path));
        let mut permission = StepPermission::default();
        permission.make(&effect.hunks);
        self.known.allow_notes(&mut permission, [effect]);
        permission.is_chosen = true;
        let result = self.app().app.reapply(&effect.note.effect).await;
        self.tell_result(&result);
        self.end_step(&permission).await;
        self.tally.reapplied += usize::from(result.is_ok());
        if let Ok(result) = result {
            self.answer_conflicts(result.conflicts, 0).await;
        }
    }

    async fn answer_conflicts(&mut self, conflicts: Vec<UndoConflict>, depth: usize) {
        for conflict in conflicts.into_iter().take(MAX_ANSWERS) {
            if depth >= MAX_ANSWERS || self.random.u8(0..3) == 0 || !self.wrong.is_empty() {
                return;
            }
            if self.random.u8(0..6) == 0 {
                self.user_step();
            }
            if !self.wrong.is_empty() {
                return;
            }
            let result = match self.random.choice(conflict.candidates.clone()) {
                Some(note) => self.name_note(&conflict, note).await,
                None if conflict.shown.is_some() || !conflict.places.is_empty() => {
                    self.choose_version(&conflict).await
                }
                None => continue,
            };
            if let Ok(result) = result {
                self.tally.answered += 1;
                Box::pin(self.answer_conflicts(result.conflicts, depth + 1)).await;
            }
        }
    }

    /// The user says which note a change is about.
    async fn name_note(
        &mut self,
        conflict: &UndoConflict,
        note: protocol::changes::history::UndoCandidate,
    ) -> Result<UndoResult, UserError> {
        self.story.push(format!("the user says that {} is {}", conflict.path, note.path));
        let scope =
            UndoScope::Effect { effect: conflict.effect.clone(), hunks: conflict.hunks.clone() };
        let mut permission = self.permission_to_answer(&scope);
        let target = UndoTarget {
            action: conflict.action,
            effect: conflict.effect.clone(),
            hunks: conflict.hunks.clone(),
            note,
        };
        permission.is_chosen = true;
        permission.notes = None;
        self.known.join_notes(&conflict.effect, target.note.path.as_str());
        let result = self.app().app.undo_in_note(&target).await;
        self.tell_result(&result);
        self.end_step(&permission).await;
        result
    }

    /// The user takes the version that the request wants.
    async fn choose_version(&mut self, conflict: &UndoConflict) -> Result<UndoResult, UserError> {
        self.story.push(format!(
            "the user takes the other version of {}: {:?}",
            conflict.path, conflict.places
        ));
        let scope = UndoScope::Effect { effect: conflict.effect.clone(), hunks: Vec::new() };
        let mut permission = self.permission_to_answer(&scope);
        for place in &conflict.places {
            permission.may_vanish.extend(marking_words(&place.now));
            permission.may_appear.extend(marking_words(&place.back));
        }
        permission.is_chosen = true;
        permission.notes = None;
        let result = self.app().app.resolve_conflict(conflict).await;
        self.tell_result(&result);
        self.end_step(&permission).await;
        // A note that was gone is there again, in a new file.
        self.known.join_notes(&conflict.effect, conflict.path.as_str());
        result
    }
}
