//! The table `message`: the parts of messages, as they are replayed to a model.

use std::collections::HashMap;

use protocol::{
    CallId, ConversationId, Message, MessageId, MessagePart, Role, Speech, Timestamp, TurnId,
};
use serde::Deserialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::conversations::branch;
use crate::db::row_ext::{RowExt, enum_text, to_json};
use crate::db::transaction::read_one;
use crate::{Store, StoreError};

impl Store {
    /// When each of these turns may have read something. Turns without a message are omitted.
    pub async fn turn_times(
        &self,
        turns: &[&TurnId],
    ) -> Result<HashMap<TurnId, TurnTimes>, StoreError> {
        read_one!(self, "read the times of turns", |db| select_times(db, turns))
    }
}

/// When a turn may have read something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnTimes {
    /// The time of its first message: it was told nothing before.
    pub begun: Timestamp,
    /// The time of the first answer of a model: no tool ran before. `begun` where there is none yet.
    pub answered: Timestamp,
}

/// A message, and whether the model was cut off in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MessageRow {
    pub(crate) message: Message,
    pub(crate) cut: bool,
}

/// Adds a message at the end of its turn.
pub(crate) async fn insert(db: &mut SqliteConnection, row: &MessageRow) -> Result<(), sqlx::Error> {
    let message = &row.message;
    sqlx::query(
        "INSERT INTO message (id, conversation, turn, position, role, parts, cut, at)
         VALUES (
             ?1, ?2, ?3,
             (SELECT coalesce(max(position) + 1, 0) FROM message WHERE turn = ?3),
             ?4, ?5, ?6, ?7
         )",
    )
    .bind(message.id.as_str())
    .bind(message.conversation.as_str())
    .bind(message.turn.as_str())
    .bind(enum_text(&message.role)?)
    .bind(to_json(&message.parts)?)
    .bind(row.cut)
    .bind(message.at.0)
    .execute(db)
    .await?;
    Ok(())
}

/// The turns after number `after` that a model in `turn` may see: the turns that ran before it in
/// its branch, in that order, and itself.
pub(crate) async fn history_until(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
    after: i64,
) -> Result<Vec<Message>, sqlx::Error> {
    let branch = branch::of_turn(db, turn).await?;
    sqlx::query(concat!(
        branch::ancestry!(),
        "SELECT m.id, m.conversation, m.turn, m.role, m.parts, m.cut, m.at
         FROM turn this, line, turn t JOIN message m ON m.turn = t.id
         WHERE this.id = ?3 AND t.conversation = ?1 AND t.branch = line.branch
             AND (t.id = this.id OR (t.ran > ?4
                 AND t.ran < min(line.until, coalesce(this.ran, 9223372036854775807))))
         ORDER BY t.ran IS NULL, t.ran, m.position"
    ))
    .bind(conversation.as_str())
    .bind(branch)
    .bind(turn.as_str())
    .bind(after)
    .try_map(|row| from_row(&row).map(|row| row.message))
    .fetch_all(db)
    .await
}

/// Every message of conversation `?1` in the order of its turn, as one value: returning each row
/// separately costs more than reading it. [`unpacked`] reads it.
macro_rules! packed {
    () => {
        "SELECT json_group_array(json_object(
             'id', id, 'turn', turn, 'role', role, 'parts', json(parts), 'cut', cut, 'at', at
         ) ORDER BY turn, position)
         FROM message WHERE conversation = ?1"
    };
}
pub(crate) use packed;

/// The messages of a row that has them packed as `messages`.
pub(crate) fn unpacked(
    row: &SqliteRow,
    conversation: &ConversationId,
) -> Result<Vec<MessageRow>, sqlx::Error> {
    let all: Vec<PackedMessage> = row.json("messages")?;
    Ok(all.into_iter().map(|packed| packed.into_row(conversation)).collect())
}

/// A message as SQLite packs it.
#[derive(Deserialize)]
struct PackedMessage {
    id: MessageId,
    turn: TurnId,
    role: Role,
    parts: Vec<MessagePart>,
    cut: u8,
    at: Timestamp,
}

