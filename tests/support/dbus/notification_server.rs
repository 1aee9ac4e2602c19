//! A desktop that shows notifications: a double of org.freedesktop.Notifications on a bus of a
//! test's own, which keeps what it was given as it was given.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::watch;
use zbus::Connection;
use zbus::connection::Builder;
use zbus::zvariant::OwnedValue;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The double, for as long as the value lives.
#[derive(Debug)]
pub struct FakeNotificationServer {
    connection: Connection,
    state: watch::Sender<NotificationState>,
}

/// A notification as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownNotification {
    /// The number it got.
    pub id: u32,
    /// Its first line.
    pub summary: String,
    /// The text below.
    pub body: String,
    /// Keys and labels in turn.
    pub actions: Vec<String>,
}

#[derive(Debug, Default)]
struct NotificationState {
    last: u32,
    shown: Vec<ShownNotification>,
    closed: Vec<u32>,
}

struct NotificationInterface {
    state: watch::Sender<NotificationState>,
    capabilities: Vec<String>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl NotificationInterface {
    fn get_capabilities(&self) -> Vec<String> {
        self.capabilities.clone()
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("board".into(), "tests".into(), "1".into(), "1.2".into())
    }

    #[expect(clippy::too_many_arguments, reason = "the specification has them")]
    fn notify(
        &self,
        _app: String,
        replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _expires: i32,
    ) -> u32 {
        let mut id = replaces;
        self.state.send_modify(|state| {
            if id == 0 {
                state.last += 1;
                id = state.last;
            }
            state.shown.push(ShownNotification { id, summary, body, actions });
        });
        id
    }

    fn close_notification(&self, id: u32) {
        self.state.send_modify(|state| state.closed.push(id));
    }
}

impl FakeNotificationServer {
    /// One that reads markup and shows buttons, on the bus at `address`.
    pub async fn start(address: &str) -> Self {
        Self::start_with_capabilities(&["body", "body-markup", "actions"], address).await
    }

    /// One that says of itself that it can do this.
    pub async fn start_with_capabilities(able: &[&str], address: &str) -> Self {
        let state = watch::Sender::default();
        let able = able.iter().map(|&word| word.to_owned()).collect();
        let service = NotificationInterface { state: state.clone(), capabilities: able };
        let builder = Builder::address(address).expect("an address");
        let builder = builder.serve_at(PATH, service).expect("a path").name(NAME).expect("a name");
        Self { connection: builder.build().await.expect("the bus lets it in"), state }
    }

    /// All that was given to be shown, oldest first.
    #[must_use]
    pub fn shown(&self) -> Vec<ShownNotification> {
        self.state.borrow().shown.clone()
    }

    /// Resolves with the first notification that `wanted` takes.
    pub async fn wait_for_notification(
        &self,
        what: &str,
        wanted: impl Fn(&ShownNotification) -> bool,
    ) -> ShownNotification {
        let mut state = self.state.subscribe();
        let found = state.wait_for(|state| state.shown.iter().any(&wanted));
        let found = tokio::time::timeout(TEST_TIMEOUT, found).await.map(drop);
        assert!(found.is_ok(), "{what} was not shown; it shows {:#?}", self.shown());
        self.shown().into_iter().find(wanted).expect("it was found a moment ago")
    }

    /// Resolves when the notification with this number was closed.
    pub async fn wait_until_closed(&self, id: u32) {
        let mut state = self.state.subscribe();
        let closed = state.wait_for(|state| state.closed.contains(&id));
        let closed = tokio::time::timeout(TEST_TIMEOUT, closed).await.map(drop);
        assert!(closed.is_ok(), "{id} was not closed");
    }

    /// The user clicks on the one with this number.
    pub async fn click(&self, id: u32) {
        self.emit_signal("ActionInvoked", &(id, "default")).await;
        self.emit_signal("NotificationClosed", &(id, 2_u32)).await;
    }

    /// The user puts the one with this number away.
    pub async fn dismiss(&self, id: u32) {
        self.emit_signal("NotificationClosed", &(id, 2_u32)).await;
    }

    async fn emit_signal<A>(&self, signal: &str, arguments: &A)
    where
        A: serde::Serialize + zbus::zvariant::DynamicType,
    {
        let everyone = None::<&str>;
        let told = self.connection.emit_signal(everyone, PATH, NAME, signal, arguments);
        told.await.expect("the signal goes out");
    }
}
