//! One signal of one service of the computer, heard for as long as there is a bus.

use std::time::Duration;

use futures_util::StreamExt as _;
use zbus::message::Type;
use zbus::{MatchRule, Message, MessageStream};

use crate::bus::{Bus, CALL_TIMEOUT, with_timeout};

/// The time after which a bus that went, or was not there, is looked for again.
const RECONNECT_DELAY: Duration = Duration::from_secs(60);

/// The sender and the place of a signal on the bus.
#[derive(Debug)]
pub(crate) struct DbusSignal {
    pub(crate) sender: &'static str,
    pub(crate) path: &'static str,
    pub(crate) interface: &'static str,
    pub(crate) member: &'static str,
}

/// The signals as they come. Where nobody tells of them none ever does.
#[derive(Debug)]
pub(crate) struct DbusSignalStream {
    bus: Bus,
    signal: DbusSignal,
    stream: Option<MessageStream>,
}

impl DbusSignalStream {
    /// As told on `bus` from now on.
    pub(crate) async fn subscribe(bus: Bus, signal: DbusSignal) -> Self {
        let heard = listen(&bus, &signal).await;
        Self { bus, signal, stream: heard }
    }

    /// Resolves with the next one that `is_meant` takes. None is lost when this is dropped and called
    /// again.
    pub(crate) async fn next(&mut self, is_meant: impl Fn(&Message) -> bool) {
        loop {
            if let Some(heard) = &mut self.stream {
                while let Some(Ok(message)) = heard.next().await {
                    if is_meant(&message) {
                        return;
                    }
                }
            }
            self.stream = None;
            tokio::time::sleep(RECONNECT_DELAY).await;
            self.stream = listen(&self.bus, &self.signal).await;
        }
    }
}

async fn listen(bus: &Bus, signal: &DbusSignal) -> Option<MessageStream> {
    let connection = bus.connect().await?;
    let listening = with_timeout(CALL_TIMEOUT, async {
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .sender(signal.sender)?
            .path(signal.path)?
            .interface(signal.interface)?
            .member(signal.member)?
            .build();
        MessageStream::for_match_rule(rule, &connection, None).await
    });
    listening.await.map_err(|why| tracing::debug!(why, signal.member, "nobody tells of it")).ok()
}
