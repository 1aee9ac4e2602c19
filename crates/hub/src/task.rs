//! Drives the link: runs the machine's effects against one socket and one clock.

mod outlet;

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use protocol::{HubState, HubStatus};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::outlet::{Flow, Outlet};
use crate::handle::{Command, HubEvent, HubHandle, IncomingMessage, NotOnline, Receipt};
use crate::link::{Effect, Input, Link, Moment, Timing};
use crate::socket::{Happened, Listening, Socket};
use crate::trouble::Trouble;
use crate::wake::WakeWatch;
use crate::wire::{Incoming, Junk, Registration, ToHub};
use crate::{LinkConfig, Response};

const EVENTS: usize = 64;
/// As many as the hub remembers deliveries: an older receipt would mean nothing to it.
const HELD: usize = 100;
/// A link that waits must notice within so long that the computer woke.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Starts the link in `tasks`; it runs until `cancel` or until the receiver is dropped, and then
/// leaves the hub with close code 1000. With a config it dials at once, without one it is off.
/// Events wait in a bounded channel; the link reads no further while that is full.
pub fn start(
    tasks: &TaskTracker,
    cancel: CancellationToken,
    config: Option<LinkConfig>,
) -> (HubHandle, mpsc::Receiver<HubEvent>) {
    start_timed(tasks, cancel, config, Timing::default())
}

/// [`start`] with other times than the product's.
pub fn start_timed(
    tasks: &TaskTracker,
    cancel: CancellationToken,
    config: Option<LinkConfig>,
    timing: Timing,
) -> (HubHandle, mpsc::Receiver<HubEvent>) {
    let (commands, received) = mpsc::unbounded_channel();
    let (events, outside) = mpsc::channel(EVENTS);
    let driver = Driver {
        link: Link::new(timing),
        config: None,
        socket: Socket::Closed,
        epoch: Instant::now(),
        watch: WakeWatch::new(std::time::Instant::now(), SystemTime::now()),
        outlet: Outlet::new(events),
        told: None,
        ignored: 0,
        held: VecDeque::new(),
        commands: commands.clone(),
        received,
    };
    tasks.spawn(driver.run(cancel, config));
    (HubHandle::new(commands), outside)
}

struct Driver {
    link: Link,
    config: Option<LinkConfig>,
    socket: Socket,
    epoch: Instant,
    watch: WakeWatch,
    outlet: Outlet,
    /// The status told last.
    told: Option<HubStatus>,
    ignored: u64,
    /// Receipts given while the link was down.
    held: VecDeque<Response>,
    /// Lent to receipts.
    commands: mpsc::UnboundedSender<Command>,
    received: mpsc::UnboundedReceiver<Command>,
}

/// What ends the wait of the loop.
enum Next {
    Stop,
    EventTaken,
    Command(Command),
    Socket(Happened),
    Time,
}

impl Driver {
    async fn run(mut self, cancel: CancellationToken, config: Option<LinkConfig>) {
        self.configure(config).await;
        // A link that is off has said nothing yet; one that dials is not called off before.
        self.announce();
        loop {
            match self.next(&cancel).await {
                Next::Stop => break,
                // Until now nothing was read, so silence up to now means nothing.
                Next::EventTaken => self.step(Input::Heard).await,
                Next::Command(command) => self.obey(command).await,
                Next::Socket(happened) => self.notice(happened).await,
                Next::Time => self.time_passed().await,
            }
            self.send_held().await;
        }
        self.step(Input::TurnOff).await;
    }

    async fn next(&mut self, cancel: &CancellationToken) -> Next {
        let due = self.due();
        let listening = self.listening();
        tokio::select! {
            () = cancel.cancelled() => Next::Stop,
            flow = self.outlet.drive() => match flow {
                Flow::Taken => Next::EventTaken,
                Flow::Gone => Next::Stop,
            },
            Some(command) = self.received.recv() => Next::Command(command),
            happened = self.socket.next(listening) => Next::Socket(happened),
            () = sleep_until(due.unwrap_or(self.epoch)), if due.is_some() => Next::Time,
        }
    }

    /// When the machine wants its tick, or when to look whether the computer slept.
    fn due(&self) -> Option<Instant> {
        let tick = self.epoch + self.link.next_tick()?;
        Some(tick.min(Instant::now() + LOOK_EVERY))
    }

    fn listening(&self) -> Listening {
        if self.outlet.is_empty() { Listening::Yes } else { Listening::No }
    }

