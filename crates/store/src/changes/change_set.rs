//! The table `change_set`: the one set of a conversation that waits, and the verdicts on it.

use protocol::{
    CallId, Change, ChangeSet, ChangeSetId, ConversationId, MessageId, NotePath, Timestamp, TurnId,
};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::changes::planned_change::{self, ChangeSetDecision, DecidedChange, PlannedChangeRow};
use crate::conversations::conversation;
use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read, read_one};
use crate::error::Failure;
use crate::turns::message;
use crate::{Store, StoreError};

/// What waits for the user's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenChangeSet {
    /// Its id.
    pub id: ChangeSetId,
    /// The changes that wait, in the order they were planned.
    pub planned: Vec<PlannedChangeRow>,
    /// The user's words that led to it.
    pub request: String,
}

/// What the user decided at one time about one change set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRow {
    /// Stable id, for the chat.
    pub id: MessageId,
    /// The change set.
    pub change_set: ChangeSetId,
    /// Notes that were changed, in the order they were planned.
    pub applied: Vec<NotePath>,
    /// Notes whose changes were turned down, in the order they were planned. Of a note in both
    /// lists only some were.
    pub rejected: Vec<NotePath>,
    /// Those of the changed ones in which the user wrote some of the lines.
    pub edited: Vec<NotePath>,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// The conversation's change set that waits, contents included.
    pub async fn open_change_set(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<OpenChangeSet>, StoreError> {
        // Mostly there is none, and whatever opens meanwhile is as if it had come later.
        let waits = read_one!(self, "look for waiting changes", |db| find_open(db, conversation))?;
        if waits.is_none() {
            return Ok(None);
        }
        read!(self, "read the waiting changes", |db| open(db, conversation))
    }

    /// Adds changes to the conversation's open set, or opens one with the given id; returns the
    /// id of the set they are in.
    ///
    /// They join as [`ChangeSet::extend`] says, and fail as it does. What the plan touches takes
    /// its turn and call, and an old problem is forgotten. A set in which nothing is left to wait
    /// for is closed.
    pub async fn add_planned_changes(
        &self,
        conversation: &ConversationId,
        set_id_if_new: &ChangeSetId,
        changes: &ChangeSet,
        turn: &TurnId,
        call: &CallId,
        at: Timestamp,
    ) -> Result<ChangeSetId, StoreError> {
        let set = NewChangeSet { conversation, id: set_id_if_new, turn, call, at };
        commit!(self, "add_planned", "store planned changes", |db| extend(db, &set, changes))
    }

    /// Notes which verdicts on hunks (in whatever form the caller reads again) are about to be
    /// carried out, so that they can be completed after a crash.
    pub async fn store_hunk_choices(
        &self,
        set: &ChangeSetId,
        choices: &[(NotePath, String)],
    ) -> Result<(), StoreError> {
        commit!(self, "choose", "store the verdict on hunks", |db| store_choices(db, set, choices))
    }

    /// Stores a verdict on waiting changes; a path that does not wait is left as it is. Returns
    /// whether the set is now closed because nothing waits in it any more.
    pub async fn decide(
        &self,
        set: &ChangeSetId,
        verdict: &ChangeSetDecision,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        commit!(self, "decide", "store the verdict", |db| store_decision(db, set, verdict, at))
    }

    /// What a verdict rejected of notes of which it applied something else.
    pub async fn rejected_parts(&self, verdict: &DecisionRow) -> Result<Vec<Change>, StoreError> {
        let (set, at) = (&verdict.change_set, verdict.at);
        read!(self, "read what was rejected", |db| planned_change::rejected_parts(db, set, at))
    }

    /// The conversation that a change set belongs to; `None` when there is no such set.
    pub async fn conversation_of_change_set(
        &self,
        set: &ChangeSetId,
    ) -> Result<Option<ConversationId>, StoreError> {
        read!(self, "find the change set", |db| conversation_of(db, set))
    }

    /// Every verdict in a conversation, oldest first.
    pub async fn decisions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<DecisionRow>, StoreError> {
        read!(self, "read the verdicts", |db| decisions_in(db, conversation))
    }

    /// Verdicts the model has not been told of, oldest first.
    pub async fn unreported_decisions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<DecisionRow>, StoreError> {
        read!(self, "read the new verdicts", |db| unreported_in(db, conversation))
    }

    /// Notes that the model is told of these verdicts with the words that open a turn.
    pub async fn mark_decisions_reported(
        &self,
        verdicts: &[DecisionRow],
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        commit!(self, "mark_told", "note the told verdicts", |db| set_reported(db, verdicts, turn))
    }
}

struct NewChangeSet<'a> {
    conversation: &'a ConversationId,
    id: &'a ChangeSetId,
    turn: &'a TurnId,
    call: &'a CallId,
    at: Timestamp,
}

