//! The user takes changes back, puts them in again, or settles what conflicts.

use std::collections::{BTreeMap, BTreeSet};

use protocol::applied::{AppliedBy, ConflictPlace, Identified, UndoConflict, UndoScope, Undone};
use protocol::work::WorkKind;
use protocol::{
    CallId, Change, ChangeKind, ChangeSet, ChangeSetId, Effect, EffectId, NotePath, TurnId,
    UserError,
};
use store::OwnSet;
use vault::undo::{
    Conflict, Counts, Direction, Hunks, Past, Taken, Undoing, Wanted, Why, take_back,
};
use vault::{Applied, Order, Planned, Progress, VaultError};

use crate::App;
use crate::announce::News;
use crate::applied::{standings, the_effect, versions};
use crate::aside::aside;
use crate::clock::{fresh, now};
use crate::open_vault::OpenVault;
use crate::ports::ledger::StoreLedger;
use crate::ports::notes::VaultNotes;
use crate::relink::with_links;
use crate::trouble::{not_applied, of_note, user_error};

/// How often it is planned anew when a note changes between the plan and the write.
const TRIES: usize = 3;

impl App {
    /// Takes changes back, as far as that needs no guess. Durable when it returns.
    pub async fn undo(&self, scope: &UndoScope) -> Result<Undone, UserError> {
        let open = self.open().await?;
        let _alone = open.deciding.lock().await;
        let effects = open.store.effects_in(scope).await.map_err(user_error)?;
        let wanted = still_counting(&open, scope, &effects).await?;
        open.take_back(&wanted, AppliedBy::Undo, WorkKind::Undoing).await
    }

    /// Puts back what was taken back of these changes.
    pub async fn redo(&self, scope: &UndoScope) -> Result<Undone, UserError> {
        let open = self.open().await?;
        let _alone = open.deciding.lock().await;
        let effects = open.store.effects_in(scope).await.map_err(user_error)?;
        let standings = standings(&open.store).await?;
        let rows = open.store.undoings().await.map_err(user_error)?;
        let in_scope: BTreeSet<&EffectId> = effects.iter().map(|effect| &effect.id).collect();
        let took_back = rows.iter().filter(|row| in_scope.contains(&row.effect));
        let took_back = took_back.filter(|row| standings.counts(&row.by) != Counts::Nothing);
        let wanted = Wanted::back(took_back.map(|row| row.by.clone()));
        if wanted.effects.is_empty() {
            return Err(UserError::other(
                "Nothing of this was taken back: there is nothing to redo.",
            ));
        }
        open.take_back(&wanted, AppliedBy::Undo, WorkKind::Redoing).await
    }

    /// Puts in again what another program has overwritten, beside what it wrote.
    pub async fn reapply(&self, effect: &EffectId) -> Result<Undone, UserError> {
        let open = self.open().await?;
        let _alone = open.deciding.lock().await;
        let effects = BTreeMap::from([(effect.clone(), Hunks::All)]);
        let wanted = Wanted { effects, direction: Direction::Again };
        let undone = open.take_back(&wanted, AppliedBy::Reapply, WorkKind::Redoing).await?;
        if undone.conflicts.is_empty() {
            open.store.clear_overwritten(effect).await.map_err(user_error)?;
            let set = the_effect(&open.store, effect).await?.change_set;
            open.announce(News::Applied(vec![set]));
        }
        Ok(undone)
    }

    /// Takes the user's word for which note a change is about, and undoes the change there. Durable when
    /// it returns: later undos of the same note know it too.
    pub async fn undo_in(&self, identified: &Identified) -> Result<Undone, UserError> {
        let open = self.open().await?;
        let _alone = open.deciding.lock().await;
        let Identified { effect, path } = identified;
        let wanted = Wanted::back([effect.clone()]);
        let past = open.past_since(&wanted).await?;
        let (notes, effect, path) = (VaultNotes(open.vault.clone()), effect.clone(), path.clone());
        let moved = aside(move || vault::undo::identified(&past, &effect, &path, &notes)).await?;
        let moved = moved.ok_or_else(|| {
            UserError::other(
                "There is no note at that path any more. Undo again to choose another one.",
            )
        })?;
        let turn = the_effect(&open.store, &identified.effect).await?.turn;
        let own = OwnSet {
            id: &fresh(),
            by: AppliedBy::Undo,
            undoings: &[],
            moved: &[moved],
            turn: &turn,
            at: now(),
        };
        open.store.begin_own_set(&own).await.map_err(user_error)?;
        let scope = UndoScope::Effect { effect: identified.effect.clone(), hunks: Vec::new() };
        let effects = open.store.effects_in(&scope).await.map_err(user_error)?;
        let wanted = still_counting(&open, &scope, &effects).await?;
        open.take_back(&wanted, AppliedBy::Undo, WorkKind::Undoing).await
    }

