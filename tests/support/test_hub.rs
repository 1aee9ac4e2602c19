//! A real hub on loopback, watched: what was sent, acknowledged, shown, and how long it took.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use hub_server::{
    DeliveryReport, HubNotification, InputMethod, LocalHub, LocalHubEvent, ReportsWanted, send,
};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::polling::TEST_TIMEOUT;

/// A hub that can be ended and started again on the same port. Ended on drop.
#[derive(Debug)]
pub struct TestHub {
    address: SocketAddr,
    seen: watch::Sender<Vec<(Instant, LocalHubEvent)>>,
    running: Option<HubTasks>,
}

#[derive(Debug)]
struct HubTasks {
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl TestHub {
    /// Listens on a free port.
    pub async fn start() -> Self {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut hub = Self { address: anywhere, seen: watch::Sender::default(), running: None };
        hub.restart().await;
        hub
    }

    /// Listens again on the same port; neither the hub nor `TestHub::seen` remembers what was.
    pub async fn restart(&mut self) {
        self.kill().await;
        self.seen.send_replace(Vec::new());
        let hub = LocalHub::bind(self.address, None).await.expect("the port is free");
        self.address = hub.address();
        let (cancel, mut tasks) = (CancellationToken::new(), JoinSet::new());
        let (mut events, seen) = (hub.events(), self.seen.clone());
        tasks.spawn(hub.run(cancel.clone()));
        tasks.spawn(async move {
            loop {
                match events.recv().await {
                    Ok(event) => seen.send_modify(|all| all.push((Instant::now(), event))),
                    Err(RecvError::Lagged(lost)) => panic!("{lost} events of the hub were missed"),
                    Err(RecvError::Closed) => break,
                }
            }
        });
        self.running = Some(HubTasks { cancel, tasks });
    }

    /// Ends it as a crash would: sockets just go. Resolves when the port is free.
    pub async fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.tasks.shutdown().await;
        }
    }

    /// Ends it as its user would: clients are told; resolves when it is gone.
    pub async fn stop(&mut self) {
        if let Some(HubTasks { cancel, mut tasks }) = self.running.take() {
            cancel.cancel();
            while tasks.join_next().await.is_some() {}
        }
    }

    /// The address for a client.
    #[must_use]
    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Says `text` to the only client; answers the message's id once it went out.
    pub async fn send(&self, text: &str) -> String {
        let given =
            send(self.address, None, text, InputMethod::Text, ReportsWanted::Delivery).await;
        let mut reports = given.expect("the hub takes the text");
        match reports.next().await {
            Some(Ok(DeliveryReport::Delivered { id, .. })) => id,
            other => panic!("`{text}` was not delivered: {other:?}"),
        }
    }

    /// Resolves once a client is registered; answers its name.
    pub async fn wait_for_registration(&self) -> String {
        self.wait_for_first("a client", |seen| match seen {
            LocalHubEvent::Registered { name } => Some(name.clone()),
            _ => None,
        })
        .await
        .1
    }

    /// Resolves once a client was registered so many times since the hub began.
    pub async fn wait_for_registrations(&self, times: usize) {
        let mut all = self.seen.subscribe();
        let is_one = |(_, seen): &&(Instant, LocalHubEvent)| {
            matches!(seen, LocalHubEvent::Registered { .. })
        };
        let enough = all.wait_for(|all| all.iter().filter(is_one).count() >= times);
        let enough = tokio::time::timeout(TEST_TIMEOUT, enough).await.map(drop);
        assert!(enough.is_ok(), "no client came {times} times; the hub saw {:#?}", self.events());
    }

    /// Resolves once a client that was registered has gone.
    pub async fn wait_until_left(&self) {
        let gone = |seen: &LocalHubEvent| matches!(seen, LocalHubEvent::Left { .. }).then_some(());
        self.wait_for_first("a client's leaving", gone).await;
    }

    /// Resolves once the message is acknowledged; answers the time since it went out.
    pub async fn wait_for_ack(&self, message: &str) -> Duration {
        let sent = self.wait_for_first("the delivery", |seen| delivered(seen, message)).await.0;
        let acked = self.wait_for_first("the ack", |seen| match seen {
            LocalHubEvent::Acked { id, .. } if id == message => Some(()),
            _ => None,
        });
        acked.await.0.duration_since(sent)
    }

    /// Resolves with the first notification for the message that comes out of the hub.
    pub async fn wait_for_notification(&self, message: &str) -> HubNotification {
        self.wait_for_notification_within(message, TEST_TIMEOUT).await
    }

    /// As [`Self::wait_for_notification`], for a model that may take so long.
    pub async fn wait_for_notification_within(
        &self,
        message: &str,
        timeout: Duration,
    ) -> HubNotification {
        let select = |seen: &LocalHubEvent| match seen {
            LocalHubEvent::Notified { id, notice, .. } if id == message => Some(notice.clone()),
            _ => None,
        };
        self.wait_for_first_within("a notification", select, timeout).await.1
    }

    /// Resolves once a notification for the message says this.
    pub async fn wait_for_notification_text(&self, message: &str, words: &str) {
        let says = |seen: &LocalHubEvent| match seen {
            LocalHubEvent::Notified { id, notice, .. }
                if id == message && notice.body.contains(words) =>
            {
                Some(())
            }
            _ => None,
        };
        self.wait_for_first(words, says).await;
    }

    /// Everything that happened, oldest first.
    #[must_use]
    pub fn events(&self) -> Vec<LocalHubEvent> {
        self.seen.borrow().iter().map(|(_, seen)| seen.clone()).collect()
    }

    async fn wait_for_first<T>(
        &self,
        what: &str,
        select: impl Fn(&LocalHubEvent) -> Option<T>,
    ) -> (Instant, T) {
        self.wait_for_first_within(what, select, TEST_TIMEOUT).await
    }

    async fn wait_for_first_within<T>(
        &self,
        what: &str,
        select: impl Fn(&LocalHubEvent) -> Option<T>,
        timeout: Duration,
    ) -> (Instant, T) {
        let find = |all: &Vec<(Instant, LocalHubEvent)>| {
            all.iter().find_map(|(at, seen)| select(seen).map(|found| (*at, found)))
        };
        let mut all = self.seen.subscribe();
        let found = all.wait_for(|all| find(all).is_some());
        let Ok(found) = tokio::time::timeout(timeout, found).await else {
            panic!("{what} did not come; the hub saw {:#?}", self.events())
        };
        find(&found.expect("the list is held by `self`")).expect("it was found a moment ago")
    }
}

