//! Notifications as a service of the desktop gets them, and desktops without one.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and shares its doubles with the other tests"
)]

#[path = "../../../tests/support/dbus/notification_server.rs"]
mod notification_server;
#[path = "../../../tests/support/dbus/private_bus.rs"]
mod private_bus;

use std::time::{Duration, Instant};

use desktop::{Bus, DesktopNotification, NotificationCommand, run_notifications};
use notification_server::FakeNotificationServer;
use private_bus::PrivateBus;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const NAME: &str = "org.freedesktop.Notifications";

fn card(key: &str, body: &str) -> DesktopNotification {
    DesktopNotification {
        key: key.into(),
        summary: "A question waits".into(),
        body: body.into(),
        open_label: "Open".into(),
    }
}

/// A task that carries out commands on a bus, and the clicks that it reports.
struct NotificationFixture {
    orders: mpsc::Sender<NotificationCommand>,
    clicks: mpsc::UnboundedReceiver<String>,
    work: JoinSet<()>,
}

impl NotificationFixture {
    fn on(address: &str) -> Self {
        let (orders, taken) = mpsc::channel(16);
        let (click, clicks) = mpsc::unbounded_channel();
        let mut work = JoinSet::new();
        work.spawn(run_notifications(Bus::at(address), taken, move |key| drop(click.send(key))));
        Self { orders, clicks, work }
    }

    async fn show(&self, key: &str, body: &str) {
        self.orders
            .send(NotificationCommand::Show(card(key, body)))
            .await
            .expect("somebody takes orders");
    }

    async fn clicked(&mut self) -> String {
        let clicked = tokio::time::timeout(Duration::from_secs(20), self.clicks.recv()).await;
        clicked.expect("a click comes").expect("somebody listens")
    }

    /// Resolves when all orders are carried out, with the time that took.
    async fn finish(mut self) -> Duration {
        let began = Instant::now();
        drop(self.orders);
        self.work.join_next().await.expect("it worked").expect("it did not panic");
        began.elapsed()
    }
}

#[tokio::test]
async fn a_notification_is_shown_replaced_by_one_of_its_key_and_withdrawn() {
    let bus = PrivateBus::start();
    let board = FakeNotificationServer::start(bus.address()).await;
    let fixture = NotificationFixture::on(bus.address());
    fixture.show("one", "first").await;
    fixture.show("one", "second").await;
    fixture.show("two", "third").await;
    let third = board.wait_for_notification("the third", |shown| shown.body == "third").await;
    let ids: Vec<u32> = board.shown().iter().map(|shown| shown.id).collect();
    assert_eq!(ids, [1, 1, 2]);
    assert_eq!(third.actions, ["default", "Open"]);
    fixture.orders.send(NotificationCommand::Withdraw("two".into())).await.expect("taken");
    board.wait_until_closed(2).await;
    fixture.finish().await;
}

#[tokio::test]
async fn a_click_names_the_notification_and_a_closed_one_is_shown_again() {
    let bus = PrivateBus::start();
    let board = FakeNotificationServer::start(bus.address()).await;
    let mut fixture = NotificationFixture::on(bus.address());
    fixture.show("one", "first").await;
    fixture.show("two", "second").await;
    board.wait_for_notification("the second", |shown| shown.body == "second").await;
    // A notification of another program, and a closed one, open nothing.
    board.click(77).await;
    board.dismiss(1).await;
    board.click(1).await;
    board.click(2).await;
    assert_eq!(fixture.clicked().await, "two");
    fixture.show("one", "third").await;
    let third = board.wait_for_notification("the third", |shown| shown.body == "third").await;
    assert_eq!(third.id, 3, "it replaces nothing");
    fixture.finish().await;
}

#[tokio::test]
async fn words_are_one_bounded_line_and_never_markup_whatever_the_service_reads() {
    let hostile = format!("<a href=\"x\">click</a> & {}\n\u{202e}end", "long ".repeat(200));
    for able in [&["body", "body-markup"][..], &["body"][..]] {
        let bus = PrivateBus::start();
        let board = FakeNotificationServer::start_with_capabilities(able, bus.address()).await;
        let fixture = NotificationFixture::on(bus.address());
        fixture.show("one", &hostile).await;
        let shown = board.wait_for_notification("it", |_| true).await;
        assert!(!shown.body.contains(['<', '>', '\n', '\u{202e}']), "{able:?}: {}", shown.body);
        assert!(shown.body.chars().count() < 260, "{}", shown.body);
        fixture.finish().await;
    }
}

#[tokio::test]
async fn without_a_bus_or_a_service_orders_come_to_nothing_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = format!("unix:path={}", folder.path().join("none").display());
    let bus = PrivateBus::start();
    for address in [missing.as_str(), bus.address()] {
        let fixture = NotificationFixture::on(address);
        fixture.show("one", "first").await;
        fixture.show("two", "second").await;
        let took = fixture.finish().await;
        assert!(took < Duration::from_secs(3), "{address}: {took:?}");
    }
}

#[tokio::test]
async fn a_service_that_is_started_and_never_comes_is_waited_for_once_and_not_long() {
    let bus = PrivateBus::with_unresponsive_services(&[NAME]);
    let fixture = NotificationFixture::on(bus.address());
    for number in 0..10 {
        fixture.show(&number.to_string(), "words").await;
    }
    let took = fixture.finish().await;
    assert!(took > Duration::from_secs(3), "it was not called at all: {took:?}");
    assert!(took < Duration::from_secs(9), "it was waited for more than once: {took:?}");
}
