//! The table `untold`: conversations of which more is known than their title and summary tell.
//!
//! A trigger takes note of them in the commit that ends a turn, so none is forgotten over a restart.

use protocol::{Conversation, Gist, Timestamp, TurnId, Untold, Utility, Wanted};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::commit::{commit, read};
use crate::{Store, StoreError, turn, usage};

/// Older ones are let be: a model that comes late is not asked about everything there ever was.
const NEWEST: u32 = 50;
/// So often it may fail for one conversation before something else is said in it.
const TRIES: u32 = 3;

/// An ended conversation in a list, and what is known of what it was about.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedRow {
    /// Its row.
    pub conversation: Conversation,
    /// Its last words, or its first ones, in at most 300 characters.
    pub words: String,
    /// Whether its title is of the user's own choice.
    pub named_by_user: bool,
    /// The last turn that a model's title and summary tell of, if a model was asked.
    pub told_until: Option<TurnId>,
}

impl Store {
    /// The conversation that wants to be told of next, newest first: one that has no title but its
    /// first words, or one that has ended, or in which nothing happened since `idle`. `None` when
    /// there is none, or only such for which it failed three times.
    pub async fn untold(&self, idle: Timestamp) -> Result<Option<Untold>, StoreError> {
        read!(self, "look for conversations without a summary", |db| next(db, idle))
    }

    /// Stores what a model told of a conversation up to `turn`, and what asking took. A name that
    /// the user gave stays.
    pub async fn store_gist(
        &self,
        turn: &TurnId,
        gist: &Gist,
        asked: &Utility,
    ) -> Result<(), StoreError> {
        commit!(self, "store_gist", "store what a conversation is about", |db| tell(
            db, turn, gist, asked
        ))
    }

    /// Takes note that nothing came of asking about a conversation up to `turn`, and what it took.
    pub async fn gist_failed(
        &self,
        turn: &TurnId,
        asked: Option<&Utility>,
    ) -> Result<(), StoreError> {
        commit!(self, "gist_failed", "note that a summary failed", |db| count(db, turn, asked))
    }
}

async fn next(db: &mut SqliteConnection, idle: Timestamp) -> Result<Option<Untold>, sqlx::Error> {
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
    .bind(NEWEST)
    .bind(TRIES)
    .try_map(|row: SqliteRow| {
        let is_over: bool = row.try_get("is_over")?;
        let wanted = if is_over { Wanted::TitleAndSummary } else { Wanted::Title };
        Ok(Untold { turn: turn::from_row(&row)?, wanted })
    })
    .fetch_optional(db)
    .await
}

async fn tell(
    db: &mut SqliteConnection,
    turn: &TurnId,
    gist: &Gist,
    asked: &Utility,
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
    .bind(&gist.title)
    .bind(gist.summary.as_deref())
    .execute(&mut *db)
    .await?;
    if gist.summary.is_some() {
        sqlx::query("DELETE FROM untold WHERE turn = ?")
            .bind(turn.as_str())
            .execute(&mut *db)
            .await?;
    }
    usage::insert_beside(db, turn, asked).await
}

async fn count(
    db: &mut SqliteConnection,
    turn: &TurnId,
    asked: Option<&Utility>,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE untold SET failed = failed + 1 WHERE turn = ?")
        .bind(turn.as_str())
        .execute(&mut *db)
        .await?;
    match asked {
        Some(asked) => usage::insert_beside(db, turn, asked).await,
        None => Ok(()),
    }
}