fn delivered(event: &LocalHubEvent, message: &str) -> Option<()> {
    matches!(event, LocalHubEvent::Delivered { id, .. } if id == message).then_some(())
}

#[cfg(test)]
mod tests {
    use hub::{HubEvent, HubResponse, LinkConfig, Priority};
    use tokio_util::task::TaskTracker;

    use super::*;

    #[tokio::test]
    async fn a_message_is_delivered_acknowledged_and_answered_and_again_after_a_crash() {
        let mut hub = TestHub::start().await;
        let config = LinkConfig::new(&hub.url(), "Notes", "Keeps notes.").expect("a config");
        let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
        let (handle, mut events) = hub::start(&tasks, cancel.clone(), Some(config));
        let mut client = JoinSet::new();
        client.spawn(async move {
            while let Some(event) = events.recv().await {
                let HubEvent::Message(message) = event else { continue };
                message.receipt.ack();
                let (from, title, body) = (message.hub, "Saved".into(), message.text);
                let answer = HubResponse::Notification {
                    message_id: message.id,
                    title,
                    body,
                    priority: Priority::Normal,
                };
                // The crash may come before the link knows that it was read.
                let _ = handle.send(&from, answer).await;
            }
        });
        for text in ["remember milk", "and bread"] {
            assert_eq!(hub.wait_for_registration().await, "Notes");
            let id = hub.send(text).await;
            assert!(hub.wait_for_ack(&id).await < Duration::from_secs(1));
            assert_eq!(hub.wait_for_notification(&id).await.body, text);
            hub.restart().await;
        }
        cancel.cancel();
    }
}
