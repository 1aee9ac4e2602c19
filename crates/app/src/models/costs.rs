//! The costs of answers, for the window.

use protocol::chat::cost::{MonthCost, TurnCost};
use protocol::{ConversationId, UserError};

use crate::App;
use crate::models::spending;

impl App {
    /// The cost of each turn of a conversation that asked a model, in order.
    pub async fn conversation_costs(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<TurnCost>, UserError> {
        spending::conversation_costs(&self.session().await?.store, conversation).await
    }

    /// The costs of the latest months in the open vault, newest first.
    pub async fn monthly_costs(&self) -> Result<Vec<MonthCost>, UserError> {
        spending::monthly_costs(&self.session().await?.store).await
    }
}
