//! Stores the parts of a turn, over several tables: one commit a step.

use std::collections::HashMap;

use protocol::{
    CallResult, ConversationId, ConversationState, Message, MessageId, MessagePart, NewTurn,
    OpenTurn, Origin, Role, Source, TurnEnding, TurnId, TurnStatus, TurnStep,
};
use sqlx::SqliteConnection;

use crate::conversations::{branch, conversation, shown_branch};
use crate::db::transaction::{commit, commit_relaxed, read, read_one};
use crate::error::Failure;
use crate::hub::outbox::OutboxPush;
use crate::hub::{approvals, inbox, outbox};
use crate::turns::message::MessageRow;
use crate::turns::{interrupted, message, provenance, question, tool_call, turn, usage};
use crate::{Store, StoreError};

impl Store {
    /// Stores a user message and its queued turn, and reopens the conversation if it had ended.
    ///
    /// With `answers` the question is marked as answered; one that is no longer open is refused
    /// with [`StoreError::AlreadyAnswered`], with [`StoreError::AnsweredSo`] when this text was the
    /// answer, or with [`StoreError::Withdrawn`]; the branch in which it was asked is shown from
    /// then on. A message from the window that answers no question withdraws the open question, and
    /// the offer to continue an interrupted turn.
    pub async fn submit_turn(&self, new: &NewTurn) -> Result<(), StoreError> {
        commit!(self, "submit_turn", "store a message", |db| submit(db, new))
    }

    /// As [`Store::submit_turn`]; refused with [`StoreError::Working`] while a turn of the conversation
    /// runs or is queued.
    pub async fn submit_turn_when_idle(&self, new: &NewTurn) -> Result<(), StoreError> {
        commit!(self, "submit_turn_when_idle", "store a message", |db| submit_when_idle(db, new))
    }

    /// Stores a user message that stands in for the one that opened `instead_of`, as
    /// [`Store::submit_turn`]: the conversation goes on in a branch of its own, which is shown from
    /// now on. A turn that has not begun is refused with [`StoreError::NotFound`], and while a turn of
    /// the conversation runs or is queued, with [`StoreError::Working`].
    pub async fn submit_fork(&self, new: &NewTurn, instead_of: &TurnId) -> Result<(), StoreError> {
        commit!(self, "submit_fork", "store a message", |db| submit_instead(db, new, instead_of))
    }

    /// Marks the conversation's next queued turn as running: an answer first, else the oldest.
    ///
    /// `None` when none is queued, while another runs, and for words typed in the window before
    /// the open question was asked, or before a turn was cut that the user is asked about: they
    /// are held until the user has decided. A turn that is taken up again goes before all others.
    pub async fn begin_turn(
        &self,
        conversation: &ConversationId,
    ) -> Result<Option<OpenTurn>, StoreError> {
        // After a power cut it is queued as it was.
        commit_relaxed!(self, "begin_turn", "begin a turn", |db| begin(db, conversation))
    }

    /// The messages that a model in `turn` may see: all messages of the turns that ran before it
    /// and of itself, oldest first. The results of a step stand in one message of the user right
    /// after the calls, in call order. Queued messages behind it are not included.
    pub async fn history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Vec<Message>, StoreError> {
        read!(self, "read the history", |db| replay(db, conversation, turn, 0))
    }

    /// Of [`Store::history`], what `turn` itself has said and heard.
    pub async fn messages_of_turn(&self, turn: &TurnId) -> Result<Vec<Message>, StoreError> {
        let own = read_one!(self, "read the turn", |db| message::of_turn(db, turn))?;
        Ok(own.into_iter().flat_map(|(message, results)| with_results(message, results)).collect())
    }

    /// The message that opened `turn`, and how it stands.
    pub async fn opening_message(
        &self,
        turn: &TurnId,
    ) -> Result<Option<(Message, TurnStatus)>, StoreError> {
        read!(self, "read a message", |db| find_opening(db, turn))
    }

