//! Undo, redo and reapply; `answers` has the user's answers to conflicts.
//!
//! `vault::undo::plan_undo` plans on the effects of `Store::effects_in_scope` that are not undone yet, on the ledger
//! and on the notes as they are. The result is a change set like any other and goes through `Vault::apply`; the tables `own_set`
//! and `undoing` record it. Redo undoes the set of the undo; of edits of one note that were undone together, `redo_request` makes
//! again those that it is about, each by itself where not all of them can be. `turn_scope` leaves moves of other turns when one
//! turn is undone; `rewritten_links` records the links in edits of other turns that the undo of a move rewrites.
//! `restored_links` rewrites links in lines that come back, to notes that have another place since.

mod answers;
mod conflicts;
mod displayed_bytes;
mod listed_changes;
mod recorded_reverts;
mod redo_request;
mod restored_links;
mod rewritten_links;
pub(crate) mod turn_scope;
pub(crate) mod undoable_hunks;

use std::collections::BTreeSet;

use protocol::changes::history::{AppliedBy, UndoAction, UndoConflict, UndoResult, UndoScope};
use protocol::job::JobKind;
use protocol::{CallId, Change, ChangeSetId, Effect, EffectId, NotePath, TurnId, UserError};
use store::{Store, UserChangeSet};
use vault::undo::{
    ConflictAnswer, LedgerView, UndoDirection, UndoPlan, UndoRequest, plan_answered_undo, plan_undo,
};
use vault::{Applied, ChangeBatch, PlannedChange, Progress, Vault, VaultError};

use conflicts::{refused_conflicts, to_undo_conflict};
use restored_links::{trashed_during_moves, with_restored_links};
use rewritten_links::{LinkHunks, RewrittenLinks, link_hunks_in_conflict};
use turn_scope::{is_undone, parts_to_undo};

use crate::App;
use crate::adapters::ledger::StoreLedger;
use crate::adapters::notes::VaultNotes;
use crate::changes::NoteChanges;
use crate::changes::history::{effective_changes, find_effect};
use crate::changes::link_repair::{LinkedChanges, with_link_updates};
use crate::events::domain_event::DomainEvent;
use crate::support::blocking::run_blocking;
use crate::support::clock::{new_id, now};
use crate::user_texts;

/// How often an undo is planned if a note changes between the plan and the write. Plans that leave more to undo once
/// they are applied do not count.
const MAX_ATTEMPTS: usize = 3;

impl App {
    /// Undoes changes, as far as that needs no guess. To undo the set of an undo is a redo of all that this set undid, and
    /// of nothing else. Durable when it returns.
    pub async fn undo(&self, scope: &UndoScope) -> Result<UndoResult, UserError> {
        let open = self.session().await?;
        let changes = &open.changes;
        let _alone = changes.lock_changes().await?;
        let effects = changes.store.effects_in_scope(scope).await?;
        let wanted = not_yet_undone(&changes.store, scope, &effects).await?;
        let action = changes.action_to_undo(scope).await?;
        changes.undo_as_one_set(&wanted, action).await
    }

    /// Applies the undone parts of these changes again, and no other change of the same notes that was undone with
    /// them. Moves that were undone together are redone together. A change that was undone in parts is redone as a whole:
    /// the hunks of the scope do not count. Durable when it returns.
    pub async fn redo(&self, scope: &UndoScope) -> Result<UndoResult, UserError> {
        let open = self.session().await?;
        let changes = &open.changes;
        let _alone = changes.lock_changes().await?;
        let effects = changes.store.effects_in_scope(scope).await?;
        let wanted = changes.redo_request(&effects).await?;
        if wanted.effects.is_empty() {
            return Err(nothing_to_redo());
        }
        changes.undo_as_one_set(&wanted, UndoAction::Redo).await
    }