    async fn time_passed(&mut self) {
        if self.listening() == Listening::No {
            // Whoever does not listen must not take silence for death.
            self.step(Input::Heard).await;
        }
        if self.watch.slept(std::time::Instant::now(), SystemTime::now()) {
            self.step(Input::Wake).await;
        }
        self.step(Input::Tick).await;
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Configure(config) => self.configure(config).await,
            Command::Retry => self.step(Input::Retry).await,
            Command::Wake => self.step(Input::Wake).await,
            Command::Receipt(receipt) => {
                self.held.push_back(receipt);
                if self.held.len() > HELD {
                    self.held.pop_front();
                }
            }
            Command::Send { response, sent } => {
                let outcome = self.send(response).await;
                // The sender may have stopped waiting; then it does not care.
                let _ = sent.send(outcome);
            }
        }
    }

    async fn configure(&mut self, config: Option<LinkConfig>) {
        if config == self.config {
            return;
        }
        self.config = config;
        self.held.clear();
        let input = if self.config.is_some() { Input::TurnOn } else { Input::TurnOff };
        self.step(input).await;
    }

    async fn notice(&mut self, happened: Happened) {
        match happened {
            Happened::Opened => self.step(Input::Opened).await,
            Happened::Lost(trouble) => self.step(Input::Lost(trouble)).await,
            Happened::Alive => self.step(Input::Heard).await,
            Happened::Junk => self.ignore().await,
            Happened::Text(text) => match (Incoming::read(&text), self.link.state()) {
                (Ok(Incoming::Registered), HubState::Registering) => {
                    self.step(Input::Registered).await;
                }
                (Ok(Incoming::Declined { code }), HubState::Registering) => {
                    self.step(Input::Declined(Trouble::declined(&code))).await;
                }
                (Ok(Incoming::Message { id, text, origin, raw_timestamp }), HubState::Online) => {
                    self.step(Input::Heard).await;
                    let receipt = Receipt::new(id.clone(), self.commands.clone());
                    let message = IncomingMessage { id, text, origin, raw_timestamp, receipt };
                    self.outlet.push(HubEvent::Message(message));
                }
                (Ok(_) | Err(Junk), _) => self.ignore().await,
            },
        }
    }

    async fn ignore(&mut self) {
        self.step(Input::Heard).await;
        self.ignored += 1;
        self.outlet.push(HubEvent::Ignored { count: self.ignored });
    }

    async fn send_held(&mut self) {
        while self.link.state() == HubState::Online
            && let Some(receipt) = self.held.pop_front()
        {
            let _ = self.send(receipt).await;
        }
    }

    async fn send(&mut self, response: Response) -> Result<(), NotOnline> {
        if self.link.state() != HubState::Online {
            return Err(NotOnline);
        }
        let Some(frame) = response.into_frame() else { return Ok(()) };
        match self.socket.write(frame.print()) {
            Ok(()) => Ok(()),
            Err(trouble) => {
                self.step(Input::Lost(trouble)).await;
                Err(NotOnline)
            }
        }
    }

    /// Steps the machine and runs its effects; one that fails is the next input.
    async fn step(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let moment = Moment { now: self.epoch.elapsed(), chance: fastrand::f64() };
            for effect in self.link.step(moment, input) {
                if let Err(trouble) = self.act(effect).await {
                    inputs.push_back(Input::Lost(trouble));
                }
            }
        }
    }

    async fn act(&mut self, effect: Effect) -> Result<(), Trouble> {
        match (effect, &self.config) {
            (Effect::Dial, Some(config)) => self.socket.dial(config.clone()),
            (Effect::Register, Some(config)) => {
                return self.socket.write(registration(config).print());
            }
            (Effect::Ping, _) => return self.socket.ping(),
            (Effect::Close, _) => self.socket.close().await,
            (Effect::Drop, _) => self.socket.abandon(),
            (Effect::Announce, _) => self.announce(),
            // Without a config the machine is off and has no such effects.
            (Effect::Dial | Effect::Register, None) => {}
        }
        Ok(())
    }

    fn announce(&mut self) {
        let trouble = self.link.trouble().zip(self.config.as_ref());
        let status = HubStatus {
            state: self.link.state(),
            trouble: trouble.map(|(trouble, config)| trouble.sentence(config)),
        };
        if self.told.as_ref() != Some(&status) {
            tracing::debug!(state = ?status.state, trouble = ?status.trouble, "hub link");
            self.told = Some(status.clone());
            self.outlet.push(HubEvent::Status(status));
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
