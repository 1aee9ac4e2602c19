//! Drives the link: runs the machine's effects against one socket and one clock.

mod flood;
mod outlet;
mod post;

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use protocol::{HubState, HubStatus, Timestamp};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::flood::Flood;
use self::outlet::{Flow, Outlet};
use self::post::{Letter, Pong, Post};
use crate::handle::{Command, HubEvent, HubHandle, IncomingMessage, Receipt};
use crate::link::{Effect, Input, Link, Moment, Timing};
use crate::socket::{Happened, Listening, Socket};
use crate::trouble::Trouble;
use crate::wake::WakeWatch;
use crate::wire::{Incoming, Junk, Registration, ToHub};
use crate::{LinkConfig, Response};

const EVENTS: usize = 64;
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
        post: Post::new(),
        flood: Flood::default(),
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
    ignored: u32,
    /// Responses that are not surely read.
    post: Post,
    flood: Flood,
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
            self.mind_post().await;
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

    /// When the machine or the post wants its tick, or when to look whether the computer slept.
    fn due(&self) -> Option<Instant> {
        let tick = self.link.next_tick()?;
        let tick = self.epoch + self.post.mute_at().map_or(tick, |mute| mute.min(tick));
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
        self.post.tick(self.epoch.elapsed());
        self.step(Input::Tick).await;
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Configure(config) => self.configure(config).await,
            Command::Retry => self.step(Input::Retry).await,
            Command::Wake => self.step(Input::Wake).await,
            Command::Receipt(response) => self.post.hold(Letter { response, sent: None }),
            Command::Send { response, sent } => {
                self.send(Letter { response, sent: Some(sent) }).await;
            }
        }
    }

    async fn configure(&mut self, config: Option<LinkConfig>) {
        if config == self.config {
            return;
        }
        self.config = config;
        self.post.forget();
        let input = if self.config.is_some() { Input::TurnOn } else { Input::TurnOff };
        self.step(input).await;
    }

    async fn notice(&mut self, happened: Happened) {
        match happened {
            Happened::Opened => self.step(Input::Opened).await,
            Happened::Lost(trouble) => self.step(Input::Lost(trouble)).await,
            Happened::Ping => self.pinged().await,
            Happened::Pong(bytes) => match self.post.pong(&bytes) {
                Pong::Asked => self.step(Input::Heard).await,
                Pong::Unasked => self.ignore().await,
            },
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
                (Ok(Incoming::Unusable { id, why }), HubState::Online) => {
                    self.step(Input::Heard).await;
                    let response = Response::Reject { message_id: id, reason: why.to_owned() };
                    self.post.hold(Letter { response, sent: None });
                }
                (Ok(_) | Err(Junk), _) => self.ignore().await,
            },
        }
    }

    async fn ignore(&mut self) {
        self.step(Input::Heard).await;
        self.ignored = self.ignored.saturating_add(1);
        self.outlet.push(HubEvent::Ignored { count: self.ignored });
    }

    /// The library answers a ping; so many that answering is all we do end the connection.
    async fn pinged(&mut self) {
        if self.flood.takes(self.epoch.elapsed()) {
            return self.step(Input::Heard).await;
        }
        self.socket.break_off(CloseCode::Policy);
        self.step(Input::Lost(Trouble::Broken)).await;
    }

    /// Sends the receipts that wait, and asks the hub whether it has read what was sent.
    async fn mind_post(&mut self) {
        while self.link.state() == HubState::Online
            && let Some(receipt) = self.post.next_held()
        {
            self.send(receipt).await;
        }
        if self.link.state() == HubState::Online
            && self.post.wants_ping()
            && let Err(trouble) = self.socket.ping(self.post.ping(self.epoch.elapsed()))
        {
            self.step(Input::Lost(trouble)).await;
        }
    }

    async fn send(&mut self, letter: Letter) {
        if self.link.state() != HubState::Online {
            return self.post.hold(letter);
        }
        let Some(frame) = letter.response.clone().into_frame() else { return letter.tell(Ok(())) };
        match self.socket.write(frame.print()) {
            Ok(()) => self.post.written(letter),
            Err(trouble) => {
                self.step(Input::Lost(trouble)).await;
                self.post.hold(letter);
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
            (Effect::Dial, Some(config)) => {
                self.flood = Flood::default();
                self.socket.dial(config.clone());
            }
            (Effect::Register, Some(config)) => {
                return self.socket.write(registration(config).print());
            }
            (Effect::Ping, _) => return self.socket.ping(self.post.ping(self.epoch.elapsed())),
            (Effect::Close, _) => {
                self.socket.close().await;
                self.post.lost();
            }
            (Effect::Drop, _) => {
                self.socket.abandon();
                self.post.lost();
            }
            (Effect::Announce, _) => self.announce(),
            // Without a config the machine is off and has no such effects.
            (Effect::Dial | Effect::Register, None) => {}
        }
        Ok(())
    }

    /// The time of day at which the machine's clock will show `at`.
    fn by_the_wall(&self, at: Duration) -> Timestamp {
        let left = at.saturating_sub(self.epoch.elapsed());
        let left = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
        Timestamp(jiff::Timestamp::now().as_millisecond().saturating_add(left))
    }

    fn announce(&mut self) {
        let trouble = self.link.trouble().zip(self.config.as_ref());
        let status = HubStatus {
            state: self.link.state(),
            trouble: trouble.map(|(trouble, config)| trouble.sentence(config)),
            retry_at: self.link.waits_until().map(|until| self.by_the_wall(until)),
            ignored: self.ignored,
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