    /// Applies a change again that another program has overwritten, and keeps what that program wrote.
    /// Durable when it returns.
    pub async fn reapply(&self, effect: &EffectId) -> Result<UndoResult, UserError> {
        let open = self.session().await?;
        let changes = &open.changes;
        let _alone = changes.lock_changes().await?;
        changes.reapply_effect(effect).await
    }
}

/// The plan of an undo, its conflicts in words, and the change sets of its effects.
type PlannedUndo = (UndoPlan, Vec<UndoConflict>, Vec<ChangeSetId>);

/// The request for whole effects.
fn request_for(action: UndoAction, effects: impl IntoIterator<Item = EffectId>) -> UndoRequest {
    let direction = match action {
        UndoAction::Undo | UndoAction::Redo => UndoDirection::Back,
        UndoAction::Reapply => UndoDirection::Again,
    };
    UndoRequest { direction, ..UndoRequest::undo(effects) }
}

/// How the set of a request is recorded.
const fn applied_by(action: UndoAction) -> AppliedBy {
    match action {
        UndoAction::Undo | UndoAction::Redo => AppliedBy::Undo,
        UndoAction::Reapply => AppliedBy::Reapply,
    }
}

const fn job_kind(action: UndoAction) -> JobKind {
    match action {
        UndoAction::Undo => JobKind::Undoing,
        UndoAction::Redo | UndoAction::Reapply => JobKind::Redoing,
    }
}

/// The parts of a scope that are not undone yet; at least one.
async fn not_yet_undone(
    store: &Store,
    scope: &UndoScope,
    effects: &[Effect],
) -> Result<UndoRequest, UserError> {
    let wanted = parts_to_undo(store, scope, effects).await?;
    if wanted.effects.is_empty() {
        return Err(UserError::other(user_texts::already_undone()));
    }
    Ok(wanted)
}

/// A plan with the notes of its unit, and its changes with what keeps links. `set` has the earlier plans of the same undo.
fn link_plan(
    vault: &Vault,
    ledger: &LedgerView,
    (action, set): (UndoAction, Option<&ChangeSetId>),
    (mut plan, request): (UndoPlan, &UndoRequest),
) -> (UndoPlan, LinkedChanges) {
    let (changes, restored) = match action {
        UndoAction::Undo | UndoAction::Redo => with_restored_links(vault, ledger, &plan),
        UndoAction::Reapply => (plan.changes.clone(), Vec::new()),
    };
    // Their links are right only after the renames.
    plan.unit.extend(restored.into_iter().filter(|_| changes.is_unit()));
    let as_trashed = trashed_during_moves(vault, ledger, (&plan, request), set);
    (plan, with_link_updates(vault, changes, &as_trashed))
}

impl NoteChanges {
    /// Applies an overwritten effect again; the caller holds `change_lock`.
    async fn reapply_effect(&self, effect: &EffectId) -> Result<UndoResult, UserError> {
        self.refuse_undone(effect).await?;
        let wanted = request_for(UndoAction::Reapply, [effect.clone()]);
        let reapplied = self.undo_as_one_set(&wanted, UndoAction::Reapply).await?;
        if reapplied.conflicts.is_empty() && reapplied.left == 0 {
            let reapplied = std::slice::from_ref(effect);
            self.store.clear_overwritten(reapplied).await?;
            let set = find_effect(&self.store, effect).await?.change_set;
            self.emit(DomainEvent::Applied(vec![set]));
        }
        Ok(reapplied)
    }

    /// Plans the undo and applies it as one set; the caller holds `change_lock`.
    async fn undo_as_one_set(
        &self,
        request: &UndoRequest,
        action: UndoAction,
    ) -> Result<UndoResult, UserError> {
        let progress = Progress::default();
        let undo = self.undo_until_stopped(&progress, request, action);
        self.jobs.run(job_kind(action), &progress, undo).await
    }

