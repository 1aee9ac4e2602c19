//! The application's side of the link: its handle, its events and the receipts of messages.

use protocol::{HubStatus, Origin};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::{HubResponse, LinkConfig};

/// Steers the link. Cheap to clone; dropping it does not stop the link, cancelling does.
#[derive(Debug, Clone)]
pub struct HubHandle {
    commands: mpsc::UnboundedSender<LinkCommand>,
}

impl HubHandle {
    pub(crate) const fn new(commands: mpsc::UnboundedSender<LinkCommand>) -> Self {
        Self { commands }
    }

    /// Links to the hub of `config`, or to none. Returns at once; the same config again changes
    /// nothing, another one ends the old link with close code 1000 first.
    pub fn configure(&self, config: Option<LinkConfig>) {
        self.send_command(LinkCommand::Configure(config));
    }

    /// Dials now, also when the hub refused us before. Without a config it does nothing.
    pub fn retry(&self) {
        self.send_command(LinkCommand::Retry);
    }

    /// The computer woke or the network came back: the link tries again at once.
    pub fn wake(&self) {
        self.send_command(LinkCommand::Wake);
    }

    /// Sends one response. `Ok` means that the hub has read it: it has answered a ping that was sent
    /// behind it, which is all there is to know, as a hub confirms nothing itself. From a hub that
    /// answers no pings `Ok` means that it is on its way. After `Err` it may have been read: send the
    /// very same once more, and a hub shows it once if that is within five seconds. A response for
    /// another hub than the one with the id `hub` is never sent.
    pub async fn send(&self, hub: &str, response: HubResponse) -> Result<(), NotOnline> {
        let (sent, outcome) = oneshot::channel();
        self.send_command(LinkCommand::Send { hub: hub.to_owned(), response, sent });
        outcome.await.unwrap_or(Err(NotOnline))
    }

    fn send_command(&self, command: LinkCommand) {
        // A link that has ended cares for nothing any more.
        let _ = self.commands.send(command);
    }
}

/// There is no registered link to the hub of the response now. Keep the response and send it when `Online` is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("The hub isn’t connected. Keep the response and send it later.")]
pub struct NotOnline;

/// The events of the link, in order. While nobody takes them the link stops reading from the hub.
#[derive(Debug)]
pub enum HubEvent {
    /// The link moved. `Online` means that the hub has accepted our name.
    Status(HubStatus),
    /// A message came. Ids may repeat: knowing them again is the receiver's part.
    Message(IncomingMessage),
    /// Frames were ignored because they were not what a hub sends.
    Ignored {
        /// How many since the link was started.
        count: u32,
    },
}

/// A message as the hub delivered it.
#[derive(Debug)]
pub struct IncomingMessage {
    /// The id of the hub that it came from; see [`LinkConfig::hub_id_of`].
    pub hub: String,
    /// The hub's id, at most 256 bytes without control characters: data, never a path.
    pub id: String,
    /// The text: not blank, control characters shown as symbols.
    pub text: String,
    /// Spoken or typed.
    pub origin: Origin,
    /// When the hub says it was sent; unchecked.
    pub raw_timestamp: Option<String>,
    /// To be given back as soon as the message is safe.
    pub receipt: Receipt,
}

/// The right to say once what became of a message. The hub waits 30 s for it and then asks others;
/// dropping it says nothing. Given while the link is down or off, it is sent after the next
/// registration at the same hub, also with another token or description; so is one that went out
/// over a link that ended before the hub has surely read it. No other hub gets it: once another one
/// is linked to, it is given up.
#[derive(Debug)]
#[must_use = "the hub takes silence for a refusal"]
pub struct Receipt {
    hub: String,
    message_id: String,
    commands: mpsc::UnboundedSender<LinkCommand>,
}

impl Receipt {
    pub(crate) const fn new(
        hub: String,
        message_id: String,
        commands: mpsc::UnboundedSender<LinkCommand>,
    ) -> Self {
        Self { hub, message_id, commands }
    }

    /// The message is stored: the hub may drop it.
    pub fn ack(self) {
        let response = HubResponse::Ack { message_id: self.message_id };
        let _ = self.commands.send(LinkCommand::Receipt { hub: self.hub, response });
    }

    /// The message cannot be taken, for a reason the user will read.
    pub fn reject(self, reason: &str) {
        let response = HubResponse::Reject { message_id: self.message_id, reason: reason.into() };
        let _ = self.commands.send(LinkCommand::Receipt { hub: self.hub, response });
    }
}

/// The commands for the task. The channel is unbounded so that a receipt can be given from
/// anywhere; it holds at most as many commands as messages were delivered and settings changed.
#[derive(Debug)]
pub(crate) enum LinkCommand {
    Configure(Option<LinkConfig>),
    Retry,
    Wake,
    Receipt { hub: String, response: HubResponse },
    Send { hub: String, response: HubResponse, sent: oneshot::Sender<Result<(), NotOnline>> },
}
