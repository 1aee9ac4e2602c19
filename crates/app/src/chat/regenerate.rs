//! Regenerates the answer to a message, or answers an edited version of it. The old answer is kept
//! as a branch.

use protocol::changes::history::UndoScope;
use protocol::request::{OldChanges, RegenerateOutcome, RegenerateRequest};
use protocol::{ConversationId, MessageId, NotePath, Origin, TurnId, UserError};
use store::{OpenChangeSet, Store};

use crate::App;
use crate::changes::review;
use crate::changes::undo::turn_scope::undo_extent;
use crate::chat::Chats;
use crate::chat::user_message::{UserMessage, WithNote};
use crate::events::chat_part::ChatPart;
use crate::events::domain_event::DomainEvent;
use crate::user_texts;

impl App {
    /// Answers a message of the user again, in a branch of its own. When the old answer changed
    /// notes and the request does not say whether to undo that, it only returns the question.
    pub async fn regenerate(
        &self,
        request: &RegenerateRequest,
    ) -> Result<RegenerateOutcome, UserError> {
        let open = self.session().await?;
        let found = open.store.turn_opened_by(&request.message).await?;
        let Some(found) = found else {
            return Err(UserError::other(user_texts::message_not_answered()));
        };
        open.chats.ensure_idle(&found.conversation).await?;
        let text = match &request.text {
            Some(text) if text.trim().is_empty() => {
                return Err(UserError::other(user_texts::message_empty()));
            }
            Some(text) => text.trim().to_owned(),
            None if found.is_last => open.store.request_text(&found.turn).await?,
            None => {
                return Err(UserError::other(user_texts::only_last_regenerated()));
            }
        };
        let turns = open.store.turns_from(&found.turn).await?;
        let waiting = pending_changes_of(&open.store, &found.conversation, &turns).await?;
        let extent = undo_extent(&open.store, &turns).await?;
        match request.old {
            None if extent.notes > 0 || waiting.is_some() => {
                let waiting = waiting.map_or(0, |(_, paths)| paths.len());
                let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
                let (changed, earlier) = (extent.notes, extent.has_others);
                return Ok(RegenerateOutcome::Asks { changed, waiting, earlier });
            }
            Some(OldChanges::Undo) => self.undo_old_answer(&turns, extent.notes, waiting).await?,
            None | Some(OldChanges::Keep) => {}
        }
        let begun = open.chats.submit_instead_of(&found.conversation, found.turn, text).await;
        // Undoing takes a while, and a message that was sent meanwhile goes first.
        if begun.is_err()
            && request.old == Some(OldChanges::Undo)
            && open.chats.ensure_idle(&found.conversation).await.is_err()
        {
            return Err(UserError::other(user_texts::message_before_regenerated()));
        }
        begun.map(|()| RegenerateOutcome::Begun)
    }

    /// Shows a conversation as it went on from another version of a message, counted from 1.
    pub async fn show_variant(&self, message: &MessageId, number: u32) -> Result<(), UserError> {
        let open = self.session().await?;
        if let Some(found) = open.store.turn_opened_by(message).await? {
            open.chats.ensure_idle(&found.conversation).await?;
        }
        let shown = open.store.show_variant(message, number).await?;
        let part = ChatPart::Since(shown.message);
        open.chats.emit(DomainEvent::ChatReplaced(shown.conversation.clone(), part));
        open.chats.meter.outdate(&shown.conversation);
        Ok(())
    }

    /// Undoes the changes of turns, the last one first, and rejects their pending changes.
    async fn undo_old_answer(
        &self,
        turns: &[TurnId],
        changed: u32,
        waiting: Option<(OpenChangeSet, Vec<NotePath>)>,
    ) -> Result<(), UserError> {
        if let Some((set, rejected)) = waiting {
            self.decide_review(&review::reject_request(&set, &rejected)).await?;
        }
        let open = self.session().await?;
        for turn in turns.iter().rev().filter(|_| changed > 0) {
            if undo_extent(&open.store, std::slice::from_ref(turn)).await?.notes == 0 {
                continue;
            }
            let undone = self.undo(&UndoScope::Turn { turn: turn.clone() }).await?;
            if let Some(conflict) = undone.conflicts.first() {
                let note = conflict.path.title();
                return Err(UserError::other(user_texts::not_undone_before_regenerating(note)));
            }
        }
        Ok(())
    }
}

impl Chats {
    /// Sends the text in a branch of its own that stands in for `turn`. Refused, with nothing
    /// stored, while a turn of the conversation runs or is queued.
    async fn submit_instead_of(
        &self,
        conversation: &ConversationId,
        turn: TurnId,
        text: String,
    ) -> Result<(), UserError> {
        let message = UserMessage::new(text, Origin::Window, WithNote::AsIn(turn.clone()));
        let message = UserMessage { instead_of: Some(turn), ..message };
        let prepared = self.prepare_turn(conversation, &message).await?;
        self.submit(prepared).await
    }

    /// Fails while a turn runs or is queued in a conversation, which a branch could tear apart.
    pub(crate) async fn ensure_idle(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.store.open_turns().await?;
        if self.service.is_working(conversation)
            || open.iter().any(|turn| turn.conversation == *conversation)
        {
            return Err(UserError::other(user_texts::conversation_busy()));
        }
        Ok(())
    }
}

/// The notes with pending changes of these turns, and their change set. A plan on top of a pending change of
/// an earlier turn holds both, so rejecting it rejects the earlier one too; the window says so.
async fn pending_changes_of(
    store: &Store,
    conversation: &ConversationId,
    turns: &[TurnId],
) -> Result<Option<(OpenChangeSet, Vec<NotePath>)>, UserError> {
    let set = store.open_change_set(conversation).await?;
    Ok(set.and_then(|set| {
        let of_these = set.planned.iter().filter(|row| turns.contains(&row.turn));
        let mut paths: Vec<NotePath> = of_these.map(|row| row.change.path.clone()).collect();
        paths.sort();
        paths.dedup();
        (!paths.is_empty()).then_some((set, paths))
    }))
}
