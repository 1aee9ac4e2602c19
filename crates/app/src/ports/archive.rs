//! `tools`' archive: ended conversations, kept in the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{ConversationId, ConversationState, Message, Part, Source, TurnId};
use store::{EndedRow, Store, StoreError};
use tools::archive::{Archive, ArchiveError, Ended, Heard, Said, Whole};

use crate::privacy::{Keeper, Told, Withheld};
use crate::submit::first_words;

/// The ended conversations of one vault, without what is private for those who ask.
pub(crate) struct StoreArchive {
    pub(crate) store: Store,
    pub(crate) keeper: Arc<Keeper>,
}

#[async_trait]
impl Archive for StoreArchive {
    async fn recent(&self, limit: u32) -> Result<Vec<Ended>, ArchiveError> {
        self.ended(limit, None).await
    }

    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Ended>, ArchiveError> {
        self.ended(limit, Some(query)).await
    }

    async fn result(
        &self,
        conversation: &ConversationId,
        handle: &str,
    ) -> Result<Option<Whole>, ArchiveError> {
        let found = self.store.whole_result(conversation, handle).await.map_err(told)?;
        let Some(message) = found else { return Ok(None) };
        let sources = self.store.heard_sources(&message.turn).await.map_err(told)?;
        let told = self.told(std::slice::from_ref(&message)).await?;
        let heard = self.keeper.heard_by_any(vec![message], &told).await;
        let (rows, _) = heard.map_err(|error| ArchiveError(error.message))?;
        let text = rows.into_iter().flat_map(|row| row.parts).find_map(|part| match part {
            Part::Result { output, .. } => Some(output),
            _ => None,
        });
        Ok(text.map(|text| Whole { text, sources }))
    }

    async fn whole(&self, id: &ConversationId) -> Result<Option<Heard>, ArchiveError> {
        let found = self.store.conversation(id).await.map_err(told)?;
        if found.is_none_or(|conversation| conversation.state != ConversationState::Ended) {
            return Ok(None);
        }
        let (history, _) = self.heard(id).await?;
        let said = history.iter().filter_map(said).collect();
        Ok(Some(Heard { said, sources: self.sources(id).await? }))
    }
}

impl StoreArchive {
    async fn ended(&self, limit: u32, query: Option<&str>) -> Result<Vec<Ended>, ArchiveError> {
        let rows = self.store.ended_conversations(limit, query).await.map_err(told)?;
        let mut all = Vec::new();
        for row in rows {
            let id = &row.conversation.id;
            let (history, withheld) = self.heard(id).await?;
            let sources = self.sources(id).await?;
            // That it was found would tell what is in it.
            if withheld == Withheld::Nothing || query.is_none() {
                all.push(Ended { sources, ..ended(row, &history, withheld) });
            }
        }
        Ok(all)
    }

    async fn sources(&self, id: &ConversationId) -> Result<BTreeSet<Source>, ArchiveError> {
        match self.store.last_turn(id).await.map_err(told)? {
            Some(last) => self.store.heard_sources(&last).await.map_err(told),
            None => Ok(BTreeSet::new()),
        }
    }

    /// Where the words of these turns come from.
    async fn told(&self, rows: &[Message]) -> Result<Told, ArchiveError> {
        let turns: BTreeSet<&TurnId> = rows.iter().map(|row| &row.turn).collect();
        self.store.own_sources(&turns.into_iter().collect::<Vec<_>>()).await.map_err(told)
    }

    /// All that was said in a conversation, as those may hear it who ask.
    async fn heard(&self, id: &ConversationId) -> Result<(Vec<Message>, Withheld), ArchiveError> {
        let last: Option<TurnId> = self.store.last_turn(id).await.map_err(told)?;
        let Some(last) = last else { return Ok((Vec::new(), Withheld::Nothing)) };
        let history = self.store.history(id, &last).await.map_err(told)?;
        let told = self.told(&history).await?;
        self.keeper.heard_by_any(history, &told).await.map_err(|error| ArchiveError(error.message))
    }
}

/// A row as those hear it who may hear of the conversation what stands in `history`. What a model made
/// of it counts only where all of that may be heard, and where it is of this variant of it.
fn ended(row: EndedRow, history: &[Message], withheld: Withheld) -> Ended {
    let EndedRow { conversation, words, named_by_user, told_until } = row;
    let is_whole = withheld == Withheld::Nothing;
    let holds = is_whole
        && told_until.as_ref().is_none_or(|told| history.iter().any(|row| row.turn == *told));
    let title = if named_by_user || holds {
        conversation.title
    } else {
        let first = history.iter().find_map(said).map(|said| first_words(&said.text));
        first.unwrap_or_else(|| "A conversation".to_owned())
    };
    let gist = match conversation.summary.filter(|_| holds) {
        Some(summary) => summary,
        None if is_whole => words,
        None => "Withheld: it may tell of notes that are private.".to_owned(),
    };
    let (id, ended_at) = (conversation.id, conversation.updated_at);
    Ended { id, title, ended_at, gist, sources: BTreeSet::new() }
}

fn said(message: &Message) -> Option<Said> {
    let text = message.text();
    (!text.trim().is_empty()).then_some(Said { by: message.role, text })
}

fn told(error: StoreError) -> ArchiveError {
    ArchiveError(error.to_string())
}
