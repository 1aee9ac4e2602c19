//! Builds the chat of a conversation from its rows, by the rules of [`projection`].
//!
//! The ids of items follow from the rows, so that the items of a running turn and those that are read later are the
//! same items: an answer has its message's id, [`sent_message_id`] and [`question_message_id`] give the others.

use std::collections::{BTreeSet, HashMap, VecDeque};

use protocol::chat::conversation::{ChatItem, MessageVariant};
use protocol::hub::approval::PendingApproval;
use protocol::{
    CallId, Compaction, Conversation, ConversationId, Message, MessageId, MessagePart, OpenTurn,
    Question, Role, Speech, TurnId, TurnStatus,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::changes::change_set::{self, DecisionRow, OpenChangeSet};
use crate::conversations::{branch, conversation};
use crate::db::transaction::read;
use crate::error::Failure;
use crate::hub::approvals;
use crate::turns::compaction::{self, CompactionRow};
use crate::turns::message::{self, MessageRow};
use crate::turns::question::{self, QuestionRow};
use crate::turns::tool_call::{self, CallRow};
use crate::turns::turn::{self, TurnRow};
use crate::{Store, StoreError};

pub mod projection;

pub use projection::{question_message_id, sent_message_id};

/// All that is shown of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedConversation {
    /// Its row in the list.
    pub row: Conversation,
    /// Its items, as [`Store::chat_items`] returns them.
    pub items: Vec<ChatItem>,
    /// The messages that have several versions.
    pub variants: Vec<MessageVariant>,
    /// The open question.
    pub question: Option<Question>,
    /// The pending changes.
    pub changes: Option<OpenChangeSet>,
    /// Messages to the hub that need approval, oldest first.
    pub held: Vec<PendingApproval>,
}

impl Store {
    /// All that is shown of a conversation, from one snapshot; `None` when it is not there. The calls of
    /// `talking_tools` are shown by what they said.
    pub async fn open_conversation(
        &self,
        conversation: &ConversationId,
        talking_tools: &BTreeSet<String>,
    ) -> Result<Option<OpenedConversation>, StoreError> {
        read!(self, "read the conversation", |db| load(db, conversation, talking_tools))
    }

    /// All items of a conversation, oldest first; messages that are queued behind a running turn
    /// come last. The calls of `talking_tools` are shown by what they said.
    pub async fn chat_items(
        &self,
        conversation: &ConversationId,
        talking_tools: &BTreeSet<String>,
    ) -> Result<Vec<ChatItem>, StoreError> {
        let rows = read!(self, "read the conversation", |db| rows(db, conversation))?;
        Ok(items(rows, talking_tools))
    }

    /// The turn of an answer, and all text for the user in it, by the id of any part of it in the
    /// chat: the parts in order, with a blank line between two. `None` when there is no such part.
    pub async fn answer_by_id(
        &self,
        id: &MessageId,
    ) -> Result<Option<(TurnId, String)>, StoreError> {
        read!(self, "read the answer", |db| find_answer(db, id))
    }
}

/// All rows of one conversation, each list in its own order.
#[derive(Debug, Default)]
struct ConversationRows {
    /// In the order in which they ran, the queued ones last.
    turns: Vec<TurnRow>,
    /// In the order of their turn.
    messages: Vec<MessageRow>,
    /// In call order.
    calls: Vec<CallRow>,
    questions: Vec<QuestionRow>,
    /// Oldest first.
    decisions: Vec<DecisionRow>,
    compaction: Option<CompactionRow>,
}

/// The values that every conversation has, and whether it has the rare ones: one value each, of one
/// statement.
macro_rules! packed_columns {
    () => {
        concat!(
            "(",
            turn::packed!(),
            ") AS turns, (",
            message::packed!(),
            ") AS messages, (",
            tool_call::packed!(),
            ") AS calls,
             EXISTS (SELECT 1 FROM question WHERE conversation = ?1) AS asked,
             EXISTS (SELECT 1 FROM change_set WHERE conversation = ?1) AS planned,
             EXISTS (SELECT 1 FROM compaction WHERE conversation = ?1) AS has_summary,
             EXISTS (SELECT 1 FROM branch WHERE conversation = ?1) AS forked"
        )
    };
}