    /// Writes the earlier version in each place of a conflict where the note is as the user saw it.
    pub async fn settle_conflict(&self, conflict: &UndoConflict) -> Result<Undone, UserError> {
        let open = self.open().await?;
        let _alone = open.deciding.lock().await;
        let effect = the_effect(&open.store, &conflict.effect).await?;
        let past = open.past_since(&Wanted::back([effect.id.clone()])).await?;
        let (vault, path) = (open.vault.clone(), conflict.path.clone());
        let (notes, id) = (VaultNotes(open.vault.clone()), effect.id.clone());
        let read = move || (vault.bytes(&path), vault::undo::note_now(&past, &id, &notes));
        let (bytes, its_place) = aside(read).await?;
        let bytes = match bytes {
            // Another note may have come there since the conflict was shown.
            Ok(_) if its_place.as_ref() != Some(&conflict.path) => return Err(moved_on()),
            Ok(bytes) => Some(bytes),
            Err(VaultError::NotFound { .. }) => None,
            Err(error) => return Err(of_note(&error)),
        };
        let change = settled(&effect, conflict, bytes)?;
        let undoing =
            Undoing { effect: effect.id.clone(), path: conflict.path.clone(), hunks: Hunks::All };
        let taken =
            Taken { changes: ChangeSet::one(change), undoings: vec![undoing], ..Taken::default() };
        let set = fresh();
        let unwatched = Progress::default();
        let applied =
            open.apply_own(&set, &taken, &effect.turn, AppliedBy::Undo, &unwatched).await?;
        if let Some((_, error)) = applied.problems.first() {
            return Err(of_note(error));
        }
        open.announce(News::Applied(vec![set.clone(), effect.change_set]));
        Ok(Undone { change_set: Some(set), changed: applied.done, ..nothing() })
    }
}

/// What of a scope was not taken back yet.
async fn still_counting(
    open: &OpenVault,
    scope: &UndoScope,
    effects: &[Effect],
) -> Result<Wanted, UserError> {
    let standings = standings(&open.store).await?;
    let mut wanted = Wanted::back([]);
    for effect in effects {
        let asked = match scope {
            UndoScope::Effect { effect: one, hunks } if *one == effect.id && !hunks.is_empty() => {
                Hunks::Some(hunks.iter().filter_map(|hunk| usize::try_from(*hunk).ok()).collect())
            }
            // Hunks are of one note, and leave the others of its unit alone.
            UndoScope::Effect { hunks, .. } if !hunks.is_empty() => continue,
            _ => Hunks::All,
        };
        let left = match standings.counts(&effect.id) {
            Counts::Nothing => continue,
            Counts::Whole => asked,
            // It cannot be taken back at all, and that is said.
            Counts::Without(_) if effect.forgotten.is_some() => asked,
            Counts::Without(gone) => {
                let (before, after) = versions(&open.store, effect).await?;
                let all = 0..vault::merge::hunks(&before, &after).len();
                Hunks::Some(all.filter(|hunk| asked.has(*hunk) && !gone.contains(hunk)).collect())
            }
        };
        if left != Hunks::Some(BTreeSet::new()) {
            wanted.effects.insert(effect.id.clone(), left);
        }
    }
    if wanted.effects.is_empty() {
        return Err(UserError::other("This is taken back already, or nothing was changed."));
    }
    Ok(wanted)
}

impl OpenVault {
    /// Plans and applies it as one set; the caller holds `deciding`.
    async fn take_back(
        &self,
        wanted: &Wanted,
        by: AppliedBy,
        kind: WorkKind,
    ) -> Result<Undone, UserError> {
        let progress = Progress::default();
        self.works.watch(kind, &progress, self.take_back_until(&progress, wanted, by)).await
    }

