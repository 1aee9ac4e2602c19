//! Notices that another program wrote a note as if our change had never been: an open editor, a sync.
//!
//! It looks at notes that change within minutes of a change of ours, and marks the change if every hunk of it is gone and could
//! be applied again. Where it is not known which notes changed, as after a start, it looks at all that we changed in these
//! minutes. Notes that change together are looked at together: thousands may, when links of a move are reverted.
//!
//! A mark has no such limit: the user may take our version back days later. It is cleared once a hunk is in the note again.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use protocol::changes::history::AppliedBy;
use protocol::{ChangeSetId, ContentHash, Effect, EffectId, NotePath, Timestamp, UserError};
use store::{Store, StoreError};
use vault::Vault;
use vault::merge::{hunks, merge};
use vault::undo::{EffectivePart, LedgerView, Reverts, VaultReader, may_be_at};

use crate::adapters::notes::VaultNotes;
use crate::changes::NoteChanges;
use crate::changes::history::{before_and_after, effective_changes};
use crate::events::domain_event::DomainEvent;
use crate::support::blocking::run_blocking;
use crate::support::clock::now;

/// The time after a change within which it is noticed that it went away again. Later, it is the
/// user who took it out.
const DETECTION_WINDOW: Duration = Duration::from_secs(10 * 60);

impl NoteChanges {
    /// Looks whether the files that were touched still hold what was changed in them lately.
    pub(crate) async fn detect_overwrites(&self, files: &BTreeSet<NotePath>) {
        match self.update_overwritten(files).await {
            Ok(sets) if sets.is_empty() => {}
            Ok(sets) => self.emit(DomainEvent::Applied(sets.into_iter().collect())),
            Err(error) => tracing::warn!(%error, "it is not known whether changes stand"),
        }
    }

    /// The same where it is not known which files were touched. Reads only the notes that were changed lately, and those
    /// with a marked change.
    pub(crate) async fn detect_all_overwrites(&self) {
        match self.paths_to_check().await {
            Ok(paths) => self.detect_overwrites(&paths).await,
            Err(error) => tracing::warn!(%error, "it is not known whether changes stand"),
        }
    }

    async fn paths_to_check(&self) -> Result<BTreeSet<NotePath>, StoreError> {
        let edited = self.store.paths_edited_since(self.detection_start()).await?;
        let marked = self.store.overwritten_paths().await?;
        Ok(edited.into_iter().chain(marked).collect())
    }

    /// Changes from before that are not marked any more.
    fn detection_start(&self) -> Timestamp {
        let noticed =
            i64::try_from(self.pace.scale(DETECTION_WINDOW).as_millis()).unwrap_or(i64::MAX);
        Timestamp(now().0.saturating_sub(noticed))
    }

    /// The sets of which a change stands differently now.
    async fn update_overwritten(
        &self,
        files: &BTreeSet<NotePath>,
    ) -> Result<BTreeSet<ChangeSetId>, UserError> {
        let mut check = OverwriteCheck::new(&self.store, &self.vault, self.detection_start());
        let notes = files.iter().filter(|path| path.is_markdown()).cloned().collect();
        let notes = check.disturbed_notes(notes).await?;
        if notes.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Compares the texts, which takes longest, before it keeps others from changing notes.
        check.differences(&notes).await?;
        // Not while one of our own changes is under way: it is stored before it is written.
        let _alone = self.change_lock.lock().await;
        check.store_differences(&notes, VaultNotes(self.vault.clone())).await
    }
}

/// One look at notes that were touched together. The ledger is read and the vault is listed once for all of them.
struct OverwriteCheck<'a> {
    store: &'a Store,
    vault: &'a Vault,
    /// Of earlier changes only marked ones are looked at, to clear them.
    since: Timestamp,
    /// Whether an effect is overwritten in a text, for those that were compared. That never changes.
    compared: HashMap<(EffectId, ContentHash), bool>,
}

/// An edit that is overwritten and not marked so, or the other way round.
struct StandingDifference {
    path: NotePath,
    effect: Effect,
    is_overwritten: bool,
}

/// The present text of a note.
struct HashedNote {
    bytes: Arc<Vec<u8>>,
    hash: ContentHash,
}

impl<'a> OverwriteCheck<'a> {
    fn new(store: &'a Store, vault: &'a Vault, since: Timestamp) -> Self {
        Self { store, vault, since, compared: HashMap::new() }
    }

