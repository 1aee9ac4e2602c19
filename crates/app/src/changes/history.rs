//! Applied changes as the window lists them, with what has become of each since.

mod applied_sets;
mod effective_changes;

use protocol::changes::history::{AppliedHunks, AppliedPage, ListApplied};
use protocol::{EffectId, UserError};
use vault::undo::EffectivePart;

use crate::App;
use crate::changes::diff::separate_hunks;
use crate::support::blocking::run_blocking;

use applied_sets::HistoryContext;
pub(crate) use applied_sets::{line_counts, publish_sets, sets_of_purged};
pub(crate) use effective_changes::{before_and_after, effective_changes, find_effect};

/// How many sets a page has.
const PAGE_SIZE: u32 = 50;

impl App {
    /// A page of applied changes, newest first.
    pub async fn list_applied(&self, request: &ListApplied) -> Result<AppliedPage, UserError> {
        let open = self.session().await?;
        let seq = open.feed.last_seq();
        let (conversation, before) = (request.conversation.as_ref(), request.before.as_ref());
        let mut sets = open.store.applied_sets(conversation, before, PAGE_SIZE + 1).await?;
        let more = sets.len() > PAGE_SIZE as usize;
        sets.truncate(PAGE_SIZE as usize);
        let known = HistoryContext::load(&open.store).await?;
        let mut shown = Vec::with_capacity(sets.len());
        for effects in sets {
            shown.extend(known.applied_set(&open.store, effects).await?);
        }
        Ok(AppliedPage { seq, sets: shown, more })
    }

    /// The hunks that an applied change made in its note.
    pub async fn applied_hunks(&self, effect: &EffectId) -> Result<AppliedHunks, UserError> {
        let open = self.session().await?;
        let found = find_effect(&open.store, effect).await?;
        if found.purged.is_some() {
            let (hunks, undone) = (Vec::new(), Vec::new());
            return Ok(AppliedHunks { effect: effect.clone(), hunks, undone });
        }
        let (before, after) = before_and_after(&open.store, &found).await?;
        let hunks = run_blocking(move || separate_hunks(&before, &after)).await?;
        let all = 0..u32::try_from(hunks.len()).unwrap_or(u32::MAX);
        let undone = match effective_changes(&open.store).await?.effective_part(effect) {
            EffectivePart::Whole => Vec::new(),
            EffectivePart::Nothing => all.collect(),
            EffectivePart::Without(gone) => {
                let is_gone =
                    |place: &u32| gone.iter().any(|gone| u32::try_from(*gone) == Ok(*place));
                all.filter(is_gone).collect()
            }
        };
        Ok(AppliedHunks { effect: effect.clone(), hunks, undone })
    }
}
