//! Everything that is stored of conversations, in parts, for an export.

use protocol::{
    CallId, Conversation, ConversationId, Message, MessageId, Origin, Speech, Timestamp, TurnId,
    TurnStatus, UserError,
};
use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::conversations::conversation;
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::read;
use crate::error::Failure;
use crate::turns::message;
use crate::{Store, StoreError};

impl Store {
    /// Conversations to export, in the order in which they began: at most `limit` behind `after`,
    /// archived ones included.
    pub async fn conversation_ids(
        &self,
        after: Option<&ConversationId>,
        limit: u32,
    ) -> Result<Vec<ConversationId>, StoreError> {
        read!(self, "list all conversations", |db| ids(db, after, limit))
    }

    /// The data of a conversation as a whole; `None` when it does not exist.
    pub async fn conversation_outline(
        &self,
        id: &ConversationId,
    ) -> Result<Option<ConversationOutline>, StoreError> {
        read!(self, "read the conversation", |db| outline(db, id))
    }

    /// Turns of an outline with all their messages and calls, in the order of `numbers`.
    pub async fn exported_turns(&self, numbers: &[i64]) -> Result<Vec<ExportedTurn>, StoreError> {
        read!(self, "read turns", |db| turns(db, numbers))
    }
}

/// A conversation as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationOutline {
    /// Its row in the list.
    pub row: Conversation,
    /// When it began.
    pub created_at: Timestamp,
    /// The branch that is shown; 0 is the first.
    pub shown: i64,
    /// The others.
    pub branches: Vec<ExportedBranch>,
    /// Its turns by number, branch after branch, each in the order in which they ran.
    pub turns: Vec<i64>,
}

/// Another way in which a conversation went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedBranch {
    /// Its number within the conversation.
    pub number: i64,
    /// The branch that it left.
    pub parent: i64,
    /// The turn there that it stands in for.
    pub instead_of: TurnId,
}

/// A turn with all that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedTurn {
    /// Its id, as the messages were stored with it.
    pub turn: TurnId,
    /// The branch that it was stored in.
    pub branch: i64,
    /// The channel its words came through.
    pub origin: Origin,
    /// How it stands, or ended.
    pub status: TurnStatus,
    /// Why it failed, where it did.
    pub error: Option<UserError>,
    /// The model that answered it.
    pub model: Option<String>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The calls, in order.
    pub calls: Vec<ExportedCall>,
}

/// A call with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedCall {
    /// The message that called.
    pub message: MessageId,
    /// The model's id for the call; unique within the turn.
    pub call: CallId,
    /// The name of the tool, as the model spelled it.
    pub tool: String,
    /// The arguments of the model, a JSON object.
    pub arguments: Value,
    /// The output, as the model got it.
    pub output: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// The words for the user, if it talked and did not fail.
    pub speech: Option<Speech>,
}

async fn ids(
    db: &mut SqliteConnection,
    after: Option<&ConversationId>,
    limit: u32,
) -> Result<Vec<ConversationId>, sqlx::Error> {
    sqlx::query(
        "SELECT id FROM conversation WHERE id > ? AND listed AND deleted_at IS NULL
         ORDER BY id LIMIT ?",
    )
    .bind(after.map_or("", ConversationId::as_str))
    .bind(limit)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_all(db)
    .await
}

async fn outline(
    db: &mut SqliteConnection,
    id: &ConversationId,
) -> Result<Option<ConversationOutline>, Failure> {
    let Some(row) = conversation::find_listed(db, id).await? else { return Ok(None) };
    let (created_at, shown): (i64, i64) =
        sqlx::query_as("SELECT created_at, branch FROM conversation WHERE id = ?")
            .bind(id.as_str())
            .fetch_one(&mut *db)
            .await?;
    let branches = sqlx::query(
        "SELECT b.number, b.parent, t.id AS turn
         FROM branch b JOIN turn t ON t.ran = b.fork
         WHERE b.conversation = ? ORDER BY b.number",
    )
    .bind(id.as_str())
    .try_map(|row: SqliteRow| {
        Ok(ExportedBranch {
            number: row.try_get("number")?,
            parent: row.try_get("parent")?,
            instead_of: row.text("turn")?,
        })
    })
    .fetch_all(&mut *db)
    .await?;
    let turns = sqlx::query_scalar(
        "SELECT number FROM turn WHERE conversation = ?
         ORDER BY branch, ran IS NULL, ran, number",
    )
    .bind(id.as_str())
    .fetch_all(db)
    .await?;
    Ok(Some(ConversationOutline { row, created_at: Timestamp(created_at), shown, branches, turns }))
}

async fn turns(
    db: &mut SqliteConnection,
    numbers: &[i64],
) -> Result<Vec<ExportedTurn>, sqlx::Error> {
    let numbers = to_json(numbers)?;
    let mut turns: Vec<ExportedTurn> = sqlx::query(
        "SELECT t.id, t.branch, t.origin, t.status, t.error, t.model
         FROM json_each(?) wanted JOIN turn t ON t.number = wanted.value ORDER BY wanted.key",
    )
    .bind(&numbers)
    .try_map(|row: SqliteRow| {
        Ok(ExportedTurn {
            turn: row.text("id")?,
            branch: row.try_get("branch")?,
            origin: row.enum_value("origin")?,
            status: row.enum_value("status")?,
            error: row
                .try_get::<Option<&str>, _>("error")?
                .and_then(|error| serde_json::from_str(error).ok()),
            model: row.try_get("model")?,
            messages: Vec::new(),
            calls: Vec::new(),
        })
    })
    .fetch_all(&mut *db)
    .await?;
    let places: std::collections::HashMap<TurnId, usize> =
        turns.iter().enumerate().map(|(at, turn)| (turn.turn.clone(), at)).collect();
    let messages = sqlx::query(
        "SELECT m.id, m.conversation, m.turn, m.role, m.parts, m.cut, m.at
         FROM json_each(?) wanted JOIN turn t ON t.number = wanted.value
             JOIN message m ON m.turn = t.id
         ORDER BY wanted.key, m.position",
    )
    .bind(&numbers)
    .try_map(|row| message::from_row(&row))
    .fetch_all(&mut *db)
    .await?;
    for row in messages {
        let turn = places.get(&row.message.turn).and_then(|at| turns.get_mut(*at));
        if let Some(turn) = turn {
            turn.messages.push(row.message);
        }
    }
    let calls: Vec<(TurnId, ExportedCall)> = sqlx::query(
        "SELECT c.turn, c.message, c.call, c.tool, c.arguments, c.output, c.is_error, c.speech
         FROM json_each(?) wanted JOIN turn t ON t.number = wanted.value
             JOIN message m ON m.turn = t.id JOIN tool_call c ON c.turn = t.id AND c.message = m.id
         ORDER BY wanted.key, m.position, c.position",
    )
    .bind(&numbers)
    .try_map(|row| call(&row))
    .fetch_all(db)
    .await?;
    for (turn, call) in calls {
        if let Some(turn) = places.get(&turn).and_then(|at| turns.get_mut(*at)) {
            turn.calls.push(call);
        }
    }
    Ok(turns)
}

fn call(row: &SqliteRow) -> Result<(TurnId, ExportedCall), sqlx::Error> {
    let call = ExportedCall {
        message: row.text("message")?,
        call: row.text("call")?,
        tool: row.try_get("tool")?,
        arguments: row.json("arguments")?,
        output: row.try_get("output")?,
        is_error: row.try_get("is_error")?,
        speech: row.optional_json("speech")?,
    };
    Ok((row.text("turn")?, call))
}