    async fn take_back_until(
        &self,
        progress: &Progress,
        wanted: &Wanted,
        by: AppliedBy,
    ) -> Result<Undone, UserError> {
        let (set, first): (ChangeSetId, _) = (fresh(), wanted.effects.keys().next());
        let Some(first) = first else { return Ok(nothing()) };
        let (turn, mut touched) = (the_effect(&self.store, first).await?.turn, BTreeSet::new());
        let mut undone = nothing();
        for tries in 1.. {
            let (taken, sets) = self.plan(wanted).await?;
            touched.extend(sets);
            undone.conflicts = taken.conflicts.iter().map(told).collect();
            undone.left = 0;
            if taken.changes.is_empty() {
                break;
            }
            let applied = self.apply_own(&set, &taken, &turn, by, progress).await?;
            let renames = taken.changes.renames();
            undone.changed.extend(applied.done.iter().map(|path| renames.forward(path)));
            let is_stale = |(_, error): &(NotePath, VaultError)| {
                matches!(error, VaultError::Stale { .. } | VaultError::Exists { .. })
            };
            let is_stopped = applied.problems.iter().any(|(_, error)| is_stopped(error));
            if !applied.problems.iter().any(is_stale) || tries == TRIES || is_stopped {
                let refused = refused(&taken, &applied);
                let left = applied.problems.len().saturating_sub(refused.len());
                undone.left = u32::try_from(left).unwrap_or(u32::MAX);
                undone.conflicts.extend(refused);
                break;
            }
        }
        undone.changed.sort();
        undone.changed.dedup();
        if !undone.changed.is_empty() {
            undone.change_set = Some(set.clone());
            touched.insert(set);
        }
        touched.extend(self.taken_back_by(wanted).await?);
        self.announce(News::Applied(touched.into_iter().collect()));
        Ok(undone)
    }

    /// The sets of what these effects took back themselves: they stand otherwise now, too.
    async fn taken_back_by(&self, wanted: &Wanted) -> Result<BTreeSet<ChangeSetId>, UserError> {
        let rows = self.store.undoings().await.map_err(user_error)?;
        let mut by: Vec<EffectId> = wanted.effects.keys().cloned().collect();
        let (mut seen, mut sets) = (BTreeSet::new(), BTreeSet::new());
        while let Some(one) = by.pop() {
            for row in rows.iter().filter(|row| row.by == one) {
                if seen.insert(row.effect.clone()) {
                    sets.insert(the_effect(&self.store, &row.effect).await?.change_set);
                    by.push(row.effect.clone());
                }
            }
        }
        Ok(sets)
    }

    /// What taking back comes to now, and the sets that are wanted.
    async fn plan(&self, wanted: &Wanted) -> Result<(Taken, Vec<ChangeSetId>), UserError> {
        let past = self.past_since(wanted).await?;
        let is_wanted = |effect: &&Effect| wanted.effects.contains_key(&effect.id);
        let sets = past.effects().iter().filter(is_wanted).map(|effect| effect.change_set.clone());
        let sets = sets.collect();
        let (notes, wanted) = (VaultNotes(self.vault.clone()), wanted.clone());
        let vault = self.vault.clone();
        let taken = aside(move || {
            let taken = take_back(&past, &wanted, &notes);
            Taken { changes: with_links(&vault, taken.changes), ..taken }
        });
        Ok((taken.await?, sets))
    }

    /// The past since the earliest of the wanted effects.
    async fn past_since(&self, wanted: &Wanted) -> Result<Past, UserError> {
        let first = self.first_of(wanted).await?;
        let effects = self.store.past(&first).await.map_err(user_error)?;
        self.known(effects, wanted).await
    }

    /// A past with the contents that are needed for what is wanted.
    pub(crate) async fn known(
        &self,
        effects: Vec<Effect>,
        wanted: &Wanted,
    ) -> Result<Past, UserError> {
        let mut past = Past::new(effects);
        let needs: Vec<_> = past.needs(wanted).into_iter().collect();
        for (hash, content) in self.store.contents(&needs).await.map_err(user_error)? {
            past.know(hash, content);
        }
        for succession in self.store.successions().await.map_err(user_error)? {
            past.succeed(succession);
        }
        Ok(past)
    }

