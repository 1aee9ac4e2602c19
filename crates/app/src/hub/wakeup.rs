//! Reconnects when the computer wakes, or gets on a network.

use desktop::{Bus, NetworkEvents, ResumeEvents};

use crate::app::App;

impl App {
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
