//! The program's item in the tray (StatusNotifierItem), for as long as somebody shows one.
//!
//! A tray is there when `org.kde.StatusNotifierWatcher` has an owner on the session's bus. That is
//! asked first and watched afterwards; nobody is started by it.

use std::time::Duration;

use futures_util::StreamExt as _;
use ksni::TrayMethods as _;
use ksni::menu::{CheckmarkItem, MenuItem, StandardItem};
use tokio::sync::{mpsc, watch};
use zbus::Connection;
use zbus::fdo::{DBusProxy, NameOwnerChangedStream};
use zbus::names::BusName;

use crate::bus::{Bus, CALL_TIMEOUT, with_timeout};

const WATCHER: &str = "org.kde.StatusNotifierWatcher";
/// The time after which a bus that went, or was not there, is looked for again.
const RECONNECT_DELAY: Duration = Duration::from_secs(30);

/// The content of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrayContent<Command> {
    /// Next to or above the item.
    pub tooltip: String,
    /// How it is marked.
    pub badge: TrayBadge,
    /// Its menu, from the top.
    pub menu: Vec<TrayMenuEntry<Command>>,
    /// The command of a click on the item itself.
    pub click: Command,
}

/// How the item is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrayBadge {
    /// Not at all.
    None,
    /// Something is being done.
    Working,
    /// Somebody is waited for.
    Waiting,
    /// Something is wrong.
    Trouble,
}

/// A line of the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrayMenuEntry<Command> {
    /// A text that cannot be chosen.
    Words(String),
    /// Something to do.
    Do(String, Command),
    /// Something that is on or not.
    Switch(String, bool, Command),
    /// A line between others.
    Rule,
}

/// An item in the tray that is kept there.
#[derive(Debug)]
pub struct TrayService<Command> {
    /// Its content; `None` while it is hidden.
    pub content: watch::Receiver<Option<TrayContent<Command>>>,
    /// Whether it stands there: somebody shows trays and has taken the item.
    pub is_shown: watch::Sender<bool>,
    /// The user's choices.
    pub chosen: mpsc::UnboundedSender<Command>,
}

impl<Command: Clone + Send + Sync + 'static> TrayService<Command> {
    /// Keeps the item in the tray of the session for as long as one is there and a look is given,
    /// until the look's sender is gone.
    pub async fn run(mut self) {
        while self.content.wait_for(Option::is_some).await.is_ok() {
            if let Some((connection, changes)) = listen().await {
                self.serve(&connection, changes).await;
            }
            self.is_shown.send_replace(false);
            tokio::select! {
                () = tokio::time::sleep(RECONNECT_DELAY) => {}
                gone = self.content.wait_for(Option::is_none) => if gone.is_err() { return },
            }
        }
    }

    /// Until no look is given any more or the bus is gone.
    async fn serve(&mut self, connection: &Connection, mut changes: NameOwnerChangedStream) {
        let mut item: Option<ShownTrayItem<Command>> = None;
        loop {
            // It ends automatically when the tray went, however soon that came back.
            item = item.filter(|ShownTrayItem(handle)| !handle.is_closed());
            let Some(look) = self.content.borrow_and_update().clone() else { break };
            if !is_available(connection).await {
                item = None;
            } else if let Some(item) = &item {
                update_item(item, look).await;
            } else {
                item = self.add_item(look).await;
            }
            self.is_shown.send_replace(item.is_some());
            tokio::select! {
                changed = self.content.changed() => if changed.is_err() { break },
                changed = changes.next() => if changed.is_none() { break },
            }
        }
        self.is_shown.send_replace(false);
    }

    async fn add_item(&self, look: TrayContent<Command>) -> Option<ShownTrayItem<Command>> {
        let item = TrayItem { content: look, chosen: self.chosen.clone() };
        // Hosts find it by its connection; a name of its own could be taken in a sandbox.
        let placed = tokio::time::timeout(CALL_TIMEOUT, item.disable_dbus_name(true).spawn()).await;
        match placed {
            Ok(Ok(handle)) => Some(ShownTrayItem(handle)),
            Ok(Err(error)) => {
                tracing::debug!(%error, "no place in the tray");
                None
            }
            Err(_) => {
                tracing::debug!("the tray does not answer");
                None
            }
        }
    }
}

/// The item where it stands; dropping it takes it away.
struct ShownTrayItem<Command: Clone + Send + Sync + 'static>(ksni::Handle<TrayItem<Command>>);

impl<Command: Clone + Send + Sync + 'static> Drop for ShownTrayItem<Command> {
    fn drop(&mut self) {
        // It goes automatically; nobody waits for it.
        drop(self.0.shutdown());
    }
}

async fn update_item<Command: Clone + Send + Sync + 'static>(
    ShownTrayItem(item): &ShownTrayItem<Command>,
    look: TrayContent<Command>,
) {
    let shown = item.update(|item| item.content = look);
    if tokio::time::timeout(CALL_TIMEOUT, shown).await.is_err() {
        tracing::debug!("the tray does not answer");
    }
}

