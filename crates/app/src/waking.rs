//! What is done when the computer wakes, or gets on a network.

use desktop::{Arrivals, Bus, Wakings};

use crate::app::App;

impl App {
    /// Has the link look at once whether its hub is still there, each time the computer wakes or is on
    /// a network, until it is dropped. What turns are doing goes on.
    pub(crate) async fn tend_waking(self) {
        let woken = async {
            let mut wakings = Wakings::told_on(Bus::system()).await;
            loop {
                wakings.next().await;
                self.look_for_hub().await;
            }
        };
        let connected = async {
            let mut arrivals = Arrivals::told_on(Bus::system()).await;
            loop {
                arrivals.next().await;
                self.look_for_hub().await;
            }
        };
        tokio::join!(woken, connected);
    }

    async fn look_for_hub(&self) {
        if let Ok(open) = self.open().await {
            open.hub.wake();
        }
    }
}