    async fn undo_until_stopped(
        &self,
        progress: &Progress,
        request: &UndoRequest,
        action: UndoAction,
    ) -> Result<UndoResult, UserError> {
        let (set, first): (ChangeSetId, _) = (new_id(), request.effects.keys().next());
        let Some(first) = first else { return Ok(nothing_undone()) };
        let (turn, mut touched) = (find_effect(&self.store, first).await?.turn, BTreeSet::new());
        let (mut undone, mut wanted) = (nothing_undone(), request.clone());
        let mut unanswered = Vec::new();
        for tries in 1.. {
            let (asked, planned) = self.plan_undo_or_edits(&wanted, action, &set).await?;
            let (plan, conflicts, sets) = planned;
            touched.extend(sets);
            undone.conflicts = conflicts;
            undone.left = 0;
            if plan.changes.is_empty() {
                break;
            }
            let by = applied_by(action);
            let applied = self.apply_user_set(&set, &plan, &turn, by, progress).await?;
            let is_done = |change: &Change| applied.done.contains(&change.path);
            let renames = plan.changes.filter(is_done).renames();
            undone.changed.extend(applied.done.iter().cloned());
            undone.changed.iter_mut().for_each(|path| *path = renames.forward(path));
            let is_stale = |(_, error): &(NotePath, VaultError)| {
                matches!(error, VaultError::Stale { .. } | VaultError::Exists { .. })
            };
            let is_stopped = applied.problems.iter().any(|(_, error)| is_stopped(error));
            let leaves_more = plan.leaves_more() && !applied.done.is_empty();
            let is_stale = tries < MAX_ATTEMPTS && applied.problems.iter().any(is_stale);
            if is_stopped || !(leaves_more || is_stale) {
                let mut refused = refused_conflicts(action, &plan, &applied);
                self.find_listed_changes(&mut refused).await?;
                let left = applied.problems.len().saturating_sub(refused.len());
                undone.left = u32::try_from(left).unwrap_or(u32::MAX);
                undone.conflicts.extend(refused);
                break;
            }
            self.drop_undone(&mut wanted).await?;
            unanswered.extend(dropped_conflicts(&undone.conflicts, &asked, &wanted));
            if wanted.effects.is_empty() {
                undone.conflicts.clear();
                break;
            }
        }
        undone.conflicts.extend(unanswered);
        undone.changed.sort();
        undone.changed.dedup();
        if !undone.changed.is_empty() {
            self.update_places(action, &mut undone.conflicts).await?;
        }
        if !undone.changed.is_empty() {
            undone.change_set = Some(set.clone());
            touched.insert(set);
        }
        touched.extend(self.sets_undone_by(request).await?);
        self.emit(DomainEvent::Applied(touched.into_iter().collect()));
        Ok(undone)
    }

    /// The sets of the changes that these effects had undone: their state changes with this undo.
    async fn sets_undone_by(
        &self,
        request: &UndoRequest,
    ) -> Result<BTreeSet<ChangeSetId>, UserError> {
        let rows = self.store.reverts().await?;
        let mut by: Vec<EffectId> = request.effects.keys().cloned().collect();
        let (mut seen, mut sets) = (BTreeSet::new(), BTreeSet::new());
        while let Some(one) = by.pop() {
            for row in rows.iter().filter(|row| row.by == one) {
                if seen.insert(row.effect.clone()) {
                    sets.insert(find_effect(&self.store, &row.effect).await?.change_set);
                    by.push(row.effect.clone());
                }
            }
        }
        Ok(sets)
    }

    /// Plans on the notes as they are, and as earlier plans of the set left them. Where a redo can undo only a part of a
    /// change that had undone several edits, the plan is for a request about each of these edits: the one that is returned
    /// with it.
    async fn plan_undo_or_edits(
        &self,
        request: &UndoRequest,
        action: UndoAction,
        set: &ChangeSetId,
    ) -> Result<(UndoRequest, PlannedUndo), UserError> {
        let planned = self.plan_with_answer(request, action, None, Some(set)).await?;
        let one_by_one = match action {
            UndoAction::Redo => self.redo_one_by_one(request, &planned.0).await?,
            UndoAction::Undo | UndoAction::Reapply => None,
        };
        let Some(one_by_one) = one_by_one else { return Ok((request.clone(), planned)) };
        let planned = self.plan_with_answer(&one_by_one, action, None, Some(set)).await?;
        Ok((one_by_one, planned))
    }