async fn listen() -> Option<(Connection, NameOwnerChangedStream)> {
    let connection = Bus::session().connect().await?;
    let changes = with_timeout(CALL_TIMEOUT, async {
        let bus = DBusProxy::new(&connection).await?;
        bus.receive_name_owner_changed_with_args(&[(0, WATCHER)]).await
    });
    Some((connection.clone(), changes.await.ok()?))
}

async fn is_available(connection: &Connection) -> bool {
    let owned = with_timeout(CALL_TIMEOUT, async {
        let name = BusName::try_from(WATCHER)?;
        Ok(DBusProxy::new(connection).await?.name_has_owner(name).await?)
    });
    owned.await.unwrap_or(false)
}

/// The item as the tray asks for it.
struct TrayItem<Command> {
    content: TrayContent<Command>,
    chosen: mpsc::UnboundedSender<Command>,
}

impl<Command: Clone + Send + Sync + 'static> TrayItem<Command> {
    fn choose(&self, command: Command) {
        // Nobody wants to know once the program ends.
        let _ = self.chosen.send(command);
    }
}

impl<Command: Clone + Send + Sync + 'static> ksni::Tray for TrayItem<Command> {
    fn id(&self) -> String {
        "vaultmate".to_owned()
    }

    fn title(&self) -> String {
        "Vaultmate".to_owned()
    }

    fn status(&self) -> ksni::Status {
        match self.content.badge {
            TrayBadge::None | TrayBadge::Working => ksni::Status::Active,
            TrayBadge::Waiting | TrayBadge::Trouble => ksni::Status::NeedsAttention,
        }
    }

    fn icon_pixmap(&self) -> Vec<ksni::Icon> {
        vec![icon(self.content.badge)]
    }

    fn attention_icon_pixmap(&self) -> Vec<ksni::Icon> {
        vec![icon(self.content.badge)]
    }

    fn tool_tip(&self) -> ksni::ToolTip {
        ksni::ToolTip { title: self.content.tooltip.clone(), ..ksni::ToolTip::default() }
    }

    fn activate(&mut self, _x: i32, _y: i32) {
        self.choose(self.content.click.clone());
    }

    fn menu(&self) -> Vec<MenuItem<Self>> {
        self.content.menu.iter().cloned().map(to_menu_item).collect()
    }

    /// The owner of the item sees the same and decides.
    fn watcher_offline(&self, _reason: ksni::OfflineReason) -> bool {
        false
    }
}

fn to_menu_item<Command: Clone + Send + Sync + 'static>(
    entry: TrayMenuEntry<Command>,
) -> MenuItem<TrayItem<Command>> {
    match entry {
        TrayMenuEntry::Words(label) => {
            StandardItem { label, enabled: false, ..StandardItem::default() }.into()
        }
        TrayMenuEntry::Do(label, command) => StandardItem {
            label,
            activate: Box::new(move |item: &mut TrayItem<Command>| item.choose(command.clone())),
            ..StandardItem::default()
        }
        .into(),
        TrayMenuEntry::Switch(label, checked, command) => CheckmarkItem {
            label,
            checked,
            activate: Box::new(move |item: &mut TrayItem<Command>| item.choose(command.clone())),
            ..CheckmarkItem::default()
        }
        .into(),
        TrayMenuEntry::Rule => MenuItem::Separator,
    }
}

/// A page with lines, and the mark in its corner: drawn, so that no theme has to have it.
fn icon(mark: TrayBadge) -> ksni::Icon {
    const SIDE: i32 = 22;
    let corner = match mark {
        TrayBadge::None => None,
        TrayBadge::Working => Some([255, 0x4a, 0x90, 0xd9]),
        TrayBadge::Waiting => Some([255, 0xe5, 0xa5, 0x0a]),
        TrayBadge::Trouble => Some([255, 0xd9, 0x3a, 0x3a]),
    };
    let data = (0..SIDE * SIDE).flat_map(|at| pixel(at % SIDE, at / SIDE, corner));
    ksni::Icon { width: SIDE, height: SIDE, data: data.collect() }
}

/// Alpha, red, green, blue.
fn pixel(x: i32, y: i32, corner: Option<[u8; 4]>) -> [u8; 4] {
    const PAPER: [u8; 4] = [255, 0xf2, 0xf2, 0xf2];
    const INK: [u8; 4] = [255, 0x50, 0x50, 0x58];
    let (from_x, from_y) = (x - 16, y - 16);
    if let Some(colour) = corner.filter(|_| from_x * from_x + from_y * from_y <= 25) {
        return colour;
    }
    let on_page = (4..18).contains(&x) && (2..20).contains(&y);
    let on_edge = on_page && (x == 4 || x == 17 || y == 2 || y == 19);
    let on_line = (7..15).contains(&x) && matches!(y, 7 | 11 | 15);
    match (on_page, on_edge || on_line) {
        (true, true) => INK,
        (true, false) => PAPER,
        _ => [0; 4],
    }
}
