//! A server that compresses its answers, which nobody asked for: an answer that would fill the memory when it
//! is unpacked costs none, and the user is told a sentence.

use std::io::Write;
use std::process::{Command, Stdio};

use app::TimeScale;
use testkit::corpus::memory_growth::MemoryGrowth;
use testkit::stories::note_changes::NOTES;

use super::canned_server::{CannedResponse, CannedServer};
use super::{complete_stream, settings};
use crate::harness::test_app::{home_with_key, turn_failure, user_messages};

/// Unpacked, the answers are so long.
const UNPACKED_BYTES: usize = 256 << 20;

/// The application and the server may take so much more memory while they answer.
const MAX_GROWTH: u64 = 64 << 20;

/// Set in the process whose memory is measured.
const MEASURED: &str = "VAULTMATE_TEST_MEASURED";

/// `bytes` as Gzip packs them; `None` where it is not installed.
fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let program = Command::new("gzip")
        .args(["--stdout", "--fast"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut program) = program else {
        println!("skipped: gzip is not installed");
        return None;
    };
    let mut input = program.stdin.take().expect("its input");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes).expect("it reads"));
        program.wait_with_output().expect("it packs")
    });
    Some(output.stdout)
}

fn response(head: &str, body: &[u8]) -> CannedResponse {
    let head = format!("HTTP/1.1 {head}content-length: {}\r\n\r\n", body.len());
    CannedResponse::Binary([head.as_bytes(), body].concat())
}

/// The message for the user when every attempt meets this answer; `None` when it is accepted.
async fn failure_after(answer: CannedResponse) -> Option<String> {
    let server = CannedServer::over_tcp(vec![answer]).await;
    let home = home_with_key(&NOTES);
    let before = home.notes.snapshot();
    let running =
        home.open_with_time_scale(settings(server.url("http")), TimeScale::divided_by(100)).await;
    let conversation = running.send_and_wait(None, "Is it there?").await;
    let view = running.view(&conversation).await;
    assert_eq!(user_messages(&view), ["Is it there?"], "the message is kept");
    assert_eq!(home.notes.snapshot(), before);
    running.quit().await;
    turn_failure(&view).map(|error| error.message)
}

const OK: &str = "200 OK\r\ncontent-type: text/event-stream\r\n";
const GZIP: &str = "content-encoding: gzip\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_answer_is_refused_with_a_sentence() {
    let plain = complete_stream("Yes.");
    let (_, events) = plain.split_once("\r\n\r\n").expect("a head");
    let Some(packed) = gzip(events.as_bytes()) else { return };
    assert_eq!(failure_after(response(OK, events.as_bytes())).await, None, "the control");
    let message = failure_after(response(&format!("{OK}{GZIP}"), &packed)).await.expect("refused");
    assert!(message.ends_with("Check the server URL in Settings."), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_unpacks_to_gigabytes_takes_no_memory() {
    let name = "models::network_failures::compressed_answers::\
                an_answer_that_unpacks_to_gigabytes_takes_no_memory";
    if std::env::var_os(MEASURED).is_none() {
        // The other tests of this process take memory at the same time.
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", name, "--nocapture"])
            .env(MEASURED, "1")
            .output()
            .expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        print!("{told}");
        assert!(output.status.success() && told.contains("1 passed"), "{told}\n{errors}");
        return;
    }
    let Some(bomb) = gzip(&vec![b' '; UNPACKED_BYTES]) else { return };
    assert!(bomb.len() < 4 << 20, "{} bytes", bomb.len());
    // The first start of the application takes memory of its own.
    let plain = CannedResponse::Whole(complete_stream("Yes."));
    assert_eq!(failure_after(plain).await, None);
    let json = "200 OK\r\ncontent-type: application/json\r\n";
    let heads = [
        format!("{OK}{GZIP}"),
        format!("{json}{GZIP}"),
        format!("400 Bad Request\r\ncontent-type: application/json\r\n{GZIP}"),
        format!("500 Internal Server Error\r\ncontent-type: application/json\r\n{GZIP}"),
        // Packed, and nobody says so.
        OK.to_owned(),
        json.to_owned(),
    ];
    for head in heads {
        let answer = response(&head, &bomb);
        let memory = MemoryGrowth::start();
        let message = failure_after(answer).await;
        let growth = memory.peak_growth();
        println!("memory={} KiB for {:?}: {message:?}", growth >> 10, head.lines().next());
        let message = message.expect("it is refused");
        assert!(message.ends_with('.') && !message.contains('\u{fffd}'), "{head}: {message:?}");
        assert!(message.chars().all(|sign| !sign.is_control()), "{head}: {message:?}");
        assert!(growth <= MAX_GROWTH, "{head}: {growth} bytes");
    }
    // The control: who unpacks it needs more than that.
    let memory = MemoryGrowth::start();
    assert!(unpacked(&bomb).len() == UNPACKED_BYTES && memory.peak_growth() > MAX_GROWTH);
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut program = Command::new("gzip")
        .args(["--decompress", "--stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip runs");
    let mut input = program.stdin.take().expect("its input");
    std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes).expect("it reads"));
        program.wait_with_output().expect("it unpacks").stdout
    })
}
