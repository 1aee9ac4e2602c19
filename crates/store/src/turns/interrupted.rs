//! Turns that were cut: taken up again where they were, or offered to the user.

use protocol::{CallResult, ConversationId, TurnEnding, TurnId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::conversations::branch;
use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read};
use crate::error::Failure;
use crate::turns::{tool_call, transcript};
use crate::{Store, StoreError};

impl Store {
    /// Queues a turn again that was cut, with results for its calls that have none; it goes on from
    /// its rows, before everything else that is queued. A turn that runs to its end, or that the
    /// user has decided about, is refused with [`StoreError::NotFound`].
    pub async fn resume_turn(
        &self,
        turn: &TurnId,
        results: &[CallResult],
    ) -> Result<(), StoreError> {
        commit!(self, "take_up_turn", "resume the turn", |db| resume(db, turn, results))
    }

    /// Ends a turn that was cut, as [`Store::finish_turn`] does, and asks the user what shall
    /// become of it.
    pub async fn offer_resume(&self, turn: &TurnId, ending: &TurnEnding) -> Result<(), StoreError> {
        commit!(self, "offer_turn", "end the cut turn", |db| offer(db, turn, ending))
    }

    /// The cut turn that the user is asked about in the branch that is shown; there is at most one
    /// in a conversation.
    pub async fn resume_offer(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<TurnId>, StoreError> {
        read!(self, "look for a cut turn", |db| offered(db, conversation))
    }

    /// Asks no more about a cut turn; says in which conversation. It stays as it was cut.
    pub async fn decline_resume(
        &self,
        turn: &TurnId,
    ) -> Result<Option<ConversationId>, StoreError> {
        commit!(self, "leave_turn", "leave the cut turn", |db| decline(db, turn))
    }
}

async fn resume(
    db: &mut SqliteConnection,
    turn: &TurnId,
    results: &[CallResult],
) -> Result<(), Failure> {
    let taken = sqlx::query(
        "UPDATE turn SET
             status = 'queued', resumed = resumed + 1, offered = 0, error = NULL, ended_at = NULL
         WHERE id = ? AND (status = 'running' OR status = 'interrupted' AND offered)",
    )
    .bind(turn.as_str())
    .execute(&mut *db)
    .await?;
    if taken.rows_affected() == 0 {
        return Err(Failure::not_found("This answer", turn));
    }
    tool_call::store_results(db, turn, results).await
}

async fn offer(
    db: &mut SqliteConnection,
    turn: &TurnId,
    ending: &TurnEnding,
) -> Result<(), Failure> {
    transcript::finish(db, turn, ending).await?;
    sqlx::query("UPDATE turn SET offered = 1 WHERE id = ?").bind(turn.as_str()).execute(db).await?;
    Ok(())
}

async fn offered(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<TurnId>, sqlx::Error> {
    sqlx::query(concat!(
        "SELECT t.id FROM turn t WHERE t.conversation = ? AND t.offered AND ",
        branch::is_shown!("t.conversation", "t.id"),
    ))
    .bind(conversation.as_str())
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_optional(db)
    .await
}

async fn decline(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<ConversationId>, sqlx::Error> {
    sqlx::query("UPDATE turn SET offered = 0 WHERE id = ? AND offered RETURNING conversation")
        .bind(turn.as_str())
        .try_map(|row: SqliteRow| row.text("conversation"))
        .fetch_optional(db)
        .await
}

/// Asks no more about any cut turn of a conversation.
pub(crate) async fn withdraw(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE turn SET offered = 0 WHERE conversation = ? AND offered")
        .bind(conversation.as_str())
        .execute(db)
        .await?;
    Ok(())
}
