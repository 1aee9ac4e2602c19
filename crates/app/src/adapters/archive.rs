//! Implements `tools::ports::conversation_archive`: ended conversations, from the store.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{CallId, ConversationId, ConversationState, Message, MessagePart, Source, TurnId};
use serde_json::Value;
use store::{EndedConversation, Store, StoreError};
use tools::ports::conversation_archive::{
    ArchiveError, ArchiveSearch, ArchivedConversation, ArchivedMessage, ArchivedResult,
    ArchivedTranscript, ConversationArchive,
};

use crate::chat::user_message::title_from_text;
use crate::privacy::{MentionedTurnCache, PrivacyGuard, Redaction, SourcesByTurn};

/// How many ended conversations are searched, newest first, where something is hidden from those who ask: each one with
/// the words is read whole, withheld or not. The others count too, or the limit would tell how many withheld ones have
/// the words.
const MAX_SEARCHED: u32 = 500;

/// The ended conversations of one vault, without what is private for those who ask.
pub(crate) struct StoreArchive {
    pub(crate) store: Store,
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
}

#[async_trait]
impl ConversationArchive for StoreArchive {
    async fn recent(&self, limit: u32) -> Result<Vec<ArchivedConversation>, ArchiveError> {
        self.ended_conversations(limit, None, None).await
    }

    async fn search(&self, query: &str, limit: u32) -> Result<ArchiveSearch, ArchiveError> {
        self.search_newest(query, limit, MAX_SEARCHED).await
    }

    async fn full_result(
        &self,
        conversation: &ConversationId,
        handle: &str,
    ) -> Result<Option<ArchivedResult>, ArchiveError> {
        let found = self.store.full_result(conversation, handle).await.map_err(archive_error)?;
        let Some(message) = found else { return Ok(None) };
        let sources = self.store.context_sources(&message.turn).await.map_err(archive_error)?;
        // The turn may repeat what those before it were told: a pending text, for example.
        let told = SourcesByTurn::from([(message.turn.clone(), sources.clone())]);
        let cache = MentionedTurnCache::default();
        let heard = self.privacy_guard.redact_for_any(vec![message], &told, &cache).await;
        let (rows, _) = heard.map_err(|error| ArchiveError(error.message))?;
        let text = rows.into_iter().flat_map(|row| row.parts).find_map(|part| match part {
            MessagePart::Result { output, .. } => Some(output),
            _ => None,
        });
        Ok(text.map(|text| ArchivedResult { text, sources }))
    }

    async fn told_texts(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
        call: &CallId,
    ) -> Result<Option<Vec<String>>, ArchiveError> {
        let mut history = self.store.history(conversation, turn).await.map_err(archive_error)?;
        // Some servers give the calls of each answer the same ids, so the place counts.
        let calls = |message: &Message| {
            let mut parts = message.parts.iter();
            parts.any(|part| matches!(part, MessagePart::Call { id, .. } if id == call))
        };
        if let Some(answer) = history.iter().rposition(calls) {
            history.truncate(answer + 1);
        }
        let mut told = Vec::new();
        for part in history.into_iter().flat_map(|message| message.parts) {
            match part {
                MessagePart::Text { text } | MessagePart::Context { text } => told.push(text),
                MessagePart::Result { output, .. } => told.push(output),
                MessagePart::Call { arguments, .. } => add_strings(arguments, &mut told),
                _ => {}
            }
        }
        Ok(Some(told))
    }

    async fn transcript(
        &self,
        id: &ConversationId,
    ) -> Result<Option<ArchivedTranscript>, ArchiveError> {
        let found = self.store.conversation(id).await.map_err(archive_error)?;
        if found.is_none_or(|conversation| conversation.state != ConversationState::Ended) {
            return Ok(None);
        }
        let (history, _) = self.visible_messages(id, &MentionedTurnCache::default()).await?;
        let messages = history.iter().filter_map(to_archive_message).collect();
        Ok(Some(ArchivedTranscript { messages, sources: self.sources(id).await? }))
    }
}

impl StoreArchive {
    /// Searches all ended conversations; where something is hidden from those who ask, the `newest` ones.
    async fn search_newest(
        &self,
        query: &str,
        limit: u32,
        newest: u32,
    ) -> Result<ArchiveSearch, ArchiveError> {
        let sees_all = self.privacy_guard.all_see_everything().await;
        if sees_all.map_err(|error| ArchiveError(error.message))? {
            let found = self.ended_conversations(limit, Some(query), None).await?;
            return Ok(ArchiveSearch { found, searched_newest: None });
        }
        let ids = self.store.newest_ended(newest.saturating_add(1)).await.map_err(archive_error)?;
        let has_older = ids.len() > as_length(newest);
        let searched = ids.into_iter().take(as_length(newest)).collect();
        let found = self.ended_conversations(limit, Some(query), Some(&searched)).await?;
        // A full list leaves older ones out anyway.
        let is_cut = has_older && found.len() < as_length(limit);
        Ok(ArchiveSearch { found, searched_newest: is_cut.then_some(newest) })
    }

