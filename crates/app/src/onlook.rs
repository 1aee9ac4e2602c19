//! Hands what happens to whoever stands beside the window: a tray, notifications of the desktop.

use std::sync::Arc;

use protocol::{AppEvent, ConversationId, HubState, Settings};
use tokio::sync::{Notify, mpsc, watch};

use crate::app::App;
use crate::link;
use crate::notice::{Looking, Overview, Standing, Told};

/// What is handed out.
#[derive(Debug)]
pub struct Onlook {
    /// How everything stands.
    pub standing: watch::Receiver<Standing>,
    /// What the desktop is told, in order.
    pub told: mpsc::UnboundedReceiver<Told>,
}

impl App {
    /// Begins to look on, in place of whoever did before. Must be called inside a tokio runtime.
    pub fn onlook(&self) -> Onlook {
        let (stands, standing) = watch::channel(Standing::default());
        let (tell, told) = mpsc::unbounded_channel();
        let heard = self.around().feed.overheard();
        let app = self.clone();
        self.run(async move { app.oversee(heard, stands, tell).await });
        Onlook { standing, told }
    }

    /// Says what the user has before them: what is in sight is not told.
    pub fn looks(&self, change: impl FnOnce(&mut Looking)) {
        self.looking().send_modify(change);
    }

    /// Has each second window that is started on the vault ring the bell instead of opening. Counts for
    /// vaults that are opened from now on.
    pub fn answer_the_door(&self) -> Arc<Notify> {
        Arc::clone(self.around().door.get_or_init(Arc::default))
    }

    /// Has no model asked, or has them asked again.
    pub async fn pause_or_go_on(&self) {
        let turn = |settings: &mut Settings| settings.spending.paused = !settings.spending.paused;
        if let Err(error) = self.change_settings(turn).await {
            self.around().feed.tell(AppEvent::Problem { error });
        }
    }

    /// Whether the hub is switched on, by the settings or the environment.
    #[must_use]
    pub fn hub_is_on(&self) -> bool {
        !matches!(link::config(&self.settings().hub), Ok(None))
    }

    /// Has the window show a conversation.
    pub fn call(&self, conversation: ConversationId) {
        self.around().feed.tell(AppEvent::Called { conversation });
    }

    /// Has the window ask what closing it means.
    pub fn ask_about_closing(&self) {
        self.around().feed.tell(AppEvent::CloseAsked);
    }

    async fn oversee(
        self,
        mut heard: mpsc::UnboundedReceiver<AppEvent>,
        stands: watch::Sender<Standing>,
        tell: mpsc::UnboundedSender<Told>,
    ) {
        let mut overview = Overview::default();
        let mut folder = None;
        overview.heed(&self.settings());
        self.begin(&mut overview).await;
        loop {
            stands.send_if_modified(|stand| {
                let now = overview.standing();
                std::mem::replace(stand, now) != now
            });
            let Some(event) = heard.recv().await else { return };
            let looking = self.looking().borrow().clone();
            let told = overview.step(&event, &looking);
            if let AppEvent::VaultChanged { vault } = &event {
                let now = vault.as_ref().map(|vault| vault.folder.clone());
                if std::mem::replace(&mut folder, now.clone()) != now {
                    self.begin(&mut overview).await;
                }
            }
            // Whoever no longer listens wants to know nothing.
            told.into_iter().for_each(|told| drop(tell.send(told)));
        }
    }

    /// What waits in the open vault is known before anything happens in it.
    async fn begin(&self, overview: &mut Overview) {
        let Ok(open) = self.open().await else { return overview.begin(&[], HubState::Off) };
        let rows = open.store.awaited_conversations().await.unwrap_or_default();
        overview.begin(&rows, open.hub_status().state);
    }
}
