//! The privacy guard: the private rules in force, the running turns, and the filter over the
//! history.
//!
//! Tools read through a privacy filter, so a private note does not exist for them; it shows what the strictest running turn
//! may see. Text that was read under other rules, or by another provider, is filtered out of the history on its way to a
//! model. A summary is sent to models with the same view as its author's, and to those that may see everything it stands
//! for; others get the turns themselves, filtered. A note that was read and is gone, or that another file replaced, counts
//! as private in doubt ([`missing_notes`], [`replaced`]). So does what a turn was told of notes without their names, if its
//! model might see more ([`lookups`]). A pending change is shown to those who may hear the call that planned it
//! ([`withheld_plans`]), and so are names of changes in context blocks ([`planned_names`]).

mod guard;
mod hidden_names;
mod history_filter;
mod listed_tags;
mod lookups;
mod missing_notes;
pub(crate) mod note_lineage;
mod planned_names;
pub(crate) mod private_note;
pub(crate) mod provenance;
mod replaced_notes;
#[cfg(test)]
mod tests;
mod turn_view_cache;
mod withheld_plans;

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use protocol::{Message, NotePath, Privacy, Source, TurnId, UserError};

use crate::support::blocking::run_blocking;
use crate::support::clock::now;
pub(crate) use guard::{PrivacyGuard, SourcesByTurn};
use guard::{PrivacyView, strictest_privacy};
use history_filter::SameRulesTurns;
use history_filter::hidden_titles::HiddenTitles;
pub(crate) use history_filter::mentioned_turn_cache::MentionedTurnCache;
pub(crate) use history_filter::model_titles::was_told_model_title;
use missing_notes::NamedSources;
use note_lineage::ReadTimes;
use planned_names::PlannedNames;
use turn_view_cache::TurnViews;

impl PrivacyGuard {
    /// A turn begins that may see at most `most`. When this returns the tools hold to it.
    pub(crate) async fn begin(&self, turn: &TurnId, most: Privacy) -> Result<(), UserError> {
        let view = self.view_for(most).await?;
        self.add_private_linking_notes(turn, &view).await?;
        let mut state = self.state();
        if view.generation == state.generation {
            state.turn_view_cache.begin(turn, view.hidden.mark(), now());
        }
        state.first_time_turns.insert(turn.clone());
        state.running.insert(turn.clone(), TurnViews::new(view));
        self.update_screen(&state);
        Ok(())
    }

    /// A turn goes on that an earlier run of the program began: what it heard by then may have been
    /// more than it may hear now.
    pub(crate) async fn resume(&self, turn: &TurnId, most: Privacy) -> Result<(), UserError> {
        let view = self.view_for(most).await?;
        self.state().turn_view_cache.update(turn, view.hidden.mark(), now());
        self.begin(turn, most).await
    }

    /// From now on a turn that runs is heard by a model that may see at most `most`.
    pub(crate) async fn change_model(&self, turn: &TurnId, most: Privacy) -> Result<(), UserError> {
        let view = self.view_for(most).await?;
        self.add_private_linking_notes(turn, &view).await?;
        let mut state = self.state();
        // From now on it may hear text that was hidden from it before.
        let before = state.running.get(turn);
        if before.is_some_and(|it| it.of_request.fingerprint() != view.fingerprint()) {
            state.turn_view_cache.update(turn, view.hidden.mark(), now());
        }
        state.running.insert(turn.clone(), TurnViews::new(view));
        self.update_screen(&state);
        Ok(())
    }

    /// From now on the messages of a turn that ended are heard by somebody who may see at most
    /// `most`, until [`Self::end_replay`].
    pub(crate) async fn begin_replay(&self, turn: &TurnId, most: Privacy) -> Result<(), UserError> {
        let view = self.view_for(most).await?;
        let mut state = self.state();
        state.replayed.insert(turn.clone(), TurnViews::new(view));
        self.update_screen(&state);
        Ok(())
    }

    /// Nobody hears the messages of the ended turn any more. If it runs again by now, it goes on.
    pub(crate) fn end_replay(&self, turn: &TurnId) {
        let mut state = self.state();
        state.replayed.remove(turn);
        self.update_screen(&state);
    }

    /// Whether text that these turns were told is hidden at the privacy level `most`.
    pub(crate) async fn hides_told(
        &self,
        most: Privacy,
        told: &SourcesByTurn,
    ) -> Result<bool, UserError> {
        let read = self.read_times(told).await?;
        self.hides_any(most, told.values().flatten().cloned().collect(), read).await
    }

    /// Whether text from one of these sources is hidden at the privacy level `most`. In doubt a note that is
    /// gone counts as hidden, and so does one that another file replaced since it was `read`. Of a note that is
    /// gone and of which no time is known, nothing tells where it went.
    pub(crate) async fn hides_any(
        &self,
        most: Privacy,
        sources: BTreeSet<Source>,
        read: BTreeMap<NotePath, ReadTimes>,
    ) -> Result<bool, UserError> {
        let view = self.view_for(most).await?;
        if view.hides_nothing() {
            return Ok(false);
        }
        let notes = sources.iter().filter_map(missing_notes::source_note).collect();
        let first = read.iter().map(|(path, read)| (path.clone(), read.first)).collect();
        let known = missing_notes::as_read(read);
        let mut gone = self.missing_private_notes(&view, notes, &known).await?;
        gone.extend(self.replaced(&view, first).await?);
        let seen = self.vault_for_view(&view);
        run_blocking(move || sources.iter().any(|source| view.hides(source, &seen, &gone))).await
    }

