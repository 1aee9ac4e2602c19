//! The table `question`: questions to the user, open for as long as it takes.

use std::collections::BTreeSet;

use protocol::{ConversationId, Origin, Question, QuestionId, Timestamp, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::conversations::branch::{self, TurnPlace};
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::{commit, read};
use crate::error::Failure;
use crate::turns::message;
use crate::{Store, StoreError};

impl Store {
    /// The open question of a conversation; there is at most one.
    pub async fn question(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<Question>, StoreError> {
        read!(self, "read the open question", |db| find_open(db, conversation))
    }

    /// The open question of a conversation, if a turn at this place hears of it.
    pub async fn question_before(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
    ) -> Result<Option<AnswerableQuestion>, StoreError> {
        read!(self, "read the open question", |db| find_before(db, conversation, place))
    }

    /// The open question of a conversation, if `turn` hears of it, or the one that `turn` has
    /// answered there.
    pub async fn question_for_turn(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Option<AnswerableQuestion>, StoreError> {
        read!(self, "read the open question", |db| find_for_turn(db, conversation, turn))
    }

    /// The conversation in which a question waits that a message of `hub` led to and that was asked
    /// since `since` and until `until`; of several the one that was asked last.
    pub async fn conversation_of_hub_question(
        &self,
        hub: &str,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ConversationId>, StoreError> {
        read!(self, "look for a question to the hub", |db| {
            find_hub_conversation(db, hub, since, until)
        })
    }

    /// Marks a question as answered by the message of a turn that is stored already. Repeating it
    /// changes nothing; a question that is no longer open is refused as [`Store::submit_turn`]
    /// does.
    pub async fn answer_question(
        &self,
        turn: &TurnId,
        question: &QuestionId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        commit!(self, "answer_question", "store the answer", |db| answer_with_turn(
            db, turn, question, at
        ))
    }

    /// The turns of a turn's conversation whose question waits, or is answered by that turn.
    pub async fn asking_turns(&self, turn: &TurnId) -> Result<BTreeSet<TurnId>, StoreError> {
        read!(self, "find who asked", |db| find_asking_turns(db, turn))
    }

    /// All ready answers that were ever offered in a conversation.
    pub async fn offered_options(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<String>, StoreError> {
        read!(self, "read the answers that were offered", |db| options(db, conversation))
    }

    /// The text that answered a question; `None` while it is open, or when it was withdrawn.
    pub async fn answer_of(&self, question: &QuestionId) -> Result<Option<String>, StoreError> {
        read!(self, "read the answer", |db| answer_text(db, question))
    }
}

/// A question that a message may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerableQuestion {
    /// The question, open or answered.
    pub question: Question,
    /// The channel of the turn that asked.
    pub origin: Origin,
    /// The turn that answered it; `None` while it is open.
    pub answered_by: Option<TurnId>,
}

/// A question as the chat shows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuestionRow {
    pub(crate) question: Question,
    pub(crate) answered_by: Option<TurnId>,
    pub(crate) withdrawn: bool,
}

async fn options(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT DISTINCT o.value FROM question q, json_each(q.options) o WHERE q.conversation = ?",
    )
    .bind(conversation.as_str())
    .fetch_all(db)
    .await
}

/// Stores a question as the open one; an older open one is withdrawn.
pub(crate) async fn insert_open(
    db: &mut SqliteConnection,
    question: &Question,
) -> Result<(), sqlx::Error> {
    withdraw(db, &question.conversation, question.asked_at).await?;
    sqlx::query(
        "INSERT INTO question
             (id, conversation, turn, call, original_message, text, options,
              tool_calls_completed, asked_at, state)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')",
    )
    .bind(question.id.as_str())
    .bind(question.conversation.as_str())
    .bind(question.turn.as_str())
    .bind(question.call.as_str())
    .bind(question.original_message.as_str())
    .bind(&question.text)
    .bind(to_json(&question.options)?)
    .bind(question.tool_calls_completed)
    .bind(question.asked_at.0)
    .execute(db)
    .await?;
    Ok(())
}

/// Marks a question as answered by a stored turn. Only an open one can be.
pub(crate) async fn mark_answered(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    question: &QuestionId,
    turn: &TurnId,
    words: &str,
    at: Timestamp,
) -> Result<(), Failure> {
    let answered = sqlx::query(
        "UPDATE question SET state = 'answered', answered_by = ?3, closed_at = ?4
         WHERE id = ?1 AND conversation = ?2 AND state = 'open'",
    )
    .bind(question.as_str())
    .bind(conversation.as_str())
    .bind(turn.as_str())
    .bind(at.0)
    .execute(&mut *db)
    .await?;
    if answered.rows_affected() == 1 {
        return Ok(());
    }
    Err(Failure::Refused(match why_not_open(db, conversation, question).await? {
        StoreError::AlreadyAnswered { answer } if is_same_answer(&answer, words) => {
            StoreError::AnsweredSo
        }
        why => why,
    }))
}

async fn answer_with_turn(
    db: &mut SqliteConnection,
    turn: &TurnId,
    question: &QuestionId,
    at: Timestamp,
) -> Result<(), Failure> {
    let done: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM question WHERE id = ? AND answered_by = ?)",
    )
    .bind(question.as_str())
    .bind(turn.as_str())
    .fetch_one(&mut *db)
    .await?;
    if done {
        return Ok(());
    }
    let conversation: Option<ConversationId> =
        sqlx::query("SELECT conversation FROM turn WHERE id = ?")
            .bind(turn.as_str())
            .try_map(|row: SqliteRow| row.text("conversation"))
            .fetch_optional(&mut *db)
            .await?;
    let conversation = conversation.ok_or_else(|| Failure::not_found("This answer", turn))?;
    let words = message::request_text(db, turn).await?.unwrap_or_default();
    mark_answered(db, &conversation, question, turn, &words, at).await
}

