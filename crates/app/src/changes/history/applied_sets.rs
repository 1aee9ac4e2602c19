//! How a set of applied changes stands now, and the lines that it adds and removes.

use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::changes::history::{AppliedBy, AppliedNote, AppliedSet, ChangeStatus, UndoScope};
use protocol::{
    AppEvent, ChangeSetId, ConversationId, Effect, EffectId, LineCounts, Timestamp, UserError,
};
use store::Store;
use vault::merge::{DiffHunk, hunks};
use vault::undo::{EffectivePart, Reverts};

use super::effective_changes::{self, before_and_after};
use crate::events::feed::Feed;
use crate::support::blocking::run_blocking;

/// The most changes, in all sets together, that are told set by set: a window shows a page of sets or two.
const MAX_TOLD_EFFECTS: usize = 100;

/// Tells the window how these sets stand now. Returns the conversations that led to them.
pub(crate) async fn publish_sets(
    store: &Store,
    feed: &Feed,
    sets: Vec<ChangeSetId>,
) -> Result<BTreeSet<ConversationId>, UserError> {
    let known = HistoryContext::load(store).await?;
    let mut conversations = BTreeSet::new();
    for change_set in sets.into_iter().collect::<HashSet<_>>() {
        let effects = store.effects_in_scope(&UndoScope::ChangeSet { change_set }).await?;
        if let Some(set) = known.applied_set(store, effects).await? {
            conversations.extend(set.conversation.clone());
            feed.publish(AppEvent::AppliedChanged { set });
        }
    }
    Ok(conversations)
}

/// The sets that stand differently since these effects have lost their texts; `None` where they are many.
pub(crate) async fn sets_of_purged(
    store: &Store,
    purged: &[EffectId],
) -> Result<Option<Vec<ChangeSetId>>, UserError> {
    let lost: HashSet<&EffectId> = purged.iter().collect();
    // An undo without its texts cannot be redone, which shows at the change that it undid.
    let reverts = store.reverts().await?;
    let undone = reverts.iter().filter(|row| lost.contains(&row.by)).map(|row| &row.effect);
    let affected: BTreeSet<&EffectId> = purged.iter().chain(undone).collect();
    if affected.len() > MAX_TOLD_EFFECTS {
        return Ok(None);
    }
    let mut sets = BTreeSet::new();
    for effect in affected {
        sets.extend(store.effect(effect).await?.map(|effect| effect.change_set));
    }
    // A set is told with all of its changes, also those that kept their texts.
    let mut told = 0;
    for change_set in sets.iter().cloned() {
        told += store.effects_in_scope(&UndoScope::ChangeSet { change_set }).await?.len();
        if told > MAX_TOLD_EFFECTS {
            return Ok(None);
        }
    }
    Ok(Some(sets.into_iter().collect()))
}

/// The lines that a change of a note adds and removes.
pub(crate) fn line_counts(before: &[u8], after: &[u8]) -> LineCounts {
    line_counts_of(&hunks(before, after))
}

fn line_counts_of(hunks: &[DiffHunk]) -> LineCounts {
    let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    LineCounts {
        added: count(hunks.iter().map(|hunk| hunk.after.len()).sum()),
        removed: count(hunks.iter().map(|hunk| hunk.before.len()).sum()),
    }
}

/// Counts the lines that a change still adds and removes without the hunks in `gone`, and whether
/// it has no others. For a change that was undone as a whole, the hunks are counted together, so
/// that the list still shows its size.
fn remaining_line_counts(
    before: &[u8],
    after: &[u8],
    gone: &BTreeSet<usize>,
) -> (LineCounts, bool) {
    let mut all = hunks(before, after);
    let all_gone = !gone.is_empty() && (0..all.len()).all(|place| gone.contains(&place));
    if !all_gone {
        let mut places = 0..;
        all.retain(|_| places.next().is_some_and(|place| !gone.contains(&place)));
    }
    (line_counts_of(&all), all_gone)
}

/// Facts about all effects together.
pub(super) struct HistoryContext {
    effective: Reverts,
    /// Undone by changes that have lost their texts: they cannot be redone.
    not_redoable: HashSet<EffectId>,
    user_sets: HashMap<ChangeSetId, AppliedBy>,
    overwritten: HashSet<EffectId>,
}