    /// Plans on the notes as they are.
    async fn plan_undo(
        &self,
        request: &UndoRequest,
        action: UndoAction,
    ) -> Result<PlannedUndo, UserError> {
        self.plan_with_answer(request, action, None, None).await
    }

    /// The same, together with the user's answer to a conflict, or after earlier plans of a set.
    async fn plan_with_answer(
        &self,
        request: &UndoRequest,
        action: UndoAction,
        answer: Option<ConflictAnswer>,
        set: Option<&ChangeSetId>,
    ) -> Result<PlannedUndo, UserError> {
        let mut ledger = self.history_since(request).await?;
        let is_wanted = |effect: &&Effect| request.effects.contains_key(&effect.id);
        let sets =
            ledger.effects().iter().filter(is_wanted).map(|effect| effect.change_set.clone());
        let sets = sets.collect();
        let (notes, wanted) = (VaultNotes(self.vault.clone()), request.clone());
        let (vault, set) = (self.vault.clone(), set.cloned());
        let plan = run_blocking(move || {
            let plan_with = |ledger: &LedgerView| match &answer {
                Some(answer) => plan_answered_undo(ledger, &wanted, &notes, answer),
                None => plan_undo(ledger, &wanted, &notes),
            };
            let linked = |ledger: &LedgerView, plan: UndoPlan| {
                link_plan(&vault, ledger, (action, set.as_ref()), (plan, &wanted))
            };
            let first = plan_with(&ledger);
            let link_hunks = match action {
                UndoAction::Undo | UndoAction::Redo => {
                    link_hunks_in_conflict(&ledger, &wanted, &first)
                }
                UndoAction::Reapply => Vec::new(),
            };
            for one in &link_hunks {
                ledger.add_link_hunks(one.edit.clone(), one.hunks.clone());
            }
            let without_links =
                (!link_hunks.is_empty()).then(|| linked(&ledger, plan_with(&ledger)));
            let without_links = without_links.filter(|(plan, updates)| {
                let is_led =
                    |one: &LinkHunks| one.are_led_back(&ledger, &plan.undone, updates, &notes);
                link_hunks.iter().all(is_led)
            });
            let (mut plan, updates) = without_links.unwrap_or_else(|| linked(&ledger, first));
            // The answer is about the file that is shown: follow it through saves that replace it.
            let shown = plan.conflicts.iter().flat_map(|conflict| &conflict.candidates);
            vault.track_files(shown.map(|note| (note.path.clone(), note.file)));
            let conflicts = plan.conflicts.iter();
            let conflicts = conflicts.map(|conflict| to_undo_conflict(action, conflict, &vault));
            let conflicts: Vec<UndoConflict> = conflicts.collect();
            let LinkedChanges { changes, linking, .. } = updates;
            let rewritten = match action {
                UndoAction::Undo => RewrittenLinks::find(&ledger, &plan.undone, &linking, &notes),
                UndoAction::Redo | UndoAction::Reapply => RewrittenLinks::default(),
            };
            plan.unit.extend(linking);
            (UndoPlan { changes, ..plan }, conflicts, rewritten)
        });
        let (mut plan, mut conflicts, rewritten) = plan.await?;
        self.find_listed_changes(&mut conflicts).await?;
        plan.undone.extend(rewritten.undone_hunks(&self.store).await?);
        Ok((plan, conflicts, sets))
    }

    /// The ledger since the earliest of the requested effects.
    async fn history_since(&self, request: &UndoRequest) -> Result<LedgerView, UserError> {
        let first = self.earliest_effect(request).await?;
        let effects = self.store.effects_since(&first).await?;
        self.history_with_contents(effects, request).await
    }

