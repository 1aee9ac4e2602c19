//! Runs a local hub: takes connections, and carries between the lines and the board.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

use super::board::{Act, Board};
use super::door::Purpose;
use super::line::{FromLine, Line, News, ToLine};
use super::notices::Notices;
use super::{Rules, Seen};
use crate::Token;

const NEWS: usize = 256;
/// The lines have so long to leave.
const GOODBYE: Duration = Duration::from_secs(2);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Everything a running hub owns.
pub(super) struct Serving {
    board: Board,
    notices: Notices,
    lines: HashMap<u64, mpsc::Sender<ToLine>>,
    tasks: JoinSet<()>,
    epoch: Instant,
    seen: broadcast::Sender<Seen>,
    places: Arc<Semaphore>,
    to_hub: mpsc::Sender<FromLine>,
    news: mpsc::Receiver<FromLine>,
    next_line: u64,
    token: Option<Token>,
    rules: Rules,
}

impl Serving {
    pub(super) fn new(token: Option<Token>, rules: Rules, seen: broadcast::Sender<Seen>) -> Self {
        let (to_hub, news) = mpsc::channel(NEWS);
        Self {
            board: Board::new(rules.response_timeout),
            notices: Notices::new(&rules),
            lines: HashMap::new(),
            tasks: JoinSet::new(),
            epoch: Instant::now(),
            seen,
            places: Arc::new(Semaphore::new(rules.sockets)),
            to_hub,
            news,
            next_line: 0,
            token,
            rules,
        }
    }

    /// Waits for one thing to happen and does what follows from it.
    pub(super) async fn turn(
        &mut self,
        listener: &TcpListener,
        cancel: &CancellationToken,
    ) -> ControlFlow<()> {
        let due = [self.board.next_tick(), self.notices.next_due()].into_iter().flatten().min();
        let due = due.map(|due| self.epoch + due);
        tokio::select! {
            () = cancel.cancelled() => return ControlFlow::Break(()),
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => self.connect(stream, peer),
                Err(error) => {
                    // Out of sockets, most likely. Asking again at once would only burn time.
                    tracing::warn!(%error, "the hub cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(FromLine { line, news }) = self.news.recv() => self.hear(line, news),
            Some(_) = self.tasks.join_next() => {}
            () = sleep_until(due.unwrap_or(self.epoch)), if due.is_some() => self.time_passed(),
        }
        ControlFlow::Continue(())
    }

    fn connect(&mut self, stream: TcpStream, peer: SocketAddr) {
        self.next_line += 1;
        let line = Line {
            id: self.next_line,
            peer,
            place: self.places.clone().try_acquire_owned().ok(),
            token: self.token.clone(),
            handshake: self.rules.handshake,
            ping_every: self.rules.ping_every,
            to_hub: self.to_hub.clone(),
        };
        self.tasks.spawn(line.run(stream));
    }

    fn hear(&mut self, line: u64, news: News) {
        let now = self.epoch.elapsed();
        let acts = match news {
            News::Opened { purpose, to_line } => {
                self.lines.insert(line, to_line);
                if purpose == Purpose::Client {
                    self.board.connected(line);
                }
                return;
            }
            News::Client(text) => self.board.client_said(now, line, &text),
            News::Sender(text) => {
                let sent_at = jiff::Timestamp::now().to_string();
                self.board.sender_said(now, line, &text, sent_at)
            }
            News::Ended { code } => {
                self.lines.remove(&line);
                self.board.left(line, code)
            }
        };
        self.run_acts(now, acts);
    }

    fn time_passed(&mut self) {
        let now = self.epoch.elapsed();
        let acts = self.board.tick(now);
        self.run_acts(now, acts);
        while let Some(notice) = self.notices.due(now) {
            self.tell(Seen::Shown { notice });
        }
    }

    fn run_acts(&mut self, now: Duration, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Send { line, frame } => self.post(line, ToLine::Text(frame)),
                Act::Finish { line } => self.post(line, ToLine::Leave(CloseCode::Normal)),
                Act::Show(notice) => self.notices.offer(now, notice),
                Act::Tell(seen) => self.tell(seen),
            }
        }
    }

    /// Hands a frame to a line; one that is too slow to take it is cut.
    fn post(&mut self, line: u64, what: ToLine) {
        if let Some(to_line) = self.lines.get(&line)
            && to_line.try_send(what).is_err()
        {
            self.lines.remove(&line);
        }
    }

    fn tell(&self, seen: Seen) {
        // Nobody has to watch.
        let _ = self.seen.send(seen);
    }

    /// Lines that lose their sender leave with 1001.
    pub(super) async fn leave(mut self) {
        self.lines.clear();
        self.news.close();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let _ = timeout(GOODBYE, all).await;
    }
}
