//! The user's decisions about hub messages and answers that need approval.

use protocol::UserError;
use protocol::hub::approval::ApprovalDecision;
use store::ApprovalOutcome;

use crate::App;
use crate::events::domain_event::DomainEvent;
use crate::support::clock::now;
use crate::user_texts;

impl App {
    /// Sends an answer that needs approval to its hub, as soon as that is connected; works again
    /// on a message that failed; or discards either. An answer for another hub than the current one
    /// stays.
    pub async fn decide_approval(
        &self,
        number: u32,
        decision: ApprovalDecision,
    ) -> Result<(), UserError> {
        let open = self.session().await?;
        let decided = match decision {
            ApprovalDecision::Send => {
                let linked = open.hub.link.linked_hub();
                open.store.approve_for_hub(number, linked.as_deref(), now()).await
            }
            ApprovalDecision::Discard => {
                let discarded = open.store.discard_hub_approval(number).await;
                discarded.map(|of| of.map_or(ApprovalOutcome::Gone, ApprovalOutcome::Approved))
            }
        };
        let conversation = match decided? {
            ApprovalOutcome::Approved(conversation) => conversation,
            ApprovalOutcome::ForHub(hub) => {
                return Err(UserError::other(user_texts::answer_for_another_hub(hub)));
            }
            ApprovalOutcome::Gone => {
                return Err(UserError::other(user_texts::answer_already_sent()));
            }
        };
        open.hub.outbox.ready.notify_one();
        open.hub.inbox.ready.notify_one();
        open.chats.emit(DomainEvent::Held(conversation));
        Ok(())
    }
}
