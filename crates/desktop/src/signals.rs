//! One signal of one service of the computer, heard for as long as there is a bus.

use std::time::Duration;

use futures_util::StreamExt as _;
use zbus::message::Type;
use zbus::{MatchRule, Message, MessageStream};

use crate::bus::{ANSWER, Bus, bounded};

/// A bus that went, or was not there, is looked for again after so long.
const AGAIN: Duration = Duration::from_secs(60);

/// Who tells what, and where on the bus.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) sender: &'static str,
    pub(crate) path: &'static str,
    pub(crate) interface: &'static str,
    pub(crate) member: &'static str,
}

/// The signals as they come. Where nobody tells of them none ever does.
#[derive(Debug)]
pub(crate) struct Signals {
    bus: Bus,
    signal: Signal,
    heard: Option<MessageStream>,
}

impl Signals {
    /// As told on `bus` from now on.
    pub(crate) async fn told_on(bus: Bus, signal: Signal) -> Self {
        let heard = listen(&bus, &signal).await;
        Self { bus, signal, heard }
    }

    /// Resolves with the next one that `is_meant` takes. None is lost when this is dropped and called
    /// again.
    pub(crate) async fn next(&mut self, is_meant: impl Fn(&Message) -> bool) {
        loop {
            if let Some(heard) = &mut self.heard {
                while let Some(Ok(message)) = heard.next().await {
                    if is_meant(&message) {
                        return;
                    }
                }
            }
            self.heard = None;
            tokio::time::sleep(AGAIN).await;
            self.heard = listen(&self.bus, &self.signal).await;
        }
    }
}

async fn listen(bus: &Bus, signal: &Signal) -> Option<MessageStream> {
    let connection = bus.connect().await?;
    let listening = bounded(ANSWER, async {
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
