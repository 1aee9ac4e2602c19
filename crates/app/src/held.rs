//! What the user decides about what of the hub waits.

use protocol::UserError;
use protocol::held::HeldVerdict;

use crate::App;
use crate::announce::News;
use crate::clock::now;
use crate::trouble::user_error;

impl App {
    /// Sends an answer that waits to the hub, as soon as it is there; works again on a message that
    /// failed; or discards either.
    pub async fn decide_held(&self, number: u32, verdict: HeldVerdict) -> Result<(), UserError> {
        let open = self.open().await?;
        let decided = match verdict {
            HeldVerdict::Send => open.store.send_held(number, now()).await,
            HeldVerdict::Discard => open.store.discard_held(number).await,
        };
        let Some(conversation) = decided.map_err(user_error)? else {
            return Err(UserError::other("This was decided already: nothing was done twice."));
        };
        open.bell.notify_one();
        open.arrivals.notify_one();
        open.announce(News::Held(conversation));
        Ok(())
    }
}
