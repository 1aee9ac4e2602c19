//! What is done when the computer wakes.

use desktop::{Bus, Wakings};

use crate::app::App;

impl App {
    /// Has the link look at once whether its hub is still there, each time the computer wakes, until
    /// it is dropped. What turns are doing goes on.
    pub(crate) async fn tend_waking(self) {
        let mut wakings = Wakings::told_on(Bus::system()).await;
        loop {
            wakings.next().await;
            if let Ok(open) = self.open().await {
                open.hub.wake();
            }
        }
    }
}
