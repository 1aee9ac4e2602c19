//! Notifications of the desktop, over org.freedesktop.Notifications (Desktop Notifications
//! Specification 1.2): shown, replaced, withdrawn, and clicked.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::time::Instant;
use zbus::fdo::DBusProxy;
use zbus::message::Type;
use zbus::names::BusName;
use zbus::zvariant::Value;
use zbus::{Connection, MatchRule, Message, MessageStream};

use crate::bus::{Bus, CALL_TIMEOUT, with_timeout};
use crate::sanitize::{MarkupSupport, escape_markup, single_line};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// The time for which a service that did not answer is left alone.
const RETRY_PAUSE: Duration = Duration::from_secs(60);
/// The name by which the desktop knows the program, its icon included.
const DESKTOP_ENTRY: &str = "vaultmate";
const MAX_SUMMARY_CHARS: usize = 80;
const MAX_BODY_CHARS: usize = 200;
/// The action that a click on the notification itself means.
const DEFAULT_ACTION: &str = "default";

/// A notification to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopNotification {
    /// Its subject: a later one of the same key replaces it.
    pub key: String,
    /// Its first line; cut when it is long.
    pub summary: String,
    /// The text below the title; cut when it is long, never read as markup.
    pub body: String,
    /// The label of a button that opens it, where a server shows one.
    pub open_label: String,
}

/// An order to [`run_notifications`]. Orders are carried out in the order in which they were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotificationCommand {
    /// Show this notification, in place of the one with the same key.
    Show(DesktopNotification),
    /// Withdraw the one with the key.
    Withdraw(String),
}

/// Carries out orders, in order, until their sender is gone; `clicked` is told the key of each
/// notification that the user opens. Where there is no such service orders come to nothing.
pub async fn run_notifications(
    bus: Bus,
    mut orders: mpsc::Receiver<NotificationCommand>,
    clicked: impl Fn(String),
) {
    let mut board =
        NotificationBoard { bus, service: None, shown: HashMap::new(), quiet_until: None };
    loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(order) => board.run_command(order).await,
                None => return,
            },
            signal = board.next_signal() => {
                if let Some(key) = board.opened_key(&signal) {
                    clicked(key);
                }
            }
        }
    }
}

/// The shown notifications, and the connection to their server.
struct NotificationBoard {
    bus: Bus,
    service: Option<NotificationService>,
    shown: HashMap<String, u32>,
    quiet_until: Option<Instant>,
}

struct NotificationService {
    connection: Connection,
    signals: MessageStream,
    markup: MarkupSupport,
}

impl NotificationBoard {
    async fn run_command(&mut self, order: NotificationCommand) {
        if self.quiet_until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        let done = match order {
            NotificationCommand::Show(card) => self.show(card).await,
            NotificationCommand::Withdraw(key) => self.withdraw(&key).await,
        };
        self.quiet_until = None;
        if let Err(why) = done {
            tracing::debug!(why, "a notification is not shown");
            self.service = None;
            self.quiet_until = Some(Instant::now() + RETRY_PAUSE);
        }
    }

    async fn show(&mut self, card: DesktopNotification) -> Result<(), String> {
        if self.service.is_none() {
            self.service = NotificationService::connect(&self.bus).await?;
        }
        let Some(service) = &self.service else { return Ok(()) };
        let replaces = self.shown.get(&card.key).copied().unwrap_or_default();
        let id = service.notify(&card, replaces).await?;
        self.shown.insert(card.key, id);
        Ok(())
    }

    async fn withdraw(&mut self, key: &str) -> Result<(), String> {
        let (Some(id), Some(service)) = (self.shown.remove(key), &self.service) else {
            return Ok(());
        };
        service.call("CloseNotification", &id).await.map(drop)
    }

    /// The next thing the service tells; waits for ever while there is none.
    async fn next_signal(&mut self) -> Message {
        loop {
            let Some(service) = &mut self.service else { return std::future::pending().await };
            match service.signals.next().await {
                Some(Ok(signal)) => return signal,
                Some(Err(_)) => {}
                None => self.service = None,
            }
        }
    }

    /// The key of the notification that was opened, if the signal says so.
    fn opened_key(&mut self, signal: &Message) -> Option<String> {
        let header = signal.header();
        let member = header.member()?.as_str();
        let (id, what) = match member {
            "ActionInvoked" => signal.body().deserialize::<(u32, String)>().ok()?,
            "NotificationClosed" => {
                let (id, _reason) = signal.body().deserialize::<(u32, u32)>().ok()?;
                (id, String::new())
            }
            _ => return None,
        };
        let key = self.shown.iter().find(|(_, shown)| **shown == id)?.0.clone();
        self.shown.remove(&key);
        (member == "ActionInvoked" && what == DEFAULT_ACTION).then_some(key)
    }
}

impl NotificationService {
    /// The service, or `None` where there is none; an error when it is there and does not answer.
    async fn connect(bus: &Bus) -> Result<Option<Self>, String> {
        let Some(connection) = bus.connect().await else { return Ok(None) };
        if !with_timeout(CALL_TIMEOUT, is_available(&connection)).await? {
            return Ok(None);
        }
        let rule = MatchRule::builder().msg_type(Type::Signal).sender(NAME);
        let signals = with_timeout(CALL_TIMEOUT, async {
            let rule = rule?.path(PATH)?.interface(NAME)?.build();
            MessageStream::for_match_rule(rule, &connection, None).await
        });
        let mut service = Self { signals: signals.await?, connection, markup: MarkupSupport::Text };
        let able = service.call("GetCapabilities", &()).await?;
        let able = able.body().deserialize::<Vec<String>>().map_err(|error| error.to_string())?;
        if able.iter().any(|word| word == "body-markup") {
            service.markup = MarkupSupport::Markup;
        }
        Ok(Some(service))
    }

    async fn notify(&self, card: &DesktopNotification, replaces: u32) -> Result<u32, String> {
        let summary = single_line(&card.summary, MAX_SUMMARY_CHARS);
        let body = escape_markup(&single_line(&card.body, MAX_BODY_CHARS), self.markup);
        let open = single_line(&card.open_label, MAX_SUMMARY_CHARS);
        let actions = [DEFAULT_ACTION, open.as_str()];
        let hints = HashMap::from([("desktop-entry", Value::from(DESKTOP_ENTRY))]);
        // As long as the server shows others.
        let expires: i32 = -1;
        let arguments = (
            "Vaultmate",
            replaces,
            DESKTOP_ENTRY,
            summary,
            body,
            actions.as_slice(),
            hints,
            expires,
        );
        let answer = self.call("Notify", &arguments).await?;
        answer.body().deserialize().map_err(|error| error.to_string())
    }

    async fn call<A>(&self, method: &str, arguments: &A) -> Result<Message, String>
    where
        A: serde::Serialize + zbus::zvariant::DynamicType,
    {
        let called = self.connection.call_method(Some(NAME), PATH, Some(NAME), method, arguments);
        with_timeout(CALL_TIMEOUT, called).await
    }
}

/// Whether somebody shows notifications, or would be started to. Asking starts nobody.
async fn is_available(connection: &Connection) -> zbus::Result<bool> {
    let bus = DBusProxy::new(connection).await?;
    let name = BusName::try_from(NAME)?;
    if bus.name_has_owner(name).await? {
        return Ok(true);
    }
    Ok(bus.list_activatable_names().await?.iter().any(|other| other.as_str() == NAME))
}
