//! The table `conversation`: names, states and the list.

use protocol::{Conversation, ConversationId, ConversationState, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::column::{Columns, json, word};
use crate::commit::{commit, read};
use crate::error::Failure;
use crate::{Store, StoreError};

/// How much of a conversation's last words stands in the list of ended ones, in characters.
const EXCERPT: usize = 300;

impl Store {
    /// Begins a conversation. `from_hub` is the day that a hub's messages gather in
    /// ("2026-11-21"); a day has one conversation, a second one is refused.
    pub async fn create_conversation(
        &self,
        id: &ConversationId,
        title: &str,
        from_hub: Option<&str>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let new = NewConversation { id, title, hub_day: from_hub, listed: true, at };
        commit!(self, "create_conversation", "begin a conversation", |db| insert(db, &new))
    }

    /// Begins a conversation that no list ever shows: one question from the command line.
    pub async fn create_unlisted_conversation(
        &self,
        id: &ConversationId,
        title: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let new = NewConversation { id, title, hub_day: None, listed: false, at };
        commit!(self, "create_unlisted_conversation", "begin a conversation", |db| insert(db, &new))
    }

    /// One row of the list; `None` for one that is not listed.
    pub async fn conversation(
        &self,
        id: &ConversationId,
    ) -> Result<Option<Conversation>, StoreError> {
        read!(self, "read the conversation", |db| one(db, id))
    }

    /// The list, newest first, at most `limit` long.
    pub async fn conversations(&self, limit: u32) -> Result<Vec<Conversation>, StoreError> {
        read!(self, "list the conversations", |db| newest(db, limit))
    }

    /// The conversation that gathers a day's hub messages.
    pub async fn hub_conversation(&self, day: &str) -> Result<Option<ConversationId>, StoreError> {
        read!(self, "find the hub's conversation", |db| of_hub_day(db, day))
    }

    /// Gives it another name.
    pub async fn rename(&self, id: &ConversationId, title: &str) -> Result<(), StoreError> {
        commit!(self, "rename", "rename the conversation", |db| set_title(db, id, title))
    }

    /// Ends or reopens it.
    pub async fn set_state(
        &self,
        id: &ConversationId,
        state: ConversationState,
    ) -> Result<(), StoreError> {
        commit!(self, "set_state", "end or reopen the conversation", |db| store_state(
            db, id, state
        ))
    }

    /// Ended conversations, newest first, each with its last words (else its first), at most 300
    /// characters. With a query: those where each of its words stands in the name or in what was
    /// said; upper and lower case are told apart outside ASCII.
    pub async fn ended_conversations(
        &self,
        limit: u32,
        query: Option<&str>,
    ) -> Result<Vec<(Conversation, String)>, StoreError> {
        read!(self, "search the ended conversations", |db| ended(
            db,
            limit,
            query.unwrap_or_default()
        ))
    }
}

struct NewConversation<'a> {
    id: &'a ConversationId,
    title: &'a str,
    hub_day: Option<&'a str>,
    listed: bool,
    at: Timestamp,
}

async fn insert(db: &mut SqliteConnection, new: &NewConversation<'_>) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO conversation (id, title, state, hub_day, listed, created_at, updated_at)
         VALUES (?1, ?2, 'active', ?3, ?4, ?5, ?5)",
    )
    .bind(new.id.as_str())
    .bind(new.title)
    .bind(new.hub_day)
    .bind(new.listed)
    .bind(new.at.0)
    .execute(db)
    .await?;
    Ok(())
}

