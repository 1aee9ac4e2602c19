//! A server that compresses its answers, which nobody asked for: an answer that would fill the memory when it
//! is unpacked costs none, and the user is told a sentence.

use std::io::Write;
use std::process::{Command, Stdio};

use app::TimeScale;
use testkit::corpus::memory_growth::MemoryGrowth;
use testkit::stories::note_changes::NOTES;

use super::canned_server::{CannedResponse, CannedServer};
use super::{complete_stream, settings};
use crate::harness::test_app::{TEST_TIMEOUT, home_with_key, turn_failure, user_messages};

/// Unpacked, the answers are so long.
const UNPACKED_BYTES: usize = 256 << 20;

/// The application and the server may take so much more memory while they answer.
const MAX_GROWTH: u64 = 64 << 20;

/// Set in the process whose memory is measured.
const MEASURED: &str = "VAULTMATE_TEST_MEASURED";

/// A content encoding of HTTP, with the commands that pack and unpack their input.
struct ContentEncoding {
    name: &'static str,
    pack: &'static [&'static str],
    unpack: &'static [&'static str],
}

/// Those that a browser would take. The HTTP client is built with none of them.
static ENCODINGS: [ContentEncoding; 4] = [
    ContentEncoding {
        name: "gzip",
        pack: &["gzip", "--stdout", "--fast"],
        unpack: &["gzip", "--decompress", "--stdout"],
    },
    ContentEncoding {
        name: "deflate",
        pack: &["node", "--eval", DEFLATE],
        unpack: &["node", "--eval", INFLATE],
    },
    ContentEncoding {
        name: "br",
        pack: &["node", "--eval", BROTLI],
        unpack: &["node", "--eval", UNBROTLI],
    },
    ContentEncoding {
        name: "zstd",
        pack: &["zstd", "--stdout", "--quiet"],
        unpack: &["zstd", "--decompress", "--stdout", "--quiet"],
    },
];

const DEFLATE: &str = "const packer = require('zlib').createDeflate({ level: 1 }); \
    process.stdin.pipe(packer).pipe(process.stdout)";
const INFLATE: &str = "process.stdin.pipe(require('zlib').createInflate()).pipe(process.stdout)";
const BROTLI: &str = "const zlib = require('zlib'); \
    const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 }; \
    process.stdin.pipe(zlib.createBrotliCompress({ params })).pipe(process.stdout)";
const UNBROTLI: &str =
    "process.stdin.pipe(require('zlib').createBrotliDecompress()).pipe(process.stdout)";

/// The output of a command for this input; `None` where its program is not installed.
fn output_of(command: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: {} is not installed", command[0]);
        return None;
    };
    let mut stdin = child.stdin.take().expect("its input");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).expect("it reads"));
        child.wait_with_output().expect("it ends")
    });
    assert!(output.status.success(), "{command:?}");
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
    let turn = running.send_and_wait(None, "Is it there?");
    let conversation = tokio::time::timeout(TEST_TIMEOUT, turn).await.expect("the turn ends");
    let view = running.view(&conversation).await;
    assert_eq!(user_messages(&view), ["Is it there?"], "the message is kept");
    assert_eq!(home.notes.snapshot(), before);
    running.quit().await;
    turn_failure(&view).map(|error| error.message)
}

const OK: &str = "200 OK\r\ncontent-type: text/event-stream\r\n";
const JSON: &str = "200 OK\r\ncontent-type: application/json\r\n";
const REFUSED: &str = "400 Bad Request\r\ncontent-type: application/json\r\n";
const FAILED: &str = "500 Internal Server Error\r\ncontent-type: application/json\r\n";

fn with_encoding(head: &str, encoding: &str) -> String {
    format!("{head}content-encoding: {encoding}\r\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_answer_is_refused_with_a_sentence() {
    let plain = complete_stream("Yes.");
    let (_, events) = plain.split_once("\r\n\r\n").expect("a head");
    for head in [OK.to_owned(), with_encoding(OK, "identity")] {
        let failure = failure_after(response(&head, events.as_bytes())).await;
        assert_eq!(failure, None, "the control: {head}");
    }
    let packed = ENCODINGS
        .iter()
        .filter_map(|encoding| Some((encoding.name, output_of(encoding.pack, events.as_bytes())?)));
    // An encoding that the head names is refused even where the events are not packed.
    let named = ["gzip", "x-gzip", "compress", "deflate, br", "unheard-of"];
    let named = named.map(|name| (name, events.as_bytes().to_vec()));
    for (name, body) in packed.chain(named) {
        let message = failure_after(response(&with_encoding(OK, name), &body)).await;
        let message = message.unwrap_or_else(|| panic!("{name} is accepted"));
        let sentence = " didn’t respond like ";
        assert!(message.contains(sentence), "{name}: {message}");
        assert!(message.ends_with(". Check the server URL in Settings."), "{name}: {message}");
    }
}

/// Checks that an answer with this head and the packed body is refused in words and takes no memory.
async fn assert_is_refused_cheaply(head: &str, bomb: &[u8]) {
    let answer = response(head, bomb);
    let memory = MemoryGrowth::start();
    let message = failure_after(answer).await;
    let growth = memory.peak_growth();
    println!("memory={} KiB for {head:?}: {message:?}", growth >> 10);
    let message = message.expect("it is refused");
    assert!(message.ends_with('.') && !message.contains('\u{fffd}'), "{head}: {message:?}");
    assert!(message.chars().all(|sign| !sign.is_control()), "{head}: {message:?}");
    assert!(growth <= MAX_GROWTH, "{head}: {growth} bytes");
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
    let unpacked = vec![b' '; UNPACKED_BYTES];
    let bombs = ENCODINGS.iter().filter_map(|encoding| {
        let bomb = output_of(encoding.pack, &unpacked)?;
        assert!(bomb.len() < 4 << 20, "{}: {} bytes", encoding.name, bomb.len());
        Some((encoding, bomb))
    });
    let bombs: Vec<(&ContentEncoding, Vec<u8>)> = bombs.collect();
    drop(unpacked);
    // The first start of the application takes memory of its own.
    let plain = CannedResponse::Whole(complete_stream("Yes."));
    assert_eq!(failure_after(plain).await, None);
    for (encoding, bomb) in &bombs {
        for head in [OK, JSON, REFUSED, FAILED] {
            assert_is_refused_cheaply(&with_encoding(head, encoding.name), bomb).await;
        }
        // Packed, and nobody says so.
        for head in [OK, JSON] {
            assert_is_refused_cheaply(head, bomb).await;
        }
    }
    // The control: a program that unpacks it needs more than that.
    let memory = MemoryGrowth::start();
    for (encoding, bomb) in &bombs {
        let unpacked = output_of(encoding.unpack, bomb).expect("it was there to pack");
        assert_eq!(unpacked.len(), UNPACKED_BYTES, "{}", encoding.name);
        assert!(memory.peak_growth() > MAX_GROWTH, "{}", encoding.name);
    }
}
