//! Drives the link: runs the machine's effects against one socket and one clock.

mod delivery;
mod event_buffer;
mod ping_limit;

use std::collections::VecDeque;
use std::time::Duration;

use protocol::{HubState, HubStatus, Timestamp};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::delivery::{DeliveryQueue, PendingResponse, PongKind};
use self::event_buffer::{EventBuffer, SendProgress};
use self::ping_limit::PingLimit;
use crate::handle::{HubEvent, HubHandle, IncomingMessage, LinkCommand, NotOnline, Receipt};
use crate::link_error::LinkError;
use crate::sleep_detector::SleepDetector;
use crate::socket::{LinkSocket, ReadMode, SocketEvent};
use crate::state_machine::{LinkEffect, LinkInput, LinkStateMachine, LinkTiming, StepContext};
use crate::wire::{IncomingFrame, InvalidFrame, Registration, ToHub};
use crate::{HubResponse, LinkConfig, clock};

const EVENT_CAPACITY: usize = 64;
/// A waiting link must notice within this time that the computer woke.
const SLEEP_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Starts the link in `tasks`; it runs until `cancel` or until the receiver is dropped, and then
/// leaves the hub with close code 1000. With a config it dials at once, without one it is off.
/// Events wait in a bounded channel; the link reads no further while that is full.
pub fn start(
    tasks: &TaskTracker,
    cancel: CancellationToken,
    config: Option<LinkConfig>,
) -> (HubHandle, mpsc::Receiver<HubEvent>) {
    start_timed(tasks, cancel, config, LinkTiming::default())
}

/// [`start`] with other times than the product's.
pub fn start_timed(
    tasks: &TaskTracker,
    cancel: CancellationToken,
    config: Option<LinkConfig>,
    timing: LinkTiming,
) -> (HubHandle, mpsc::Receiver<HubEvent>) {
    let (commands, received) = mpsc::unbounded_channel();
    let (events, outside) = mpsc::channel(EVENT_CAPACITY);
    let driver = LinkDriver {
        link: LinkStateMachine::new(timing),
        config: None,
        socket: LinkSocket::Closed,
        epoch: Instant::now(),
        sleep_detector: SleepDetector::new(std::time::Instant::now(), clock::system_time()),
        event_buffer: EventBuffer::new(events),
        last_status: None,
        ignored: 0,
        deliveries: DeliveryQueue::new(),
        delivery_hub: None,
        ping_limit: PingLimit::default(),
        commands: commands.clone(),
        received,
    };
    tasks.spawn(driver.run(cancel, config));
    (HubHandle::new(commands), outside)
}

struct LinkDriver {
    link: LinkStateMachine,
    config: Option<LinkConfig>,
    socket: LinkSocket,
    epoch: Instant,
    sleep_detector: SleepDetector,
    event_buffer: EventBuffer,
    /// The status told last.
    last_status: Option<HubStatus>,
    ignored: u32,
    /// Responses that are not surely read.
    deliveries: DeliveryQueue,
    /// The id of the hub that they are for: the last one with a config, also while the link is off.
    delivery_hub: Option<String>,
    ping_limit: PingLimit,
    /// Lent to receipts.
    commands: mpsc::UnboundedSender<LinkCommand>,
    received: mpsc::UnboundedReceiver<LinkCommand>,
}

/// The event that ends the wait of the loop.
enum DriverWakeup {
    Stop,
    EventTaken,
    Command(LinkCommand),
    Socket(SocketEvent),
    Time,
}

impl LinkDriver {
    async fn run(mut self, cancel: CancellationToken, config: Option<LinkConfig>) {
        self.configure(config).await;
        // A link that is off has said nothing yet; one that dials is not called off before.
        self.publish_status();
        loop {
            match self.next_wakeup(&cancel).await {
                DriverWakeup::Stop => break,
                // Until now nothing was read, so silence up to now means nothing.
                DriverWakeup::EventTaken => self.step(LinkInput::Heard).await,
                DriverWakeup::Command(command) => self.on_command(command).await,
                DriverWakeup::Socket(happened) => self.on_socket_event(happened).await,
                DriverWakeup::Time => self.on_tick().await,
            }
            self.flush_deliveries().await;
        }
        self.step(LinkInput::TurnOff).await;
    }

