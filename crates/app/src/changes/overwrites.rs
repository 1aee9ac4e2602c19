//! Notices that another program wrote a note as if our change had never been: an open editor, a sync.
//!
//! It looks at notes that change within minutes of a change of ours, and marks the change if every hunk of it is gone and could
//! be applied again. Where it is not known which notes changed, as after a start, it looks at all that we changed in these
//! minutes. Notes that change together are looked at together: thousands may, when links of a move are reverted.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use protocol::{ChangeSetId, ContentHash, Effect, EffectId, NotePath, Timestamp, UserError};
use store::Store;
use vault::Vault;
use vault::merge::{hunks, merge};
use vault::undo::{EffectivePart, LedgerView, Reverts, VaultReader, may_be_at};

use crate::adapters::notes::VaultNotes;
use crate::changes::history::{before_and_after, effective_changes};
use crate::events::publisher::DomainEvent;
use crate::support::blocking::run_blocking;
use crate::support::clock::now;
use crate::support::errors::store_error;
use crate::vault_session::VaultSession;

/// The time after a change within which it is noticed that it went away again. Later, it is the
/// user who took it out.
const DETECTION_WINDOW: Duration = Duration::from_secs(10 * 60);

impl VaultSession {
    /// Looks whether the files that were touched still hold what was changed in them lately.
    pub(crate) async fn detect_overwrites(&self, files: &BTreeSet<NotePath>) {
        match self.update_overwritten(files).await {
            Ok(sets) if sets.is_empty() => {}
            Ok(sets) => self.emit(DomainEvent::Applied(sets.into_iter().collect())),
            Err(error) => tracing::warn!(%error, "it is not known whether changes stand"),
        }
    }

    /// The same where it is not known which files were touched. Reads only the notes that were changed lately.
    pub(crate) async fn detect_all_overwrites(&self) {
        match self.store.paths_edited_since(self.detection_start()).await {
            Ok(edited) => self.detect_overwrites(&edited.into_iter().collect()).await,
            Err(error) => tracing::warn!(%error, "it is not known whether changes stand"),
        }
    }

    /// Changes from before that are not looked at any more.
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
    /// Earlier changes are not looked at.
    since: Timestamp,
    /// Whether an effect is gone from a text, for those that were compared. That never changes.
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
        let lately = self.edits(&notes).await?;
        if lately.is_empty() {
            return Ok(Vec::new());
        }
        let marked = self.store.overwritten_effects().await.map_err(store_error)?;
        let vault = self.vault.clone();
        let is_disturbed = move |(path, edits): &(NotePath, Vec<Effect>)| {
            let found = vault.read_bytes(path).ok().map(|note| ContentHash::of(&note));
            unbroken_edits(edits, found.as_ref()) < edits.len()
                || edits.iter().any(|edit| marked.contains(&edit.id))
        };
        run_blocking(move || {
            let disturbed = lately.into_iter().filter(is_disturbed);
            disturbed.map(|(path, _)| path).collect::<Vec<_>>()
        })
        .await
    }

    /// Our edits of these notes since the time, newest first.
    async fn edits(
        &self,
        notes: &[NotePath],
    ) -> Result<BTreeMap<NotePath, Vec<Effect>>, UserError> {
        let mut edits: BTreeMap<NotePath, Vec<Effect>> = BTreeMap::new();
        for edit in self.store.edits_at(notes, self.since).await.map_err(store_error)? {
            edits.entry(edit.path.clone()).or_default().push(edit);
        }
        Ok(edits)
    }

    /// The edits that stand differently than they are marked, if the notes at their paths are still those that were
    /// edited. A note that cannot be compared has none.
    async fn differences(
        &mut self,
        notes: &[NotePath],
    ) -> Result<Vec<StandingDifference>, UserError> {
        let lately = self.edits(notes).await?;
        let marked = self.store.overwritten_effects().await.map_err(store_error)?;
        let standings = effective_changes(self.store).await?;
        let mut found = Vec::new();
        for (path, edits) in lately {
            match self.differences_of_note(&path, edits, &marked, &standings).await {
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
        marked: &HashSet<EffectId>,
        standings: &Reverts,
    ) -> Result<Vec<StandingDifference>, UserError> {
        let note = self.read_note(path).await?;
        let left_alone = unbroken_edits(&edits, note.as_ref().map(|note| &note.hash));
        let mut found = Vec::new();
        for (place, effect) in edits.into_iter().enumerate() {
            let is_whole = standings.effective_part(&effect.id) == EffectivePart::Whole
                && effect.purged.is_none();
            let is_overwritten = match &note {
                Some(note) if is_whole && place >= left_alone => {
                    self.is_gone(&effect, note).await?
                }
                _ => false,
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

    /// Whether each hunk of an effect is gone from the note and could be reapplied.
    async fn is_gone(&mut self, effect: &Effect, note: &HashedNote) -> Result<bool, UserError> {
        let key = (effect.id.clone(), note.hash.clone());
        if let Some(is_gone) = self.compared.get(&key) {
            return Ok(*is_gone);
        }
        let (before, after) = before_and_after(self.store, effect).await?;
        let note = Arc::clone(&note.bytes);
        let is_gone = run_blocking(move || {
            let all = hunks(&before, &after).len();
            let again = merge(&before, &note, &after).without_conflicts();
            all > 0 && again.is_some_and(|again| hunks(&note, &again).len() == all)
        });
        let is_gone = is_gone.await?;
        self.compared.insert(key, is_gone);
        Ok(is_gone)
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
            self.store.mark_overwritten(&overwritten, now()).await.map_err(store_error)?;
        }
        if !standing.is_empty() {
            self.store.clear_overwritten(&standing).await.map_err(store_error)?;
        }
        Ok(found.into_iter().map(|one| one.effect.change_set).collect())
    }

    /// Leaves out the edits of notes that are certainly not at their paths.
    async fn at_their_paths(
        &self,
        found: Vec<StandingDifference>,
        vault: impl VaultReader + Send + 'static,
    ) -> Result<Vec<StandingDifference>, UserError> {
        // The ids of effects sort by time.
        let Some(first) = found.iter().map(|one| &one.effect.id).min().cloned() else {
            return Ok(found);
        };
        let effects = self.store.effects_since(&first).await.map_err(store_error)?;
        let mut ledger = LedgerView::new(effects);
        for succession in self.store.successions().await.map_err(store_error)? {
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
