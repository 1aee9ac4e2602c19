//! Judges the conversations that the user mentions in another one. A title may be of any branch and of
//! any time, so a conversation counts as a whole: some of it is withheld, or nothing is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use protocol::{ConversationId, Message, Privacy, TurnId, UserError};
use store::Store;

use super::hidden_titles::{HiddenTitles, MentionedConversation, titled_in};
use super::mentioned_turn_cache::MentionedTurnCache;
use super::model_titles::{contain_model_title, told_messages};
use crate::privacy::{PrivacyGuard, PrivacyView};

/// The number of conversations that are read for one request. In doubt the titles of others are hidden.
const MAX_CONVERSATIONS: usize = 32;

impl PrivacyGuard {
    /// The titles in the messages of the user that are hidden at this view. `cache` may be used again at any other
    /// view.
    pub(in crate::privacy) async fn hidden_titles(
        &self,
        view: &Arc<PrivacyView>,
        rows: &[Message],
        cache: &MentionedTurnCache,
    ) -> Result<HiddenTitles, UserError> {
        let Some(store) = self.effect_history.get().filter(|_| !view.hides_nothing()) else {
            return Ok(HiddenTitles::default());
        };
        let mut left: VecDeque<ConversationId> = titled_in(rows).into_iter().collect();
        let mut judged = BTreeMap::new();
        while let Some(id) = left.pop_front() {
            if judged.contains_key(&id) {
                continue;
            }
            let one = match judged.len() < MAX_CONVERSATIONS {
                true => self.mentioned_conversation(view, store, &id, cache).await?,
                false => withheld_conversation(),
            };
            left.extend(one.mentions.iter().cloned());
            judged.insert(id, one);
        }
        let titles = HiddenTitles::new(judged);
        let later = titles.turns_since_title(rows).into_iter().collect();
        let told = self.seeing_more(view, later).await?;
        Ok(titles.told_to(told))
    }

    /// Whether the turn, or one that it was told of, was told a title that not every model may hear and that the user
    /// did not word.
    pub(crate) async fn was_told_hidden_title(&self, turn: &TurnId) -> Result<bool, UserError> {
        let Some(store) = self.effect_history.get() else { return Ok(false) };
        // A model that sees what all see got the mention without its title.
        if self.known_max_privacy(&[turn]).await?.get(turn) == Some(&Privacy::Open) {
            return Ok(false);
        }
        let told = told_messages(store, turn).await?;
        if !contain_model_title(store, &told).await? {
            return Ok(false);
        }
        let view = self.view_for(Privacy::Open).await?;
        let cache = self.mentioned_turn_cache(turn);
        Ok(self.hidden_titles(&view, &told, &cache).await?.were_told())
    }

    /// The messages of mentioned conversations that are kept for a turn; none for one that neither runs nor is replayed.
    pub(in crate::privacy) fn mentioned_turn_cache(
        &self,
        turn: &TurnId,
    ) -> Arc<MentionedTurnCache> {
        let state = self.state();
        let cache = state.views_of(turn).map(|views| Arc::clone(&views.mentioned_turn_cache));
        cache.unwrap_or_default()
    }

    /// A conversation as this view shows it. One that was deleted counts as withheld.
    async fn mentioned_conversation(
        &self,
        view: &Arc<PrivacyView>,
        store: &Store,
        id: &ConversationId,
        cache: &MentionedTurnCache,
    ) -> Result<MentionedConversation, UserError> {
        let outline = store.conversation_outline(id).await?;
        let Some(outline) = outline else { return Ok(withheld_conversation()) };
        let stored = cache.messages(store, &outline.turns).await?;
        let rows: Vec<Message> = stored.iter().flat_map(|turn| turn.iter()).cloned().collect();
        let turns: BTreeSet<&TurnId> = rows.iter().map(|row| &row.turn).collect();
        let turns: Vec<&TurnId> = turns.into_iter().collect();
        let sources = store.turn_sources(&turns).await?;
        let told = self.with_planned_notes(view, &rows, &sources).await?;
        let gone = self.missing_in_rows(view, &rows, &told.all).await?;
        let names = self.planned_names_of_mentioned(view, &rows).await?;
        let mentions = titled_in(&rows);
        // The titles in it are judged with their own conversations.
        let titles = HiddenTitles::default();
        let heard = self.filter_messages(view, rows, told, gone, names, titles).await?;
        let is_withheld = !heard.iter().eq(stored.iter().flat_map(|turn| turn.iter()));
        Ok(MentionedConversation { is_withheld, mentions })
    }
}

fn withheld_conversation() -> MentionedConversation {
    MentionedConversation { is_withheld: true, mentions: BTreeSet::new() }
}