/// The result of [`packed_columns`].
struct PackedConversation {
    rows: ConversationRows,
    asked: bool,
    planned: bool,
    has_summary: bool,
    forked: bool,
}

impl PackedConversation {
    fn from_row(row: &SqliteRow, conversation: &ConversationId) -> Result<Self, sqlx::Error> {
        let rows = ConversationRows {
            turns: turn::unpacked(row, conversation)?,
            messages: message::unpacked(row, conversation)?,
            calls: tool_call::unpacked(row)?,
            ..ConversationRows::default()
        };
        Ok(Self {
            rows,
            asked: row.try_get("asked")?,
            planned: row.try_get("planned")?,
            has_summary: row.try_get("has_summary")?,
            forked: row.try_get("forked")?,
        })
    }

    /// With what few have.
    async fn with_rare_rows(
        self,
        db: &mut SqliteConnection,
        conversation: &ConversationId,
    ) -> Result<ConversationRows, sqlx::Error> {
        let mut rows = self.rows;
        if self.asked {
            rows.questions = question::of_conversation(db, conversation).await?;
        }
        if self.planned {
            rows.decisions = change_set::decisions_in(db, conversation).await?;
        }
        if self.has_summary {
            rows.compaction = compaction::shown(db, conversation).await?;
        }
        Ok(rows)
    }
}

async fn load(
    db: &mut SqliteConnection,
    id: &ConversationId,
    talking_tools: &BTreeSet<String>,
) -> Result<Option<OpenedConversation>, Failure> {
    let query = concat!(
        "SELECT ",
        conversation::columns!(),
        ", ",
        packed_columns!(),
        " FROM listed WHERE id = ?1"
    );
    let found = sqlx::query(query)
        .bind(id.as_str())
        .try_map(|row| Ok((conversation::from_row(&row)?, PackedConversation::from_row(&row, id)?)))
        .fetch_optional(&mut *db)
        .await?;
    let Some((row, contents)) = found else { return Ok(None) };
    let forked = contents.forked;
    let rows = contents.with_rare_rows(db, id).await?;
    let open = rows.questions.iter().find(|row| row.answered_by.is_none() && !row.withdrawn);
    let question = open.map(|row| row.question.clone());
    let variants = if forked { branch::all_variants(db, id).await? } else { Vec::new() };
    // The row says whether there are any.
    let changes = if row.waiting_notes > 0 { change_set::open(db, id).await? } else { None };
    let held = if row.held > 0 { approvals::of_conversation(db, id).await? } else { Vec::new() };
    let items = items(rows, talking_tools);
    Ok(Some(OpenedConversation { row, items, variants, question, changes, held }))
}

async fn find_answer(
    db: &mut SqliteConnection,
    id: &MessageId,
) -> Result<Option<(TurnId, String)>, Failure> {
    let said = || id.as_str().split_once(':').map(|(turn, _)| TurnId::from(turn));
    let Some(turn) = message::turn_of(db, id).await?.or_else(said) else { return Ok(None) };
    let messages = message::of_turn(db, &turn).await?.into_iter();
    let parts: Vec<(MessageId, String)> =
        messages.flat_map(|(message, results)| spoken(&message, &results)).collect();
    if !parts.iter().any(|(part, _)| part == id) {
        return Ok(None);
    }
    let words: Vec<String> = parts.into_iter().map(|(_, words)| words).collect();
    Ok(Some((turn, words.join("\n\n"))))
}

/// The texts of a model's message for the user, with the ids that the chat shows them with: its own words,
/// then the messages of its calls.
fn spoken(message: &Message, results: &[MessagePart]) -> Vec<(MessageId, String)> {
    if message.role != Role::Assistant {
        return Vec::new();
    }
    let said = results.iter().filter_map(|part| match part {
        MessagePart::Result { call, speech: Some(Speech::Say { text }), .. } => {
            Some((sent_message_id(&message.turn, call), text.clone()))
        }
        _ => None,
    });
    let own = (message.id.clone(), message.text());
    std::iter::once(own).chain(said).filter(|(_, words)| !words.trim().is_empty()).collect()
}