/// The open set's id and the turn that opened it.
async fn find_open(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<(ChangeSetId, TurnId)>, sqlx::Error> {
    sqlx::query("SELECT id, turn FROM change_set WHERE conversation = ? AND state = 'open'")
        .bind(conversation.as_str())
        .try_map(|row: SqliteRow| Ok((row.text("id")?, row.text("turn")?)))
        .fetch_optional(db)
        .await
}

pub(crate) async fn open(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<OpenChangeSet>, Failure> {
    let Some((id, turn)) = find_open(db, conversation).await? else { return Ok(None) };
    let planned = planned_change::pending(db, &id).await?;
    let request = message::request_text(db, &turn).await?.unwrap_or_default();
    Ok(Some(OpenChangeSet { id, planned, request }))
}

async fn extend(
    db: &mut SqliteConnection,
    new: &NewChangeSet<'_>,
    changes: &ChangeSet,
) -> Result<ChangeSetId, Failure> {
    let id = match find_open(db, new.conversation).await? {
        Some((id, _)) => id,
        None => insert(db, new).await?,
    };
    planned_change::add_plan(db, &id, changes, new.turn, new.call).await?;
    close_if_empty(db, &id, new.at).await?;
    Ok(id)
}

async fn insert(
    db: &mut SqliteConnection,
    new: &NewChangeSet<'_>,
) -> Result<ChangeSetId, sqlx::Error> {
    sqlx::query(
        "INSERT INTO change_set (id, conversation, turn, state, opened_at)
         VALUES (?, ?, ?, 'open', ?)",
    )
    .bind(new.id.as_str())
    .bind(new.conversation.as_str())
    .bind(new.turn.as_str())
    .bind(new.at.0)
    .execute(db)
    .await?;
    Ok(new.id.clone())
}

async fn conversation_of(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
) -> Result<Option<ConversationId>, sqlx::Error> {
    sqlx::query("SELECT conversation FROM change_set WHERE id = ?")
        .bind(set.as_str())
        .try_map(|row: SqliteRow| row.text("conversation"))
        .fetch_optional(db)
        .await
}

async fn set_reported(
    db: &mut SqliteConnection,
    verdicts: &[DecisionRow],
    turn: &TurnId,
) -> Result<(), sqlx::Error> {
    for verdict in verdicts {
        planned_change::mark_reported(db, &verdict.change_set, verdict.at, turn).await?;
    }
    Ok(())
}

async fn store_decision(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    verdict: &ChangeSetDecision,
    at: Timestamp,
) -> Result<bool, Failure> {
    let conversation =
        conversation_of(db, set).await?.ok_or_else(|| Failure::not_found("change set", set))?;
    planned_change::decide(db, set, verdict, at).await?;
    conversation::touch(db, &conversation, at).await?;
    Ok(close_if_empty(db, set, at).await?)
}

async fn store_choices(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    choices: &[(NotePath, String)],
) -> Result<(), Failure> {
    Ok(planned_change::store_choices(db, set, choices).await?)
}

/// Whether the set is closed when it returns.
async fn close_if_empty(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    at: Timestamp,
) -> Result<bool, sqlx::Error> {
    sqlx::query(
        "UPDATE change_set SET state = 'decided', decided_at = ?2
         WHERE id = ?1 AND state = 'open' AND NOT EXISTS (
             SELECT 1 FROM planned_change WHERE change_set = ?1 AND state = 'waiting'
         )",
    )
    .bind(set.as_str())
    .bind(at.0)
    .execute(&mut *db)
    .await?;
    sqlx::query_scalar("SELECT state = 'decided' FROM change_set WHERE id = ?")
        .bind(set.as_str())
        .fetch_one(db)
        .await
}

pub(crate) async fn decisions_in(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<DecisionRow>, sqlx::Error> {
    Ok(group_by_decision(planned_change::decided_in(db, conversation).await?))
}

async fn unreported_in(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Vec<DecisionRow>, sqlx::Error> {
    let mut decided = planned_change::decided_in(db, conversation).await?;
    decided.retain(|row| !row.reported);
    Ok(group_by_decision(decided))
}

/// Rows that were decided at one time in one set make one verdict.
fn group_by_decision(decided: Vec<DecidedChange>) -> Vec<DecisionRow> {
    let mut verdicts: Vec<DecisionRow> = Vec::new();
    for row in decided {
        let id = MessageId::from(format!("{}@{}", row.change_set, row.at.0));
        if verdicts.last().is_none_or(|last| last.id != id) {
            verdicts.push(DecisionRow {
                id,
                change_set: row.change_set,
                applied: Vec::new(),
                rejected: Vec::new(),
                edited: Vec::new(),
                at: row.at,
            });
        }
        if let Some(verdict) = verdicts.last_mut() {
            let side = if row.applied { &mut verdict.applied } else { &mut verdict.rejected };
            side.push(row.path.clone());
            verdict.edited.extend(row.edited.then_some(row.path));
        }
    }
    verdicts
}
