//! Another program wrote a note as if our change had never been: a pane that was open, a sync.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::{ChangeSetId, ContentHash, Effect, NotePath, Timestamp, UserError};
use vault::merge::{hunks, merge};
use vault::undo::{Counts, Standings};

use crate::announce::News;
use crate::applied::{standings, versions};
use crate::aside::aside;
use crate::clock::now;
use crate::open_vault::OpenVault;
use crate::trouble::user_error;

/// So long after a change it is noticed that it went away again. Later, it is the user who took it
/// out.
const NOTICED: Duration = Duration::from_secs(10 * 60);

impl OpenVault {
    /// Looks whether the files that were touched still hold what was changed in them lately.
    pub(crate) async fn look_for_overwritten(&self, files: &BTreeSet<NotePath>) {
        let mut sets = BTreeSet::new();
        for path in files.iter().filter(|path| path.is_markdown()) {
            match self.overwritten_at(path).await {
                Ok(found) => sets.extend(found),
                Err(error) => tracing::warn!(%error, "it is not known whether a change stands"),
            }
        }
        if !sets.is_empty() {
            self.announce(News::Applied(sets.into_iter().collect()));
        }
    }

    /// The sets of which a change stands differently now.
    async fn overwritten_at(&self, path: &NotePath) -> Result<Vec<ChangeSetId>, UserError> {
        let noticed = i64::try_from(self.pace.of(NOTICED).as_millis()).unwrap_or(i64::MAX);
        let since = Timestamp(now().0.saturating_sub(noticed));
        let lately = self.store.edits_at(path, since).await.map_err(user_error)?;
        if lately.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.store.overwritten().await.map_err(user_error)?;
        if self.left_alone(path, &lately).await? == lately.len()
            && !lately.iter().any(|effect| known.contains(&effect.id))
        {
            return Ok(Vec::new());
        }
        // Not while one of our own changes is under way: it is stored before it is written.
        let _alone = self.deciding.lock().await;
        let lately = self.store.edits_at(path, since).await.map_err(user_error)?;
        let known = self.store.overwritten().await.map_err(user_error)?;
        let left_alone = self.left_alone(path, &lately).await?;
        let standings = standings(&self.store).await?;
        let mut sets = Vec::new();
        for (place, effect) in lately.into_iter().enumerate() {
            let gone = place >= left_alone && self.is_gone(path, &effect, &standings).await?;
            match (gone, known.contains(&effect.id)) {
                (true, false) => {
                    self.store.mark_overwritten(&effect.id, now()).await.map_err(user_error)?;
                }
                (false, true) => {
                    self.store.clear_overwritten(&effect.id).await.map_err(user_error)?;
                }
                _ => continue,
            }
            sets.push(effect.change_set);
        }
        Ok(sets)
    }

    /// How many of these changes of ours, newest first, nobody else has written after: the note is
    /// as the last left it, and each found it as the one before did. That needs no look into them,
    /// however many there are.
    async fn left_alone(&self, path: &NotePath, lately: &[Effect]) -> Result<usize, UserError> {
        let (vault, path) = (self.vault.clone(), path.clone());
        let found = aside(move || vault.bytes(&path).ok().map(|note| ContentHash::of(&note)));
        let mut found = found.await?;
        let is_as_left = |effect: &&Effect| {
            let is_so = found.is_some() && effect.after == found;
            found.clone_from(&effect.before);
            is_so
        };
        Ok(lately.iter().take_while(is_as_left).count())
    }

    /// Whether each hunk of an effect that counts is gone from the note, and could be put in
    /// again.
    async fn is_gone(
        &self,
        path: &NotePath,
        effect: &Effect,
        standings: &Standings,
    ) -> Result<bool, UserError> {
        if standings.counts(&effect.id) != Counts::Whole || effect.forgotten.is_some() {
            return Ok(false);
        }
        let (before, after) = versions(&self.store, effect).await?;
        let (vault, path) = (self.vault.clone(), path.clone());
        aside(move || {
            let Ok(note) = vault.bytes(&path) else { return false };
            let all = hunks(&before, &after).len();
            let again = merge(&before, &note, &after).clean();
            all > 0 && again.is_some_and(|again| hunks(&note, &again).len() == all)
        })
        .await
    }
}
