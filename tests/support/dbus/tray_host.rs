//! A desktop with a tray: a double of org.kde.StatusNotifierWatcher on a bus of a test's own, which
//! asks the items that register as a host does, menus included.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::watch;
use zbus::connection::Builder;
use zbus::message::Header;
use zbus::zvariant::{OwnedValue, Value};
use zbus::{Connection, Proxy};

use crate::polling::poll_until;

const NAME: &str = "org.kde.StatusNotifierWatcher";
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The double, for as long as the value lives.
#[derive(Debug)]
pub struct FakeTrayHost {
    connection: Connection,
    items: watch::Sender<Vec<String>>,
}

struct TrayWatcherInterface(watch::Sender<Vec<String>>);

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl TrayWatcherInterface {
    fn register_status_notifier_item(&self, _service: &str, #[zbus(header)] header: Header<'_>) {
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        self.0.send_modify(|items| items.push(sender));
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

/// An entry that the user can choose, or a separator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrayMenuLine {
    number: i32,
    /// Its label; empty for a separator.
    pub label: String,
}

impl FakeTrayHost {
    /// A tray on the bus at `address`.
    pub async fn start(address: &str) -> Self {
        let items = watch::Sender::default();
        let builder = Builder::address(address).expect("an address");
        let builder =
            builder.serve_at("/StatusNotifierWatcher", TrayWatcherInterface(items.clone()));
        let builder = builder.expect("a path").name(NAME).expect("a name");
        Self { connection: builder.build().await.expect("the bus lets it in"), items }
    }

    /// Resolves when an item stands in the tray.
    pub async fn wait_for_item(&self) {
        let mut items = self.items.subscribe();
        let taken = items.wait_for(|items| !items.is_empty());
        let taken = tokio::time::timeout(TEST_TIMEOUT, taken).await.map(drop);
        assert!(taken.is_ok(), "no item registered");
    }

    /// Resolves with the menu of the last item once one of its lines holds `needle`.
    pub async fn wait_for_menu_line(&self, needle: &str) -> Vec<TrayMenuLine> {
        poll_until(&format!("`{needle}` in the menu"), async || {
            let menu = self.menu().await.map_err(|error| error.to_string())?;
            let found = menu.iter().any(|line| line.label.contains(needle));
            if found { Ok(menu) } else { Err(format!("{menu:?}")) }
        })
        .await
    }

    /// How the last item is marked: `Active` or `NeedsAttention`.
    pub async fn status(&self) -> String {
        let item = self.proxy("/StatusNotifierItem", "org.kde.StatusNotifierItem").await;
        item.get_property("Status").await.expect("a status")
    }

    /// The user chooses the line of the menu that holds `label`.
    pub async fn choose(&self, label: &str) {
        let menu = self.wait_for_menu_line(label).await;
        let line = menu.iter().find(|line| line.label.contains(label)).expect("it is there");
        let proxy = self.proxy("/MenuBar", "com.canonical.dbusmenu").await;
        let event = (line.number, "clicked", Value::from(0_i32), 0_u32);
        match proxy.call_method("Event", &event).await {
            // An action that ends the program may end it before it has answered.
            Err(zbus::Error::MethodError(name, ..))
                if name.as_str() == "org.freedesktop.DBus.Error.NoReply" => {}
            answer => drop(answer.expect("the menu takes it")),
        }
    }

    async fn menu(&self) -> zbus::Result<Vec<TrayMenuLine>> {
        let proxy = self.proxy("/MenuBar", "com.canonical.dbusmenu").await;
        let whole = (0_i32, -1_i32, Vec::<String>::new());
        let answer = proxy.call_method("GetLayout", &whole).await?;
        type MenuLayout = (u32, (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>));
        let (_, (_, _, lines)) = answer.body().deserialize::<MenuLayout>()?;
        Ok(lines.iter().map(parse_menu_line).collect())
    }

    async fn proxy(&self, path: &'static str, interface: &'static str) -> Proxy<'static> {
        let item = self.items.borrow().last().cloned().expect("an item registered");
        Proxy::new(&self.connection, item, path, interface).await.expect("a proxy")
    }
}

fn parse_menu_line(line: &OwnedValue) -> TrayMenuLine {
    let Value::Structure(line) = &**line else { panic!("a line is a structure: {line:?}") };
    let [number, properties, _] = line.fields() else { panic!("three fields: {line:?}") };
    let number = number.downcast_ref::<i32>().expect("a number");
    let Value::Dict(properties) = properties else { panic!("properties: {properties:?}") };
    let label: Option<String> = properties.get(&"label").ok().flatten();
    TrayMenuLine { number, label: label.unwrap_or_default() }
}
