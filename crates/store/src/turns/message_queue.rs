//! Queued messages: until their turn begins, their text can be changed or they can be removed.

use protocol::{ConversationId, MessageId, MessagePart, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::conversations::branch;
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::commit;
use crate::{Store, StoreError};

impl Store {
    /// Gives a queued message a new text; its context block stays. Returns its conversation, or
    /// `None` when it is no longer queued, or answers a question.
    pub async fn edit_queued(
        &self,
        message: &MessageId,
        text: &str,
    ) -> Result<Option<ConversationId>, StoreError> {
        commit!(self, "reword_queued", "change a queued message", |db| edit(db, message, text))
    }

    /// Removes a queued message and its turn, as if it had never been sent: decisions that it would
    /// have told the model of count as unreported, and where it was to stand in for another message,
    /// that one is shown again. `None` as [`Store::edit_queued`].
    pub async fn remove_queued(
        &self,
        message: &MessageId,
    ) -> Result<Option<RemovedMessage>, StoreError> {
        commit!(self, "remove_queued", "remove a queued message", |db| remove(db, message))
    }
}

/// A queued message that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedMessage {
    /// The conversation in which it waited.
    pub conversation: ConversationId,
    /// The message that is shown again with all behind it, where the removed one stood in for it.
    pub shown_again: Option<MessageId>,
}

struct QueuedMessage {
    turn: TurnId,
    conversation: ConversationId,
    branch: i64,
    parts: Vec<MessagePart>,
}

/// A turn that is taken up again is queued too, but its words were heard already.
async fn find_queued(
    db: &mut SqliteConnection,
    message: &MessageId,
) -> Result<Option<QueuedMessage>, sqlx::Error> {
    sqlx::query(
        "SELECT t.id, t.conversation, t.branch, m.parts
         FROM message m JOIN turn t ON t.id = m.turn
         WHERE m.id = ? AND m.position = 0 AND t.status = 'queued' AND t.origin = 'window'
             AND t.ran IS NULL AND t.answers IS NULL",
    )
    .bind(message.as_str())
    .try_map(|row: SqliteRow| {
        Ok(QueuedMessage {
            turn: row.text("id")?,
            conversation: row.text("conversation")?,
            branch: row.try_get("branch")?,
            parts: row.json("parts")?,
        })
    })
    .fetch_optional(db)
    .await
}

async fn edit(
    db: &mut SqliteConnection,
    message: &MessageId,
    text: &str,
) -> Result<Option<ConversationId>, sqlx::Error> {
    let Some(QueuedMessage { conversation, mut parts, .. }) = find_queued(db, message).await?
    else {
        return Ok(None);
    };
    parts.retain(|part| !matches!(part, MessagePart::Text { .. }));
    parts.push(MessagePart::Text { text: text.to_owned() });
    sqlx::query("UPDATE message SET parts = ?2 WHERE id = ?1")
        .bind(message.as_str())
        .bind(to_json(&parts)?)
        .execute(db)
        .await?;
    Ok(Some(conversation))
}

async fn remove(
    db: &mut SqliteConnection,
    message: &MessageId,
) -> Result<Option<RemovedMessage>, sqlx::Error> {
    let Some(QueuedMessage { turn, conversation, branch, .. }) = find_queued(db, message).await?
    else {
        return Ok(None);
    };
    for query in [
        "UPDATE planned_change SET told = 0, told_in = NULL WHERE told_in = ?",
        "DELETE FROM message WHERE turn = ?",
        "DELETE FROM turn WHERE id = ?",
    ] {
        sqlx::query(query).bind(turn.as_str()).execute(&mut *db).await?;
    }
    let shown_again = branch::remove_if_empty(db, &conversation, branch).await?;
    Ok(Some(RemovedMessage { conversation, shown_again }))
}
