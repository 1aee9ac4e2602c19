//! A transcript in memory that keeps its promises, and breaks one on request.

use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use llm::Transcript;
use protocol::{
    CallId, CallResult, ConversationId, Ending, Message, NewTurn, OpenTurn, Part, Role, Step,
    Timestamp, TurnId, TurnStatus, UserError,
};

/// A write that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    Step,
    Results,
    Finish,
}

#[derive(Default)]
pub(crate) struct Memory {
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    turns: Vec<OpenTurn>,
    messages: Vec<Message>,
    endings: Vec<Ending>,
    broken: Option<Write>,
}

impl Memory {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap()
    }

    pub(crate) fn break_at(&self, write: Write) {
        self.rows().broken = Some(write);
    }

    pub(crate) fn statuses(&self) -> Vec<TurnStatus> {
        self.rows().turns.iter().map(|turn| turn.status).collect()
    }

    pub(crate) fn endings(&self) -> Vec<Ending> {
        self.rows().endings.clone()
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
            Part::Result { call, output, .. } => Some((call.clone(), output.clone())),
            _ => None,
        });
        results.collect()
    }
}

impl Rows {
    fn check(&self, write: Write) -> Result<(), UserError> {
        if self.broken == Some(write) { Err(UserError::other("disk full")) } else { Ok(()) }
    }

    fn turn(&mut self, turn: &TurnId) -> &mut OpenTurn {
        self.turns.iter_mut().find(|row| row.turn == *turn).unwrap()
    }

    fn add_results(&mut self, turn: &TurnId, results: &[CallResult]) {
        if results.is_empty() {
            return;
        }
        let part = |result: &CallResult| Part::Result {
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
impl Transcript for Memory {
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
        _: &TurnId,
    ) -> Result<Vec<Message>, UserError> {
        let rows = self.rows();
        let queued = |message: &Message| {
            let mut turns = rows.turns.iter();
            turns.any(|turn| turn.turn == message.turn && turn.status == TurnStatus::Queued)
        };
        let own = rows.messages.iter().filter(|message| message.conversation == *conversation);
        Ok(own.filter(|message| !queued(message)).cloned().collect())
    }

    async fn step(&self, _: &TurnId, step: &Step) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.check(Write::Step)?;
        rows.messages.push(step.message.clone());
        Ok(())
    }

    async fn results(&self, turn: &TurnId, results: &[CallResult]) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.check(Write::Results)?;
        rows.add_results(turn, results);
        Ok(())
    }

    async fn finish(&self, turn: &TurnId, ending: &Ending) -> Result<(), UserError> {
        let mut rows = self.rows();
        rows.check(Write::Finish)?;
        assert_eq!(rows.turn(turn).status, TurnStatus::Running, "a turn ends once");
        rows.turn(turn).status = ending.status;
        rows.add_results(turn, &ending.results);
        rows.messages.extend(ending.message.clone());
        rows.endings.push(ending.clone());
        Ok(())
    }
}
