//! The table `untold`: conversations that need a title or a summary.
//!
//! A trigger adds a row in the commit that ends a turn, so none is lost over a restart.

use protocol::{
    Conversation, GeneratedTitle, Timestamp, TitleRequest, TitleTask, TurnId, UtilityRequest,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::db::transaction::{commit, read};
use crate::turns::{turn, usage};
use crate::{Store, StoreError};

/// Older ones are let be: a model that comes late is not asked about everything there ever was.
const MAX_WAITING: u32 = 50;
/// How often it may fail for one conversation before something else is said in it.
const MAX_FAILURES: u32 = 3;

/// An ended conversation in a list, and its summary.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedConversation {
    /// Its row.
    pub conversation: Conversation,
    /// Its last words, or its first ones, in at most 300 characters.
    pub excerpt: String,
    /// Whether its title is of the user's own choice.
    pub named_by_user: bool,
    /// The last turn that a model's title and summary tell of, if a model was asked.
    pub titled_until: Option<TurnId>,
}

impl Store {
    /// The conversation that wants to be told of next, newest first: one that has no title but its
    /// first words, or one that has ended, or in which nothing happened since `idle`. `None` when
    /// there is none, or only such for which it failed three times.
    pub async fn next_untitled(&self, idle: Timestamp) -> Result<Option<TitleTask>, StoreError> {
        read!(self, "look for conversations without a summary", |db| next(db, idle))
    }

    /// Stores a model's title and summary of a conversation up to `turn`, and the cost of the
    /// request. A name that the user gave stays.
    pub async fn store_title(
        &self,
        turn: &TurnId,
        generated: &GeneratedTitle,
        asked: &UtilityRequest,
    ) -> Result<(), StoreError> {
        commit!(self, "store_gist", "store what a conversation is about", |db| insert_title(
            db, turn, generated, asked
        ))
    }

    /// Records that the request for a title of a conversation up to `turn` failed, and its cost.
    pub async fn title_failed(
        &self,
        turn: &TurnId,
        asked: Option<&UtilityRequest>,
    ) -> Result<(), StoreError> {
        commit!(self, "gist_failed", "note that a summary failed", |db| count_failure(
            db, turn, asked
        ))
    }
}

async fn next(
    db: &mut SqliteConnection,
    idle: Timestamp,
) -> Result<Option<TitleTask>, sqlx::Error> {
    sqlx::query(
        "SELECT t.id, t.conversation, m.id AS message, t.origin, t.status, t.at, t.resumed,
             c.state = 'ended' OR newest.at <= ?1 AS is_over
         FROM (SELECT * FROM untold ORDER BY at DESC LIMIT ?2) newest
             JOIN conversation c ON c.id = newest.conversation
             JOIN turn t ON t.id = newest.turn
             JOIN message m ON m.turn = t.id AND m.position = 0
         WHERE c.deleted_at IS NULL AND newest.failed < ?3
             AND EXISTS (SELECT 1 FROM turn o WHERE o.conversation = c.id AND o.model <> '')
             AND (c.named_by = 'words' OR c.state = 'ended' OR newest.at <= ?1)
         ORDER BY newest.at DESC LIMIT 1",
    )
    .bind(idle.0)
    .bind(MAX_WAITING)
    .bind(MAX_FAILURES)
    .try_map(|row: SqliteRow| {
        let is_over: bool = row.try_get("is_over")?;
        let wanted = if is_over { TitleRequest::TitleAndSummary } else { TitleRequest::Title };
        Ok(TitleTask { turn: turn::from_row(&row)?, wanted })
    })
    .fetch_optional(db)
    .await
}

async fn insert_title(
    db: &mut SqliteConnection,
    turn: &TurnId,
    generated: &GeneratedTitle,
    asked: &UtilityRequest,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE conversation SET
             title = iif(named_by = 'user', title, ?2),
             named_by = iif(named_by = 'user', 'user', 'model'),
             summary = coalesce(?3, summary),
             told_until = ?1
         WHERE id = (SELECT conversation FROM turn WHERE id = ?1) AND deleted_at IS NULL",
    )
    .bind(turn.as_str())
    .bind(&generated.title)
    .bind(generated.summary.as_deref())
    .execute(&mut *db)
    .await?;
    if generated.summary.is_some() {
        sqlx::query("DELETE FROM untold WHERE turn = ?")
            .bind(turn.as_str())
            .execute(&mut *db)
            .await?;
    }
    usage::insert_if_turn_exists(db, turn, asked).await
}

async fn count_failure(
    db: &mut SqliteConnection,
    turn: &TurnId,
    asked: Option<&UtilityRequest>,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE untold SET failed = failed + 1 WHERE turn = ?")
        .bind(turn.as_str())
        .execute(&mut *db)
        .await?;
    match asked {
        Some(asked) => usage::insert_if_turn_exists(db, turn, asked).await,
        None => Ok(()),
    }
}