    /// Newest first; only those in `searched`, the newest ones, where it is given. The conversations that a query leaves
    /// out take no place of others: how many were found would tell of them.
    async fn ended_conversations(
        &self,
        limit: u32,
        query: Option<&str>,
        searched: Option<&HashSet<ConversationId>>,
    ) -> Result<Vec<ArchivedConversation>, ArchiveError> {
        let cache = MentionedTurnCache::default();
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        let (places, mut count) = (as_length(limit), limit);
        while all.len() < places {
            let rows = self.store.ended_conversations(count, query).await.map_err(archive_error)?;
            // The rows behind as many as are searched are older ones.
            let are_all = rows.len() < as_length(count)
                || searched.is_some_and(|ids| ids.len() <= as_length(count));
            for row in rows {
                let id = row.conversation.id.clone();
                let is_searched = searched.is_none_or(|ids| ids.contains(&id));
                if is_searched && all.len() < places && seen.insert(id) {
                    all.extend(self.visible_entry(row, query, &cache).await?);
                }
            }
            if are_all {
                break;
            }
            count = count.saturating_mul(2);
        }
        Ok(all)
    }

    /// The entry of a conversation, as those hear it who run now; `None` where a query found one of which something
    /// is withheld.
    async fn visible_entry(
        &self,
        row: EndedConversation,
        query: Option<&str>,
        cache: &MentionedTurnCache,
    ) -> Result<Option<ArchivedConversation>, ArchiveError> {
        let id = &row.conversation.id;
        let (history, withheld) = self.visible_messages(id, cache).await?;
        // That it was found would tell what is in it.
        if withheld == Redaction::Something && query.is_some() {
            return Ok(None);
        }
        let sources = self.sources(id).await?;
        Ok(Some(ArchivedConversation { sources, ..to_archive_entry(row, &history, withheld) }))
    }

    async fn sources(&self, id: &ConversationId) -> Result<BTreeSet<Source>, ArchiveError> {
        match self.last_turn(id).await? {
            Some(last) => self.store.context_sources(&last).await.map_err(archive_error),
            None => Ok(BTreeSet::new()),
        }
    }

    /// The last turn of the branch that is shown. The other branches are nowhere told of: neither
    /// are their words found, nor is an excerpt made of them.
    async fn last_turn(&self, id: &ConversationId) -> Result<Option<TurnId>, ArchiveError> {
        let last = self.store.last_shown_turn(id).await.map_err(archive_error)?;
        Ok(last.map(|last| last.turn))
    }

    /// The sources of the text in these turns.
    async fn sources_by_turn(&self, rows: &[Message]) -> Result<SourcesByTurn, ArchiveError> {
        let turns: BTreeSet<&TurnId> = rows.iter().map(|row| &row.turn).collect();
        self.store.turn_sources(&turns.into_iter().collect::<Vec<_>>()).await.map_err(archive_error)
    }

    /// All messages of the branch of a conversation that is shown, as the asking turn may see them.
    async fn visible_messages(
        &self,
        id: &ConversationId,
        cache: &MentionedTurnCache,
    ) -> Result<(Vec<Message>, Redaction), ArchiveError> {
        let Some(last) = self.last_turn(id).await? else {
            return Ok((Vec::new(), Redaction::Nothing));
        };
        let history = self.store.history(id, &last).await.map_err(archive_error)?;
        let told = self.sources_by_turn(&history).await?;
        self.privacy_guard
            .redact_for_any(history, &told, cache)
            .await
            .map_err(|error| ArchiveError(error.message))
    }
}

/// A row as those hear it who may hear of the conversation what stands in `history`. What a model made
/// of it counts only where all of that may be heard, and where it is of this branch of it.
fn to_archive_entry(
    row: EndedConversation,
    history: &[Message],
    withheld: Redaction,
) -> ArchivedConversation {
    let EndedConversation { conversation, excerpt, named_by_user, titled_until: told_until } = row;
    let is_whole = withheld == Redaction::Nothing;
    let holds = is_whole
        && told_until.as_ref().is_none_or(|told| history.iter().any(|row| row.turn == *told));
    let title = if named_by_user || holds {
        conversation.title
    } else {
        let first =
            history.iter().find_map(to_archive_message).map(|said| title_from_text(&said.text));
        first.unwrap_or_else(|| "A conversation".to_owned())
    };
    let summary = match conversation.summary.filter(|_| holds) {
        Some(summary) => summary,
        None if is_whole => excerpt,
        None => "Withheld: it may tell of notes that are private.".to_owned(),
    };
    let (id, ended_at) = (conversation.id, conversation.updated_at);
    ArchivedConversation { id, title, ended_at, summary, sources: BTreeSet::new() }
}

fn to_archive_message(message: &Message) -> Option<ArchivedMessage> {
    let text = message.text();
    (!text.trim().is_empty()).then_some(ArchivedMessage { role: message.role, text })
}

/// Adds all texts in the arguments of a call.
fn add_strings(value: Value, told: &mut Vec<String>) {
    match value {
        Value::String(text) => told.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| add_strings(value, told)),
        Value::Object(fields) => fields.into_iter().for_each(|(_, value)| add_strings(value, told)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn as_length(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn archive_error(error: StoreError) -> ArchiveError {
    ArchiveError(match error {
        // A model needs no cause that SQLite or the system words.
        StoreError::File { .. } | StoreError::Sql { .. } => {
            "Vaultmate couldn’t read or save its data".to_owned()
        }
        other => other.to_string(),
    })
}
