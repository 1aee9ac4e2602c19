//! `get_conversation`: the messages of conversations that have ended.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolOutcome};
use protocol::{ConversationId, Role};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ports::conversation_archive::{
    ArchiveError, ArchiveSearch, ArchivedConversation, ArchivedMessage, ConversationArchive,
};
use crate::ports::environment::Environment;
use crate::text::text_encoding::pluralize;

const MAX_RESULTS: u32 = 50;
/// Bytes of a conversation shown in full at most.
const MAX_BYTES: usize = 20_000;

/// Looks up earlier conversations that have ended: the latest ones, those about something, or one
/// in full by its id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetConversationInput {
    /// The id of one conversation, from an earlier call, to get it in full.
    conversation_id: Option<String>,
    /// How many conversations to list.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    list_recent: u32,
    /// Text to look for in its messages. Leave out to list the latest.
    query: Option<String>,
}

const fn ten() -> u32 {
    10
}

pub(crate) struct GetConversation {
    pub(crate) archive: Arc<dyn ConversationArchive>,
    pub(crate) environment: Arc<dyn Environment>,
}

#[async_trait]
impl Tool for GetConversation {
    const NAME: &'static str = "get_conversation";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = GetConversationInput;

    async fn run(&self, input: GetConversationInput, context: &ToolContext) -> ToolOutcome {
        let answer = match &input.conversation_id {
            Some(id) => self.full_transcript(id.trim(), context).await,
            None => self.list(&input, context).await,
        };
        answer.unwrap_or_else(|error| ToolOutcome::failed(error.to_string()))
    }
}

impl GetConversation {
    async fn full_transcript(
        &self,
        id: &str,
        context: &ToolContext,
    ) -> Result<ToolOutcome, ArchiveError> {
        Ok(match self.archive.transcript(&ConversationId::from(id)).await? {
            Some(heard) => {
                heard.sources.into_iter().for_each(|source| context.sources.record(source));
                ToolOutcome::ok(transcript(&heard.messages)).labeled()
            }
            None => ToolOutcome::failed(format!(
                "No ended conversation has the id `{id}`.\nCall without conversation_id to list \
                 the latest with their ids."
            ))
            .labeled(),
        })
    }

    async fn list(
        &self,
        input: &GetConversationInput,
        context: &ToolContext,
    ) -> Result<ToolOutcome, ArchiveError> {
        let limit = input.list_recent.clamp(1, MAX_RESULTS);
        let query = input.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        let ArchiveSearch { found, searched_newest } = match query {
            Some(query) => self.archive.search(query, limit).await?,
            None => {
                let found = self.archive.recent(limit).await?;
                ArchiveSearch { found, searched_newest: None }
            }
        };
        let sources = found.iter().flat_map(|one| &one.sources);
        sources.for_each(|source| context.sources.record(source.clone()));
        let mut text = match (found.as_slice(), query) {
            ([], None) => "No conversation has ended yet.".to_owned(),
            ([], Some(query)) => format!(
                "No ended conversation mentions “{query}”.\nTry other words, or leave out query to \
                 list the latest."
            ),
            (found, _) => found.iter().map(|one| self.line(one)).collect::<Vec<_>>().join("\n"),
        };
        if let Some(count) = searched_newest {
            let _ = write!(
                text,
                "\nOnly the newest {count} were searched, so older ones may mention it."
            );
        }
        Ok(ToolOutcome::ok(text).labeled())
    }

    fn line(&self, one: &ArchivedConversation) -> String {
        let zone = self.environment.now().time_zone().clone();
        let at = jiff::Timestamp::from_millisecond(one.ended_at.0)
            .map(|at| format!(", {}", at.to_zoned(zone).strftime("%Y-%m-%d %H:%M")))
            .unwrap_or_default();
        format!("- {} (id `{}`{at})\n  {}", one.title, one.id, one.summary.replace('\n', " "))
    }
}

/// The messages in order; of a long conversation the last ones, because they hold the result.
fn transcript(said: &[ArchivedMessage]) -> String {
    let told: Vec<String> = said.iter().map(message_text).collect();
    let mut room = MAX_BYTES;
    let fits = told.iter().rev().take_while(|one| {
        let left = room.checked_sub(one.len());
        room = left.unwrap_or_default();
        left.is_some()
    });
    let shown = fits.count().max(1).min(told.len());
    let omitted = told.len() - shown;
    let mut out = String::new();
    if omitted > 0 {
        let _ = write!(
            out,
            "The first {} left out.\n\n",
            match omitted {
                1 => "message is".to_owned(),
                more => format!("{} are", pluralize(more, "message")),
            }
        );
    }
    out.push_str(&told.get(omitted..).unwrap_or_default().join("\n\n"));
    out
}

fn message_text(said: &ArchivedMessage) -> String {
    let by = match said.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
    };
    let end = said.text.floor_char_boundary(MAX_BYTES);
    format!("{by}: {}", said.text.get(..end).unwrap_or_default())
}
