//! Earlier messages are put together because the user wants it now.

use llm::service::SummedUp;
use protocol::{ConversationId, UserError};

use crate::app::App;
use crate::open_vault::OpenVault;
use crate::trouble::user_error;

impl App {
    /// Puts the earlier messages of a conversation together, so that the model hears less. Refused
    /// with what is in the way; the feed tells of what was done.
    pub async fn sum_up(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.open().await?.sum_up(conversation).await
    }

    /// Resolves when nothing is done for a conversation while it rests.
    pub async fn rested(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.open().await?.service.rested(conversation).await;
        Ok(())
    }
}

impl OpenVault {
    async fn sum_up(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let last = self.store.last_shown_turn(conversation).await.map_err(user_error)?;
        let summed_up = match last {
            Some(turn) => self.service.sum_up(&turn).await?,
            None => SummedUp::TooShort,
        };
        let refusal = match summed_up {
            SummedUp::Done => return Ok(()),
            SummedUp::NoModel => {
                "No model answers, so nothing can be summarized. Connect one in Settings."
            }
            SummedUp::TooShort => {
                "There is nothing to summarize: the last six exchanges always stay as they are."
            }
            SummedUp::NoSummary => {
                "The model gave no summary that is shorter than what was said, so nothing has \
                 changed: try again, or pick another model for summaries in Settings."
            }
            SummedUp::Disturbed => {
                "The summary was interrupted, so nothing has changed. Try again in a moment."
            }
        };
        Err(UserError::other(refusal))
    }
}