    async fn next_wakeup(&mut self, cancel: &CancellationToken) -> DriverWakeup {
        let due = self.next_deadline();
        let listening = self.read_mode();
        tokio::select! {
            () = cancel.cancelled() => DriverWakeup::Stop,
            flow = self.event_buffer.send_next() => match flow {
                SendProgress::Taken => DriverWakeup::EventTaken,
                SendProgress::Gone => DriverWakeup::Stop,
            },
            Some(command) = self.received.recv() => DriverWakeup::Command(command),
            happened = self.socket.next(listening) => DriverWakeup::Socket(happened),
            () = sleep_until(due.unwrap_or(self.epoch)), if due.is_some() => DriverWakeup::Time,
        }
    }

    /// When the machine or the post wants its tick, or when to look whether the computer slept.
    fn next_deadline(&self) -> Option<Instant> {
        let tick = self.link.next_tick()?;
        let tick = self.epoch + self.deliveries.pong_deadline().map_or(tick, |mute| mute.min(tick));
        Some(tick.min(Instant::now() + SLEEP_CHECK_INTERVAL))
    }

    fn read_mode(&self) -> ReadMode {
        if self.event_buffer.is_empty() { ReadMode::Yes } else { ReadMode::No }
    }

    async fn on_tick(&mut self) {
        if self.read_mode() == ReadMode::No {
            // While the link does not read, silence does not mean that the hub is gone.
            self.step(LinkInput::Heard).await;
        }
        if self.sleep_detector.has_slept(std::time::Instant::now(), clock::system_time()) {
            self.step(LinkInput::Wake).await;
        }
        self.deliveries.tick(self.epoch.elapsed());
        self.step(LinkInput::Tick).await;
    }

    async fn on_command(&mut self, command: LinkCommand) {
        match command {
            LinkCommand::Configure(config) => self.configure(config).await,
            LinkCommand::Retry => self.step(LinkInput::Retry).await,
            LinkCommand::Wake => self.step(LinkInput::Wake).await,
            LinkCommand::Receipt { hub, response } => {
                if self.delivery_hub.as_ref() == Some(&hub) {
                    self.deliveries.hold(PendingResponse { response, sent: None });
                }
            }
            LinkCommand::Send { hub, response, sent } => {
                let response = PendingResponse { response, sent: Some(sent) };
                if self.is_linked_to(&hub) {
                    self.send(response).await;
                } else {
                    response.notify_sender(Err(NotOnline));
                }
            }
        }
    }

    fn is_linked_to(&self, hub: &str) -> bool {
        self.config.as_ref().is_some_and(|config| config.hub_id() == hub)
    }

    async fn configure(&mut self, config: Option<LinkConfig>) {
        if config == self.config {
            return;
        }
        self.config = config;
        let hub = self.config.as_ref().map(LinkConfig::hub_id);
        // A new token or description is for the same hub, and one that is off may be linked to again.
        if hub.is_some() && hub != self.delivery_hub {
            self.deliveries.clear();
            self.delivery_hub = hub;
        }
        let input = if self.config.is_some() { LinkInput::TurnOn } else { LinkInput::TurnOff };
        self.step(input).await;
    }

    async fn on_socket_event(&mut self, happened: SocketEvent) {
        match happened {
            SocketEvent::Opened => self.step(LinkInput::Opened).await,
            SocketEvent::Lost(trouble) => self.step(LinkInput::Lost(trouble)).await,
            SocketEvent::Ping => self.on_ping().await,
            SocketEvent::Pong(bytes) => match self.deliveries.on_pong(&bytes) {
                PongKind::Asked => self.step(LinkInput::Heard).await,
                PongKind::Unasked => self.count_ignored_frame().await,
            },
            SocketEvent::Junk => self.count_ignored_frame().await,
            SocketEvent::Text(text) => match (IncomingFrame::parse(&text), self.link.state()) {
                (Ok(IncomingFrame::Registered), HubState::Registering) => {
                    self.step(LinkInput::Registered).await;
                }
                (Ok(IncomingFrame::Declined { code }), HubState::Registering) => {
                    self.step(LinkInput::Declined(LinkError::from_decline_code(&code))).await;
                }
                (
                    Ok(IncomingFrame::Message { id, text, origin, raw_timestamp }),
                    HubState::Online,
                ) => {
                    self.step(LinkInput::Heard).await;
                    let hub = self.config.as_ref().map(LinkConfig::hub_id).unwrap_or_default();
                    let receipt = Receipt::new(hub.clone(), id.clone(), self.commands.clone());
                    let message = IncomingMessage { hub, id, text, origin, raw_timestamp, receipt };
                    self.event_buffer.push(HubEvent::Message(message));
                }
                (Ok(IncomingFrame::Unusable { id, why }), HubState::Online) => {
                    self.step(LinkInput::Heard).await;
                    let response = HubResponse::Reject { message_id: id, reason: why.to_owned() };
                    self.deliveries.hold(PendingResponse { response, sent: None });
                }
                (Ok(_) | Err(InvalidFrame), _) => self.count_ignored_frame().await,
            },
        }
    }