    /// Those of the notes that were edited lately and written by others after that, or that have a marked edit.
    async fn disturbed_notes(&self, notes: Vec<NotePath>) -> Result<Vec<NotePath>, UserError> {
        let edits = self.edits(&notes).await?;
        if edits.is_empty() {
            return Ok(Vec::new());
        }
        let marked = self.store.overwritten_effects().await?;
        let vault = self.vault.clone();
        let is_disturbed = move |(path, edits): &(NotePath, Vec<Effect>)| {
            let found = vault.read_bytes(path).ok().map(|note| ContentHash::of(&note));
            unbroken_edits(edits, found.as_ref()) < edits.len()
                || edits.iter().any(|edit| marked.contains(&edit.id))
        };
        run_blocking(move || {
            let disturbed = edits.into_iter().filter(is_disturbed);
            disturbed.map(|(path, _)| path).collect::<Vec<_>>()
        })
        .await
    }

    /// Our edits of these notes since the time and the marked ones from before, newest first.
    async fn edits(
        &self,
        notes: &[NotePath],
    ) -> Result<BTreeMap<NotePath, Vec<Effect>>, UserError> {
        let lately = self.store.edits_at(notes, self.since).await?;
        let marked = self.store.overwritten_edits_at(notes).await?;
        let known: HashSet<EffectId> = lately.iter().map(|edit| edit.id.clone()).collect();
        let earlier = marked.into_iter().filter(|edit| !known.contains(&edit.id));
        let mut edits: BTreeMap<NotePath, Vec<Effect>> = BTreeMap::new();
        for edit in lately.into_iter().chain(earlier) {
            edits.entry(edit.path.clone()).or_default().push(edit);
        }
        Ok(edits)
    }

    /// Whether an edit is from before the time. It is looked at because it is marked.
    fn is_old(&self, edit: &Effect) -> bool {
        edit.at.is_none_or(|at| at < self.since)
    }

    /// The edits that stand differently than they are marked, if the notes at their paths are still those that were
    /// edited. A note that cannot be compared has none.
    async fn differences(
        &mut self,
        notes: &[NotePath],
    ) -> Result<Vec<StandingDifference>, UserError> {
        // Read first: an old edit that lost its mark meanwhile is not among the edits, so it is not marked again.
        let marked = self.store.overwritten_effects().await?;
        let edits = self.edits(notes).await?;
        let standings = effective_changes(self.store).await?;
        let own = self.store.user_change_sets().await?;
        let mut found = Vec::new();
        for (path, edits) in edits {
            let facts = (&marked, &standings, &own);
            match self.differences_of_note(&path, edits, facts).await {
                Ok(those) => found.extend(those),
                Err(error) => tracing::warn!(%error, "it is not known whether a change stands"),
            }
        }
        Ok(found)
    }

    async fn differences_of_note(
        &mut self,
        path: &NotePath,
        edits: Vec<Effect>,
        (marked, standings, own): (&HashSet<EffectId>, &Reverts, &HashMap<ChangeSetId, AppliedBy>),
    ) -> Result<Vec<StandingDifference>, UserError> {
        let note = self.read_note(path).await?;
        let left_alone = unbroken_edits(&edits, note.as_ref().map(|note| &note.hash));
        // The text of an old edit may be in the note because a later one of the assistant wrote it.
        let is_written_again =
            edits.iter().take(left_alone).any(|edit| !own.contains_key(&edit.change_set));
        let mut found = Vec::new();
        for (place, effect) in edits.into_iter().enumerate() {
            let is_overwritten = match &note {
                Some(_) if place < left_alone => false,
                Some(_) if is_written_again && self.is_old(&effect) => true,
                Some(note) => self.is_overwritten(&effect, note, standings).await?,
                // The note may be away for a moment only, and an old edit would not be marked again.
                None => self.is_old(&effect),
            };
            if is_overwritten != marked.contains(&effect.id) {
                found.push(StandingDifference { path: path.clone(), effect, is_overwritten });
            }
        }
        Ok(found)
    }

    async fn read_note(&self, path: &NotePath) -> Result<Option<HashedNote>, UserError> {
        let (vault, path) = (self.vault.clone(), path.clone());
        run_blocking(move || {
            let bytes = vault.read_bytes(&path).ok()?;
            Some(HashedNote { hash: ContentHash::of(&bytes), bytes: Arc::new(bytes) })
        })
        .await
    }

