//! Reconnects when the user asks for it, the computer wakes, or gets on a network.

use desktop::{Bus, NetworkEvents, ResumeEvents};
use protocol::UserError;

use crate::app::App;

impl App {
    /// Tries the hub again at once. A link that waits for the keyring looks it up again.
    pub async fn retry_hub(&self) -> Result<(), UserError> {
        let open = self.session().await?;
        if open.hub.link.is_token_closed() {
            return self.link_with_token().await;
        }
        open.hub.link.handle.retry();
        Ok(())
    }

    /// Has the link look at once whether its hub is still there, each time the computer wakes or is on
    /// a network, until it is dropped. What turns are doing goes on.
    pub(crate) async fn run_reconnect_loop(self) {
        let woken = async {
            let mut wakings = ResumeEvents::subscribe(Bus::system()).await;
            loop {
                wakings.next().await;
                self.probe_hub().await;
            }
        };
        let connected = async {
            let mut arrivals = NetworkEvents::subscribe(Bus::system()).await;
            loop {
                arrivals.next().await;
                self.probe_hub().await;
            }
        };
        tokio::join!(woken, connected);
    }

    async fn probe_hub(&self) {
        if let Ok(open) = self.session().await {
            open.hub.link.handle.wake();
        }
    }
}
