//! The program on the desktop: its window, its item in the system tray, its notifications.
//!
//! The window is shown once its page is loaded. It hides only while a tray is there, and comes back when the tray goes. Calls
//! about the window run on its own thread, which creates the window first, so an early call is not lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use app::{App, DesktopFeed, NotificationChange};
use desktop::{Autostart, Bus, NotificationCommand, TrayService};
use protocol::desktop::{AutostartMode, DesktopState, OnClose};
use protocol::{ConversationId, UserError};
use tauri::{AppHandle, Manager as _, Runtime, WebviewWindow, Window, WindowEvent};
use tokio::sync::{mpsc, watch};

use crate::close_policy::{CloseAction, CloseContext};
use crate::i18n::Translations;
use crate::notification_text::{APPLICATION_KEY, TrayAction, notification_card, tray_content};

/// The number of notifications that may wait for a service that is slow; later ones are not shown.
const MAX_QUEUED_NOTIFICATIONS: usize = 32;
/// A tray may come later than we do when the user logs in.
const TRAY_TIMEOUT: Duration = Duration::from_secs(20);
/// The engine takes a fraction of it.
const PAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// How the window begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InitialVisibility {
    /// The window is shown once its page is there.
    Shown,
    /// It stays away where there is a tray and the hub is on; else it is shown.
    Hidden,
}

/// The state of the desktop and the window.
pub(crate) struct WindowLifecycle {
    in_tray: watch::Receiver<bool>,
    /// Whether the window asks what closing it means.
    is_asking_to_close: AtomicBool,
    /// Whether the window has its page.
    loaded: watch::Sender<bool>,
    autostart: Option<Autostart>,
}

impl WindowLifecycle {
    /// Takes its place on the desktop, for as long as the application runs. Must be called inside a
    /// tokio runtime.
    pub(crate) fn start<R: Runtime>(
        host: &AppHandle<R>,
        app: &App,
        visibility: InitialVisibility,
    ) -> Self {
        let DesktopFeed { tray_state: standing, notifications: told } = app.desktop_feed();
        let (orders, taken) = mpsc::channel(MAX_QUEUED_NOTIFICATIONS);
        app.spawn(run_notification_loop(app.clone(), told, orders));
        let (front, called) = (host.clone(), app.clone());
        app.spawn(desktop::run_notifications(Bus::session(), taken, move |key| {
            show_window(&front);
            if let Some(conversation) = conversation_from_key(&key) {
                called.show_conversation(conversation);
            }
        }));
        let (there, in_tray) = watch::channel(false);
        let (looks, seen) = watch::channel(None);
        let (choose, chosen) = mpsc::unbounded_channel();
        app.spawn(run_tray_update_loop(standing, looks));
        app.spawn(TrayService { content: seen, is_shown: there, chosen: choose }.run());
        app.spawn(run_tray_action_loop(host.clone(), app.clone(), chosen));
        let loaded = watch::Sender::new(false);
        app.spawn(run_unhide_loop(host.clone(), in_tray.clone(), loaded.subscribe(), visibility));
        app.spawn(run_second_start_loop(host.clone(), app.on_second_start()));
        Self {
            in_tray,
            is_asking_to_close: AtomicBool::new(false),
            loaded,
            autostart: Autostart::for_this_program(),
        }
    }

    /// How the desktop stands now.
    pub(crate) fn desktop_state(&self) -> DesktopState {
        let at_login = self.autostart.as_ref().map_or(AutostartMode::StaysOff, Autostart::state);
        DesktopState { in_tray: *self.in_tray.borrow(), at_login }
    }

    /// Decides what happens at login.
    pub(crate) fn set_autostart(&self, state: AutostartMode) -> Result<DesktopState, UserError> {
        let Some(login) = &self.autostart else {
            return Err(UserError::other(
                "The system doesn’t say where programs that start at login are kept. Set HOME or \
                 XDG_CONFIG_HOME.",
            ));
        };
        login.set(state).map_err(|error| {
            UserError::other(format!(
                "Couldn’t change the autostart entry ({error}). Check the permissions of the \
                 autostart folder."
            ))
        })?;
        Ok(self.desktop_state())
    }
}

/// Whether the window is shown at once.
pub(crate) fn is_shown_at_once(app: &App, visibility: InitialVisibility) -> bool {
    visibility == InitialVisibility::Shown || !app.is_hub_on()
}

/// The window has its page: it is shown the first time, if it is to be `shown` at all.
pub(crate) fn on_page_loaded<R: Runtime>(window: &WebviewWindow<R>, shown: bool) {
    let is_first = !window.state::<WindowLifecycle>().loaded.send_replace(true);
    if is_first && shown {
        show_window(window.app_handle());
    }
}

/// Handles the events of the window itself.
pub(crate) fn on_window_event<R: Runtime>(window: &Window<R>, event: &WindowEvent) {
    let app = window.state::<App>();
    match event {
        WindowEvent::Focused(focused) => app.set_window_focus(|looking| looking.focused = *focused),
        WindowEvent::CloseRequested { api, .. } => {
            let presence = window.state::<WindowLifecycle>();
            let closing = CloseContext {
                hub_is_on: app.is_hub_on(),
                in_tray: *presence.in_tray.borrow(),
                setting: app.settings().desktop.on_close,
                is_asking: presence.is_asking_to_close.load(Ordering::Relaxed),
            };
            match closing.action() {
                CloseAction::End => {}
                CloseAction::Hide => {
                    api.prevent_close();
                    hide_window(window.app_handle());
                }
                CloseAction::Ask => {
                    api.prevent_close();
                    presence.is_asking_to_close.store(true, Ordering::Relaxed);
                    app.ask_about_closing();
                }
            }
        }
        _ => {}
    }
}