    async fn count_ignored_frame(&mut self) {
        self.step(LinkInput::Heard).await;
        self.ignored = self.ignored.saturating_add(1);
        self.event_buffer.push(HubEvent::Ignored { count: self.ignored });
    }

    /// The library answers pings. The connection ends when there are so many that nothing else gets
    /// done.
    async fn on_ping(&mut self) {
        if self.ping_limit.allows(self.epoch.elapsed()) {
            return self.step(LinkInput::Heard).await;
        }
        self.socket.close_now(CloseCode::Policy);
        self.step(LinkInput::Lost(LinkError::Broken)).await;
    }

    /// Sends the queued receipts, and asks the hub whether it has read them.
    async fn flush_deliveries(&mut self) {
        while self.link.state() == HubState::Online
            && let Some(receipt) = self.deliveries.next_held()
        {
            self.send(receipt).await;
        }
        if self.link.state() == HubState::Online
            && self.deliveries.needs_ping()
            && let Err(trouble) = self.socket.ping(self.deliveries.next_ping(self.epoch.elapsed()))
        {
            self.step(LinkInput::Lost(trouble)).await;
        }
    }

    async fn send(&mut self, response: PendingResponse) {
        if self.link.state() != HubState::Online {
            return self.deliveries.hold(response);
        }
        let Some(frame) = response.response.clone().into_frame() else {
            return response.notify_sender(Ok(()));
        };
        match self.socket.write(frame.to_json()) {
            Ok(()) => self.deliveries.add_in_flight(response),
            Err(trouble) => {
                self.step(LinkInput::Lost(trouble)).await;
                self.deliveries.hold(response);
            }
        }
    }

    /// Steps the machine and runs its effects; one that fails is the next input.
    async fn step(&mut self, input: LinkInput) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let moment = StepContext { now: self.epoch.elapsed(), chance: fastrand::f64() };
            for effect in self.link.step(moment, input) {
                if let Err(trouble) = self.run_effect(effect).await {
                    inputs.push_back(LinkInput::Lost(trouble));
                }
            }
        }
    }

    async fn run_effect(&mut self, effect: LinkEffect) -> Result<(), LinkError> {
        match (effect, &self.config) {
            (LinkEffect::Dial, Some(config)) => {
                self.ping_limit = PingLimit::default();
                self.socket.dial(config.clone());
            }
            (LinkEffect::Register, Some(config)) => {
                return self.socket.write(registration(config).to_json());
            }
            (LinkEffect::Ping, _) => {
                return self.socket.ping(self.deliveries.next_ping(self.epoch.elapsed()));
            }
            (LinkEffect::Close, _) => {
                self.socket.close().await;
                self.deliveries.on_link_lost();
            }
            (LinkEffect::Drop, _) => {
                self.socket.discard();
                self.deliveries.on_link_lost();
            }
            (LinkEffect::Announce, _) => self.publish_status(),
            // Without a config the machine is off and has no such effects.
            (LinkEffect::Dial | LinkEffect::Register, None) => {}
        }
        Ok(())
    }

    /// The time of day at which the machine's clock will show `at`.
    fn to_wall_clock(&self, at: Duration) -> Timestamp {
        let left = at.saturating_sub(self.epoch.elapsed());
        let left = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
        Timestamp(clock::now().0.saturating_add(left))
    }

    fn publish_status(&mut self) {
        let trouble = self.link.last_error().zip(self.config.as_ref());
        let status = HubStatus {
            state: self.link.state(),
            trouble: trouble.map(|(trouble, config)| trouble.user_error(config)),
            retry_at: self.link.next_dial_at().map(|until| self.to_wall_clock(until)),
            ignored: self.ignored,
        };
        if self.last_status.as_ref() != Some(&status) {
            let trouble = status.trouble.as_ref().map(|error| &error.message);
            tracing::debug!(state = ?status.state, trouble = ?trouble, "hub link");
            self.last_status = Some(status.clone());
            self.event_buffer.push(HubEvent::Status(status));
        }
    }
}

fn registration(config: &LinkConfig) -> ToHub {
    ToHub::Registration(Registration {
        name: config.name.clone(),
        description: config.description.clone(),
        version: Some(env!("CARGO_PKG_VERSION").into()),
        capabilities: None,
    })
}