    /// The texts of all messages of a conversation that came over the hub, in any branch.
    pub async fn hub_messages(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<String>, StoreError> {
        read!(self, "read the messages of the hub", |db| message::of_hub(db, conversation))
    }

    /// Stores an answer that calls tools, and the calls, before any of them runs.
    pub async fn store_step(&self, turn: &TurnId, step: &TurnStep) -> Result<(), StoreError> {
        commit!(self, "store_step", "store an answer with calls", |db| record_step(db, turn, step))
    }

    /// Stores results of stored calls. The first result of a call stands, a later one is ignored.
    /// They are durable with the next step or the end of the turn; a power cut before that leaves
    /// calls without a result, which the start after it gives them by what the ledger knows.
    pub async fn store_results(
        &self,
        turn: &TurnId,
        results: &[CallResult],
    ) -> Result<(), StoreError> {
        commit_relaxed!(self, "store_results", "store results", |db| tool_call::store_results(
            db, turn, results
        ))
    }

    /// Ends an open turn: last words, results, question, status, conversation and usage in one
    /// commit. A call that has no result even then gets one that says it was not run. A turn
    /// that has ended is refused with [`StoreError::NotFound`].
    pub async fn finish_turn(&self, turn: &TurnId, ending: &TurnEnding) -> Result<(), StoreError> {
        commit!(self, "finish_turn", "end the turn", |db| finish(db, turn, ending)).map(drop)
    }

    /// Ends a turn that a hub message opened: as [`Store::finish_turn`], and in the same commit the
    /// text for the hub is put in the outbox, text that needs approval is stored, and the message's
    /// inbox row is done.
    pub async fn finish_hub_turn(
        &self,
        turn: &TurnId,
        ending: &TurnEnding,
        said: &[OutboxPush],
        held: &[OutboxPush],
    ) -> Result<(), StoreError> {
        commit!(self, "finish_hub_turn", "end the hub's turn", |db| finish_for_hub(
            db, turn, ending, said, held
        ))
    }
}

async fn submit(db: &mut SqliteConnection, new: &NewTurn) -> Result<(), Failure> {
    let NewTurn { message, turn, .. } = new;
    conversation::touch(db, &message.conversation, message.at).await?;
    conversation::reopen(db, &message.conversation).await?;
    if let Some(asked) = &new.answers {
        shown_branch::show_branch_of_question(db, &message.conversation, asked).await?;
    }
    turn::insert(db, new).await?;
    message::insert(db, &MessageRow { message: message.clone(), cut: false }).await?;
    let shown = new.shown.iter().cloned();
    let sources: Vec<Source> = std::iter::once(new.origin.into()).chain(shown).collect();
    provenance::add(db, turn, &sources).await?;
    match &new.answers {
        Some(asked) => {
            let (conversation, words) = (&message.conversation, message.text());
            question::mark_answered(db, conversation, asked, turn, &words, message.at).await
        }
        None if new.origin == Origin::Window => {
            interrupted::withdraw(db, &message.conversation).await?;
            Ok(question::withdraw(db, &message.conversation, message.at).await?)
        }
        None => Ok(()),
    }
}

async fn submit_when_idle(db: &mut SqliteConnection, new: &NewTurn) -> Result<(), Failure> {
    refuse_while_open(db, &new.message.conversation).await?;
    submit(db, new).await
}

async fn refuse_while_open(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<(), Failure> {
    if turn::has_open(db, conversation).await? {
        return Err(Failure::Refused(StoreError::Working));
    }
    Ok(())
}

async fn submit_instead(
    db: &mut SqliteConnection,
    new: &NewTurn,
    instead_of: &TurnId,
) -> Result<(), Failure> {
    refuse_while_open(db, &new.message.conversation).await?;
    branch::fork(db, &new.message.conversation, instead_of).await?;
    submit(db, new).await?;
    Ok(provenance::inherit_from(db, &new.turn, instead_of).await?)
}

async fn begin(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
) -> Result<Option<OpenTurn>, Failure> {
    let begun = turn::begin(db, conversation).await?;
    if let Some(turn) = &begun {
        provenance::inherit(db, conversation, &turn.turn).await?;
        // The turn before it may have ended the conversation.
        conversation::store_state(db, conversation, ConversationState::Active).await?;
    }
    Ok(begun)
}

/// The messages heard in `turn` of the turns that ran after number `after`.
pub(crate) async fn replay(
    db: &mut SqliteConnection,
    conversation: &ConversationId,
    turn: &TurnId,
    after: i64,
) -> Result<Vec<Message>, sqlx::Error> {
    let mut results: HashMap<MessageId, Vec<MessagePart>> = HashMap::new();
    for row in tool_call::since(db, conversation, after).await? {
        let Some(output) = row.output else { continue };
        let (call, is_error, speech) = (row.call, row.is_error, row.speech);
        let result = MessagePart::Result { call, output, is_error, speech };
        results.entry(row.message).or_default().push(result);
    }
    let mut history = Vec::new();
    for message in message::history_until(db, conversation, turn, after).await? {
        let parts = results.remove(&message.id).unwrap_or_default();
        history.extend(with_results(message, parts));
    }
    Ok(history)
}

/// A message, followed by that with the results of its calls.
fn with_results(message: Message, results: Vec<MessagePart>) -> impl Iterator<Item = Message> {
    let answers = (!results.is_empty()).then(|| results_message(&message, results));
    std::iter::once(message).chain(answers)
}

async fn find_opening(
    db: &mut SqliteConnection,
    turn: &TurnId,
) -> Result<Option<(Message, TurnStatus)>, sqlx::Error> {
    let Some(status) = turn::status(db, turn).await? else { return Ok(None) };
    let message = message::opening_message(db, turn).await?;
    Ok(message.map(|message| (message, status)))
}

/// The message that holds a step's results; its id follows from the step's.
fn results_message(step: &Message, parts: Vec<MessagePart>) -> Message {
    Message {
        id: MessageId::from(format!("{}:results", step.id)),
        conversation: step.conversation.clone(),
        turn: step.turn.clone(),
        role: Role::User,
        parts,
        at: step.at,
    }
}

async fn record_step(
    db: &mut SqliteConnection,
    turn: &TurnId,
    step: &TurnStep,
) -> Result<(), sqlx::Error> {
    record(db, &MessageRow { message: step.message.clone(), cut: false }).await?;
    usage::insert(db, turn, step.usage, step.message.at).await
}

/// Stores the assistant's words and whatever calls stand among them.
async fn record(db: &mut SqliteConnection, row: &MessageRow) -> Result<(), sqlx::Error> {
    message::insert(db, row).await?;
    tool_call::insert_of(db, &row.message).await
}

pub(crate) async fn finish(
    db: &mut SqliteConnection,
    turn: &TurnId,
    ending: &TurnEnding,
) -> Result<ConversationId, Failure> {
    let conversation = turn::end(db, turn, ending).await?;
    if let Some(message) = &ending.message {
        record(db, &MessageRow { message: message.clone(), cut: ending.cut }).await?;
    }
    tool_call::store_results(db, turn, &ending.results).await?;
    tool_call::close_unanswered(db, turn).await?;
    if let Some(question) = &ending.question {
        question::insert_open(db, question).await?;
    }
    usage::insert(db, turn, ending.usage, ending.at).await?;
    if ending.ends_conversation {
        conversation::store_state(db, &conversation, ConversationState::Ended).await?;
    }
    conversation::touch(db, &conversation, ending.at).await?;
    Ok(conversation)
}

async fn finish_for_hub(
    db: &mut SqliteConnection,
    turn: &TurnId,
    ending: &TurnEnding,
    said: &[OutboxPush],
    held: &[OutboxPush],
) -> Result<(), Failure> {
    let conversation = finish(db, turn, ending).await?;
    for push in held {
        approvals::insert(db, &conversation, push).await?;
    }
    for push in said {
        outbox::insert(db, push).await?;
    }
    Ok(inbox::close_of_turn(db, turn).await?)
}
