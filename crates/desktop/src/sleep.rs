//! Tells when the computer has woken, as logind says it: `PrepareForSleep` is sent with `true`
//! before the computer sleeps and with `false` once it is awake again
//! (org.freedesktop.login1(5), "The Manager Object").

use std::time::Duration;

use futures_util::StreamExt as _;
use zbus::message::Type;
use zbus::{MatchRule, MessageStream};

use crate::bus::{ANSWER, Bus, bounded};

/// A bus that went, or was not there, is looked for again after so long.
const AGAIN: Duration = Duration::from_secs(60);

/// The times at which the computer wakes.
#[derive(Debug)]
pub struct Wakings {
    bus: Bus,
    signals: Option<MessageStream>,
}

impl Wakings {
    /// As told on `bus`, which is the computer's own, from now on.
    pub async fn told_on(bus: Bus) -> Self {
        let signals = listen(&bus).await;
        Self { bus, signals }
    }

    /// Resolves when the computer has woken. Where nobody tells of sleep it never does: the clocks
    /// must do then. A waking is not lost when this is dropped and called again.
    pub async fn next(&mut self) {
        loop {
            if let Some(signals) = &mut self.signals {
                while let Some(Ok(signal)) = signals.next().await {
                    if signal.body().deserialize::<bool>() == Ok(false) {
                        tracing::debug!("the computer woke");
                        return;
                    }
                }
            }
            self.signals = None;
            tokio::time::sleep(AGAIN).await;
            self.signals = listen(&self.bus).await;
        }
    }
}

async fn listen(bus: &Bus) -> Option<MessageStream> {
    let connection = bus.connect().await?;
    let listening = bounded(ANSWER, async {
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .sender("org.freedesktop.login1")?
            .path("/org/freedesktop/login1")?
            .interface("org.freedesktop.login1.Manager")?
            .member("PrepareForSleep")?
            .build();
        MessageStream::for_match_rule(rule, &connection, None).await
    });
    listening.await.map_err(|why| tracing::debug!(why, "nobody tells of sleep")).ok()
}
