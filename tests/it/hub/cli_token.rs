//! The token of `vaultmate-cli hub` and `hub send`: from a file or from the environment, and in no output.
//! The end of a hub, which its clients hear.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{CliOutput, TEST_TIMEOUT, TestHome, run_command};

const TOKEN: &str = "canary-token";
const OTHER: &str = "another-canary";

/// Where a program gets its token from.
#[derive(Debug, Clone, Copy)]
enum TokenSource {
    File(&'static str),
    Environment(&'static str),
    /// The file counts.
    Both(&'static str, &'static str),
    Nowhere,
}

const RIGHT_SOURCES: [TokenSource; 3] =
    [TokenSource::File(TOKEN), TokenSource::Environment(TOKEN), TokenSource::Both(TOKEN, OTHER)];

const WRONG_SOURCES: [TokenSource; 4] = [
    TokenSource::File(OTHER),
    TokenSource::Environment(OTHER),
    TokenSource::Both(OTHER, TOKEN),
    TokenSource::Nowhere,
];

fn delivered() -> Value {
    json!({ "type": "delivered", "to": "Notes", "id": "m-1" })
}

/// `vaultmate-cli hub` with the token from `source`.
fn hub_command(home: &TestHome, source: TokenSource, arguments: &[&str]) -> Command {
    let (file, variable) = match source {
        TokenSource::File(token) => (Some(token), None),
        TokenSource::Environment(token) => (None, Some(token)),
        TokenSource::Both(token, other) => (Some(token), Some(other)),
        TokenSource::Nowhere => (None, None),
    };
    let mut command = home.cli_command(&[&["hub"], arguments].concat());
    command.env_remove("VAULTMATE_HUB_TOKEN");
    if let Some(token) = file {
        home.data.write("token", format!("{token}\n"));
        let path = home.data.root().join("token");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("private");
        command.arg("--token-file").arg(path);
    }
    if let Some(token) = variable {
        command.env("VAULTMATE_HUB_TOKEN", token);
    }
    command
}

fn assert_shows_no_token(said: &CliOutput) {
    for token in [TOKEN, OTHER] {
        assert!(!said.stdout.contains(token) && !said.stderr.contains(token), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_send_presents_the_token_of_the_file_or_the_environment() {
    let (home, hub) = (TestHome::new(&[]), RawHub::bind().await);
    for source in RIGHT_SOURCES.into_iter().chain(WRONG_SOURCES) {
        let is_right =
            RIGHT_SOURCES.iter().any(|right| format!("{right:?}") == format!("{source:?}"));
        let mut command = hub_command(&home, source, &["send", "--port", &hub.port(), "hello"]);
        let reports = [delivered(), json!({ "type": "acked", "by": "Notes" })];
        let taking = hub.report_to_sender(TOKEN, &reports);
        let (taken, said) = tokio::join!(taking, run_command(&mut command));
        assert_shows_no_token(&said);
        match taken {
            Ok(message) => {
                assert!(is_right, "{source:?}");
                assert_eq!(message["text"], "hello", "{source:?}");
                let expected = "delivered to Notes\nNotes acknowledged\n";
                assert_eq!((said.code, said.stdout.as_str()), (Some(0), expected));
            }
            Err(presented) => {
                assert!(!is_right, "{source:?} presented {presented:?}");
                let is_none = matches!(source, TokenSource::Nowhere);
                assert_eq!(presented.is_none(), is_none, "{source:?}");
                assert_eq!(said.code, Some(1), "{said:?}");
                assert!(said.stderr.contains("Pass the token it was started with"), "{said:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_send_ends_with_a_code_of_its_own_and_the_reason_when_nobody_takes_the_message() {
    let (home, hub) = (TestHome::new(&[]), RawHub::bind().await);
    let reports = [
        delivered(),
        json!({ "type": "rejected", "by": "Notes", "reason": "Busy. Try again later." }),
        json!({ "type": "undelivered", "reason": "No client has taken the message." }),
    ];
    let port = hub.port();
    for option in ["--voice", "--wait"] {
        let arguments = ["send", "--port", &port, option, "hello"];
        let mut command = hub_command(&home, TokenSource::Environment(TOKEN), &arguments);
        let taking = hub.report_to_sender(TOKEN, &reports);
        let (taken, said) = tokio::join!(taking, run_command(&mut command));
        assert_eq!(taken.expect("the right token")["text"], "hello");
        assert_eq!((said.code, said.stdout.as_str()), (Some(5), "delivered to Notes\n"));
        assert_eq!(
            said.stderr,
            "Notes rejected: Busy. Try again later.\nNo client has taken the message.\n"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_send_does_not_go_out_with_a_token_file_that_others_may_read() {
    let (home, hub) = (TestHome::new(&[]), RawHub::bind().await);
    let arguments = ["send", "--port", &hub.port(), "hello"];
    let mut command = hub_command(&home, TokenSource::Both(TOKEN, TOKEN), &arguments);
    fs::set_permissions(home.data.root().join("token"), Permissions::from_mode(0o644))
        .expect("shared");
    let said = tokio::select! {
        said = run_command(&mut command) => said,
        taken = hub.accept_sender(TOKEN) => panic!("it went out: {taken:?}"),
    };
    assert_shows_no_token(&said);
    assert!(said.code == Some(1) && said.stderr.contains("chmod 600"), "{said:?}");
}

/// Starts a hub on a free port; returns its URL.
async fn start_hub(home: &TestHome, source: TokenSource) -> (Child, String) {
    let mut command = hub_command(home, source, &["--port", "0"]);
    let mut hub = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(hub.stderr.take().expect("its errors")).lines();
    let line = tokio::time::timeout(TEST_TIMEOUT, lines.next_line()).await.expect("it listens");
    let line = line.expect("text").expect("a line");
    let url = line.split_whitespace().find(|word| word.starts_with("ws://")).expect("a URL");
    (hub, url.trim_end_matches('.').to_owned())
}

/// Whether the hub takes a client that presents this token.
async fn takes(url: &str, token: Option<&str>) -> bool {
    let mut request = url.into_client_request().expect("a request");
    if let Some(token) = token {
        let header = format!("Bearer {token}").parse().expect("a header");
        request.headers_mut().insert("authorization", header);
    }
    match connect_async(request).await {
        Ok(_) => true,
        Err(Error::Http(response)) if response.status() == 401 => false,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_takes_only_clients_with_the_token_of_the_file_or_the_environment() {
    let home = TestHome::new(&[]);
    for source in RIGHT_SOURCES {
        let (mut hub, url) = start_hub(&home, source).await;
        let taken = [takes(&url, Some(TOKEN)).await, takes(&url, Some(OTHER)).await];
        assert_eq!((taken, takes(&url, None).await), ([true, false], false), "{source:?}");
        hub.kill().await.expect("it ends");
    }
    let (mut hub, url) = start_hub(&home, TokenSource::Nowhere).await;
    assert!(takes(&url, None).await, "the control: a hub without a token takes everybody");
    hub.kill().await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_closes_its_connections_when_it_is_interrupted_or_terminated() {
    let home = TestHome::new(&[]);
    for signal in [Signal::INT, Signal::TERM] {
        let (mut hub, url) = start_hub(&home, TokenSource::Nowhere).await;
        let (mut client, _) = connect_async(url.as_str()).await.expect("it takes everybody");
        // A hub that answers serves the connection.
        client.send(Message::Ping(Vec::new().into())).await.expect("it is sent");
        let answer = tokio::time::timeout(TEST_TIMEOUT, client.next()).await.expect("an answer");
        assert!(matches!(answer, Some(Ok(Message::Pong(_) | Message::Ping(_)))), "{answer:?}");
        let id = i32::try_from(hub.id().expect("it runs")).expect("an id");
        kill_process(Pid::from_raw(id).expect("an id"), signal).expect("it runs");
        let closing = async {
            loop {
                match client.next().await {
                    Some(Ok(Message::Close(frame))) => break frame,
                    Some(Ok(_)) => {}
                    end => panic!("{signal:?}: {end:?}"),
                }
            }
        };
        let frame = tokio::time::timeout(TEST_TIMEOUT, closing).await.expect("it says so");
        assert_eq!(frame.map(|frame| u16::from(frame.code)), Some(1001), "{signal:?}");
        drop(client);
        let ended = tokio::time::timeout(TEST_TIMEOUT, hub.wait()).await;
        assert_eq!(ended.expect("it ends").expect("it ran").code(), Some(0), "{signal:?}");
    }
}
