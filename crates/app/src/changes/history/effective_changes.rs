//! Which changes still count.
//!
//! An undo that finds nothing to do in a note cannot be recorded there: its lines or the whole note are gone, or another
//! program reverted the links. So an edit of which only links of moves are left counts as undone while the moves are.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use protocol::{CallId, ChangeSetId, ContentHash, Effect, EffectId, UserError};
use store::{RevertRow, Store};
use vault::merge::hunks;
use vault::undo::{EffectivePart, Hunks, Revert, Reverts};

use crate::changes::diff::displayed_sides;
use crate::changes::undo::undoable_hunks::{StandingMove, undoable_hunks};
use crate::support::blocking::run_blocking;
use crate::user_texts;

/// An effect that happened.
pub(crate) async fn find_effect(store: &Store, effect: &EffectId) -> Result<Effect, UserError> {
    let found = store.effect(effect).await?;
    found.ok_or_else(|| UserError::other(user_texts::change_not_in_history()))
}

/// The bytes before and after an effect; none where there are none or they are not kept.
pub(crate) async fn before_and_after(
    store: &Store,
    effect: &Effect,
) -> Result<(Vec<u8>, Vec<u8>), UserError> {
    let hashes: Vec<ContentHash> = effect.before.iter().chain(&effect.after).cloned().collect();
    let mut kept = store.contents(&hashes).await?;
    let mut take = |hash: Option<&ContentHash>| match hash {
        Some(hash) if effect.before == effect.after => kept.get(hash).cloned(),
        Some(hash) => kept.remove(hash),
        None => None,
    };
    let before = take(effect.before.as_ref()).unwrap_or_default();
    let after = take(effect.after.as_ref()).unwrap_or_default();
    Ok(displayed_sides(effect.kind, before, after))
}

/// The effects that are still applied, and the parts of them that were undone.
pub(crate) async fn effective_changes(store: &Store) -> Result<Reverts, UserError> {
    from_rows(store, store.reverts().await?).await
}

/// The same for rows that were read.
pub(super) async fn from_rows(store: &Store, rows: Vec<RevertRow>) -> Result<Reverts, UserError> {
    let mut reverts = Reverts::from_reverts(rows.into_iter().map(|row| Revert {
        by: row.by,
        effect: row.effect,
        hunks: row.hunks.map_or(Hunks::All, Hunks::Some),
    }));
    add_edits_of_undone_moves(store, &mut reverts).await?;
    Ok(reverts)
}

/// Adds the edits that are not recorded as undone whole though all moves of their units are undone, if these moves rewrote
/// links in them.
async fn add_edits_of_undone_moves(store: &Store, reverts: &mut Reverts) -> Result<(), UserError> {
    let members = store.units_of_undone_moves().await?;
    let mut moves: HashMap<(ChangeSetId, CallId), Vec<EffectId>> = HashMap::new();
    for one in members.iter().filter(|one| one.is_move) {
        let unit = (one.change_set.clone(), one.unit.clone());
        moves.entry(unit).or_default().push(one.effect.clone());
    }
    let is_undone = |one: &EffectId| reverts.effective_part(one) == EffectivePart::Nothing;
    moves.retain(|_, moves| moves.iter().all(is_undone));
    let mut found: HashMap<(ChangeSetId, CallId), Arc<Vec<StandingMove>>> = HashMap::new();
    // Newest first: only later effects undo an edit, so it is known by then which of these count.
    for edit in members.into_iter().filter(|one| !one.is_move) {
        let unit = (edit.change_set, edit.unit);
        let Some(moves) = moves.get(&unit) else { continue };
        if reverts.effective_part(&edit.effect) == EffectivePart::Nothing {
            continue;
        }
        let moved = match found.get(&unit) {
            Some(moved) => Arc::clone(moved),
            None => {
                let moved = Arc::new(find_moves(store, moves).await?);
                found.insert(unit, Arc::clone(&moved));
                moved
            }
        };
        if let Some(other_hunks) = hunks_without_links_of(store, &edit.effect, moved).await? {
            reverts.add_edit_with_moves(edit.effect, moves.clone(), other_hunks);
        }
    }
    Ok(())
}

async fn find_moves(store: &Store, moves: &[EffectId]) -> Result<Vec<StandingMove>, UserError> {
    let mut moved = Vec::with_capacity(moves.len());
    for one in moves {
        moved.extend(StandingMove::of(&find_effect(store, one).await?));
    }
    Ok(moved)
}

/// The hunks of an edit without those that only rewrote links for these moves; `None` if there are none of those, or if a
/// hunk has such links and other changes, or if the texts are not known.
async fn hunks_without_links_of(
    store: &Store,
    edit: &EffectId,
    moved: Arc<Vec<StandingMove>>,
) -> Result<Option<BTreeSet<usize>>, UserError> {
    let edit = find_effect(store, edit).await?;
    if edit.purged.is_some() {
        return Ok(None);
    }
    let (before, after) = before_and_after(store, &edit).await?;
    let find = move || {
        let undoable = undoable_hunks(&edit.path, (&before, &after), &moved)?;
        (undoable.len() < hunks(&before, &after).len()).then_some(undoable)
    };
    run_blocking(find).await
}