    /// Whether the next request of the turn may hold everything.
    pub(crate) async fn sees_everything(&self, turn: &TurnId) -> Result<bool, UserError> {
        Ok(self.view_for_request(turn).await?.hides_nothing())
    }

    /// A turn has ended.
    pub(crate) fn end(&self, turn: &TurnId) {
        let mut state = self.state();
        state.running.remove(turn);
        state.first_time_turns.remove(turn);
        self.update_screen(&state);
    }

    /// The messages as the next request of the turn may hold them, and a mark of all that is hidden from it,
    /// which is empty when nothing is.
    pub(crate) async fn redact_for_turn(
        &self,
        turn: &TurnId,
        rows: Vec<Message>,
        sources: &SourcesByTurn,
    ) -> Result<(Vec<Message>, String), UserError> {
        let view = self.view_for_request(turn).await?;
        let told = self.with_planned_notes(&view, &rows, sources).await?;
        let gone = self.missing_in_rows(&view, &rows, &told.all).await?;
        {
            let mut state = self.state();
            if state.first_time_turns.contains(turn) {
                state.turn_view_cache.add_missing_notes(turn, &gone, now());
            }
        }
        let mark = view.fingerprint_with(&gone);
        let cache = self.mentioned_turn_cache(turn);
        let names = self.planned_names(&view, &rows, &cache).await?;
        let titles = self.hidden_titles(&view, &rows, &cache).await?;
        Ok((self.filter_messages(&view, rows, told, gone, names, titles).await?, mark))
    }

    /// Whether those who run now may hear everything.
    pub(crate) async fn all_see_everything(&self) -> Result<bool, UserError> {
        let most = strictest_privacy(&self.state());
        Ok(self.view_for(most).await?.hides_nothing())
    }

    /// The messages of another conversation as those may hear them who run now, and whether
    /// anything was withheld. `cache` may be used again for other conversations.
    pub(crate) async fn redact_for_any(
        &self,
        rows: Vec<Message>,
        sources: &SourcesByTurn,
        cache: &MentionedTurnCache,
    ) -> Result<(Vec<Message>, Redaction), UserError> {
        let most = strictest_privacy(&self.state());
        let view = self.view_for(most).await?;
        let told = self.with_planned_notes(&view, &rows, sources).await?;
        let gone = self.missing_in_rows(&view, &rows, &told.all).await?;
        let names = self.planned_names(&view, &rows, cache).await?;
        let titles = self.hidden_titles(&view, &rows, cache).await?;
        let heard = self.filter_messages(&view, rows.clone(), told, gone, names, titles).await?;
        let withheld = if heard == rows { Redaction::Nothing } else { Redaction::Something };
        Ok((heard, withheld))
    }

    /// The text without the names of notes that are hidden from the turn.
    pub(crate) async fn redact_names(
        &self,
        turn: &TurnId,
        text: String,
    ) -> Result<String, UserError> {
        let view = self.turn_view(turn).await?;
        run_blocking(move || view.hidden_names.redact(&text).into_owned()).await
    }

    async fn filter_messages(
        &self,
        view: &Arc<PrivacyView>,
        rows: Vec<Message>,
        told: NamedSources<'_>,
        gone: Arc<BTreeSet<NotePath>>,
        names: PlannedNames,
        titles: HiddenTitles,
    ) -> Result<Vec<Message>, UserError> {
        if view.hides_nothing() {
            return Ok(rows);
        }
        let clean = self.state().turn_view_cache.clone();
        let (seen, view, index) = (self.vault_for_view(view), Arc::clone(view), self.index.clone());
        let wider_lookups = self.wider_lookups(&view, &told.all).await?;
        let told = told.into_owned();
        run_blocking(move || {
            let told_tags = listed_tags::tags_by_turn(&rows);
            let shown_tags = LazyCell::new(|| listed_tags::visible_tags(&index, &seen));
            let has_lost_tags = |turn: &TurnId| {
                told_tags.get(turn).is_some_and(|tags| !tags.is_subset(&shown_tags))
            };
            let heard_of = missing_notes::missing_by_turn(&rows, &told.all, &gone);
            let known =
                |row: &Message| clean.known_view(row, view.hidden.mark(), heard_of.get(&row.turn));
            let same_rules = SameRulesTurns::new(&rows, &view, known, |turn, since| {
                let is_of_those = |source: &Source| {
                    matches!(source, Source::Note(path) | Source::Hints(path) if since.occur_in(path.as_str())
                        || view.hides_unnamed(path, &seen))
                };
                told.told_to(turn).any(is_of_those)
                    || has_lost_tags(turn)
                    || names.has_hidden_of(turn)
            });
            let is_clean = |row: &Message| same_rules.is_clean(&row.turn, known(row));
            // A turn has many rows, and its files may have to be read.
            let judged = RefCell::<HashMap<TurnId, bool>>::default();
            let heard_private = |turn: &TurnId| {
                if let Some(known) = judged.borrow().get(turn) {
                    return *known;
                }
                let is_private = told.told_to(turn).any(|source| view.hides(source, &seen, &gone))
                    || wider_lookups.contains(turn)
                    || has_lost_tags(turn);
                judged.borrow_mut().insert(turn.clone(), is_private);
                is_private
            };
            // A name that another note has by now may be told.
            let is_there = |path: &NotePath| missing_notes::exists(&seen, path);
            let (replaced, away): (Vec<_>, Vec<_>) = gone.iter().cloned().partition(is_there);
            let hidden = history_filter::Hidden::new(&view, &away, &replaced, &names, &titles);
            history_filter::filter_history(rows, &hidden, is_clean, heard_private)
        })
        .await
    }
}

/// Whether a model gets less than the whole history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redaction {
    Nothing,
    Something,
}
