//! Results that depend on notes that they do not name: how many match, or that none does.
//!
//! The source of such a result is what was looked through, not each note in it. A model that may
//! see less than the one that looked is not told it.

use std::collections::{HashMap, HashSet};

use protocol::{Privacy, Source, TurnId, UserError};

use super::{PrivacyGuard, PrivacyView, SourcesByTurn};

impl PrivacyGuard {
    /// The turns that looked through notes that the view hides, by how private the notes were at
    /// most that their models might see.
    pub(super) async fn wider_lookups(
        &self,
        view: &PrivacyView,
        sources: &SourcesByTurn,
    ) -> Result<HashSet<TurnId>, UserError> {
        let looked = sources.iter().filter(|(_, told)| told.iter().any(is_lookup));
        self.seeing_more(view, looked.map(|(turn, _)| turn).collect()).await
    }

    /// Those of the turns whose models might see notes that the view hides. A turn of which that is not known
    /// might see all.
    pub(super) async fn seeing_more(
        &self,
        view: &PrivacyView,
        turns: Vec<&TurnId>,
    ) -> Result<HashSet<TurnId>, UserError> {
        let known = self.known_max_privacy(&turns).await?;
        let saw_more = |turn: &&TurnId| {
            let most = known.get(*turn).copied().unwrap_or(Privacy::Never);
            view.rules.hide_between(view.max_privacy, most)
        };
        Ok(turns.into_iter().filter(saw_more).cloned().collect())
    }

    /// Whether the turn, to which all this was told, may know how many notes match, or that none does, among
    /// notes that its models see and others do not. A turn whose models see what all see is not told of such a
    /// look by the turns before it.
    pub(crate) async fn looked_beyond_open(
        &self,
        turn: &TurnId,
        told: &SourcesByTurn,
    ) -> Result<bool, UserError> {
        let view = self.view_for(Privacy::Open).await?;
        let wider = self.wider_lookups(&view, told).await?;
        if wider.is_empty() {
            return Ok(false);
        }
        let known = self.known_max_privacy(&[turn]).await?;
        if known.get(turn) == Some(&Privacy::Open) {
            return Ok(false);
        }
        let tells_more = |source: &Source| match source {
            Source::Note(folder) => view.hidden_names.lie_in(folder),
            other => is_lookup(other),
        };
        Ok(wider.iter().filter_map(|turn| told.get(turn)).flatten().any(tells_more))
    }

    pub(in crate::privacy) async fn known_max_privacy(
        &self,
        turns: &[&TurnId],
    ) -> Result<HashMap<TurnId, Privacy>, UserError> {
        match self.effect_history.get() {
            Some(store) if !turns.is_empty() => Ok(store.max_privacy_of_turns(turns).await?),
            _ => Ok(HashMap::new()),
        }
    }
}

/// Whether a result with this source may tell of notes that are no sources of their own: those of
/// the vault, of a folder, or of wherever it comes from.
fn is_lookup(source: &Source) -> bool {
    match source {
        Source::Vault | Source::Foreign => true,
        Source::Note(path) => !path.is_markdown(),
        Source::User | Source::Hub | Source::Tool(_) | Source::Hints(_) => false,
    }
}
