//! The table `compaction`: what a model is told in place of the first turns of a branch.
//!
//! A row names the last turn that it stands in for. A branch uses the row that reaches farthest among
//! those whose turn it goes through; one that forked earlier knows nothing of it.

use std::collections::BTreeSet;

use protocol::{
    CallId, Compaction, ContentHash, ConversationId, Message, NotePath, OpenTurn, Origin,
    QuestionId, Source, Summary, Timestamp, TurnId, UtilityRequest,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::conversations::branch;
use crate::db::row_ext::{RowExt, to_json};
use crate::db::transaction::{commit, read};
use crate::turns::{provenance, transcript, turn, usage};
use crate::{Store, StoreError};

/// A compaction as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionRow {
    /// The text for the model, and how far it reaches.
    pub compaction: Compaction,
    /// Identifies the notes that were hidden from the model that summarized.
    pub privacy_view: String,
    /// All it came from.
    pub sources: Vec<Source>,
    /// When it was stored.
    pub at: Timestamp,
}

impl Store {
    /// The summary that replaces earlier turns for a model in `turn`, and the messages after it, as
    /// [`Store::history`] returns them.
    pub async fn recent_history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<(Option<CompactionRow>, Vec<Message>), StoreError> {
        read!(self, "read the history", |db| recent(db, conversation, turn))
    }