impl PackedMessage {
    fn into_row(self, conversation: &ConversationId) -> MessageRow {
        let Self { id, turn, role, parts, cut, at } = self;
        let message = Message { id, conversation: conversation.clone(), turn, role, parts, at };
        MessageRow { message, cut: cut != 0 }
    }
}

/// The messages of one turn in order, each with the results of its calls in call order.
pub(crate) async fn of_turn(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Vec<(Message, Vec<MessagePart>)>, sqlx::Error> {
    sqlx::query(
        "SELECT m.id, m.conversation, m.turn, m.role, m.parts, m.cut, m.at,
             (SELECT json_group_array(
                  json_array(c.call, c.output, c.is_error, json(c.speech)) ORDER BY c.position)
              FROM tool_call c
              WHERE c.turn = m.turn AND c.message = m.id AND c.output IS NOT NULL) AS results
         FROM message m WHERE m.turn = ? ORDER BY m.position",
    )
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| {
        let results: Vec<(CallId, String, u8, Option<Speech>)> = row.json("results")?;
        let result = |(call, output, is_error, speech)| MessagePart::Result {
            call,
            output,
            is_error: is_error != 0,
            speech,
        };
        Ok((from_row(&row)?.message, results.into_iter().map(result).collect()))
    })
    .fetch_all(db)
    .await
}

/// The turn that a message belongs to.
pub(crate) async fn turn_of(
    db: &mut SqliteConnection,
    id: &MessageId,
) -> Result<Option<TurnId>, sqlx::Error> {
    sqlx::query("SELECT turn FROM message WHERE id = ?")
        .bind(id.as_str())
        .try_map(|row: SqliteRow| row.text("turn"))
        .fetch_optional(db)
        .await
}

/// The user's message that opened `turn`.
pub(crate) async fn opening_message(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<Message>, sqlx::Error> {
    sqlx::query(
        "SELECT id, conversation, turn, role, parts, cut, at
         FROM message WHERE turn = ? AND position = 0",
    )
    .bind(turn.as_str())
    .try_map(|row| from_row(&row).map(|row| row.message))
    .fetch_optional(db)
    .await
}

/// The texts of the conversation's messages that came over the hub.
pub(crate) async fn of_hub(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query(
        "SELECT m.id, m.conversation, m.turn, m.role, m.parts, m.cut, m.at
         FROM message m JOIN turn t ON t.id = m.turn
         WHERE t.conversation = ? AND m.position = 0 AND t.origin LIKE 'hub%'",
    )
    .bind(conversation.as_str())
    .try_map(|row| from_row(&row).map(|row| row.message.text()))
    .fetch_all(db)
    .await
}

/// The text of that message.
pub(crate) async fn request_text(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<String>, sqlx::Error> {
    Ok(opening_message(db, turn).await?.map(|message| message.text()))
}

async fn select_times(
    db: &mut SqliteConnection,
    turns: &[&TurnId],
) -> Result<HashMap<TurnId, TurnTimes>, sqlx::Error> {
    let rows: Vec<(TurnId, TurnTimes)> = sqlx::query(
        "SELECT turn, min(at) AS begun,
             coalesce(min(CASE role WHEN 'assistant' THEN at END), min(at)) AS answered
         FROM message WHERE turn IN (SELECT value FROM json_each(?)) GROUP BY turn",
    )
    .bind(to_json(turns)?)
    .try_map(|row: SqliteRow| {
        let times =
            TurnTimes { begun: row.timestamp("begun")?, answered: row.timestamp("answered")? };
        Ok((row.text("turn")?, times))
    })
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().collect())
}

pub(crate) fn from_row(row: &SqliteRow) -> Result<MessageRow, sqlx::Error> {
    let message = Message {
        id: row.text("id")?,
        conversation: row.text("conversation")?,
        turn: row.text("turn")?,
        role: row.enum_value("role")?,
        parts: row.json("parts")?,
        at: row.timestamp("at")?,
    };
    Ok(MessageRow { message, cut: row.try_get("cut")? })
}