/// Withdraws the open question of a conversation, if there is one.
pub(crate) async fn withdraw(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE question SET state = 'withdrawn', closed_at = ?2
         WHERE conversation = ?1 AND state = 'open'",
    )
    .bind(conversation.as_str())
    .bind(at.0)
    .execute(db)
    .await?;
    Ok(())
}

/// Spaces and capitals make no other answer.
fn is_same_answer(answer: &str, words: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(answer) == plain(words)
}

async fn why_not_open(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    question: &QuestionId,
) -> Result<StoreError, sqlx::Error> {
    let state: Option<String> =
        sqlx::query_scalar("SELECT state FROM question WHERE id = ? AND conversation = ?")
            .bind(question.as_str())
            .bind(conversation.as_str())
            .fetch_optional(&mut *db)
            .await?;
    Ok(match state.as_deref() {
        None => StoreError::NotFound { what: "This question", id: question.to_string() },
        Some("withdrawn") => StoreError::Withdrawn,
        Some(_) => StoreError::AlreadyAnswered {
            answer: answer_text(db, question).await?.unwrap_or_default(),
        },
    })
}

async fn find_open(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<Question>, sqlx::Error> {
    sqlx::query(
        "SELECT id, conversation, turn, call, original_message, text, options,
             tool_calls_completed, asked_at, state, answered_by
         FROM question WHERE conversation = ? AND state = 'open'",
    )
    .bind(conversation.as_str())
    .try_map(|row| from_row(&row).map(|row| row.question))
    .fetch_optional(db)
    .await
}

async fn find_before(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    place: TurnPlace<'_>,
) -> Result<Option<AnswerableQuestion>, Failure> {
    let Some(open) = find_answerable(db, conversation, None).await? else { return Ok(None) };
    let heard = branch::before(db, conversation, place).await?;
    Ok(heard.contains(&open.question.turn).then_some(open))
}

async fn find_for_turn(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<Option<AnswerableQuestion>, sqlx::Error> {
    let Some(found) = find_answerable(db, conversation, Some(turn)).await? else {
        return Ok(None);
    };
    let is_heard = branch::hears_of(db, conversation, turn, &found.question.turn).await?;
    Ok(is_heard.then_some(found))
}

async fn find_answerable(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: Option<&TurnId>,
) -> Result<Option<AnswerableQuestion>, sqlx::Error> {
    sqlx::query(
        "SELECT q.id, q.conversation, q.turn, q.call, q.original_message, q.text, q.options,
             q.tool_calls_completed, q.asked_at, q.state, q.answered_by, t.origin
         FROM question q JOIN turn t ON t.id = q.turn
         WHERE q.conversation = ?1 AND (q.state = 'open' OR q.answered_by = ?2)
         ORDER BY q.answered_by IS NULL LIMIT 1",
    )
    .bind(conversation.as_str())
    .bind(turn.map(TurnId::as_str))
    .try_map(|row| {
        let QuestionRow { question, answered_by, .. } = from_row(&row)?;
        Ok(AnswerableQuestion { question, origin: row.enum_value("origin")?, answered_by })
    })
    .fetch_optional(db)
    .await
}

async fn find_hub_conversation(
    db: &mut SqliteConnection,
    hub: &str,
    since: Timestamp,
    until: Timestamp,
) -> Result<Option<ConversationId>, sqlx::Error> {
    sqlx::query(
        "SELECT c.id
         FROM question q JOIN conversation c ON c.id = q.conversation JOIN turn t ON t.id = q.turn
         WHERE q.state = 'open' AND q.asked_at >= ?1 AND q.asked_at <= ?2
             AND t.origin IN ('hub_text', 'hub_voice')
             AND c.hub_day IS NOT NULL AND c.deleted_at IS NULL
             AND EXISTS (SELECT 1 FROM inbox i WHERE i.turn = q.turn AND i.hub = ?3)
         ORDER BY q.asked_at DESC LIMIT 1",
    )
    .bind(since.0)
    .bind(until.0)
    .bind(hub)
    .try_map(|row: SqliteRow| row.text("id"))
    .fetch_optional(db)
    .await
}

/// Every question of a conversation, oldest first.
pub(crate) async fn of_conversation(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<QuestionRow>, sqlx::Error> {
    sqlx::query(
        "SELECT id, conversation, turn, call, original_message, text, options,
             tool_calls_completed, asked_at, state, answered_by
         FROM question WHERE conversation = ? ORDER BY asked_at",
    )
    .bind(conversation.as_str())
    .try_map(|row| from_row(&row))
    .fetch_all(db)
    .await
}

async fn find_asking_turns(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<BTreeSet<TurnId>, sqlx::Error> {
    let asked: Vec<TurnId> = sqlx::query(
        "SELECT q.turn FROM question q JOIN turn t ON t.conversation = q.conversation
         WHERE t.id = ?1 AND (q.state = 'open' OR q.answered_by = ?1)",
    )
    .bind(turn.as_str())
    .try_map(|row: SqliteRow| row.text("turn"))
    .fetch_all(db)
    .await?;
    Ok(asked.into_iter().collect())
}

async fn answer_text(
    db: &mut SqliteConnection,
    question: &QuestionId,
) -> Result<Option<String>, sqlx::Error> {
    let turn: Option<TurnId> =
        sqlx::query("SELECT answered_by FROM question WHERE id = ? AND answered_by IS NOT NULL")
            .bind(question.as_str())
            .try_map(|row: SqliteRow| row.text("answered_by"))
            .fetch_optional(&mut *db)
            .await?;
    match turn {
        Some(turn) => message::request_text(db, &turn).await,
        None => Ok(None),
    }
}

fn from_row(row: &SqliteRow) -> Result<QuestionRow, sqlx::Error> {
    let question = Question {
        id: row.text("id")?,
        conversation: row.text("conversation")?,
        turn: row.text("turn")?,
        call: row.text("call")?,
        original_message: row.text("original_message")?,
        text: row.text("text")?,
        options: row.json("options")?,
        tool_calls_completed: row.try_get("tool_calls_completed")?,
        asked_at: row.timestamp("asked_at")?,
    };
    let state: &str = row.try_get("state")?;
    Ok(QuestionRow {
        question,
        answered_by: row.optional_text("answered_by")?,
        withdrawn: state == "withdrawn",
    })
}
