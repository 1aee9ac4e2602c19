//! Judges the conversations that the user mentions in another one. A title may be of any branch and of
//! any time, so a conversation counts as a whole: some of it is withheld, or nothing is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use protocol::{ConversationId, Message, MessagePart, Role, TurnId, UserError};
use store::{ExportedTurn, Store};

use super::hidden_titles::{HiddenTitles, MentionedConversation, titled_in};
use crate::privacy::{PrivacyGuard, PrivacyView};
use crate::support::errors::store_error;

/// The number of conversations that are read for one request. In doubt the titles of others are hidden.
const MAX_CONVERSATIONS: usize = 32;

impl PrivacyGuard {
    /// The titles in the messages of the user that are hidden at this view.
    pub(in crate::privacy) async fn hidden_titles(
        &self,
        view: &Arc<PrivacyView>,
        rows: &[Message],
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
                true => self.mentioned_conversation(view, store, &id).await?,
                false => withheld_conversation(),
            };
            left.extend(one.mentions.iter().cloned());
            judged.insert(id, one);
        }
        let titles = HiddenTitles::new(judged);
        let holding = titles.turns_of(rows).into_iter().collect();
        let told = self.seeing_more(view, holding).await?;
        Ok(titles.told_to(told))
    }

    /// A conversation as this view shows it. One that was deleted counts as withheld.
    async fn mentioned_conversation(
        &self,
        view: &Arc<PrivacyView>,
        store: &Store,
        id: &ConversationId,
    ) -> Result<MentionedConversation, UserError> {
        let outline = store.conversation_outline(id).await.map_err(store_error)?;
        let Some(outline) = outline else { return Ok(withheld_conversation()) };
        let turns = store.exported_turns(&outline.turns).await.map_err(store_error)?;
        let rows: Vec<Message> = turns.into_iter().flat_map(messages_with_results).collect();
        let turns: BTreeSet<&TurnId> = rows.iter().map(|row| &row.turn).collect();
        let turns: Vec<&TurnId> = turns.into_iter().collect();
        let sources = store.turn_sources(&turns).await.map_err(store_error)?;
        let told = self.with_planned_notes(view, &rows, &sources).await?;
        let gone = self.missing_in_rows(view, &rows, &told.all).await?;
        let names = self.planned_names(view, &rows).await?;
        // The titles in it are judged with their own conversations.
        let titles = HiddenTitles::default();
        let heard = self.filter_messages(view, rows.clone(), told, gone, names, titles).await?;
        Ok(MentionedConversation { is_withheld: heard != rows, mentions: titled_in(&rows) })
    }
}

fn withheld_conversation() -> MentionedConversation {
    MentionedConversation { is_withheld: true, mentions: BTreeSet::new() }
}

/// The messages of a turn, each followed by the results of its calls.
fn messages_with_results(turn: ExportedTurn) -> Vec<Message> {
    let ExportedTurn { messages, calls, .. } = turn;
    let mut rows = Vec::new();
    for message in messages {
        let made = calls.iter().filter(|call| call.message == message.id);
        let results = made.filter_map(|call| {
            let (output, is_error) = (call.output.clone()?, call.is_error);
            Some(MessagePart::Result { call: call.call.clone(), output, is_error })
        });
        let parts: Vec<MessagePart> = results.collect();
        let has_results = !parts.is_empty();
        let results = has_results.then(|| Message { role: Role::User, parts, ..message.clone() });
        rows.push(message);
        rows.extend(results);
    }
    rows
}
