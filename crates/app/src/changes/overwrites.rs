//! Notices that another program wrote a note as if our change had never been: an open editor, a sync.
//!
//! It looks at notes that change within minutes of a change of ours, and marks the change if every hunk of it is gone and could
//! be applied again.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::{ChangeSetId, ContentHash, Effect, NotePath, Timestamp, UserError};
use vault::merge::{hunks, merge};
use vault::undo::{EffectivePart, Reverts, UndoRequest};

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
        let mut sets = BTreeSet::new();
        for path in files.iter().filter(|path| path.is_markdown()) {
            match self.overwritten_sets(path).await {
                Ok(found) => sets.extend(found),
                Err(error) => tracing::warn!(%error, "it is not known whether a change stands"),
            }
        }
        if !sets.is_empty() {
            self.emit(DomainEvent::Applied(sets.into_iter().collect()));
        }
    }

    /// The sets of which a change stands differently now.
    async fn overwritten_sets(&self, path: &NotePath) -> Result<Vec<ChangeSetId>, UserError> {
        let noticed =
            i64::try_from(self.pace.scale(DETECTION_WINDOW).as_millis()).unwrap_or(i64::MAX);
        let since = Timestamp(now().0.saturating_sub(noticed));
        let lately = self.store.edits_at(path, since).await.map_err(store_error)?;
        if lately.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.store.overwritten_effects().await.map_err(store_error)?;
        if self.unbroken_changes(path, &lately).await? == lately.len()
            && !lately.iter().any(|effect| known.contains(&effect.id))
        {
            return Ok(Vec::new());
        }
        // Not while one of our own changes is under way: it is stored before it is written.
        let _alone = self.change_lock.lock().await;
        let lately = self.store.edits_at(path, since).await.map_err(store_error)?;
        let known = self.store.overwritten_effects().await.map_err(store_error)?;
        let left_alone = self.unbroken_changes(path, &lately).await?;
        let standings = effective_changes(&self.store).await?;
        let mut sets = Vec::new();
        for (place, effect) in lately.into_iter().enumerate() {
            let gone =
                place >= left_alone && self.is_overwritten(path, &effect, &standings).await?;
            // Another note may have the path by now.
            if gone == known.contains(&effect.id) || !self.may_be_at(path, &effect).await? {
                continue;
            }
            if gone {
                self.store.mark_overwritten(&effect.id, now()).await.map_err(store_error)?;
            } else {
                self.store.clear_overwritten(&effect.id).await.map_err(store_error)?;
            }
            sets.push(effect.change_set);
        }
        Ok(sets)
    }

    /// Whether the note that an effect changed may be the one at `path`.
    async fn may_be_at(&self, path: &NotePath, effect: &Effect) -> Result<bool, UserError> {
        let effects = self.store.effects_since(&effect.id).await.map_err(store_error)?;
        let request = UndoRequest::undo([effect.id.clone()]);
        let history = self.history_with_contents(effects, &request).await?;
        let (notes, path) = (VaultNotes(self.vault.clone()), path.clone());
        let effect = effect.id.clone();
        run_blocking(move || vault::undo::may_be_at(&history, &effect, &path, &notes)).await
    }

    /// How many of these changes of ours, newest first, nobody else has written after: the note is
    /// as the last left it, and each found it as the one before did. That needs no look into them,
    /// however many there are.
    async fn unbroken_changes(
        &self,
        path: &NotePath,
        lately: &[Effect],
    ) -> Result<usize, UserError> {
        let (vault, path) = (self.vault.clone(), path.clone());
        let found =
            run_blocking(move || vault.read_bytes(&path).ok().map(|note| ContentHash::of(&note)));
        let mut found = found.await?;
        let is_as_left = |effect: &&Effect| {
            let is_so = found.is_some() && effect.after == found;
            found.clone_from(&effect.before);
            is_so
        };
        Ok(lately.iter().take_while(is_as_left).count())
    }

    /// Whether each hunk of an applied effect is gone from the note and could be reapplied.
    async fn is_overwritten(
        &self,
        path: &NotePath,
        effect: &Effect,
        standings: &Reverts,
    ) -> Result<bool, UserError> {
        if standings.effective_part(&effect.id) != EffectivePart::Whole || effect.purged.is_some() {
            return Ok(false);
        }
        let (before, after) = before_and_after(&self.store, effect).await?;
        let (vault, path) = (self.vault.clone(), path.clone());
        run_blocking(move || {
            let Ok(note) = vault.read_bytes(&path) else { return false };
            let all = hunks(&before, &after).len();
            let again = merge(&before, &note, &after).without_conflicts();
            all > 0 && again.is_some_and(|again| hunks(&note, &again).len() == all)
        })
        .await
    }
}