    /// Whether the note is as if the effect had never been. An old effect, which is marked, counts as overwritten until
    /// one of its hunks is in the note again.
    async fn is_overwritten(
        &mut self,
        effect: &Effect,
        note: &HashedNote,
        standings: &Reverts,
    ) -> Result<bool, UserError> {
        let is_old = self.is_old(effect);
        let is_whole = standings.effective_part(&effect.id) == EffectivePart::Whole;
        if effect.purged.is_some() || !(is_whole || is_old) {
            return Ok(is_old);
        }
        let key = (effect.id.clone(), note.hash.clone());
        if let Some(is_overwritten) = self.compared.get(&key) {
            return Ok(*is_overwritten);
        }
        let (before, after) = before_and_after(self.store, effect).await?;
        let note = Arc::clone(&note.bytes);
        let compare = move || match is_old {
            true => !is_back_in(&note, &before, &after),
            false => is_gone_from(&note, &before, &after),
        };
        let is_overwritten = run_blocking(compare).await?;
        self.compared.insert(key, is_overwritten);
        Ok(is_overwritten)
    }

    /// Marks the edits as they stand now, and returns their sets; the caller holds `change_lock`.
    async fn store_differences(
        &mut self,
        notes: &[NotePath],
        vault: impl VaultReader + Send + 'static,
    ) -> Result<BTreeSet<ChangeSetId>, UserError> {
        let found = self.differences(notes).await?;
        // Another note may have the path by now.
        let found = self.at_their_paths(found, vault).await?;
        let effects = |is_overwritten: bool| {
            let those = found.iter().filter(|one| one.is_overwritten == is_overwritten);
            those.map(|one| one.effect.id.clone()).collect::<Vec<_>>()
        };
        let (overwritten, standing) = (effects(true), effects(false));
        if !overwritten.is_empty() {
            self.store.mark_overwritten(&overwritten, now()).await?;
        }
        if !standing.is_empty() {
            self.store.clear_overwritten(&standing).await?;
        }
        Ok(found.into_iter().map(|one| one.effect.change_set).collect())
    }

    /// Leaves out the edits of notes that are certainly not at their paths.
    async fn at_their_paths(
        &self,
        found: Vec<StandingDifference>,
        vault: impl VaultReader + Send + 'static,
    ) -> Result<Vec<StandingDifference>, UserError> {
        if found.is_empty() {
            return Ok(found);
        }
        let ids: Vec<EffectId> = found.iter().map(|one| one.effect.id.clone()).collect();
        let Some(first) = self.store.earliest_effect(&ids).await? else { return Ok(found) };
        let effects = self.store.effects_since(&first).await?;
        let mut ledger = LedgerView::new(effects);
        for succession in self.store.successions().await? {
            ledger.add_succession(succession);
        }
        run_blocking(move || {
            let places = found.iter().map(|one| (&one.effect.id, &one.path));
            let may_be_there = may_be_at(&ledger, places, &vault);
            let judged = found.into_iter().zip(may_be_there);
            judged.filter_map(|(one, may_be)| may_be.then_some(one)).collect::<Vec<_>>()
        })
        .await
    }
}

/// Whether each hunk of an edit is gone from the note and could be reapplied.
fn is_gone_from(note: &[u8], before: &[u8], after: &[u8]) -> bool {
    let all = hunks(before, after).len();
    let again = merge(before, note, after).without_conflicts();
    all > 0 && again.is_some_and(|again| hunks(note, &again).len() == all)
}

/// Whether a hunk of an edit is in the note again: less of the edit could be reapplied, and something of it undone. Where
/// its lines were changed in another way, that is not known.
fn is_back_in(note: &[u8], before: &[u8], after: &[u8]) -> bool {
    let again = merge(before, note, after).without_conflicts();
    let undone = merge(after, note, before).without_conflicts();
    again.is_some_and(|again| hunks(note, &again).len() < hunks(before, after).len())
        && undone.is_some_and(|undone| undone != note)
}

/// How many of our edits of a note, newest first, nobody else has written after: the note is as
/// the last left it, and each found it as the one before did. That needs no look into them,
/// however many there are.
fn unbroken_edits(edits: &[Effect], note: Option<&ContentHash>) -> usize {
    let earlier = edits.iter().map(|edit| edit.before.as_ref());
    let found = std::iter::once(note).chain(earlier);
    let is_as_left = |(edit, found): &(&Effect, Option<&ContentHash>)| {
        found.is_some() && edit.after.as_ref() == *found
    };
    edits.iter().zip(found).take_while(is_as_left).count()
}
