//! Messages that the user typed while an answer was being written: they run in order and can be
//! changed.

use protocol::{MessageId, UserError};
use store::RemovedMessage;

use crate::App;
use crate::events::chat_part::ChatPart;
use crate::events::domain_event::DomainEvent;
use crate::user_texts;

impl App {
    /// Changes the text of a queued message. Durable when it returns.
    pub async fn edit_queued(&self, message: &MessageId, text: &str) -> Result<(), UserError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(UserError::other(user_texts::queued_message_empty()));
        }
        let open = self.session().await?;
        let reworded = open.store.edit_queued(message, text).await?;
        let conversation = reworded.ok_or_else(already_started_error)?;
        open.chats.emit(DomainEvent::ChatReplaced(conversation, ChatPart::Queue));
        Ok(())
    }

    /// Removes a queued message: no model ever reads it. Durable when it returns.
    pub async fn remove_queued(&self, message: &MessageId) -> Result<(), UserError> {
        let open = self.session().await?;
        let removed = open.store.remove_queued(message).await?;
        let RemovedMessage { conversation, shown_again } =
            removed.ok_or_else(already_started_error)?;
        let is_version = shown_again.is_some();
        let part = shown_again.map_or(ChatPart::Queue, ChatPart::Since);
        open.chats.emit(DomainEvent::ChatReplaced(conversation.clone(), part));
        if is_version {
            open.chats.meter.outdate(&conversation);
        }
        Ok(())
    }
}

fn already_started_error() -> UserError {
    UserError::other(user_texts::message_not_queued())
}
