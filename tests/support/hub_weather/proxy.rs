//! A rough way between a hub and whoever dials it: cut, reset, stalled, flipped, in pieces, late.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What happens to a connection at one of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Both ends see the other one leave.
    Cut,
    /// Both ends are told that there is no connection.
    Reset,
    /// What either end says is swallowed from here on, and neither hears of it.
    Stall,
    /// One bit of the byte is another one; all else passes.
    Flip,
}

/// The faults that end a connection, for whoever draws one of them.
pub const ENDS: [Fault; 3] = [Fault::Cut, Fault::Reset, Fault::Stall];

/// How bytes pass while nothing happens to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// As they come.
    Smooth,
    /// In pieces of a few bytes, some of them late.
    Rough,
}

/// A proxy on loopback; dropped, it and all that passes is gone.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    sky: Arc<Sky>,
    _serving: JoinSet<()>,
}

#[derive(Debug)]
struct Sky {
    hub: SocketAddr,
    manner: Manner,
    state: Mutex<State>,
    /// How many faults have struck.
    struck: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    rng: Rng,
    /// What strikes after so many bytes of whatever passes next, in either direction.
    armed: Option<(u64, Fault)>,
}

impl Proxy {
    /// Passes everything on to `hub`; what is drawn follows from `seed`.
    pub async fn before(hub: SocketAddr, seed: u64, manner: Manner) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Mutex::new(State { rng: Rng::with_seed(seed), armed: None });
        let sky = Arc::new(Sky { hub, manner, state, struck: watch::Sender::new(0) });
        let mut serving = JoinSet::new();
        let shared = Arc::clone(&sky);
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let sky = Arc::clone(&shared);
                open.spawn(async move { sky.pass(client).await });
                while open.try_join_next().is_some() {}
            }
        });
        Self { address, sky, _serving: serving }
    }

    /// The address for a client.
    #[must_use]
    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Lets one of `faults` strike at one of the next `within` bytes.
    pub fn arm(&self, faults: &[Fault], within: u64) {
        let mut state = self.sky.state();
        let (at, fault) = (state.rng.u64(0..within.max(1)), state.rng.choice(faults).copied());
        state.armed = fault.map(|fault| (at, fault));
    }

    /// Whether a fault waits for its byte.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.sky.state().armed.is_some()
    }

    /// How many faults have struck.
    #[must_use]
    pub fn struck(&self) -> usize {
        *self.sky.struck.borrow()
    }

    /// To be told of each fault.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<usize> {
        self.sky.struck.subscribe()
    }
}

/// Why a direction passes nothing any more.
enum End {
    Closed,
    Struck(Fault),
}

impl Sky {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn pass(&self, mut client: TcpStream) {
        let Ok(mut hub) = TcpStream::connect(self.hub).await else { return };
        for stream in [&client, &hub] {
            let _ = stream.set_nodelay(true);
        }
        let end = {
            let (from_client, to_client) = client.split();
            let (from_hub, to_hub) = hub.split();
            tokio::select! {
                end = self.pump(from_client, to_hub) => end,
                end = self.pump(from_hub, to_client) => end,
            }
        };
        match end {
            End::Closed | End::Struck(Fault::Cut | Fault::Flip) => {}
            End::Struck(Fault::Reset) => {
                for stream in [&client, &hub] {
                    let _ = stream.set_zero_linger();
                }
            }
            End::Struck(Fault::Stall) => swallow(&mut client).await,
        }
    }

    async fn pump(&self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) -> End {
        let mut buffer = vec![0; 16 << 10];
        loop {
            let read = match from.read(&mut buffer).await {
                Ok(0) | Err(_) => return End::Closed,
                Ok(read) => read,
            };
            let bytes = buffer.get_mut(..read).unwrap_or_default();
            let (whole, fault) = self.strike(bytes);
            let passing = bytes.get(..whole).unwrap_or_default();
            if self.forward(passing, &mut to).await.is_err() {
                return End::Closed;
            }
            if let Some(fault) = fault {
                return End::Struck(fault);
            }
        }
    }

    /// How many of these bytes pass, and what strikes behind them.
    fn strike(&self, bytes: &mut [u8]) -> (usize, Option<Fault>) {
        let mut state = self.state();
        let Some((left, fault)) = state.armed else { return (bytes.len(), None) };
        let at = usize::try_from(left).unwrap_or(usize::MAX);
        if at >= bytes.len() {
            state.armed = Some((left - bytes.len() as u64, fault));
            return (bytes.len(), None);
        }
        state.armed = None;
        let bit = state.rng.u32(0..8);
        drop(state);
        self.struck.send_modify(|struck| *struck += 1);
        if fault == Fault::Flip {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            return (bytes.len(), None);
        }
        (at, Some(fault))
    }

    async fn forward(&self, bytes: &[u8], to: &mut WriteHalf<'_>) -> std::io::Result<()> {
        if self.manner == Manner::Smooth {
            return to.write_all(bytes).await;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, late) = {
                let mut state = self.state();
                (state.rng.usize(1..=rest.len().min(64)), state.rng.u8(..) < 8)
            };
            let (now, later) = rest.split_at(piece);
            if late {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            to.write_all(now).await?;
            rest = later;
        }
        Ok(())
    }
}

/// Takes what the client says, and says nothing, until it leaves; the hub hears nothing of it either.
async fn swallow(client: &mut TcpStream) {
    let mut buffer = [0; 1024];
    while let Ok(1..) = client.read(&mut buffer).await {}
}
