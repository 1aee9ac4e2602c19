//! Which branch of a conversation is shown: the one that a turn or a question is in.

use protocol::{ConversationId, QuestionId, TurnId};
use sqlx::SqliteConnection;

use crate::conversations::branch::{ancestry, set_shown, shown};
use crate::db::transaction::commit;
use crate::error::Failure;
use crate::turns::turn;
use crate::{Store, StoreError};

impl Store {
    /// Shows a conversation as it goes on in a branch in which `turn` is heard; where it is heard
    /// already, or never ran, nothing changes. Another branch is refused with
    /// [`StoreError::Working`] while a turn of the conversation runs or is queued: its answer and the
    /// next message would stand in the branch that is left.
    pub async fn show_turn(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        commit!(self, "show_turn", "show another version", |db| show_branch_with_turn(
            db,
            conversation,
            turn
        ))
    }
}

async fn show_branch_with_turn(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<(), Failure> {
    let branch = shown(db, conversation).await?;
    let elsewhere: Option<i64> = sqlx::query_scalar(concat!(
        ancestry!(),
        "SELECT t.branch FROM turn t
         WHERE t.id = ?3 AND t.conversation = ?1 AND NOT EXISTS (
             SELECT 1 FROM line WHERE line.branch = t.branch
                 AND coalesce(t.ran, 9223372036854775806) < line.until
         )"
    ))
    .bind(conversation.as_str())
    .bind(branch)
    .bind(turn.as_str())
    .fetch_optional(&mut *db)
    .await?;
    match elsewhere {
        Some(_) if turn::has_open(db, conversation).await? => {
            Err(Failure::Refused(StoreError::Working))
        }
        Some(branch) => set_shown(db, conversation, branch).await,
        None => Ok(()),
    }
}

/// An answer belongs where its question was asked.
pub(crate) async fn show_branch_of_question(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    question: &QuestionId,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE conversation SET branch = t.branch
         FROM question q JOIN turn t ON t.id = q.turn
         WHERE conversation.id = ?1 AND q.id = ?2 AND q.conversation = ?1",
    )
    .bind(conversation.as_str())
    .bind(question.as_str())
    .execute(db)
    .await?;
    Ok(())
}
