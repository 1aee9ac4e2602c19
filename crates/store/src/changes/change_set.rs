//! The table `change_set`: the pending set of a conversation, and the decisions on it.

use std::collections::BTreeSet;

use protocol::{
    CallId, Change, ChangeSet, ChangeSetId, ConversationId, MessageId, NotePath, Timestamp, TurnId,
};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::changes::planned_change::{self, ChangeSetDecision, DecidedChange, PlannedChangeRow};
use crate::changes::planned_name::PlannedNote;
use crate::conversations::branch::{self, TurnPlace};
use crate::conversations::conversation;
use crate::db::row_ext::RowExt;
use crate::db::transaction::{commit, read, read_one};
use crate::error::Failure;
use crate::turns::message;
use crate::{Store, StoreError};

/// A set of pending changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenChangeSet {
    /// The id that a decision names.
    pub id: ChangeSetId,
    /// The pending changes, in the order they were planned.
    pub planned: Vec<PlannedChangeRow>,
    /// The user's message that led to it.
    pub request: String,
}

/// The user's decision about one change set at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRow {
    /// Stable id, for the chat.
    pub id: MessageId,
    /// The decided change set.
    pub change_set: ChangeSetId,
    /// Notes that were changed, each once, in the order they were planned.
    pub applied: Vec<NotePath>,
    /// Notes whose changes were turned down, each once, in the order they were planned. Of a note in
    /// both lists only some were.
    pub rejected: Vec<NotePath>,
    /// Those of the changed ones in which the user wrote some of the lines.
    pub edited: Vec<NotePath>,
    /// The time of the decision.
    pub at: Timestamp,
}

impl Store {
    /// The conversation's pending change set, contents included.
    pub async fn open_change_set(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<OpenChangeSet>, StoreError> {
        // Mostly there is none, and whatever opens meanwhile is as if it had come later.
        let has_pending =
            read_one!(self, "look for pending changes", |db| find_open(db, conversation))?;
        if has_pending.is_none() {
            return Ok(None);
        }
        read!(self, "read the pending changes", |db| open(db, conversation))
    }

    /// Adds changes to the conversation's open set, or opens one with the given id; returns the id
    /// of the set they are in. They join as [`ChangeSet::extend`] says, and fail as it does. Rows
    /// of paths that the plan changes get its turn and call, and lose an old problem. A set without
    /// pending changes is closed.
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

    /// Stores decisions on hunks (in a form that the caller reads again) that are about to be
    /// applied, so that they can be completed after a crash.
    pub async fn store_hunk_choices(
        &self,
        set: &ChangeSetId,
        choices: &[(NotePath, String)],
    ) -> Result<(), StoreError> {
        commit!(self, "choose", "store the decision on hunks", |db| store_choices(db, set, choices))
    }

    /// Stores a decision on pending changes; a path that is not pending is left as it is. Returns
    /// whether the set is now closed because it has no pending changes.
    pub async fn decide(
        &self,
        set: &ChangeSetId,
        decision: &ChangeSetDecision,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        commit!(self, "decide", "store the decision", |db| store_decision(db, set, decision, at))
    }

    /// The rejected changes of notes of which the decision applied another part.
    pub async fn rejected_parts(&self, decision: &DecisionRow) -> Result<Vec<Change>, StoreError> {
        let (set, at) = (&decision.change_set, decision.at);
        read!(self, "read the rejected changes", |db| planned_change::rejected_parts(db, set, at))
    }

    /// The notes that planned changes of a conversation are about, decided or not, each once for the turn that
    /// planned it last: those that were there before. What the plans themselves were to make is omitted,
    /// and so are folders.
    pub async fn planned_notes(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<PlannedNote>, StoreError> {
        read!(self, "read the pending changes", |db| planned_change::notes_in(db, conversation))
    }

    /// The conversation that a change set belongs to; `None` when there is no such set.
    pub async fn conversation_of_change_set(
        &self,
        set: &ChangeSetId,
    ) -> Result<Option<ConversationId>, StoreError> {
        read!(self, "find the change set", |db| conversation_of(db, set))
    }

    /// Every decision in a conversation, oldest first.
    pub async fn decisions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<DecisionRow>, StoreError> {
        read!(self, "read the decisions", |db| decisions_in(db, conversation))
    }

    /// Decisions that the model has not been told of, oldest first. Those about changes that a turn
    /// at this place does not hear of are left out, also if only some of the changes are such.
    pub async fn unreported_decisions(
        &self,
        conversation: &ConversationId,
        place: TurnPlace<'_>,
    ) -> Result<Vec<DecisionRow>, StoreError> {
        read!(self, "read the new decisions", |db| unreported_in(db, conversation, place))
    }

    /// Records that the model is told of these decisions with the message that opens a turn.
    pub async fn mark_decisions_reported(
        &self,
        decisions: &[DecisionRow],
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        commit!(self, "mark_told", "note the reported decisions", |db| set_reported(
            db, decisions, turn
        ))
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
    decisions: &[DecisionRow],
    turn: &TurnId,
) -> Result<(), sqlx::Error> {
    for decision in decisions {
        planned_change::mark_reported(db, &decision.change_set, decision.at, turn).await?;
    }
    Ok(())
}

async fn store_decision(
    db: &mut SqliteConnection,
    set: &ChangeSetId,
    decision: &ChangeSetDecision,
    at: Timestamp,
) -> Result<bool, Failure> {
    let conversation =
        conversation_of(db, set).await?.ok_or_else(|| Failure::not_found("This change", set))?;
    planned_change::decide(db, set, decision, at).await?;
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
    place: TurnPlace<'_>,
) -> Result<Vec<DecisionRow>, Failure> {
    let mut decided = planned_change::decided_in(db, conversation).await?;
    decided.retain(|row| !row.reported);
    if decided.is_empty() {
        return Ok(Vec::new());
    }
    let heard = branch::before(db, conversation, place).await?;
    let unheard = decided.iter().filter(|row| !heard.contains(&row.turn));
    let unheard: BTreeSet<MessageId> = unheard.map(decision_id).collect();
    decided.retain(|row| !unheard.contains(&decision_id(row)));
    Ok(group_by_decision(decided))
}

fn decision_id(row: &DecidedChange) -> MessageId {
    MessageId::from(format!("{}@{}", row.change_set, row.at.0))
}

/// Rows that were decided at one time in one set make one decision. A note that was rewritten and moved has
/// two rows and is listed once.
fn group_by_decision(decided: Vec<DecidedChange>) -> Vec<DecisionRow> {
    let mut decisions: Vec<DecisionRow> = Vec::new();
    let mut listed = BTreeSet::new();
    for row in decided {
        let id = decision_id(&row);
        if decisions.last().is_none_or(|last| last.id != id) {
            listed.clear();
            decisions.push(DecisionRow {
                id,
                change_set: row.change_set,
                applied: Vec::new(),
                rejected: Vec::new(),
                edited: Vec::new(),
                at: row.at,
            });
        }
        if let Some(decision) = decisions.last_mut() {
            let side = if row.applied { &mut decision.applied } else { &mut decision.rejected };
            if listed.insert((row.applied, row.path.clone())) {
                side.push(row.path.clone());
            }
            if row.edited && !decision.edited.contains(&row.path) {
                decision.edited.push(row.path);
            }
        }
    }
    decisions
}
