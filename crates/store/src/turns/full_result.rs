//! The table `whole_result`: texts of results that stand shortened in the history.

use protocol::{CallId, ConversationId, FullResult, Message, MessageId, MessagePart, Role, TurnId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::db::row_ext::RowExt;
use crate::db::transaction::read;
use crate::{Store, StoreError};

impl Store {
    /// The whole result that a conversation knows by `handle`, as a message of the turn that got it;
    /// `None` when it knows none. Of several with one handle, which are of one text, the newest.
    pub async fn full_result(
        &self,
        conversation: &ConversationId,
        handle: &str,
    ) -> Result<Option<Message>, StoreError> {
        read!(self, "read a whole result", |db| by_handle(db, conversation, handle))
    }
}

pub(crate) async fn insert(
    db: &mut SqliteConnection,
    turn: &TurnId,
    call: &CallId,
    whole: &FullResult,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT OR IGNORE INTO whole_result (turn, call, handle, text) VALUES (?, ?, ?, ?)",
    )
    .bind(turn.as_str())
    .bind(call.as_str())
    .bind(&whole.handle)
    .bind(&whole.text)
    .execute(db)
    .await?;
    Ok(())
}

async fn by_handle(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    handle: &str,
) -> Result<Option<Message>, sqlx::Error> {
    sqlx::query(
        "SELECT w.turn, w.call, w.text, t.conversation, t.at
         FROM whole_result w JOIN turn t ON t.id = w.turn
         WHERE w.handle = ? AND t.conversation = ?
         ORDER BY t.ran DESC LIMIT 1",
    )
    .bind(handle)
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| {
        let call: CallId = row.text("call")?;
        let output: String = row.text("text")?;
        Ok(Message {
            id: MessageId::from(format!("{call}:whole")),
            conversation: row.text("conversation")?,
            turn: row.text("turn")?,
            role: Role::User,
            parts: vec![MessagePart::Result { call, output, is_error: false, speech: None }],
            at: row.timestamp("at")?,
        })
    })
    .fetch_optional(db)
    .await
}
