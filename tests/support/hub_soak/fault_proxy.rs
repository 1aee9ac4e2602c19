//! An unreliable connection between a hub and its client: cut, reset, stalled, flipped, in pieces,
//! late.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A fault at one of the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionFault {
    /// Both ends see the other one leave.
    Cut,
    /// Both ends are told that there is no connection.
    Reset,
    /// From here on the data of either end is swallowed, and neither hears of it.
    Stall,
    /// One bit of the byte is another one; all else passes.
    Flip,
}

/// The faults that end a connection, to draw one of them.
pub const ENDING_FAULTS: [ConnectionFault; 3] =
    [ConnectionFault::Cut, ConnectionFault::Reset, ConnectionFault::Stall];

/// How bytes pass while nothing happens to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardingMode {
    /// As they come.
    Smooth,
    /// In pieces of a few bytes, some of them late.
    Rough,
}

/// A proxy on loopback; dropped, it and all that passes is gone.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<ProxyShared>,
    _serving: JoinSet<()>,
}

#[derive(Debug)]
struct ProxyShared {
    hub: SocketAddr,
    manner: ForwardingMode,
    state: Mutex<ProxyState>,
    /// How many faults have struck.
    fault_count: watch::Sender<usize>,
}

#[derive(Debug)]
struct ProxyState {
    rng: Rng,
    /// The fault that strikes after so many of the next bytes, in either direction.
    armed: Option<(u64, ConnectionFault)>,
}

impl FaultProxy {
    /// Passes everything on to `hub`; what is drawn follows from `seed`.
    pub async fn start(hub: SocketAddr, seed: u64, manner: ForwardingMode) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Mutex::new(ProxyState { rng: Rng::with_seed(seed), armed: None });
        let sky = Arc::new(ProxyShared { hub, manner, state, fault_count: watch::Sender::new(0) });
        let mut serving = JoinSet::new();
        let shared = Arc::clone(&sky);
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let sky = Arc::clone(&shared);
                open.spawn(async move { sky.proxy_connection(client).await });
                while open.try_join_next().is_some() {}
            }
        });
        Self { address, shared: sky, _serving: serving }
    }

    /// The address for a client.
    #[must_use]
    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Lets one of `faults` strike at one of the next `within` bytes.
    pub fn arm(&self, faults: &[ConnectionFault], within: u64) {
        let mut state = self.shared.state();
        let (at, fault) = (state.rng.u64(0..within.max(1)), state.rng.choice(faults).copied());
        state.armed = fault.map(|fault| (at, fault));
    }

    /// Whether a fault waits for its byte.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.shared.state().armed.is_some()
    }

    /// How many faults have struck.
    #[must_use]
    pub fn fault_count(&self) -> usize {
        *self.shared.fault_count.borrow()
    }

    /// To be told of each fault.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<usize> {
        self.shared.fault_count.subscribe()
    }
}

/// Why a direction passes nothing any more.
enum ForwardingEnd {
    Closed,
    Struck(ConnectionFault),
}

impl ProxyShared {
    fn state(&self) -> MutexGuard<'_, ProxyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn proxy_connection(&self, mut client: TcpStream) {
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
            ForwardingEnd::Closed
            | ForwardingEnd::Struck(ConnectionFault::Cut | ConnectionFault::Flip) => {}
            ForwardingEnd::Struck(ConnectionFault::Reset) => {
                for stream in [&client, &hub] {
                    let _ = stream.set_zero_linger();
                }
            }
            ForwardingEnd::Struck(ConnectionFault::Stall) => {
                discard_until_closed(&mut client).await
            }
        }
    }

    async fn pump(&self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) -> ForwardingEnd {
        let mut buffer = vec![0; 16 << 10];
        loop {
            let read = match from.read(&mut buffer).await {
                Ok(0) | Err(_) => return ForwardingEnd::Closed,
                Ok(read) => read,
            };
            let bytes = buffer.get_mut(..read).unwrap_or_default();
            let (whole, fault) = self.apply_fault(bytes);
            let passing = bytes.get(..whole).unwrap_or_default();
            if self.forward(passing, &mut to).await.is_err() {
                return ForwardingEnd::Closed;
            }
            if let Some(fault) = fault {
                return ForwardingEnd::Struck(fault);
            }
        }
    }

    /// How many of these bytes pass, and what strikes behind them.
    fn apply_fault(&self, bytes: &mut [u8]) -> (usize, Option<ConnectionFault>) {
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
        self.fault_count.send_modify(|struck| *struck += 1);
        if fault == ConnectionFault::Flip {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            return (bytes.len(), None);
        }
        (at, Some(fault))
    }

    async fn forward(&self, bytes: &[u8], to: &mut WriteHalf<'_>) -> std::io::Result<()> {
        if self.manner == ForwardingMode::Smooth {
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
async fn discard_until_closed(client: &mut TcpStream) {
    let mut buffer = [0; 1024];
    while let Ok(1..) = client.read(&mut buffer).await {}
}
