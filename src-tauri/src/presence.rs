//! The program on the desktop: its window, its place in the tray, what the desktop is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use app::{App, Onlook, Told};
use desktop::{Bus, Login, Order, Tray};
use protocol::desktop::{AtLogin, DesktopState, OnClose};
use protocol::{ConversationId, UserError};
use tauri::{AppHandle, Manager as _, Runtime, WebviewWindow, Window, WindowEvent};
use tokio::sync::{mpsc, watch};

use crate::closing::{Closing, Then};
use crate::telling::{APPLICATION, Chosen, card, look};
use crate::words::Words;

/// So many notifications may wait for a service that is slow; later ones are not shown.
const ORDERS: usize = 32;
/// A tray may come later than we do when the user logs in.
const TRAY_COMES: Duration = Duration::from_secs(20);
/// The engine takes a fraction of it.
const PAGE_COMES: Duration = Duration::from_secs(10);

/// How the window begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It is shown.
    Shown,
    /// It stays away where there is a tray and the hub is on; else it is shown.
    Hidden,
}

/// What is known of the desktop.
pub(crate) struct Presence {
    in_tray: watch::Receiver<bool>,
    /// Whether the window asks what closing it means.
    asking: AtomicBool,
    /// Whether the window has its page.
    loaded: watch::Sender<bool>,
    login: Option<Login>,
}

impl Presence {
    /// Takes its place on the desktop, for as long as the application runs. Must be called inside a
    /// tokio runtime.
    pub(crate) fn take<R: Runtime>(host: &AppHandle<R>, app: &App, begin: Begin) -> Self {
        let Onlook { standing, told } = app.onlook();
        let (orders, taken) = mpsc::channel(ORDERS);
        app.run(tell(app.clone(), told, orders));
        let (front, called) = (host.clone(), app.clone());
        app.run(desktop::carry_out(Bus::session(), taken, move |key| {
            show(&front);
            if let Some(conversation) = conversation(&key) {
                called.call(conversation);
            }
        }));
        let (there, in_tray) = watch::channel(false);
        let (looks, seen) = watch::channel(None);
        let (choose, chosen) = mpsc::unbounded_channel();
        app.run(draw(standing, looks));
        app.run(Tray { look: seen, there, chosen: choose }.keep());
        app.run(obey(host.clone(), app.clone(), chosen));
        let loaded = watch::Sender::new(false);
        app.run(never_lost(host.clone(), in_tray.clone(), loaded.subscribe(), begin));
        app.run(come_when_called(host.clone(), app.answer_the_door()));
        Self { in_tray, asking: AtomicBool::new(false), loaded, login: Login::here() }
    }

    /// How the desktop stands now.
    pub(crate) fn state(&self) -> DesktopState {
        let at_login = self.login.as_ref().map_or(AtLogin::StaysOff, Login::state);
        DesktopState { in_tray: *self.in_tray.borrow(), at_login }
    }

    /// Decides what happens at login.
    pub(crate) fn set_at_login(&self, state: AtLogin) -> Result<DesktopState, UserError> {
        let Some(login) = &self.login else {
            return Err(UserError::other(
                "The system does not say where programs that start at \
                                         login are kept: set HOME or XDG_CONFIG_HOME.",
            ));
        };
        login.set(state).map_err(|error| {
            UserError::other(format!(
                "What starts at login cannot be changed ({error}): check the rights of the folder \
                 autostart in your folder of settings."
            ))
        })?;
        Ok(self.state())
    }
}

/// Whether the window is shown at once.
pub(crate) fn is_shown_at_once(app: &App, begin: Begin) -> bool {
    begin == Begin::Shown || !app.hub_is_on()
}

/// The window has its page: it is shown the first time, if it is to be `shown` at all.
pub(crate) fn page_is_there<R: Runtime>(window: &WebviewWindow<R>, shown: bool) {
    let is_first = !window.state::<Presence>().loaded.send_replace(true);
    if is_first && shown {
        show(window.app_handle());
    }
}

/// What the window itself does.
pub(crate) fn heed<R: Runtime>(window: &Window<R>, event: &WindowEvent) {
    let app = window.state::<App>();
    match event {
        WindowEvent::Focused(focused) => app.looks(|looking| looking.focused = *focused),
        WindowEvent::CloseRequested { api, .. } => {
            let presence = window.state::<Presence>();
            let closing = Closing {
                hub_is_on: app.hub_is_on(),
                in_tray: *presence.in_tray.borrow(),
                chosen: app.settings().desktop.on_close,
                asking: presence.asking.load(Ordering::Relaxed),
            };
            match closing.then() {
                Then::End => {}
                Then::Hide => {
                    api.prevent_close();
                    hide(window.app_handle());
                }
                Then::Ask => {
                    api.prevent_close();
                    presence.asking.store(true, Ordering::Relaxed);
                    app.ask_about_closing();
                }
            }
        }
        _ => {}
    }
}

