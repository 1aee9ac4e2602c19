//! The table `tool_call`: every call of the model, and the one result it gets.

use protocol::{
    CallId, CallResult, ConversationId, Message, MessageId, MessagePart, Speech, ToolEvent, TurnId,
};
use serde::Deserialize;
use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::conversations::branch::{self, TurnPlace};
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::{read, read_one};
use crate::error::Failure;
use crate::turns::{full_result, provenance};
use crate::{Store, StoreError};

/// The result for a model of a call that got none before its turn ended.
const NOT_RUN_OUTPUT: &str = "Not run: the turn ended before this call.";

impl Store {
    /// Calls of a turn that have no result yet, with their tools, in call order.
    pub async fn unanswered_calls(
        &self,
        turn: &TurnId,
    ) -> Result<Vec<(CallId, String)>, StoreError> {
        read!(self, "look for open calls", |db| without_result(db, turn))
    }

    /// Calls of a turn that failed and certainly changed and plan nothing, as the ledger knows: made once more,
    /// they do nothing twice.
    pub async fn ineffective_calls(&self, turn: &TurnId) -> Result<Vec<CallId>, StoreError> {
        read!(self, "look for calls without a change", |db| without_change(db, turn))
    }

    /// The path arguments of the calls that a turn at this place hears of, as the calls spelled
    /// them.
    pub async fn path_arguments(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
    ) -> Result<Vec<String>, StoreError> {
        read!(self, "read the paths of the calls", |db| select_path_arguments(
            db,
            conversation,
            place
        ))
    }

    /// The notes that tools put in front of the user in a conversation, in all its branches.
    pub async fn notes_shown_by_tools(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<String>, StoreError> {
        read!(self, "read which notes were shown", |db| select_shown_notes(db, conversation))
    }

    /// The path arguments of one call, as it spelled them.
    pub async fn call_paths(
        &self,
        turn: &TurnId,
        call: &CallId,
    ) -> Result<Vec<String>, StoreError> {
        read_one!(self, "read the paths of a call", |db| select_call_paths(db, turn, call))
    }
}

/// Whether `a`, an argument of a call, is a path.
macro_rules! is_path {
    () => {
        "a.type = 'text' AND a.key IN ('path', 'source', 'destination')"
    };
}

async fn select_path_arguments(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    place: TurnPlace<'_>,
) -> Result<Vec<String>, Failure> {
    let point = branch::point_of(db, conversation, place).await?;
    let paths = sqlx::query_scalar(concat!(
        branch::ancestry!(),
        "SELECT DISTINCT a.value
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < min(line.until, ?3)
             JOIN tool_call c ON c.turn = t.id, json_each(c.arguments) a
         WHERE ",
        is_path!()
    ))
    .bind(conversation.as_str())
    .bind(point.branch)
    .bind(point.until)
    .fetch_all(db)
    .await?;
    Ok(paths)
}

async fn select_shown_notes(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT DISTINCT r.value ->> 'path'
         FROM turn t JOIN tool_call c ON c.turn = t.id, json_each(c.reactions) r
         WHERE t.conversation = ? AND r.value ->> 'type' = 'open_note'",
    )
    .bind(conversation.as_str())
    .fetch_all(db)
    .await
}

async fn select_call_paths(
    db: &mut SqliteConnection,
    turn: &TurnId,
    call: &CallId,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(concat!(
        "SELECT a.value FROM tool_call c, json_each(c.arguments) a
         WHERE c.turn = ? AND c.call = ? AND ",
        is_path!()
    ))
    .bind(turn.as_str())
    .bind(call.as_str())
    .fetch_all(db)
    .await
}

/// A call as the chat shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRow {
    /// The message that called.
    pub message: MessageId,
    /// The turn of that message.
    pub turn: TurnId,
    /// The model's id for the call; unique within the turn.
    pub call: CallId,
    /// The tool, as the model spelled it.
    pub tool: String,
    /// A JSON object.
    pub arguments: Value,
    /// The result for the model; `None` while the call has none.
    pub output: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// The words for the user, if it talked and did not fail.
    pub speech: Option<Speech>,
    /// The events of the tool for the window.
    pub reactions: Vec<ToolEvent>,
}

impl CallRow {
    /// The calls of a message, in call order and without results.
    #[must_use]
    pub fn of_message(message: &Message) -> Vec<Self> {
        let row = |part: &MessagePart| match part {
            MessagePart::Call { id, tool, arguments } => Some(Self {
                message: message.id.clone(),
                turn: message.turn.clone(),
                call: id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                output: None,
                is_error: false,
                speech: None,
                reactions: Vec::new(),
            }),
            _ => None,
        };
        message.parts.iter().filter_map(row).collect()
    }

    /// Takes in a result, as [`Store::store_results`] stores it: the first one stands.
    pub fn add_result(&mut self, result: &CallResult) {
        if self.output.is_none() {
            self.output = Some(result.output.clone());
            self.is_error = result.is_error;
            self.speech.clone_from(&result.speech);
            self.reactions.clone_from(&result.reactions);
        }
    }
}

