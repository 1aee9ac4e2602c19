//! The table `conversation`: names, states and the list.

use std::collections::HashMap;

use protocol::chat::conversation_list::{ArchiveState, ConversationPage};
use protocol::time::Weekday;
use protocol::{Conversation, ConversationId, ConversationState, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::row_ext::{RowExt, enum_text, to_json};
use crate::db::transaction::{commit, read, read_one};
use crate::error::Failure;
use crate::{Store, StoreError};

impl Store {
    /// Begins a conversation. `from_hub` is the day of a hub whose messages gather in it
    /// ("2026-11-21 hub.example:443"); it has one conversation, a second one is refused.
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

    /// Puts a conversation that was begun unlisted into the list.
    pub async fn list_conversation(&self, id: &ConversationId) -> Result<(), StoreError> {
        commit!(self, "list_conversation", "list a conversation", |db| set_listed(db, id))
    }

    /// One row of the list; `None` for one that is not listed.
    pub async fn conversation(
        &self,
        id: &ConversationId,
    ) -> Result<Option<Conversation>, StoreError> {
        read!(self, "read the conversation", |db| find_listed(db, id))
    }

    /// A page of the list, newest first, at most `limit` long: what stands behind `before`, or the
    /// beginning.
    pub async fn conversations(
        &self,
        archive_state: ArchiveState,
        before: Option<&ConversationId>,
        limit: u32,
    ) -> Result<ConversationPage, StoreError> {
        read_one!(self, "list the conversations", |db| page(db, archive_state, before, limit))
    }

    /// All conversations that need attention, archived ones included, newest first.
    pub async fn conversations_needing_you(&self) -> Result<Vec<Conversation>, StoreError> {
        read!(self, "list the conversations that need attention", |db| needing_you(db))
    }

    /// The conversation that gathers the messages of a [day of a hub](Self::create_conversation).
    pub async fn hub_conversation(&self, day: &str) -> Result<Option<ConversationId>, StoreError> {
        read!(self, "find the hub's conversation", |db| of_hub_day(db, day))
    }

    /// Gives it the name that the user chose.
    pub async fn rename(&self, id: &ConversationId, title: &str) -> Result<(), StoreError> {
        commit!(self, "rename", "rename the conversation", |db| set_title(db, id, title))
    }

    /// The names that the user gave to those of these conversations that have one.
    pub async fn names_by_user(
        &self,
        conversations: &[&ConversationId],
    ) -> Result<HashMap<ConversationId, String>, StoreError> {
        read_one!(self, "read the names of conversations", |db| select_names_by_user(
            db,
            conversations
        ))
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
}

struct NewConversation<'a> {
    id: &'a ConversationId,
    title: &'a str,
    hub_day: Option<&'a str>,
    listed: bool,
    at: Timestamp,
}

async fn set_listed(db: &mut SqliteConnection, id: &ConversationId) -> Result<(), Failure> {
    let query = sqlx::query("UPDATE conversation SET listed = 1 WHERE id = ?1").bind(id.as_str());
    match query.execute(db).await?.rows_affected() {
        0 => Err(Failure::not_found("This conversation", id)),
        _ => Ok(()),
    }
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

/// The weekday of the hub messages of a conversation `c` as SQLite numbers it, while nobody else named it; else null.
macro_rules! inbox_day {
    () => {
        "iif(c.named_by = 'words', CAST(strftime('%w', substr(c.hub_day, 1, 10)) AS INTEGER), NULL)"
    };
}
pub(crate) use inbox_day;

/// The columns of the view `listed` that [`from_row`] reads.
macro_rules! columns {
    () => {
        concat!(
            "id, title, summary, state, from_hub, archived, updated_at, waiting_question,
             waiting_notes, interrupted, held, working,
             (SELECT c.named_by = 'model' FROM conversation c WHERE c.id = listed.id)
                 AS titled_by_model,
             (SELECT ",
            $crate::conversations::conversation::inbox_day!(),
            " FROM conversation c WHERE c.id = listed.id) AS inbox_day"
        )
    };
}
pub(crate) use columns;

macro_rules! row {
    () => {
        concat!("SELECT ", columns!(), " FROM listed")
    };
}

pub(crate) async fn find_listed(
    db: &mut SqliteConnection,
    id: &ConversationId,
) -> Result<Option<Conversation>, sqlx::Error> {
    sqlx::query(concat!(row!(), " WHERE id = ?"))
        .bind(id.as_str())
        .try_map(|row| from_row(&row))
        .fetch_optional(db)
        .await
}

async fn page(
    db: &mut SqliteConnection,
    archive_state: ArchiveState,
    before: Option<&ConversationId>,
    limit: u32,
) -> Result<ConversationPage, sqlx::Error> {
    let mut conversations = sqlx::query(concat!(
        row!(),
        " WHERE archived = ?1 AND (updated_at, id) < (
             coalesce((SELECT updated_at FROM conversation WHERE id = ?2), 9223372036854775807), ?2
         )
         ORDER BY updated_at DESC, id DESC LIMIT ?3"
    ))
    .bind(archive_state == ArchiveState::Archived)
    .bind(before.map_or("", ConversationId::as_str))
    .bind(i64::from(limit) + 1)
    .try_map(|row| from_row(&row))
    .fetch_all(db)
    .await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = conversations.len() > limit;
    conversations.truncate(limit);
    let behind = conversations.last().filter(|_| more).map(|row: &Conversation| row.id.clone());
    Ok(ConversationPage { conversations, behind })
}

async fn needing_you(db: &mut SqliteConnection) -> Result<Vec<Conversation>, sqlx::Error> {
    sqlx::query(concat!(
        row!(),
        " WHERE id IN (SELECT id FROM awaited) ORDER BY updated_at DESC, id DESC"
    ))
    .try_map(|row| from_row(&row))
    .fetch_all(db)
    .await
}

async fn of_hub_day(
    db: &mut SqliteConnection,
    day: &str,
) -> Result<Option<ConversationId>, sqlx::Error> {
    sqlx::query("SELECT id FROM conversation WHERE hub_day = ? AND deleted_at IS NULL")
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
    let renamed = sqlx::query("UPDATE conversation SET title = ?2, named_by = 'user' WHERE id = ?1 AND deleted_at IS NULL")
        .bind(id.as_str())
        .bind(title)
        .execute(db)
        .await?;
    require_found(renamed.rows_affected(), id)
}

async fn select_names_by_user(
    db: &mut SqliteConnection,
    conversations: &[&ConversationId],
) -> Result<HashMap<ConversationId, String>, sqlx::Error> {
    let names: Vec<(ConversationId, String)> = sqlx::query(
        "SELECT id, title FROM conversation
         WHERE named_by = 'user' AND id IN (SELECT value FROM json_each(?))",
    )
    .bind(to_json(conversations)?)
    .try_map(|row: SqliteRow| Ok((row.text("id")?, row.try_get("title")?)))
    .fetch_all(db)
    .await?;
    Ok(names.into_iter().collect())
}

pub(crate) async fn store_state(
    db: &mut SqliteConnection,
    id: &ConversationId,
    state: ConversationState,
) -> Result<(), Failure> {
    let stored = sqlx::query("UPDATE conversation SET state = ?2 WHERE id = ?1")
        .bind(id.as_str())
        .bind(enum_text(&state)?)
        .execute(db)
        .await?;
    require_found(stored.rows_affected(), id)
}

/// Somebody writes in it: it goes on, and lies in the list.
pub(crate) async fn reopen(
    db: &mut SqliteConnection,
    id: &ConversationId,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE conversation SET state = 'active', archived = 0 WHERE id = ?")
        .bind(id.as_str())
        .execute(db)
        .await?;
    Ok(())
}

/// Something happened in it. Its time never goes back, whatever the clock does. Nothing happens in
/// one that is deleted.
pub(crate) async fn touch(
    db: &mut SqliteConnection,
    id: &ConversationId,
    at: Timestamp,
) -> Result<(), Failure> {
    let touched = sqlx::query(
        "UPDATE conversation SET updated_at = max(updated_at, ?2)
         WHERE id = ?1 AND deleted_at IS NULL",
    )
    .bind(id.as_str())
    .bind(at.0)
    .execute(db)
    .await?;
    require_found(touched.rows_affected(), id)
}

pub(crate) fn from_row(row: &SqliteRow) -> Result<Conversation, sqlx::Error> {
    Ok(Conversation {
        id: row.text("id")?,
        title: row.text("title")?,
        titled_by_model: row.try_get("titled_by_model")?,
        inbox_day: inbox_day_from_row(row)?,
        summary: row.try_get("summary")?,
        state: row.enum_value("state")?,
        from_hub: row.try_get("from_hub")?,
        archived: row.try_get("archived")?,
        updated_at: row.timestamp("updated_at")?,
        waiting_question: row.optional_text("waiting_question")?,
        waiting_notes: row.try_get("waiting_notes")?,
        held: row.try_get("held")?,
        interrupted: row.try_get("interrupted")?,
        working: row.try_get("working")?,
    })
}

/// The weekday in the column `inbox_day`.
pub(crate) fn inbox_day_from_row(row: &SqliteRow) -> Result<Option<Weekday>, sqlx::Error> {
    let number: Option<i64> = row.try_get("inbox_day")?;
    Ok(number.and_then(Weekday::from_number))
}

pub(crate) fn require_found(rows: u64, id: &ConversationId) -> Result<(), Failure> {
    if rows == 0 { Err(Failure::not_found("This conversation", id)) } else { Ok(()) }
}