    /// The earliest of the wanted effects. Their ids sort by time.
    async fn first_of(&self, wanted: &Wanted) -> Result<EffectId, UserError> {
        let first = wanted.effects.keys().next().cloned();
        first.ok_or_else(|| UserError::other("There is nothing to take back."))
    }

    /// Applies a set of the user's own. Stored before it is applied; the caller holds `deciding`.
    pub(crate) async fn apply_own(
        &self,
        set: &ChangeSetId,
        taken: &Taken,
        turn: &TurnId,
        by: AppliedBy,
        progress: &Progress,
    ) -> Result<Applied, UserError> {
        let undoings = taken.undoings.iter().filter(|_| by == AppliedBy::Undo).map(|undoing| {
            let hunks = match &undoing.hunks {
                Hunks::All => None,
                Hunks::Some(hunks) => Some(hunks.clone()),
            };
            (undoing.path.clone(), undoing.effect.clone(), hunks)
        });
        let undoings: Vec<_> = undoings.collect();
        let own = OwnSet { id: set, by, undoings: &undoings, moved: &taken.moved, turn, at: now() };
        self.store.begin_own_set(&own).await.map_err(user_error)?;
        let call: CallId = fresh();
        let unit = taken.changes.is_unit().then(|| call.clone());
        let changes = taken.changes.changes().map(|change| Planned {
            change: change.clone(),
            turn: turn.clone(),
            call: call.clone(),
            unit: unit.clone(),
            file: taken.files.get(&change.path).copied(),
        });
        let order = Order { change_set: set.clone(), changes: changes.collect() };
        progress.expect(order.changes.len());
        let ledger = StoreLedger(self.store.clone());
        let applied = self.indexing.apply(&self.vault, order, &ledger, progress).await;
        let applied = applied.map_err(|error| not_applied(&error))?;
        self.remember_files(&applied.replaced).await;
        Ok(applied)
    }
}

fn moved_on() -> UserError {
    UserError::other("The note changed again since it was shown: undo again to see it.")
}

