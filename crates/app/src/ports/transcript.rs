//! `llm`'s transcript, kept in the store. The end of a hub turn takes its notifications with it.

use async_trait::async_trait;
use llm::transcript::Transcript;
use protocol::{
    CallResult, ConversationId, Ending, Message, NewTurn, OpenTurn, Step, TurnId, UserError,
};
use store::Store;
use tokio::sync::Notify;

use crate::outbox;
use crate::trouble::user_error;
use std::sync::Arc;

/// The transcript of one vault's conversations.
pub(crate) struct StoreTranscript {
    pub(crate) store: Store,
    /// Rung when notifications were queued.
    pub(crate) bell: Arc<Notify>,
}

#[async_trait]
impl Transcript for StoreTranscript {
    async fn submit(&self, new: &NewTurn) -> Result<(), UserError> {
        self.store.submit_turn(new).await.map_err(user_error)
    }

    async fn begin(&self, conversation: &ConversationId) -> Result<Option<OpenTurn>, UserError> {
        self.store.begin_turn(conversation).await.map_err(user_error)
    }

    async fn history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Vec<Message>, UserError> {
        self.store.history(conversation, turn).await.map_err(user_error)
    }

    async fn step(&self, turn: &TurnId, step: &Step) -> Result<(), UserError> {
        self.store.store_step(turn, step).await.map_err(user_error)
    }

    async fn results(&self, turn: &TurnId, results: &[CallResult]) -> Result<(), UserError> {
        self.store.store_results(turn, results).await.map_err(user_error)
    }

    async fn finish(&self, turn: &TurnId, ending: &Ending) -> Result<(), UserError> {
        let inbox = self.store.inbox_of_turn(turn).await.map_err(user_error)?;
        let Some(row) = inbox.filter(|_| outbox::is_an_outcome(ending.status)) else {
            return self.store.finish_turn(turn, ending).await.map_err(user_error);
        };
        let pushes = match &row.conversation {
            Some(conversation) => {
                let history =
                    self.store.history(conversation, turn).await.map_err(user_error)?;
                outbox::outcome(&row, turn, &history, ending)
            }
            None => Vec::new(),
        };
        self.store.finish_hub_turn(turn, ending, &pushes).await.map_err(user_error)?;
        self.bell.notify_one();
        Ok(())
    }
}
