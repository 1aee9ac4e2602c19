//! Events for the parts of the desktop outside the window: the tray and notifications.

use std::sync::Arc;

use protocol::{AppEvent, ConversationId, HubState, Settings};
use tokio::sync::{Notify, mpsc, watch};

use crate::app::App;
use crate::events::notifications::{NotificationChange, NotificationRules, TrayState, WindowFocus};
use crate::hub::connection;

/// The channels of the desktop feed.
#[derive(Debug)]
pub struct DesktopFeed {
    /// How everything stands.
    pub tray_state: watch::Receiver<TrayState>,
    /// Changes of notifications, in order.
    pub notifications: mpsc::UnboundedReceiver<NotificationChange>,
}

impl App {
    /// Subscribes, in place of the subscriber before. Must be called inside a tokio runtime.
    pub fn desktop_feed(&self) -> DesktopFeed {
        let (stands, standing) = watch::channel(TrayState::default());
        let (tell, told) = mpsc::unbounded_channel();
        let heard = self.services().feed.observe();
        let app = self.clone();
        self.spawn(async move { app.run_desktop_loop(heard, stands, tell).await });
        DesktopFeed { tray_state: standing, notifications: told }
    }

    /// Says what the user has before them: what is in sight is not told.
    pub fn set_window_focus(&self, change: impl FnOnce(&mut WindowFocus)) {
        self.window_focus().send_modify(change);
    }

    /// Has each second window that is started on the vault notify this handle instead of opening. Counts
    /// for vaults that are opened from now on.
    pub fn on_second_start(&self) -> Arc<Notify> {
        Arc::clone(self.services().second_start.get_or_init(Arc::default))
    }

    /// Pauses all models, or resumes them.
    pub async fn toggle_pause(&self) {
        let turn = |settings: &mut Settings| settings.spending.paused = !settings.spending.paused;
        if let Err(error) = self.change_settings(turn).await {
            self.services().feed.publish(AppEvent::Problem { error });
        }
    }

    /// Whether the hub is switched on, by the settings or the environment.
    #[must_use]
    pub fn is_hub_on(&self) -> bool {
        !matches!(connection::link_config(&self.settings().hub), Ok(None))
    }

    /// Has the window show a conversation.
    pub fn show_conversation(&self, conversation: ConversationId) {
        self.services().feed.publish(AppEvent::Called { conversation });
    }

    /// Has the window ask what closing it means.
    pub fn ask_about_closing(&self) {
        self.services().feed.publish(AppEvent::CloseAsked);
    }

    async fn run_desktop_loop(
        self,
        mut heard: mpsc::UnboundedReceiver<AppEvent>,
        stands: watch::Sender<TrayState>,
        tell: mpsc::UnboundedSender<NotificationChange>,
    ) {
        let mut overview = NotificationRules::default();
        let mut folder = None;
        overview.apply_settings(&self.settings());
        if !self.services().config.private_rules().is_empty() {
            overview.hide_titles();
        }
        self.load_notification_state(&mut overview).await;
        loop {
            stands.send_if_modified(|stand| {
                let now = overview.tray_state();
                std::mem::replace(stand, now) != now
            });
            let Some(event) = heard.recv().await else { return };
            let looking = self.window_focus().borrow().clone();
            let told = overview.step(&event, &looking);
            if let AppEvent::VaultChanged { vault } = &event {
                let now = vault.as_ref().map(|vault| vault.folder.clone());
                if std::mem::replace(&mut folder, now.clone()) != now {
                    self.load_notification_state(&mut overview).await;
                }
            }
            // A receiver that is gone needs nothing.
            told.into_iter().for_each(|told| drop(tell.send(told)));
        }
    }

    /// Loads what is pending in the open vault before the first event.
    async fn load_notification_state(&self, overview: &mut NotificationRules) {
        let Ok(open) = self.session().await else { return overview.begin(&[], HubState::Off) };
        let rows = open.store.conversations_needing_you().await.unwrap_or_default();
        overview.begin(&rows, open.hub.link.status().state);
    }
}
