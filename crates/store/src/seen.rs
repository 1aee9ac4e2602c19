//! What a conversation has seen of its notes: the content of each as a call read or wrote it last.

use std::collections::BTreeMap;

use protocol::{ContentHash, ConversationId, NotePath, TurnId};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Sqlite, SqliteConnection};

use crate::column::Columns;
use crate::commit::look;
use crate::{Store, StoreError, branch};

impl Store {
    /// The content of each note as it was last read or written before `turn` began, in its branch.
    pub async fn seen_before(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<BTreeMap<NotePath, ContentHash>, StoreError> {
        look!(self, "read what the turns before have seen", |db| before(db, conversation, turn))
    }

    /// The content of each note as `turn` itself has last read or written it.
    pub async fn seen_in(
        &self,
        turn: &TurnId,
    ) -> Result<BTreeMap<NotePath, ContentHash>, StoreError> {
        look!(self, "read what the turn has seen", |db| own(db, turn))
    }

    /// The content of each note as the conversation has last read or written it, in the branch that
    /// is shown.
    pub async fn seen(
        &self,
        conversation: &ConversationId,
    ) -> Result<BTreeMap<NotePath, ContentHash>, StoreError> {
        look!(self, "read what the conversation has seen", |db| shown(db, conversation))
    }
}

async fn shown(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<BTreeMap<NotePath, ContentHash>, sqlx::Error> {
    // One row of all: handing over each alone costs more than reading them.
    let query = sqlx::query(concat!(
        branch::line!("coalesce((SELECT branch FROM conversation WHERE id = ?1), 0)"),
        "SELECT json_group_array(json(c.seen) ORDER BY t.ran, m.position, c.position) AS seen
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < line.until
             JOIN message m ON m.turn = t.id JOIN tool_call c ON c.message = m.id
         WHERE c.seen <> '[]'"
    ))
    .bind(conversation.as_str());
    latest(db, query).await
}

async fn before(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<BTreeMap<NotePath, ContentHash>, sqlx::Error> {
    let query = sqlx::query(concat!(
        branch::line!("(SELECT branch FROM turn WHERE id = ?2)"),
        "SELECT json_group_array(json(c.seen) ORDER BY t.ran, m.position, c.position) AS seen
         FROM turn this, line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < min(line.until, coalesce(this.ran, 9223372036854775807))
             JOIN message m ON m.turn = t.id JOIN tool_call c ON c.message = m.id
         WHERE this.id = ?2 AND c.seen <> '[]'"
    ))
    .bind(conversation.as_str())
    .bind(turn.as_str());
    latest(db, query).await
}

async fn own(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<BTreeMap<NotePath, ContentHash>, sqlx::Error> {
    let query = sqlx::query(
        "SELECT json_group_array(json(c.seen) ORDER BY m.position, c.position) AS seen
         FROM message m JOIN tool_call c ON c.message = m.id
         WHERE m.turn = ? AND c.seen <> '[]'",
    )
    .bind(turn.as_str());
    latest(db, query).await
}

/// The last content of each note, of all that `query` packs into one row.
async fn latest(
    db: &mut SqliteConnection,
    query: Query<'_, Sqlite, SqliteArguments>,
) -> Result<BTreeMap<NotePath, ContentHash>, sqlx::Error> {
    let seen: Vec<Vec<(NotePath, ContentHash)>> =
        query.try_map(|row: SqliteRow| row.json("seen")).fetch_one(db).await?;
    Ok(seen.into_iter().flatten().collect())
}