async fn rows(
    db: &mut SqliteConnection,
    id: &ConversationId,
) -> Result<ConversationRows, sqlx::Error> {
    let contents = sqlx::query(concat!("SELECT ", packed_columns!()))
        .bind(id.as_str())
        .try_map(|row| PackedConversation::from_row(&row, id))
        .fetch_one(&mut *db)
        .await?;
    contents.with_rare_rows(db, id).await
}

/// Puts the rows in the order in which they are read. A decision stands before the first turn that
/// was stored after it, and above all messages that wait.
fn items(rows: ConversationRows, talking_tools: &BTreeSet<String>) -> Vec<ChatItem> {
    let asked = QuestionItems::new(&rows);
    let mut messages = group_by(rows.messages, |row| row.message.turn.clone());
    let mut calls = group_by(rows.calls, |row| row.message.clone());
    let mut decisions = VecDeque::from(rows.decisions);
    let mut compaction = rows.compaction;
    let mut items = Vec::new();
    for row in rows.turns {
        // A turn that is resumed is queued too, but has begun.
        let waits = row.turn.status == TurnStatus::Queued && row.turn.resumed == 0;
        let is_above = |decision: &mut DecisionRow| waits || decision.at < row.turn.at;
        while let Some(decision) = decisions.pop_front_if(is_above) {
            items.push(from_decision(decision));
        }
        for MessageRow { message, cut } in messages.remove(&row.turn.turn).unwrap_or_default() {
            let (calls, at) = (calls.remove(&message.id).unwrap_or_default(), message.at);
            items.extend(from_message(&row.turn, message, cut));
            let asked = |call: &CallRow| asked.asked_by(call);
            items.extend(projection::call_items(calls, at, talking_tools, asked));
        }
        let turn = row.turn.turn.clone();
        items.extend(from_end(row));
        items.extend(compaction.take_if(|row| row.compaction.until == turn).map(from_compaction));
    }
    items.extend(decisions.into_iter().map(from_decision));
    items
}

/// The questions by the call that asked them, with their answers.
struct QuestionItems(HashMap<(TurnId, CallId), ChatItem>);

impl QuestionItems {
    fn new(rows: &ConversationRows) -> Self {
        let mut words: HashMap<&TurnId, String> = HashMap::new();
        for row in &rows.messages {
            words.entry(&row.message.turn).or_insert_with(|| row.message.text());
        }
        let asked = rows.questions.iter().map(|row| {
            let question = &row.question;
            let answer = row.answered_by.as_ref().and_then(|turn| words.get(turn).cloned());
            let item = projection::question_item(question, answer, row.withdrawn);
            ((question.turn.clone(), question.call.clone()), item)
        });
        Self(asked.collect())
    }

    fn asked_by(&self, call: &CallRow) -> Option<ChatItem> {
        self.0.get(&(call.turn.clone(), call.call.clone())).cloned()
    }
}

fn from_message(turn: &OpenTurn, message: Message, cut: bool) -> Option<ChatItem> {
    match message.role {
        Role::User => projection::user_item(message, turn.origin, turn.status),
        Role::Assistant => projection::answer_item(&message, cut),
    }
}

fn from_end(row: TurnRow) -> Option<ChatItem> {
    projection::ended_item(row.turn.turn, row.turn.status, row.error, row.offer)
}

/// One at a time is shown: the next one takes its place, with its id.
fn from_compaction(row: CompactionRow) -> ChatItem {
    let Compaction { until, text, .. } = row.compaction;
    ChatItem::Summary { id: MessageId::from(format!("{until}:summary")), text }
}

fn from_decision(row: DecisionRow) -> ChatItem {
    ChatItem::Decision { id: row.id, applied: row.applied, rejected: row.rejected, at: row.at }
}

/// Rows by a key, each group in the order of the rows.
fn group_by<R, K: std::hash::Hash + Eq>(rows: Vec<R>, key: impl Fn(&R) -> K) -> HashMap<K, Vec<R>> {
    let mut groups: HashMap<K, Vec<R>> = HashMap::new();
    for row in rows {
        groups.entry(key(&row)).or_default().push(row);
    }
    groups
}

#[cfg(test)]
mod tests;