/// Stores the calls of an assistant's message, without results.
pub(crate) async fn insert_of(
    db: &mut SqliteConnection,
    message: &Message,
) -> Result<(), sqlx::Error> {
    for (position, part) in (0_i64..).zip(&message.parts) {
        let MessagePart::Call { id, tool, arguments } = part else { continue };
        sqlx::query(
            "INSERT INTO tool_call
                 (turn, message, position, call, tool, arguments, is_error, reactions, seen)
             VALUES (?, ?, ?, ?, ?, ?, 0, '[]', '[]')",
        )
        .bind(message.turn.as_str())
        .bind(message.id.as_str())
        .bind(position)
        .bind(id.as_str())
        .bind(tool)
        .bind(to_json(arguments)?)
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

/// Stores results. The first result of a call stands; another one changes nothing.
pub(crate) async fn store_results(
    db: &mut SqliteConnection,
    turn: &TurnId,
    results: &[CallResult],
) -> Result<(), Failure> {
    for result in results {
        let stored = sqlx::query(
            "UPDATE tool_call SET
                 is_error = iif(output IS NULL, ?3, is_error),
                 reactions = iif(output IS NULL, ?4, reactions),
                 seen = iif(output IS NULL, ?5, seen),
                 speech = iif(output IS NULL, ?6, speech),
                 output = coalesce(output, ?7)
             WHERE turn = ?1 AND call = ?2",
        )
        .bind(turn.as_str())
        .bind(result.call.as_str())
        .bind(result.is_error)
        .bind(to_json(&result.reactions)?)
        .bind(to_json(&result.seen)?)
        .bind(result.speech.as_ref().map(to_json).transpose()?)
        .bind(&result.output)
        .execute(&mut *db)
        .await?;
        if stored.rows_affected() == 0 {
            return Err(Failure::not_found("This tool call", &result.call));
        }
        provenance::add(db, turn, &result.sources).await?;
        if let Some(whole) = &result.whole {
            full_result::insert(db, turn, &result.call, whole).await?;
        }
    }
    Ok(())
}

/// Gives every call that is still open a result: every provider refuses a history with an
/// unanswered call, so a turn never ends with one.
pub(crate) async fn close_unanswered(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE tool_call SET output = ?2, is_error = 1 WHERE turn = ?1 AND output IS NULL",
    )
    .bind(turn.as_str())
    .bind(NOT_RUN_OUTPUT)
    .execute(db)
    .await?;
    Ok(())
}

/// Every call in conversation `?1` in call order, as one value, as the messages are. [`unpacked`] reads
/// it.
macro_rules! packed {
    () => {
        "SELECT json_group_array(json_object(
             'message', c.message, 'turn', c.turn, 'call', c.call, 'tool', c.tool,
             'arguments', json(c.arguments), 'output', c.output, 'is_error', c.is_error,
             'speech', json(c.speech), 'reactions', json(c.reactions)
         ) ORDER BY c.message, c.position)
         FROM message m CROSS JOIN tool_call c ON c.turn = m.turn AND c.message = m.id
         WHERE m.conversation = ?1"
    };
}
pub(crate) use packed;

/// The calls of a row that has them packed as `calls`.
pub(crate) fn unpacked(row: &SqliteRow) -> Result<Vec<CallRow>, sqlx::Error> {
    let all: Vec<PackedCall> = row.json("calls")?;
    Ok(all.into_iter().map(CallRow::from).collect())
}

/// A call as SQLite packs it.
#[derive(Deserialize)]
struct PackedCall {
    message: MessageId,
    turn: TurnId,
    call: CallId,
    tool: String,
    arguments: Value,
    output: Option<String>,
    is_error: u8,
    speech: Option<Speech>,
    reactions: Vec<ToolEvent>,
}

impl From<PackedCall> for CallRow {
    fn from(packed: PackedCall) -> Self {
        Self {
            message: packed.message,
            turn: packed.turn,
            call: packed.call,
            tool: packed.tool,
            arguments: packed.arguments,
            output: packed.output,
            is_error: packed.is_error != 0,
            speech: packed.speech,
            reactions: packed.reactions,
        }
    }
}

/// The same of the turns that ran after number `after`, or have not begun.
pub(crate) async fn since(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    after: i64,
) -> Result<Vec<CallRow>, sqlx::Error> {
    sqlx::query(
        "SELECT c.message, c.turn, c.call, c.tool, c.arguments, c.output, c.is_error, c.speech,
             c.reactions
         FROM turn t JOIN tool_call c ON c.turn = t.id
         WHERE t.conversation = ?1 AND coalesce(t.ran > ?2, 1)
         ORDER BY c.message, c.position",
    )
    .bind(conversation.as_str())
    .bind(after)
    .try_map(|row| from_row(&row))
    .fetch_all(db)
    .await
}

async fn without_result(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Vec<(CallId, String)>, sqlx::Error> {
    sqlx::query(
        "SELECT c.call, c.tool
         FROM tool_call c JOIN message m ON m.id = c.message
         WHERE c.turn = ? AND c.output IS NULL
         ORDER BY m.position, c.position",
    )
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| Ok((row.text("call")?, row.text("tool")?)))
    .fetch_all(db)
    .await
}

async fn without_change(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Vec<CallId>, sqlx::Error> {
    sqlx::query(
        "SELECT c.call FROM tool_call c
         WHERE c.turn = ?1 AND c.is_error
             AND NOT EXISTS (
                 SELECT 1 FROM effect e WHERE e.turn = c.turn AND e.call = c.call
                     AND e.state IN ('open', 'done', 'parked'))
             AND NOT EXISTS (
                 SELECT 1 FROM planned_change p WHERE p.turn = c.turn AND p.call = c.call)
         ORDER BY c.message, c.position",
    )
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| row.text("call"))
    .fetch_all(db)
    .await
}

fn from_row(row: &SqliteRow) -> Result<CallRow, sqlx::Error> {
    Ok(CallRow {
        message: row.text("message")?,
        turn: row.text("turn")?,
        call: row.text("call")?,
        tool: row.text("tool")?,
        arguments: row.json("arguments")?,
        output: row.optional_text("output")?,
        is_error: row.try_get("is_error")?,
        speech: row.optional_json("speech")?,
        reactions: row.json("reactions")?,
    })
}