    /// The summary that replaces earlier turns for a model in `turn`.
    pub async fn compaction(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Option<CompactionRow>, StoreError> {
        read!(self, "read the summary", |db| compaction_for_turn(db, conversation, turn))
    }

    /// Stores what stands in for the first turns of a branch from now on, and with it what asking
    /// for it took, counted for `turn`. Its sources are those of all turns it stands in for.
    pub async fn store_compaction(
        &self,
        turn: &TurnId,
        new: &Compaction,
        heard: &str,
        asked: Option<&UtilityRequest>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let new = NewCompaction { turn, compaction: new, heard, asked, at };
        commit!(self, "store_compaction", "store the summary", |db| insert(db, &new))
    }

    /// Counts a request that belongs to no answer for `turn`, or for none if that was deleted.
    pub async fn record_turn_usage(
        &self,
        turn: &TurnId,
        asked: &UtilityRequest,
    ) -> Result<(), StoreError> {
        commit!(self, "charge", "note what a request took", |db| {
            usage::insert_if_turn_exists(db, turn, asked)
        })
    }

    /// Which calls of a conversation asked the user, and the ids of their questions.
    pub async fn question_calls(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<(TurnId, CallId, QuestionId)>, StoreError> {
        read!(self, "find the questions", |db| question_calls(db, conversation))
    }

    /// The turn of the branch that is shown which began last; `None` when none has.
    pub async fn last_shown_turn(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<OpenTurn>, StoreError> {
        read!(self, "find the last turn", |db| last_shown(db, conversation))
    }
}

struct NewCompaction<'a> {
    turn: &'a TurnId,
    compaction: &'a Compaction,
    heard: &'a str,
    asked: Option<&'a UtilityRequest>,
    at: Timestamp,
}

async fn recent(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<(Option<CompactionRow>, Vec<Message>), sqlx::Error> {
    let found = compaction_for_turn(db, conversation, turn).await?;
    let after = match &found {
        Some(row) => turn::run_order(db, &row.compaction.until).await?.unwrap_or_default(),
        None => 0,
    };
    let rows = transcript::replay(db, conversation, turn, after).await?;
    Ok((found, rows))
}

async fn compaction_for_turn(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
) -> Result<Option<CompactionRow>, sqlx::Error> {
    let branch = branch::of_turn(db, turn).await?;
    sqlx::query(concat!(
        branch::ancestry!(),
        "SELECT c.*
         FROM compaction c JOIN turn u ON u.id = c.until JOIN line ON line.branch = u.branch
         WHERE c.conversation = ?1 AND u.ran < min(
             line.until,
             coalesce((SELECT ran FROM turn WHERE id = ?3), 9223372036854775807)
         )
         ORDER BY u.ran DESC, c.number DESC LIMIT 1"
    ))
    .bind(conversation.as_str())
    .bind(branch)
    .bind(turn.as_str())
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

/// The summary that replaces earlier turns in the branch that is shown.
pub(crate) async fn shown(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<CompactionRow>, sqlx::Error> {
    sqlx::query(concat!(
        branch::ancestry!("coalesce((SELECT branch FROM conversation WHERE id = ?1), 0)"),
        "SELECT c.*
         FROM compaction c JOIN turn u ON u.id = c.until JOIN line ON line.branch = u.branch
         WHERE c.conversation = ?1 AND u.ran < line.until
         ORDER BY u.ran DESC, c.number DESC LIMIT 1"
    ))
    .bind(conversation.as_str())
    .try_map(|row| from_row(&row))
    .fetch_optional(db)
    .await
}

async fn insert(db: &mut SqliteConnection, new: &NewCompaction<'_>) -> Result<(), sqlx::Error> {
    let Compaction { until, text, summary } = new.compaction;
    let mut sources = sources(db, until).await?;
    sources.extend(provenance::of_context(db, until).await?);
    sqlx::query(
        "INSERT INTO compaction (conversation, until, text, summary, summed, heard, sources, at)
         VALUES ((SELECT conversation FROM turn WHERE id = ?1), ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )
    .bind(until.as_str())
    .bind(text)
    .bind(summary.as_ref().map(|summary| summary.words.as_str()))
    .bind(summary.as_ref().map(|summary| summary.until.as_str()))
    .bind(new.heard)
    .bind(to_json(&sources)?)
    .bind(new.at.0)
    .execute(&mut *db)
    .await?;
    match new.asked {
        Some(asked) => usage::insert_utility(db, new.turn, asked).await,
        None => Ok(()),
    }
}

/// Where everything came from that was heard up to and with a turn: who spoke, which tools were
/// called, which notes were read.
async fn sources(
    db: &mut SqliteConnection,
    until: &TurnId,
) -> Result<BTreeSet<Source>, sqlx::Error> {
    let conversation: String = sqlx::query_scalar("SELECT conversation FROM turn WHERE id = ?")
        .bind(until.as_str())
        .fetch_one(&mut *db)
        .await?;
    let branch = branch::of_turn(db, until).await?;
    let found: Vec<Vec<Source>> = sqlx::query(concat!(
        branch::ancestry!(),
        "SELECT t.origin, c.tool, c.seen
         FROM line JOIN turn t ON t.conversation = ?1 AND t.branch = line.branch
                 AND t.ran < line.until
             LEFT JOIN tool_call c ON c.turn = t.id
         WHERE t.ran <= (SELECT ran FROM turn WHERE id = ?3)"
    ))
    .bind(conversation)
    .bind(branch)
    .bind(until.as_str())
    .try_map(|row| sources_of_call(&row))
    .fetch_all(db)
    .await?;
    Ok(found.into_iter().flatten().collect())
}

fn sources_of_call(row: &SqliteRow) -> Result<Vec<Source>, sqlx::Error> {
    let origin: Origin = row.enum_value("origin")?;
    let speaker = if origin.is_hub() { Source::Hub } else { Source::User };
    let tool: Option<String> = row.try_get("tool")?;
    let seen: Option<Vec<(NotePath, ContentHash)>> = row.optional_json("seen")?;
    let notes = seen.into_iter().flatten().map(|(path, _)| Source::Note(path));
    Ok(std::iter::once(speaker).chain(tool.map(Source::Tool)).chain(notes).collect())
}

async fn question_calls(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<(TurnId, CallId, QuestionId)>, sqlx::Error> {
    sqlx::query("SELECT turn, call, id FROM question WHERE conversation = ?")
        .bind(conversation.as_str())
        .try_map(|row: SqliteRow| Ok((row.text("turn")?, row.text("call")?, row.text("id")?)))
        .fetch_all(db)
        .await
}

async fn last_shown(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<OpenTurn>, sqlx::Error> {
    let turns = turn::of_conversation(db, conversation).await?;
    Ok(turns.into_iter().map(|row| row.turn).rfind(|turn| turn.status.is_terminal()))
}

fn from_row(row: &SqliteRow) -> Result<CompactionRow, sqlx::Error> {
    let words: Option<String> = row.try_get("summary")?;
    let summed: Option<TurnId> = row.optional_text("summed")?;
    let summary = words.zip(summed).map(|(words, until)| Summary { words, until });
    let compaction = Compaction { until: row.text("until")?, text: row.text("text")?, summary };
    Ok(CompactionRow {
        compaction,
        privacy_view: row.text("heard")?,
        sources: row.json("sources")?,
        at: row.timestamp("at")?,
    })
}