/// Does what the user answered about closing the window, and keeps it in mind.
pub(crate) async fn answer_closing<R: Runtime>(
    host: &AppHandle<R>,
    answer: OnClose,
) -> Result<(), UserError> {
    let (app, presence) = (host.state::<App>(), host.state::<Presence>());
    presence.asking.store(false, Ordering::Relaxed);
    if answer != OnClose::Ask {
        app.change_settings(|settings| settings.desktop.on_close = answer).await?;
    }
    match answer {
        OnClose::Ask => {}
        OnClose::Tray if *presence.in_tray.borrow() => hide(host),
        OnClose::Tray => {}
        OnClose::Quit => host.exit(0),
    }
    Ok(())
}

async fn tell(app: App, mut told: mpsc::UnboundedReceiver<Told>, orders: mpsc::Sender<Order>) {
    while let Some(told) = told.recv().await {
        let order = match told {
            Told::News(notice) => {
                Order::Show(card(&notice, Words::chosen(app.settings().language)))
            }
            Told::Over(conversation) => Order::Withdraw(conversation.to_string()),
        };
        // A service that is slow is not waited for: the window shows the same.
        let _ = orders.try_send(order);
    }
}

async fn draw(
    mut standing: watch::Receiver<app::Standing>,
    looks: watch::Sender<Option<desktop::Look<Chosen>>>,
) {
    loop {
        let now = look(&standing.borrow_and_update());
        looks.send_if_modified(|shown| {
            let before = std::mem::replace(shown, now.clone());
            before != now
        });
        if standing.changed().await.is_err() {
            return;
        }
    }
}

async fn obey<R: Runtime>(
    host: AppHandle<R>,
    app: App,
    mut chosen: mpsc::UnboundedReceiver<Chosen>,
) {
    while let Some(chosen) = chosen.recv().await {
        match chosen {
            Chosen::Show => show(&host),
            Chosen::Pause => app.pause_or_go_on().await,
            Chosen::Quit => host.exit(0),
        }
    }
}

/// A window that is hidden comes back when the tray is gone from which it could be shown.
async fn never_lost<R: Runtime>(
    host: AppHandle<R>,
    mut in_tray: watch::Receiver<bool>,
    mut loaded: watch::Receiver<bool>,
    begin: Begin,
) {
    let page = loaded.wait_for(|loaded| *loaded);
    let is_late = tokio::time::timeout(PAGE_COMES, page).await.is_err();
    if is_late && begin == Begin::Shown {
        // A window whose page does not come is better than none.
        let asked = host.clone();
        let _ = host.run_on_main_thread(move || show_if_hidden(&asked));
    }
    if begin == Begin::Hidden {
        // That it does not come in time is the same as that it went.
        let _ = tokio::time::timeout(TRAY_COMES, in_tray.wait_for(|there| *there)).await;
    }
    loop {
        if !*in_tray.borrow_and_update() {
            // Asked from here a window answers when its thread has time, and at the end that thread
            // waits for this task.
            let asked = host.clone();
            let _ = host.run_on_main_thread(move || show_if_hidden(&asked));
        }
        if in_tray.changed().await.is_err() {
            return;
        }
    }
}

async fn come_when_called<R: Runtime>(
    host: AppHandle<R>,
    knocked: std::sync::Arc<tokio::sync::Notify>,
) {
    loop {
        knocked.notified().await;
        show(&host);
    }
}

fn show_if_hidden<R: Runtime>(host: &AppHandle<R>) {
    let window = host.get_webview_window("main");
    if window.is_some_and(|window| !window.is_visible().unwrap_or(true)) {
        show(host);
    }
}

/// Brings the window to the front; one that is still being made, once it is there: its thread makes it first.
fn show<R: Runtime>(host: &AppHandle<R>) {
    let asked = host.clone();
    let _ = host.run_on_main_thread(move || {
        if let Some(window) = asked.get_webview_window("main") {
            // What a window system does not do cannot be helped from here.
            let _ = window.show();
            let _ = window.unminimize();
            let _ = window.set_focus();
        }
    });
}

fn hide<R: Runtime>(host: &AppHandle<R>) {
    if let Some(window) = host.get_webview_window("main") {
        let _ = window.hide();
        host.state::<App>().looks(|looking| looking.focused = false);
    }
}

/// The conversation that a notification was about.
fn conversation(key: &str) -> Option<ConversationId> {
    let key = Some(key).filter(|key| *key != APPLICATION)?;
    serde_json::from_value(key.into()).ok()
}
