//! Prepares the user's message for a turn: with its context block, durable before we return.

use std::sync::Arc;

use protocol::request::SendMessageRequest;
use protocol::{
    AppEvent, ConversationId, Message, MessagePart, NewTurn, NotePath, OpenTurn, Origin,
    QuestionId, Role, Timestamp, TurnId, TurnStatus, UserError,
};
use store::{DecisionRow, TurnPlace};

use crate::chat::context::TurnContext;
use crate::events::domain_event::DomainEvent;
use crate::support::clock::{new_id, now};
use crate::vault_session::VaultSession;

/// Whether a message is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageAge {
    /// The message is new.
    Now,
    /// The message is in the chat already: the turn before could not work on it.
    Before,
}

/// The text of a message, and the channel through which it came.
pub(crate) struct UserMessage {
    pub(crate) text: String,
    pub(crate) origin: Origin,
    pub(crate) answers: Option<QuestionId>,
    /// The turn that it stands in for, in a branch of its own.
    pub(crate) instead_of: Option<TurnId>,
    /// Whether it is refused while a turn of the conversation runs or is queued.
    pub(crate) only_when_idle: bool,
    pub(crate) age: MessageAge,
    /// When they came, if it was over the hub.
    pub(crate) received_at: Option<Timestamp>,
    /// Which open note is sent with them.
    pub(crate) open_note: WithNote,
}

/// Which open note is sent with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WithNote {
    /// No note, and none is mentioned: the user is not in the window.
    Never,
    /// The note that is open in the window.
    Active,
    /// The one that the composer showed; `None` where it showed none.
    Shown(Option<NotePath>),
    /// The one that was sent with the message of this turn, with the same selection.
    AsIn(TurnId),
}

impl UserMessage {
    /// A new message that answers no question.
    pub(crate) const fn new(text: String, origin: Origin, open_note: WithNote) -> Self {
        Self {
            text,
            origin,
            answers: None,
            instead_of: None,
            only_when_idle: false,
            age: MessageAge::Now,
            received_at: None,
            open_note,
        }
    }

    /// The place of its turn in the conversation.
    pub(crate) fn place(&self) -> TurnPlace<'_> {
        match (&self.instead_of, &self.answers) {
            (Some(turn), _) => TurnPlace::InsteadOf(turn),
            (None, Some(question)) => TurnPlace::Answer(question),
            (None, None) => TurnPlace::End,
        }
    }
}

/// A turn ready to be stored, and the decisions that its context block tells the model.
pub(crate) struct PreparedTurn {
    pub(crate) new: NewTurn,
    instead_of: Option<TurnId>,
    only_when_idle: bool,
    told_decisions: Vec<DecisionRow>,
}

impl VaultSession {
    /// Stores a message of the window; the turn runs behind.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: SendMessageRequest,
    ) -> Result<ConversationId, UserError> {
        let text = request.text.trim().to_owned();
        if text.is_empty() {
            return Err(UserError::other("There’s nothing to send. Type a message first."));
        }
        let conversation = match request.conversation {
            Some(id) => id,
            None => self.new_conversation(&text).await?,
        };
        let open_note = WithNote::Shown(request.open_note);
        let message = UserMessage {
            answers: request.answers,
            ..UserMessage::new(text, Origin::Window, open_note)
        };
        let prepared = self.prepare_turn(&conversation, &message).await?;
        self.submit(prepared).await?;
        Ok(conversation)
    }

    /// Begins a conversation; its title is the beginning of the text.
    pub(crate) async fn new_conversation(&self, text: &str) -> Result<ConversationId, UserError> {
        let id = new_id();
        self.store.create_conversation(&id, &title_from_text(text), None, now()).await?;
        Ok(id)
    }

    /// The turn for a message, with the context block of this moment.
    pub(crate) async fn prepare_turn(
        &self,
        conversation: &ConversationId,
        sent: &UserMessage,
    ) -> Result<PreparedTurn, UserError> {
        let told = self.store.unreported_decisions(conversation, sent.place()).await?;
        let TurnContext { mut parts, sources: shown } =
            self.turn_context(conversation, sent, &told).await?;
        if let Some(question) = &sent.answers {
            parts.push(MessagePart::Answers { question: question.clone() });
        }
        if sent.age == MessageAge::Before {
            parts.push(MessagePart::Repeated);
        }
        parts.push(MessagePart::Text { text: sent.text.clone() });
        let turn = new_id();
        let message = Message {
            id: new_id(),
            conversation: conversation.clone(),
            turn,
            role: Role::User,
            parts,
            at: now(),
        };
        let new = NewTurn {
            turn: message.turn.clone(),
            message,
            origin: sent.origin,
            answers: sent.answers.clone(),
            shown,
        };
        Ok(PreparedTurn {
            new,
            instead_of: sent.instead_of.clone(),
            only_when_idle: sent.only_when_idle,
            told_decisions: told,
        })
    }

    /// Stores the turn durably, in a branch of its own where it stands in for another turn, then
    /// lets it run. `Err` means that nothing was stored.
    pub(crate) async fn submit(&self, prepared: PreparedTurn) -> Result<(), UserError> {
        let PreparedTurn { new, instead_of, only_when_idle, told_decisions: told } = prepared;
        let conversation = new.message.conversation.clone();
        let turn = OpenTurn {
            turn: new.turn.clone(),
            conversation: conversation.clone(),
            message: new.message.id.clone(),
            origin: new.origin,
            status: TurnStatus::Queued,
            at: new.message.at,
            resumed: 0,
        };
        let question = self.store.question(&conversation).await?;
        let cut = self.store.resume_offer(&conversation).await?;
        // An answer may belong to another branch than the one that is shown.
        let variants = self.store.variants(&conversation).await?;
        let moves = new.answers.is_some() && !variants.is_empty();
        let id = turn.turn.clone();
        match &instead_of {
            None if only_when_idle => {
                self.store.submit_turn_when_idle(&new).await?;
                self.service.wake(&conversation);
            }
            None => self.service.submit(new).await?,
            Some(old) => {
                self.store.submit_fork(&new, old).await?;
                self.emit(DomainEvent::Reordered(conversation.clone()));
                self.service.wake(&conversation);
            }
        }
        if moves {
            self.emit(DomainEvent::Reordered(conversation));
        }
        self.emit(DomainEvent::Sent { turn, question, cut });
        // The message is stored: a later failure must not look as if it were not, or the user would
        // send it again. At worst the model is told of a decision twice.
        if !told.is_empty()
            && let Err(error) = self.store.mark_decisions_reported(&told, &id).await
        {
            self.feed.publish(AppEvent::Problem { error: error.into() });
        }
        Ok(())
    }
}

/// A title from the beginning of the text: one line, at most 60 characters, cut at a word.
pub(crate) fn title_from_text(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST).collect();
    let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{whole_words}…")
}

#[cfg(test)]
mod tests {
    use super::title_from_text;

    #[test]
    fn a_name_is_one_line_cut_at_a_word() {
        assert_eq!(title_from_text("buy\n milk"), "buy milk");
        let long = "Marta and Luca come on Sunday, so four of us. What did we cook last time?";
        assert_eq!(
            title_from_text(long),
            "Marta and Luca come on Sunday, so four of us. What did we…"
        );
    }
}
