//! Carries out the user's decision about an interrupted turn that does not continue automatically.

use protocol::{ConversationId, OpenTurn, Origin, TurnId, TurnStatus, UserError};

use crate::App;
use crate::chat::Chats;
use crate::chat::user_message::{UserMessage, WithNote};
use crate::events::chat_part::ChatPart;
use crate::events::domain_event::DomainEvent;
use crate::user_texts;

impl App {
    /// Goes on: with the turn that was cut, where it was; else, after a limit or a failure, with a
    /// new turn in the same conversation. That is refused while a turn runs or is queued, and where the
    /// turn that was cut has gone on to its end: a second press sends no message.
    pub async fn continue_turn(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.session().await?;
        if let Some(cut) = open.store.resume_offer(conversation).await? {
            return open.chats.resume_turn(conversation, &cut).await;
        }
        open.chats.ensure_idle(conversation).await?;
        let last = open.store.last_shown_turn(conversation).await?;
        if last.as_ref().is_some_and(has_gone_on) {
            return Err(dealt_with());
        }
        let open_note = last.map_or(WithNote::Shown(None), |last| WithNote::AsIn(last.turn));
        let message = UserMessage::new("Continue.".to_owned(), Origin::Window, open_note);
        let message = UserMessage { only_when_idle: true, ..message };
        let prepared = open.chats.prepare_turn(conversation, &message).await?;
        open.chats.submit(prepared).await
    }

    /// Leaves a turn that was cut as it is; what was typed behind it runs then.
    pub async fn dismiss_interrupted_turn(&self, turn: &TurnId) -> Result<(), UserError> {
        let open = self.session().await?;
        let left = open.store.decline_resume(turn).await?;
        let Some(conversation) = left else {
            return Err(dealt_with());
        };
        let part = ChatPart::SinceTurn(turn.clone());
        open.chats.emit(DomainEvent::ChatReplaced(conversation.clone(), part));
        open.chats.service.wake(&conversation);
        Ok(())
    }
}

impl Chats {
    async fn resume_turn(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<(), UserError> {
        self.store.resume_turn(turn, &[]).await?;
        let part = ChatPart::SinceTurn(turn.clone());
        self.emit(DomainEvent::ChatReplaced(conversation.clone(), part));
        self.service.wake(conversation);
        Ok(())
    }
}

/// Whether a turn was cut, was resumed and came to its end.
fn has_gone_on(turn: &OpenTurn) -> bool {
    turn.resumed > 0 && matches!(turn.status, TurnStatus::Done | TurnStatus::Asked)
}

fn dealt_with() -> UserError {
    UserError::other(user_texts::interruption_already_resolved())
}
