//! Results that depend on notes that they do not name: how many match, or that none does.
//!
//! The source of such a result is what was looked through, not each note in it. A model that may
//! see less than the one that looked is not told it.

use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::{Privacy, Source, TurnId, UserError};

use super::{PrivacyGuard, PrivacyView, SourcesByTurn};
use crate::support::errors::store_error;

impl PrivacyGuard {
    /// The turns that looked through notes that the view hides, by how private the notes were at
    /// most that their models might see. A turn of which that is not known might see all.
    pub(super) async fn wider_lookups(
        &self,
        view: &PrivacyView,
        sources: &SourcesByTurn,
    ) -> Result<HashSet<TurnId>, UserError> {
        let looked = sources.iter().filter(|(_, told)| told.iter().any(is_lookup));
        let looked: Vec<&TurnId> = looked.map(|(turn, _)| turn).collect();
        let known = match self.effect_history.get() {
            Some(store) if !looked.is_empty() => {
                store.max_privacy_of_turns(&looked).await.map_err(store_error)?
            }
            _ => HashMap::new(),
        };
        let saw_more = |turn: &&TurnId| {
            let most = known.get(*turn).copied().unwrap_or(Privacy::Never);
            view.rules.hide_between(view.max_privacy, most)
        };
        Ok(looked.into_iter().filter(saw_more).cloned().collect())
    }

    /// Whether the running turn, of which these are the sources, looked through a folder with notes that its
    /// model sees and others do not: how many match, or that none does, is text of them too.
    pub(crate) async fn looked_beyond_open(
        &self,
        turn: &TurnId,
        sources: &BTreeSet<Source>,
    ) -> Result<bool, UserError> {
        if !self.has_local_model(turn) {
            return Ok(false);
        }
        let view = self.view_for(Privacy::Open).await?;
        Ok(sources.iter().any(
            |source| matches!(source, Source::Note(folder) if view.hidden_names.lie_in(folder)),
        ))
    }
}

/// Whether a result with this source may tell of notes that are no sources of their own: those of
/// the vault, of a folder, or of wherever it comes from.
fn is_lookup(source: &Source) -> bool {
    match source {
        Source::Vault | Source::Foreign => true,
        Source::Note(path) => !path.is_markdown(),
        Source::User | Source::Hub | Source::Tool(_) => false,
    }
}
