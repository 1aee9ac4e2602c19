//! How much memory a message takes that is too long to be taken, in a process of its own.

#![expect(clippy::disallowed_methods, reason = "the system tells in files what a process took")]
#![expect(clippy::expect_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::process::Command;

use futures_util::StreamExt;
use protocol::HubState;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{accept_async, client_async_with_config};

use crate::fixtures::{
    MisbehavingHub, RunningLink, config, next_frame, send_long_frame, within_timeout,
};

/// Set in the process whose memory is measured.
const MEASURED: &str = "HUB_MESSAGE_MEMORY_MEASURED";
const NAME: &str =
    "message_memory::a_message_of_256_mebibytes_takes_no_more_memory_than_one_that_is_taken";

const LENGTH: usize = 256 << 20;
const TEXT: u8 = 0x81;
const MESSAGE: (&str, &str) = (r#"{"type":"message","payload":{"id":"m1","text":""#, r#""}}"#);

/// Four times as much as is kept of the message: it is read and joined, and the allocator takes some more.
const MAX_GROWTH: u64 = 32 << 20;

/// A figure of this process, in bytes.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells it");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect(name);
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number of kB") << 10
}

/// Sets the high water mark to the memory that is taken now, and returns that.
fn start_measuring() -> u64 {
    fs::write("/proc/self/clear_refs", "5").expect("the mark is reset");
    status("VmRSS:")
}

#[tokio::test]
async fn a_message_of_256_mebibytes_takes_no_more_memory_than_one_that_is_taken() {
    if std::env::var_os(MEASURED).is_none() {
        // The other tests of this process take memory at the same time.
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(MEASURED, "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        print!("{told}");
        assert!(output.status.success() && told.contains("1 passed"), "{told}\n{errors}");
        return;
    }
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    let before = start_measuring();
    send_long_frame(&mut socket, TEXT, MESSAGE, LENGTH).await;
    assert_eq!(next_frame(&mut socket).await["payload"]["type"], "reject");
    let growth = status("VmHWM:").saturating_sub(before);
    println!("memory={} KiB", growth >> 10);
    assert!(growth <= MAX_GROWTH, "{growth} bytes");
    drop(socket);
    link.stop().await;

    // The control: a client that reads a quarter of it whole.
    let hub = MisbehavingHub::start().await;
    let client = async {
        let limits = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let stream = TcpStream::connect(hub.address).await.unwrap();
        let url = format!("ws://{}/", hub.address);
        let (mut socket, _) = client_async_with_config(url, stream, Some(limits)).await.unwrap();
        within_timeout(socket.next()).await.unwrap().unwrap().len()
    };
    let server = async {
        let mut socket = accept_async(hub.connection().await).await.unwrap();
        send_long_frame(&mut socket, TEXT, MESSAGE, LENGTH / 4).await;
        socket
    };
    let before = start_measuring();
    let (read, _socket) = tokio::join!(client, server);
    let growth = status("VmHWM:").saturating_sub(before);
    assert!(read == LENGTH / 4 && growth > MAX_GROWTH, "{growth} bytes");
}