/// Does what the user answered about closing the window, and keeps it in mind.
pub(crate) async fn answer_close_request<R: Runtime>(
    host: &AppHandle<R>,
    answer: OnClose,
) -> Result<(), UserError> {
    let (app, presence) = (host.state::<App>(), host.state::<WindowLifecycle>());
    presence.is_asking_to_close.store(false, Ordering::Relaxed);
    if answer != OnClose::Ask {
        app.change_settings(|settings| settings.desktop.on_close = answer).await?;
    }
    match answer {
        OnClose::Ask => {}
        OnClose::Tray if *presence.in_tray.borrow() => hide_window(host),
        OnClose::Tray => {}
        OnClose::Quit => host.exit(0),
    }
    Ok(())
}

async fn run_notification_loop(
    app: App,
    mut told: mpsc::UnboundedReceiver<NotificationChange>,
    orders: mpsc::Sender<NotificationCommand>,
) {
    while let Some(told) = told.recv().await {
        let order = match told {
            NotificationChange::News(notice) => NotificationCommand::Show(notification_card(
                &notice,
                Translations::for_language(app.settings().language),
            )),
            NotificationChange::Over(conversation) => {
                NotificationCommand::Withdraw(conversation.to_string())
            }
        };
        // A service that is slow is not waited for: the window shows the same.
        let _ = orders.try_send(order);
    }
}

async fn run_tray_update_loop(
    mut standing: watch::Receiver<app::TrayState>,
    looks: watch::Sender<Option<desktop::TrayContent<TrayAction>>>,
) {
    loop {
        let now = tray_content(&standing.borrow_and_update());
        looks.send_if_modified(|shown| {
            let before = std::mem::replace(shown, now.clone());
            before != now
        });
        if standing.changed().await.is_err() {
            return;
        }
    }
}

async fn run_tray_action_loop<R: Runtime>(
    host: AppHandle<R>,
    app: App,
    mut chosen: mpsc::UnboundedReceiver<TrayAction>,
) {
    while let Some(chosen) = chosen.recv().await {
        match chosen {
            TrayAction::Show => show_window(&host),
            TrayAction::Pause => app.toggle_pause().await,
            TrayAction::Quit => host.exit(0),
        }
    }
}

/// A window that is hidden comes back when the tray is gone from which it could be shown.
async fn run_unhide_loop<R: Runtime>(
    host: AppHandle<R>,
    mut in_tray: watch::Receiver<bool>,
    mut loaded: watch::Receiver<bool>,
    visibility: InitialVisibility,
) {
    let page = loaded.wait_for(|loaded| *loaded);
    let is_late = tokio::time::timeout(PAGE_TIMEOUT, page).await.is_err();
    if is_late && visibility == InitialVisibility::Shown {
        // A window whose page does not come is better than none.
        let asked = host.clone();
        let _ = host.run_on_main_thread(move || show_window_if_hidden(&asked));
    }
    if visibility == InitialVisibility::Hidden {
        // That it does not come in time is the same as that it went.
        let _ = tokio::time::timeout(TRAY_TIMEOUT, in_tray.wait_for(|there| *there)).await;
    }
    loop {
        if !*in_tray.borrow_and_update() {
            // Asked from here a window answers when its thread has time, and at the end that thread
            // waits for this task.
            let asked = host.clone();
            let _ = host.run_on_main_thread(move || show_window_if_hidden(&asked));
        }
        if in_tray.changed().await.is_err() {
            return;
        }
    }
}

async fn run_second_start_loop<R: Runtime>(
    host: AppHandle<R>,
    second_start: std::sync::Arc<tokio::sync::Notify>,
) {
    loop {
        second_start.notified().await;
        show_window(&host);
    }
}

fn show_window_if_hidden<R: Runtime>(host: &AppHandle<R>) {
    let window = host.get_webview_window("main");
    if window.is_some_and(|window| !window.is_visible().unwrap_or(true)) {
        show_window(host);
    }
}

/// Brings the window to the front; one that is still being made, once it is there: its thread makes it first.
fn show_window<R: Runtime>(host: &AppHandle<R>) {
    let asked = host.clone();
    let _ = host.run_on_main_thread(move || {
        if let Some(window) = asked.get_webview_window("main") {
            // A window system that shows no windows on request cannot be helped from here.
            let _ = window.show();
            let _ = window.unminimize();
            let _ = window.set_focus();
        }
    });
}

fn hide_window<R: Runtime>(host: &AppHandle<R>) {
    if let Some(window) = host.get_webview_window("main") {
        let _ = window.hide();
        host.state::<App>().set_window_focus(|looking| looking.focused = false);
    }
}

/// The conversation that a notification was about.
fn conversation_from_key(key: &str) -> Option<ConversationId> {
    let key = Some(key).filter(|key| *key != APPLICATION_KEY)?;
    serde_json::from_value(key.into()).ok()
}