/// The change that writes the earlier version where the note is as it was shown.
fn settled(
    effect: &Effect,
    conflict: &UndoConflict,
    bytes: Option<Vec<u8>>,
) -> Result<Change, UserError> {
    let path = conflict.path.clone();
    let Some(bytes) = bytes else {
        let whole = conflict.places.first().ok_or_else(moved_on)?;
        return Ok(Change::create(path, whole.back.as_bytes()));
    };
    if effect.kind == ChangeKind::Create {
        let is_as_shown = |place: &ConflictPlace| {
            place.now.as_bytes() == String::from_utf8_lossy(&bytes).as_bytes()
        };
        let as_shown = conflict.places.first().is_some_and(is_as_shown);
        return as_shown.then(|| Change::trash(path, bytes)).ok_or_else(moved_on);
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut after = Vec::new();
    let mut from = 0;
    for place in &conflict.places {
        let at = usize::try_from(place.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let now = place.now.split_inclusive('\n').count();
        let there = lines.get(at..at.saturating_add(now)).filter(|_| at >= from);
        let there = there.ok_or_else(moved_on)?.concat();
        if String::from_utf8_lossy(&there) != place.now {
            return Err(moved_on());
        }
        after.extend(lines.get(from..at).unwrap_or_default().concat());
        after.extend_from_slice(place.back.as_bytes());
        from = at + now;
    }
    after.extend(lines.get(from..).unwrap_or_default().concat());
    Ok(Change::replace(path, bytes, after))
}

/// A conflict in the user's words.
fn told(conflict: &Conflict) -> UndoConflict {
    let why = match conflict.why {
        Why::Changed => "The same lines were changed since. Choose which version shall stay.",
        Why::Gone if !conflict.candidates.is_empty() => {
            "The note is not where it was. Restore it, or say which note it is now."
        }
        Why::Gone => "The note is not there any more. Bring it back, or take back its deletion.",
        Why::Unsure => {
            "Another file stands in the place of the note, and Vaultmate did not see how it got there. \
             Say which note was changed, or keep everything as it is."
        }
        Why::Taken => "Something else is in its place now. Move that away, then undo again.",
        Why::Moved => "It was moved again since. Take that move back first.",
        Why::Forgotten => "It is too old: the text of that time is not kept any more.",
        Why::Entangled => "It does not go together with the rest. Undo it by itself.",
    };
    let shows = matches!(conflict.why, Why::Changed | Why::Gone);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let place = |place: &vault::undo::Place| ConflictPlace {
        line: u32::try_from(place.line).unwrap_or(u32::MAX).saturating_add(1),
        now: text(&place.now),
        back: text(&place.back),
    };
    UndoConflict {
        effect: conflict.effect.clone(),
        path: conflict.path.clone(),
        why: why.to_owned(),
        places: conflict.places.iter().filter(|_| shows).map(place).collect(),
        candidates: conflict.candidates.clone(),
    }
}

/// Whether it is this note that could not be changed.
const fn is_cause(error: &VaultError) -> bool {
    !is_stopped(error) && !matches!(error, VaultError::TakenBack { .. })
}

const fn is_stopped(error: &VaultError) -> bool {
    matches!(error, VaultError::Stopped { .. })
}

/// So far nothing was changed.
const fn nothing() -> Undone {
    Undone { change_set: None, changed: Vec::new(), conflicts: Vec::new(), left: 0 }
}

/// Of a note that changed between each plan and its write.
const KEPT_CHANGING: &str = "Another program was changing the note all the while. Wait until that is \
                             over, then try again.";

/// What the vault refused, as conflicts of the effects that it was about. Of notes that only go along with
/// one that is told nothing is; where it is none of these effects, as with a link that follows a move,
/// the first of them says so.
fn refused(taken: &Taken, applied: &Applied) -> Vec<UndoConflict> {
    let told = |is_meant: fn(&VaultError) -> bool| {
        let about = move |undoing: &Undoing| {
            let is_its =
                |(path, error): &&(NotePath, VaultError)| *path == undoing.path && is_meant(error);
            let (_, error) = applied.problems.iter().find(is_its)?;
            Some(not_done(undoing, error))
        };
        taken.undoings.iter().filter_map(about)
    };
    let causes: Vec<_> = told(is_cause).collect();
    match causes.is_empty() {
        true => told(|error| matches!(error, VaultError::TakenBack { .. })).take(1).collect(),
        false => causes,
    }
}

fn not_done(undoing: &Undoing, error: &VaultError) -> UndoConflict {
    let why = match error {
        VaultError::Stale { .. } => KEPT_CHANGING.to_owned(),
        other => other.to_string(),
    };
    UndoConflict {
        effect: undoing.effect.clone(),
        path: undoing.path.clone(),
        why,
        places: Vec::new(),
        candidates: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use protocol::NotePath;
    use vault::undo::{Hunks, Taken, Undoing};
    use vault::{Applied, VaultError};

    use super::{KEPT_CHANGING, fresh, refused};

    #[test]
    fn of_a_unit_the_note_that_kept_changing_is_told_and_not_those_that_go_along() {
        let path = |name: &str| NotePath::parse(name).expect("a path");
        let (diary, list, plan) = (path("Diary.md"), path("List.md"), path("Plan.md"));
        let undoing =
            |path: &NotePath| Undoing { effect: fresh(), path: path.clone(), hunks: Hunks::All };
        let taken =
            Taken { undoings: [&diary, &list, &plan].map(undoing).into(), ..Taken::default() };
        let why = String::from("`List.md` changed");
        let problems = vec![
            (diary.clone(), VaultError::TakenBack { path: diary, why }),
            (list.clone(), VaultError::Stale { path: list.clone() }),
            (plan.clone(), VaultError::Stopped { path: plan }),
        ];
        let applied = Applied { problems, ..Applied::default() };

        let told = refused(&taken, &applied);
        assert_eq!(told.len(), 1);
        assert_eq!((&told[0].path, told[0].why.as_str()), (&list, KEPT_CHANGING));

        // A link that follows is nobody's effect.
        let taken = Taken { undoings: vec![taken.undoings[0].clone()], ..Taken::default() };
        let told = refused(&taken, &applied);
        assert_eq!(told.len(), 1);
        assert!(told[0].why.contains("`List.md` changed"), "{}", told[0].why);
    }
}
