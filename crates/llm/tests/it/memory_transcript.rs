//! A transcript in memory that keeps its promises, and breaks one on request.

use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use llm::{FullHistory, History, Transcript};
use protocol::{
    CallId, CallResult, Compaction, ConversationId, Message, MessagePart, NewTurn, OpenTurn, Role,
    Timestamp, TurnEnding, TurnId, TurnStatus, TurnStep, UserError, UtilityRequest,
};

/// A write that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailingWrite {
    Step,
    Results,
    Finish,
    Compaction,
}

#[derive(Default)]
pub(crate) struct MemoryTranscript {
    rows: Mutex<MemoryRows>,
}

#[derive(Default)]
struct MemoryRows {
    turns: Vec<OpenTurn>,
    messages: Vec<Message>,
    endings: Vec<TurnEnding>,
    compactions: Vec<Compaction>,
    charged: Vec<UtilityRequest>,
    broken: Option<FailingWrite>,
}

impl MemoryTranscript {
    fn rows(&self) -> MutexGuard<'_, MemoryRows> {
        self.rows.lock().unwrap()
    }

    pub(crate) fn break_at(&self, write: FailingWrite) {
        self.rows().broken = Some(write);
    }

    pub(crate) fn statuses(&self) -> Vec<TurnStatus> {
        self.rows().turns.iter().map(|turn| turn.status).collect()
    }

    pub(crate) fn endings(&self) -> Vec<TurnEnding> {
        self.rows().endings.clone()
    }

    pub(crate) fn compactions(&self) -> Vec<Compaction> {
        self.rows().compactions.clone()
    }

    /// What was asked beside the answers.
    pub(crate) fn charged(&self) -> Vec<UtilityRequest> {
        self.rows().charged.clone()
    }

    /// The turn that began last.
    pub(crate) fn last_turn(&self) -> OpenTurn {
        self.rows().turns.last().unwrap().clone()
    }

    pub(crate) fn has_message(&self, message: &Message) -> bool {
        self.rows().messages.contains(message)
    }

    pub(crate) fn has_result(&self, call: &CallId) -> bool {
        self.results().iter().any(|result| result.0 == *call)
    }

    /// Each stored result: its call and its output, in the order they were stored.
    pub(crate) fn results(&self) -> Vec<(CallId, String)> {
        let rows = self.rows();
        let parts = rows.messages.iter().flat_map(|message| &message.parts);
        let results = parts.filter_map(|part| match part {
            MessagePart::Result { call, output, .. } => Some((call.clone(), output.clone())),
            _ => None,
        });
        results.collect()
    }
}

impl MemoryRows {
    fn check(&self, write: FailingWrite) -> Result<(), UserError> {
        if self.broken == Some(write) { Err(UserError::other("disk full")) } else { Ok(()) }
    }

    fn turn(&mut self, turn: &TurnId) -> &mut OpenTurn {
        self.turns.iter_mut().find(|row| row.turn == *turn).unwrap()
    }

    fn add_results(&mut self, turn: &TurnId, results: &[CallResult]) {
        if results.is_empty() {
            return;
        }
        let part = |result: &CallResult| MessagePart::Result {
            call: result.call.clone(),
            output: result.output.clone(),
            is_error: result.is_error,
        };
        let conversation = self.turn(turn).conversation.clone();
        self.messages.push(Message {
            id: format!("results {}", self.messages.len()).into(),
            conversation,
            turn: turn.clone(),
            role: Role::User,
            parts: results.iter().map(part).collect(),
            at: Timestamp(0),
        });
    }
}

#[async_trait]
impl Transcript for MemoryTranscript {
    async fn submit(&self, new: &NewTurn) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.messages.push(new.message.clone());
        rows.turns.push(OpenTurn {
            turn: new.turn.clone(),
            conversation: new.message.conversation.clone(),
            message: new.message.id.clone(),
            origin: new.origin,
            status: TurnStatus::Queued,
            at: new.message.at,
            resumed: 0,
        });
        Ok(())
    }

    async fn begin(&self, conversation: &ConversationId) -> Result<Option<OpenTurn>, UserError> {
        let mut rows = self.rows();
        let mut turns = rows.turns.iter_mut().filter(|turn| turn.conversation == *conversation);
        let next = turns.find(|turn| turn.status == TurnStatus::Queued);
        Ok(next.map(|turn| {
            turn.status = TurnStatus::Running;
            turn.clone()
        }))
    }

    async fn history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<History, UserError> {
        let FullHistory { compaction, rows, .. } = self.full_history(conversation, turn).await?;
        let covered = compaction.as_ref().and_then(|told| {
            rows.iter().rposition(|row| row.turn == told.until).map(|last| last + 1)
        });
        let rows = rows.get(covered.unwrap_or_default()..).unwrap_or_default().to_vec();
        Ok(History { compaction, ..History::of(rows) })
    }

    async fn full_history(
        &self,
        conversation: &ConversationId,
        _: &TurnId,
    ) -> Result<FullHistory, UserError> {
        let rows = self.rows();
        let queued = |message: &Message| {
            let mut turns = rows.turns.iter();
            turns.any(|turn| turn.turn == message.turn && turn.status == TurnStatus::Queued)
        };
        let own = rows.messages.iter().filter(|message| message.conversation == *conversation);
        let told = own.filter(|message| !queued(message)).cloned().collect();
        let compaction = rows.compactions.last().cloned();
        Ok(FullHistory { compaction, rows: told, ..FullHistory::default() })
    }

    async fn messages_of_turn(&self, turn: &TurnId) -> Result<Vec<Message>, UserError> {
        let rows = self.rows();
        Ok(rows.messages.iter().filter(|message| message.turn == *turn).cloned().collect())
    }

    async fn step(&self, _: &TurnId, step: &TurnStep) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.check(FailingWrite::Step)?;
        rows.messages.push(step.message.clone());
        Ok(())
    }

    async fn results(&self, turn: &TurnId, results: &[CallResult]) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.check(FailingWrite::Results)?;
        rows.add_results(turn, results);
        Ok(())
    }

    async fn finish(&self, turn: &TurnId, ending: &TurnEnding) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.check(FailingWrite::Finish)?;
        assert_eq!(rows.turn(turn).status, TurnStatus::Running, "a turn ends once");
        rows.turn(turn).status = ending.status;
        rows.add_results(turn, &ending.results);
        rows.messages.extend(ending.message.clone());
        rows.endings.push(ending.clone());
        Ok(())
    }

    async fn compact(
        &self,
        _: &OpenTurn,
        new: &Compaction,
        _: &str,
        asked: Option<&UtilityRequest>,
    ) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.check(FailingWrite::Compaction)?;
        rows.compactions.push(new.clone());
        rows.charged.extend(asked.cloned());
        Ok(())
    }

    async fn record_usage(&self, _: &TurnId, asked: &UtilityRequest) -> Result<(), UserError> {
        self.rows().charged.push(asked.clone());
        Ok(())
    }
}
