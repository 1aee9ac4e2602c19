//! The user's decisions about hub messages and answers that need approval.

use protocol::UserError;
use protocol::hub::approval::ApprovalDecision;

use crate::App;
use crate::events::publisher::DomainEvent;
use crate::support::clock::now;
use crate::support::errors::store_error;

impl App {
    /// Sends an answer that needs approval to the hub, as soon as the hub is connected; works again
    /// on a message that failed; or discards either.
    pub async fn decide_approval(
        &self,
        number: u32,
        decision: ApprovalDecision,
    ) -> Result<(), UserError> {
        let open = self.session().await?;
        let decided = match decision {
            ApprovalDecision::Send => open.store.approve_for_hub(number, now()).await,
            ApprovalDecision::Discard => open.store.discard_hub_approval(number).await,
        };
        let Some(conversation) = decided.map_err(store_error)? else {
            return Err(UserError::other("This answer was already sent or discarded."));
        };
        open.outbox_ready.notify_one();
        open.inbox_ready.notify_one();
        open.emit(DomainEvent::Held(conversation));
        Ok(())
    }
}