    /// A ledger with the contents that the request needs.
    pub(crate) async fn history_with_contents(
        &self,
        effects: Vec<Effect>,
        request: &UndoRequest,
    ) -> Result<LedgerView, UserError> {
        let mut ledger = LedgerView::new(effects);
        let needs: Vec<_> = ledger.missing_contents(request).into_iter().collect();
        for (hash, content) in self.store.contents(&needs).await? {
            ledger.add_content(hash, content);
        }
        let standings = effective_changes(&self.store).await?;
        let mut undone = Vec::new();
        for effect in ledger.effects().iter().filter(|effect| effect.unit.is_some()) {
            if is_undone(&self.store, &standings, effect).await? {
                undone.push(effect.id.clone());
            }
        }
        undone.into_iter().for_each(|effect| ledger.add_undone(effect));
        for succession in self.store.successions().await? {
            ledger.add_succession(succession);
        }
        Ok(ledger)
    }

    /// The earliest of the requested effects and of the edits to make again.
    async fn earliest_effect(&self, request: &UndoRequest) -> Result<EffectId, UserError> {
        let redone = request.redone.values().flat_map(|edits| edits.keys());
        let all: Vec<EffectId> = request.effects.keys().chain(redone).cloned().collect();
        let first = self.store.earliest_effect(&all).await?;
        first.ok_or_else(|| UserError::other(user_texts::nothing_to_undo()))
    }

    /// Applies a plan of a set of the user's own. Stored before it is applied; the caller holds `change_lock`.
    /// Each plan of a set has a call of its own, by which it is known what it undid.
    pub(crate) async fn apply_user_set(
        &self,
        set: &ChangeSetId,
        plan: &UndoPlan,
        turn: &TurnId,
        by: AppliedBy,
        progress: &Progress,
    ) -> Result<Applied, UserError> {
        let reverts = match by {
            AppliedBy::Undo => self.recorded_reverts(plan).await?,
            _ => Vec::new(),
        };
        let call: CallId = new_id();
        let (reverts, moved) = (reverts.as_slice(), plan.moved.as_slice());
        let own = UserChangeSet { id: set, call: &call, by, reverts, moved, turn, at: now() };
        self.store.begin_user_change_set(&own).await?;
        let changes = plan.changes.changes().map(|change| PlannedChange {
            change: change.clone(),
            turn: turn.clone(),
            call: call.clone(),
            unit: plan.unit.contains(&change.path).then(|| call.clone()),
            file: plan.files.get(&change.path).copied(),
        });
        let order = ChangeBatch { change_set: set.clone(), changes: changes.collect() };
        progress.expect(order.changes.len());
        let ledger = StoreLedger(self.store.clone());
        let applied = self.indexer.apply(&self.vault, order, &ledger, progress).await;
        Ok(applied?)
    }
}

const fn is_stopped(error: &VaultError) -> bool {
    matches!(error, VaultError::Stopped { .. })
}

/// The conflicts about edits that were to be made again, and that what is left of the request is not about.
fn dropped_conflicts(
    conflicts: &[UndoConflict],
    asked: &UndoRequest,
    left: &UndoRequest,
) -> Vec<UndoConflict> {
    let is_dropped = |conflict: &&UndoConflict| {
        let undid = asked.redone.iter().filter(|(_, edits)| edits.contains_key(&conflict.effect));
        let mut undid = undid.map(|(by, _)| by).peekable();
        undid.peek().is_some() && undid.all(|by| !left.effects.contains_key(by))
    };
    conflicts.iter().filter(is_dropped).cloned().collect()
}

fn nothing_to_redo() -> UserError {
    UserError::other(user_texts::nothing_to_redo())
}

const fn nothing_undone() -> UndoResult {
    UndoResult { change_set: None, changed: Vec::new(), conflicts: Vec::new(), left: 0 }
}

#[cfg(test)]
mod tests;
