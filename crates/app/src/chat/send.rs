//! Sends the user's message: with its context block, durable before we return. Stops its turn, or waits for its end.

use protocol::request::SendMessageRequest;
use protocol::{
    AppEvent, ConversationId, Message, MessagePart, NewTurn, OpenTurn, Origin, Role, TurnId,
    TurnStatus, UserError,
};
use store::DecisionRow;

use crate::App;
use crate::chat::Chats;
use crate::chat::context::TurnContext;
use crate::chat::user_message::{MessageAge, UserMessage, WithNote, title_from_text};
use crate::events::chat_part::ChatPart;
use crate::events::domain_event::DomainEvent;
use crate::support::clock::{new_id, now};
use crate::user_texts;

/// A turn ready to be stored, and the decisions that its context block tells the model.
pub(crate) struct PreparedTurn {
    pub(crate) new: NewTurn,
    instead_of: Option<TurnId>,
    only_when_idle: bool,
    told_decisions: Vec<DecisionRow>,
}

impl App {
    /// Stores a message durably and returns the conversation it went to; the turn runs behind.
    pub async fn send(&self, request: SendMessageRequest) -> Result<ConversationId, UserError> {
        self.session().await?.chats.send(request).await
    }

    /// Stops the work in a conversation: its turn, or the decision that is being carried out. The
    /// note that is being written is finished; the other changes stay pending.
    pub async fn stop(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.session().await?;
        open.chats.service.stop(conversation);
        open.changes.stop_applying(conversation);
        Ok(())
    }

    /// Resolves when no turn of the conversation runs or is queued, and all that happened in it is
    /// in the feed.
    pub async fn wait_until_idle(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.session().await?;
        open.chats.service.wait_until_idle(conversation).await;
        open.chats.domain_events.flush().await;
        Ok(())
    }
}

impl Chats {
    /// Stores a message of the window; the turn runs behind.
    pub(crate) async fn send(
        &self,
        request: SendMessageRequest,
    ) -> Result<ConversationId, UserError> {
        let text = request.text.trim().to_owned();
        if text.is_empty() {
            return Err(UserError::other(user_texts::message_empty()));
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
            self.context.build(conversation, sent, &told).await?;
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
        let replaced = match &instead_of {
            _ if moves => Some(ChatPart::Unknown),
            Some(_) => Some(ChatPart::Since(turn.message.clone())),
            // The offer to continue it ends.
            None => cut.map(ChatPart::SinceTurn),
        };
        let id = turn.turn.clone();
        let sent = DomainEvent::Sent { turn, question, replaced };
        match &instead_of {
            None if only_when_idle => {
                self.store.submit_turn_when_idle(&new).await?;
                self.emit(sent);
                self.service.wake(&conversation);
            }
            None => {
                self.service.submit(new).await?;
                self.emit(sent);
            }
            Some(old) => {
                self.store.submit_fork(&new, old).await?;
                self.emit(sent);
                self.service.wake(&conversation);
            }
        }
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
