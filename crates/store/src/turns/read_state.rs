//! The read state of a conversation: the content of each note as a call read or wrote it last.

use std::collections::BTreeMap;

use protocol::{ContentHash, ConversationId, NotePath, TurnId};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Sqlite, SqliteConnection};

use crate::conversations::branch::{self, TurnPlace};
use crate::db::row_ext::RowExt;
use crate::db::transaction::{read, read_one};
use crate::error::Failure;
use crate::{Store, StoreError};

impl Store {
    /// The content of each note as it was last read or written before `turn` began, in its branch.
    pub async fn read_state_before(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<BTreeMap<NotePath, ContentHash>, StoreError> {
        read_one!(self, "read what the turns before have seen", |db| before_turn(
            db,
            conversation,
            turn
        ))
    }

    /// The content of each note as `turn` itself has last read or written it.
    pub async fn read_state_of_turn(
        &self,
        turn: &TurnId,
    ) -> Result<BTreeMap<NotePath, ContentHash>, StoreError> {
        read_one!(self, "read what the turn has seen", |db| of_turn(db, turn))
    }

    /// The content of each note as it was last read or written in the turns that a turn at this
    /// place hears of.
    pub async fn read_state(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
    ) -> Result<BTreeMap<NotePath, ContentHash>, StoreError> {
        read!(self, "read what the conversation has seen", |db| before_place(
            db,
            conversation,
            place
        ))
    }
}

async fn before_place(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    place: TurnPlace<'_>,
) -> Result<BTreeMap<NotePath, ContentHash>, Failure> {
    let point = branch::point_of(db, conversation, place).await?;
    // One row of all: handing over each alone costs more than reading them.
    let query = sqlx::query(concat!(
        branch::ancestry!(),
        "SELECT json_group_array(json(c.seen) ORDER BY t.ran, m.position, c.position) AS seen
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < min(line.until, ?3)
             JOIN message m ON m.turn = t.id JOIN tool_call c ON c.message = m.id
         WHERE c.seen <> '[]'"
    ))
    .bind(conversation.as_str())
    .bind(point.branch)
    .bind(point.until);
    Ok(latest_by_note(db, query).await?)
}

async fn before_turn(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<BTreeMap<NotePath, ContentHash>, sqlx::Error> {
    let query = sqlx::query(concat!(
        branch::ancestry!("(SELECT branch FROM turn WHERE id = ?2)"),
        "SELECT json_group_array(json(c.seen) ORDER BY t.ran, m.position, c.position) AS seen
         FROM turn this, line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < min(line.until, coalesce(this.ran, 9223372036854775807))
             JOIN message m ON m.turn = t.id JOIN tool_call c ON c.message = m.id
         WHERE this.id = ?2 AND c.seen <> '[]'"
    ))
    .bind(conversation.as_str())
    .bind(turn.as_str());
    latest_by_note(db, query).await
}

async fn of_turn(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<BTreeMap<NotePath, ContentHash>, sqlx::Error> {
    let query = sqlx::query(
        "SELECT json_group_array(json(c.seen) ORDER BY m.position, c.position) AS seen
         FROM message m JOIN tool_call c ON c.message = m.id
         WHERE m.turn = ? AND c.seen <> '[]'",
    )
    .bind(turn.as_str());
    latest_by_note(db, query).await
}

/// The last content of each note, of all that `query` packs into one row.
async fn latest_by_note(
    db: &mut SqliteConnection,
    query: Query<'_, Sqlite, SqliteArguments>,
) -> Result<BTreeMap<NotePath, ContentHash>, sqlx::Error> {
    let seen: Vec<Vec<(NotePath, ContentHash)>> =
        query.try_map(|row: SqliteRow| row.json("seen")).fetch_one(db).await?;
    Ok(seen.into_iter().flatten().collect())
}