async fn one(
    db: &mut SqliteConnection,
    id: &ConversationId,
) -> Result<Option<Conversation>, sqlx::Error> {
    sqlx::query(
        "SELECT id, title, state, from_hub, updated_at, waiting_question, waiting_notes,
             interrupted, working
         FROM listed WHERE id = ?",
    )
    .bind(id.as_str())
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

async fn newest(db: &mut SqliteConnection, limit: u32) -> Result<Vec<Conversation>, sqlx::Error> {
    sqlx::query(
        "SELECT id, title, state, from_hub, updated_at, waiting_question, waiting_notes,
             interrupted, working
         FROM listed ORDER BY updated_at DESC, id DESC LIMIT ?",
    )
    .bind(limit)
    .try_map(|row| from_row(&row))
    .fetch_all(db)
    .await
}

async fn of_hub_day(
    db: &mut SqliteConnection,
    day: &str,
) -> Result<Option<ConversationId>, sqlx::Error> {
    sqlx::query("SELECT id FROM conversation WHERE hub_day = ?")
        .bind(day)
        .try_map(|row: SqliteRow| row.text("id"))
        .fetch_optional(db)
        .await
}

async fn set_title(
    db: &mut SqliteConnection,
    id: &ConversationId,
    title: &str,
) -> Result<(), Failure> {
    let renamed = sqlx::query("UPDATE conversation SET title = ?2 WHERE id = ?1")
        .bind(id.as_str())
        .bind(title)
        .execute(db)
        .await?;
    found(renamed.rows_affected(), id)
}

pub(crate) async fn store_state(
    db: &mut SqliteConnection,
    id: &ConversationId,
    state: ConversationState,
) -> Result<(), Failure> {
    let stored = sqlx::query("UPDATE conversation SET state = ?2 WHERE id = ?1")
        .bind(id.as_str())
        .bind(word(&state)?)
        .execute(db)
        .await?;
    found(stored.rows_affected(), id)
}

/// Something happened in it. Its time never goes back, whatever the clock does.
pub(crate) async fn touch(
    db: &mut SqliteConnection,
    id: &ConversationId,
    at: Timestamp,
) -> Result<(), Failure> {
    let touched =
        sqlx::query("UPDATE conversation SET updated_at = max(updated_at, ?2) WHERE id = ?1")
            .bind(id.as_str())
            .bind(at.0)
            .execute(db)
            .await?;
    found(touched.rows_affected(), id)
}

async fn ended(
    db: &mut SqliteConnection,
    limit: u32,
    query: &str,
) -> Result<Vec<(Conversation, String)>, sqlx::Error> {
    let words: Vec<String> = query.split_whitespace().map(like_anywhere).collect();
    sqlx::query(
        "WITH said AS (
             SELECT m.conversation, m.role, t.number, m.position, p.key AS part,
                 CASE p.value ->> '$.type'
                     WHEN 'text' THEN p.value ->> '$.text'
                     WHEN 'call' THEN CASE p.value ->> '$.tool'
                         WHEN 'send_message' THEN p.value ->> '$.arguments.message'
                     END
                 END AS words
             FROM message m JOIN turn t ON t.id = m.turn, json_each(m.parts) p
         )
         SELECT l.id, l.title, l.state, l.from_hub, l.updated_at, l.waiting_question,
             l.waiting_notes, l.interrupted, l.working,
             coalesce(
                 (SELECT s.words FROM said s
                  WHERE s.conversation = l.id AND s.role = 'assistant' AND s.words <> ''
                  ORDER BY s.number DESC, s.position DESC, s.part DESC LIMIT 1),
                 (SELECT s.words FROM said s
                  WHERE s.conversation = l.id AND s.words <> ''
                  ORDER BY s.number, s.position, s.part LIMIT 1),
                 ''
             ) AS words
         FROM listed l
         WHERE l.state = 'ended' AND NOT EXISTS (
             SELECT 1 FROM json_each(?1) w
             WHERE NOT l.title LIKE w.value ESCAPE '\\' AND NOT EXISTS (
                 SELECT 1 FROM said s
                 WHERE s.conversation = l.id AND s.words LIKE w.value ESCAPE '\\'
             )
         )
         ORDER BY l.updated_at DESC, l.id DESC LIMIT ?2",
    )
    .bind(json(&words)?)
    .bind(limit)
    .try_map(|row: SqliteRow| {
        let words: String = row.try_get("words")?;
        Ok((from_row(&row)?, words.chars().take(EXCERPT).collect()))
    })
    .fetch_all(db)
    .await
}

/// The pattern of `LIKE` that finds `word` as it is written.
fn like_anywhere(word: &str) -> String {
    let quoted = word.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{quoted}%")
}

fn from_row(row: &SqliteRow) -> Result<Conversation, sqlx::Error> {
    Ok(Conversation {
        id: row.text("id")?,
        title: row.text("title")?,
        state: row.word("state")?,
        from_hub: row.try_get("from_hub")?,
        updated_at: row.at("updated_at")?,
        waiting_question: row.maybe_text("waiting_question")?,
        waiting_notes: row.try_get("waiting_notes")?,
        interrupted: row.try_get("interrupted")?,
        working: row.try_get("working")?,
    })
}

fn found(rows: u64, id: &ConversationId) -> Result<(), Failure> {
    if rows == 0 { Err(Failure::not_found("conversation", id)) } else { Ok(()) }
}
