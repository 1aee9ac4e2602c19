//! A peer that disappears silently: the whole application and a hub in a network of their own,
//! whose link is taken down.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use protocol::{AppEvent, HubState};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::app_process::{RetryPacing, SoakAppOptions, open_app};
use super::redelivering_hub::RedeliveringHub;
use crate::TempVault;

/// The fate of the link.
#[derive(Debug, Clone, Copy)]
pub struct HalfOpenReport {
    /// From the moment when the network went to the moment when that was found.
    pub after: Duration,
    /// How many times as fast as they are, the clocks went.
    pub times: u32,
    /// Whether somebody who only read from the same hub had still noticed nothing then.
    pub reader_waits: bool,
    /// From the moment when the network came back to an answer to a message.
    pub back: Duration,
}

impl HalfOpenReport {
    /// Whether it was found in so long, where clocks are real, and only because we asked.
    #[must_use]
    pub fn is_within(&self, bar: Duration) -> bool {
        self.after * self.times <= bar && self.reader_waits
    }
}

impl fmt::Display for HalfOpenReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "found_s={:.1} back_s={:.1} times={} a_reader_alone_waits={}",
            self.after.as_secs_f64(),
            self.back.as_secs_f64(),
            self.times,
            self.reader_waits
        )
    }
}

/// Takes the network of a process of its own down, with clocks so many times as fast; says why where
/// that is not allowed.
pub fn run_half_open(program: &Path, times: u32) -> Result<HalfOpenReport, String> {
    // As the current user where that is allowed, else as the root of users of our own.
    let ways: [&[&str]; 2] = [&["-n"], &["-rn"]];
    let allowed = |way: &&&[&str]| {
        let tried = Command::new("unshare").args(**way).args(["ip", "link"]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    let way = ways.iter().find(allowed).ok_or("a network of one's own is not allowed here")?;
    let output = Command::new("unshare")
        .args(*way)
        .arg(program)
        .args(["half-open", &times.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| why.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let parts: Vec<u64> = said.split_whitespace().filter_map(|part| part.parse().ok()).collect();
    match parts[..] {
        [after, reader, back] if output.status.success() => Ok(HalfOpenReport {
            after: Duration::from_millis(after),
            times,
            reader_waits: reader == 1,
            back: Duration::from_millis(back),
        }),
        _ => panic!("it did not come to an end: {said}"),
    }
}

/// The process of its own: prints after how many milliseconds it was found, 1 if a reader alone still
/// waits, and after how many a message is answered again.
pub async fn run_half_open_child(times: u32) {
    set_link_state("up");
    let hub = RedeliveringHub::start().await;
    let (data, notes) = (TempVault::new(&[]), TempVault::new(&[]));
    let orders = SoakAppOptions {
        hub: format!("ws://{}", hub.address()),
        times,
        model: None,
        retries: RetryPacing::Patient,
    };
    let app = open_app(&orders, data.root(), notes.root()).await;
    let states = watch::Sender::new(HubState::Online);
    let told = states.clone();
    hub.wait_until("a client", |book| book.registered > 0).await;
    app.subscribe(Box::new(move |batch| {
        for numbered in batch {
            if let AppEvent::HubChanged { hub } = numbered.event {
                told.send_replace(hub.state);
            }
        }
        true
    }))
    .await
    .expect("a snapshot");
    hub.send("remember the first");
    hub.wait_until("an answer", super::redelivering_hub::HubLog::is_notified).await;
    let mut reader = TcpStream::connect(hub.address()).await.expect("a connection");
    set_link_state("down");
    let began = Instant::now();
    let mut state = states.subscribe();
    state.mark_changed();
    state.wait_for(|state| *state != HubState::Online).await.expect("it is found");
    let after = began.elapsed();
    let mut byte = [0];
    let waits = tokio::select! {
        biased;
        _ = reader.read(&mut byte) => 0,
        () = std::future::ready(()) => 1,
    };
    set_link_state("up");
    let began = Instant::now();
    hub.send("remember the second");
    hub.wait_until("an answer", super::redelivering_hub::HubLog::is_notified).await;
    println!("{} {waits} {}", after.as_millis(), began.elapsed().as_millis());
    app.shutdown().await;
}

/// The only link there is in a network of one's own.
fn set_link_state(state: &str) {
    let set = Command::new("ip").args(["link", "set", "lo", state]).status().expect("ip runs");
    assert!(set.success(), "the link cannot be set {state}");
}
