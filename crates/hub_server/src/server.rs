//! Runs a local hub: takes connections, and carries between the lines and the board.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use hub::Token;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

use crate::connection::{ConnectionEvent, FromConnection, HubConnection, ToConnection};
use crate::handshake::SocketPurpose;
use crate::state::{HubAction, LocalHubState};
use crate::throttle::NotificationThrottle;
use crate::{LocalHubEvent, LocalHubLimits};

const EVENT_CAPACITY: usize = 256;
/// The time that the connections have to end when the hub stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Everything a running hub owns.
pub(crate) struct LocalHubServer {
    state: LocalHubState,
    throttle: NotificationThrottle,
    connections: HashMap<u64, mpsc::Sender<ToConnection>>,
    tasks: JoinSet<()>,
    epoch: Instant,
    events: broadcast::Sender<LocalHubEvent>,
    slots: Arc<Semaphore>,
    to_hub: mpsc::Sender<FromConnection>,
    from_connections: mpsc::Receiver<FromConnection>,
    next_connection: u64,
    token: Option<Token>,
    limits: LocalHubLimits,
}

impl LocalHubServer {
    pub(crate) fn new(
        token: Option<Token>,
        rules: LocalHubLimits,
        seen: broadcast::Sender<LocalHubEvent>,
    ) -> Self {
        let (to_hub, news) = mpsc::channel(EVENT_CAPACITY);
        Self {
            state: LocalHubState::new(rules.response_timeout),
            throttle: NotificationThrottle::new(&rules),
            connections: HashMap::new(),
            tasks: JoinSet::new(),
            epoch: Instant::now(),
            events: seen,
            slots: Arc::new(Semaphore::new(rules.sockets)),
            to_hub,
            from_connections: news,
            next_connection: 0,
            token,
            limits: rules,
        }
    }

    /// Waits for one thing to happen and does what follows from it.
    pub(crate) async fn step(
        &mut self,
        listener: &TcpListener,
        cancel: &CancellationToken,
    ) -> ControlFlow<()> {
        let due = [self.state.next_tick(), self.throttle.next_due()].into_iter().flatten().min();
        let due = due.map(|due| self.epoch + due);
        tokio::select! {
            () = cancel.cancelled() => return ControlFlow::Break(()),
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => self.connect(stream, peer),
                Err(error) => {
                    // Out of sockets, most likely. Trying again at once would only burn time.
                    tracing::warn!(%error, "the hub cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(FromConnection { line, event: news }) = self.from_connections.recv() => self.on_connection_event(line, news),
            Some(_) = self.tasks.join_next() => {}
            () = sleep_until(due.unwrap_or(self.epoch)), if due.is_some() => self.on_tick(),
        }
        ControlFlow::Continue(())
    }

    fn connect(&mut self, stream: TcpStream, peer: SocketAddr) {
        self.next_connection += 1;
        let line = HubConnection {
            id: self.next_connection,
            peer,
            slot: self.slots.clone().try_acquire_owned().ok(),
            token: self.token.clone(),
            handshake: self.limits.handshake,
            ping_every: self.limits.ping_every,
            to_hub: self.to_hub.clone(),
        };
        self.tasks.spawn(line.run(stream));
    }

    fn on_connection_event(&mut self, line: u64, news: ConnectionEvent) {
        let now = self.epoch.elapsed();
        let acts = match news {
            ConnectionEvent::Opened { purpose, to_line } => {
                self.connections.insert(line, to_line);
                if purpose == SocketPurpose::Client {
                    self.state.connected(line);
                }
                return;
            }
            ConnectionEvent::Client(text) => self.state.on_client_frame(now, line, &text),
            ConnectionEvent::Sender(text) => {
                let sent_at = jiff::Timestamp::now().to_string();
                self.state.on_sender_frame(now, line, &text, sent_at)
            }
            ConnectionEvent::Ended { code } => {
                self.connections.remove(&line);
                self.state.disconnected(line, code)
            }
        };
        self.run_actions(now, acts);
    }

    fn on_tick(&mut self) {
        let now = self.epoch.elapsed();
        let acts = self.state.tick(now);
        self.run_actions(now, acts);
        while let Some(notice) = self.throttle.take_due(now) {
            self.publish(LocalHubEvent::Shown { notice });
        }
    }

    fn run_actions(&mut self, now: Duration, acts: Vec<HubAction>) {
        for act in acts {
            match act {
                HubAction::Send { line, frame } => {
                    self.send_to_connection(line, ToConnection::Text(frame))
                }
                HubAction::Finish { line } => {
                    self.send_to_connection(line, ToConnection::Leave(CloseCode::Normal))
                }
                HubAction::Show(notice) => self.throttle.offer(now, notice),
                HubAction::Tell(seen) => self.publish(seen),
            }
        }
    }

    /// Hands a frame to a line; one that is too slow to take it is cut.
    fn send_to_connection(&mut self, line: u64, what: ToConnection) {
        if let Some(to_line) = self.connections.get(&line)
            && to_line.try_send(what).is_err()
        {
            self.connections.remove(&line);
        }
    }

    fn publish(&self, event: LocalHubEvent) {
        // Nobody has to watch.
        let _ = self.events.send(event);
    }

    /// Lines that lose their sender leave with 1001.
    pub(crate) async fn shut_down(mut self) {
        self.connections.clear();
        self.from_connections.close();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let _ = timeout(SHUTDOWN_TIMEOUT, all).await;
    }
}