impl HistoryContext {
    pub(super) async fn load(store: &Store) -> Result<Self, UserError> {
        let undoings = store.reverts().await?;
        let lost = undoings.iter().filter(|row| row.is_purged);
        let lost: Vec<_> = lost.map(|row| (row.by.clone(), row.effect.clone())).collect();
        let standings = effective_changes::from_rows(store, undoings).await?;
        let counts = |by: &EffectId| standings.effective_part(by) != EffectivePart::Nothing;
        let stuck = lost.into_iter().filter(|(by, _)| counts(by)).map(|(_, effect)| effect);
        Ok(Self {
            not_redoable: stuck.collect(),
            effective: standings,
            user_sets: store.user_change_sets().await?,
            overwritten: store.overwritten_effects().await?,
        })
    }

    /// `None` for a set of which nothing happened.
    pub(super) async fn applied_set(
        &self,
        store: &Store,
        effects: Vec<Effect>,
    ) -> Result<Option<AppliedSet>, UserError> {
        let Some(first) = effects.first().cloned() else { return Ok(None) };
        // Part of a set may be accepted long after the rest.
        let at = effects.last().and_then(|last| last.at).unwrap_or(Timestamp(0));
        let by = self.user_sets.get(&first.change_set).copied().unwrap_or(AppliedBy::Assistant);
        let request = match by {
            AppliedBy::Assistant | AppliedBy::Save => store.request_text(&first.turn).await?,
            AppliedBy::Undo | AppliedBy::Reapply | AppliedBy::Repair => String::new(),
        };
        let lacking =
            effects.iter().filter(|effect| self.lacks_text(effect, self.change_status(&effect.id)));
        let lacking: HashSet<_> = lacking.filter_map(|effect| effect.unit.clone()).collect();
        let mut notes = Vec::with_capacity(effects.len());
        for effect in effects {
            let mut note = self.applied_note(store, effect).await?;
            // Changes of one unit are undone together.
            note.too_old |= note.unit.as_ref().is_some_and(|unit| lacking.contains(unit));
            notes.push(note);
        }
        Ok(Some(AppliedSet {
            id: first.change_set,
            conversation: first.conversation,
            turn: first.turn,
            by,
            request,
            at,
            notes,
        }))
    }

    async fn applied_note(&self, store: &Store, effect: Effect) -> Result<AppliedNote, UserError> {
        let mut standing = self.change_status(&effect.id);
        let LineCounts { added, removed } = match effect.purged {
            Some(counts) => counts,
            None => {
                let (before, after) = before_and_after(store, &effect).await?;
                let gone = match self.effective.effective_part(&effect.id) {
                    EffectivePart::Without(gone) => gone,
                    EffectivePart::Whole | EffectivePart::Nothing => BTreeSet::new(),
                };
                let (counts, all_gone) =
                    run_blocking(move || remaining_line_counts(&before, &after, &gone)).await?;
                if all_gone && standing == ChangeStatus::PartlyUndone {
                    standing = ChangeStatus::Undone;
                }
                counts
            }
        };
        Ok(AppliedNote {
            too_old: self.lacks_text(&effect, standing),
            standing,
            effect: effect.id,
            turn: effect.turn,
            path: effect.path,
            target: effect.target,
            kind: effect.kind,
            unit: effect.unit,
            added,
            removed,
        })
    }

    /// Whether the text for the next step, an undo or a redo, is no longer kept.
    fn lacks_text(&self, effect: &Effect, status: ChangeStatus) -> bool {
        match status {
            ChangeStatus::Undone => self.not_redoable.contains(&effect.id),
            _ => effect.purged.is_some(),
        }
    }

    fn change_status(&self, effect: &EffectId) -> ChangeStatus {
        match self.effective.effective_part(effect) {
            EffectivePart::Nothing => ChangeStatus::Undone,
            _ if self.overwritten.contains(effect) => ChangeStatus::Overwritten,
            EffectivePart::Without(_) => ChangeStatus::PartlyUndone,
            EffectivePart::Whole => ChangeStatus::Stands,
        }
    }
}
