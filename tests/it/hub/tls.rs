//! A hub that is not on this computer: over TLS, to one that proves who it is, with a token that is
//! sent in one header only.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use hub::Token;
use hub_server::LocalHub;
use protocol::request::KeyStorage;
use protocol::{AppEvent, ErrorCode, HubState};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};
use tokio_util::sync::CancellationToken;

use crate::harness::test_app::{
    RunningApp, TEST_TIMEOUT, TestHome, settings_without_model, with_hub,
};
use crate::models::network_failures::canned_server::{TestCertificate, make_certificate};

const CANARY: &str = "hub-CANARY-7f3a9c";

/// A hub behind TLS.
struct TlsHub {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl TlsHub {
    async fn start(certificate: &TestCertificate) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        // WebSocket runs over HTTP/1.1.
        let mut server = certificate.server.clone();
        server.alpn_protocols.clear();
        Self { listener, acceptor: TlsAcceptor::from(Arc::new(server)) }
    }

    fn url(&self) -> String {
        let port = self.listener.local_addr().expect("an address").port();
        format!("wss://localhost:{port}")
    }

    /// The next client and what it presented, or nothing if it left before it sent anything.
    async fn accept_client(&self) -> Option<(WebSocketStream<TlsStream<TcpStream>>, String)> {
        let (stream, _) = self.listener.accept().await.expect("a connection");
        let stream = self.acceptor.accept(stream).await.ok()?;
        let mut presented = String::new();
        #[expect(clippy::result_large_err, reason = "the library's own type")]
        let look = |request: &Request, response: Response| {
            let header = request.headers().get("authorization");
            presented = header.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
            Ok::<_, ErrorResponse>(response)
        };
        let socket = accept_hdr_async(stream, look).await.expect("a handshake");
        Some((socket, presented))
    }
}

async fn read_frame(socket: &mut WebSocketStream<TlsStream<TcpStream>>) -> Value {
    loop {
        if let Message::Text(text) = socket.next().await.expect("it stays").expect("a frame") {
            return serde_json::from_str(&text).expect("JSON");
        }
    }
}

async fn send_frame(
    socket: &mut WebSocketStream<TlsStream<TcpStream>>,
    kind: &str,
    payload: Value,
) {
    let frame = json!({ "type": kind, "payload": payload }).to_string();
    socket.send(Message::text(frame)).await.expect("it listens");
}

/// Files in which the token stands.
fn files_with_token(test_home: &TestHome) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    let files = test_home.data.snapshot().into_iter().chain(test_home.notes.snapshot());
    files.filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_elsewhere_that_proves_who_it_is_hears_the_token_and_nobody_else_does() {
    let certificate = make_certificate();
    let (home, hub) = (TestHome::new(&[]), TlsHub::start(&certificate).await);
    home.data.write("authority.pem", &certificate.authority);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut served = home
        .cli_command(&["serve", "--vault", vault])
        .env("SSL_CERT_FILE", home.data.root().join("authority.pem"))
        .env("VAULTMATE_HUB_URL", hub.url())
        .env("VAULTMATE_HUB_TOKEN", CANARY)
        .env("VAULTMATE_LOG", "trace")
        .stderr(Stdio::piped())
        .spawn()
        .expect("it serves");
    let client =
        tokio::time::timeout(TEST_TIMEOUT, hub.accept_client()).await.expect("a client comes");
    let (mut socket, presented) = client.expect("it trusts the certificate");
    assert_eq!(presented, format!("Bearer {CANARY}"));
    assert_eq!(read_frame(&mut socket).await["type"], "registration");
    send_frame(&mut socket, "registration_response", json!({ "success": true })).await;
    let message = json!({ "id": "m-1", "text": "remember milk", "timestamp": "2026-01-01" });
    send_frame(&mut socket, "message", message).await;
    assert_eq!(read_frame(&mut socket).await["payload"]["type"], "ack");
    let mut lines = BufReader::new(served.stderr.take().expect("its words")).lines();
    let mut said = Vec::new();
    while !said.iter().any(|line: &String| line.starts_with("Connected to the hub")) {
        let line = tokio::time::timeout(TEST_TIMEOUT, lines.next_line()).await.expect("a line");
        said.push(line.expect("text").expect("it is told that it is online"));
    }
    served.kill().await.expect("it ends");
    let said = said.join("\n");
    assert!(!said.contains("hub is off"), "{said}");
    assert!(!said.contains(CANARY), "{said}");
    assert_eq!(files_with_token(&home), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_elsewhere_that_nobody_vouches_for_is_told_nothing_and_the_user_why() {
    let (home, hub) = (TestHome::new(&[]), TlsHub::start(&make_certificate()).await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    assert!(hub.accept_client().await.is_none(), "it left before it said a word");
    let trouble = wait_for_state(&running, HubState::Refused).await;
    let address = hub.url().replace("wss://", "");
    assert_eq!(
        trouble.as_deref(),
        Some(&*format!(
            "The hub at {address} has a certificate that this computer doesn’t trust (it isn’t \
             signed by a trusted authority). Check the URL, or have the certificate trusted here, \
             then connect again."
        ))
    );
    running.quit().await;
}

/// The trouble with which the link reaches a state.
async fn wait_for_state(app: &RunningApp, wanted: HubState) -> Option<String> {
    let reached = |event: &AppEvent| match event {
        AppEvent::HubChanged { hub } if hub.state == wanted => {
            Some(hub.trouble.as_ref().map(|error| error.message.clone()))
        }
        _ => None,
    };
    app.wait_for_event("the state", reached).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_kept_like_a_key_shown_at_once_and_over_a_restart_and_removed() {
    let token = Token::new(CANARY).expect("a token");
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let hub = LocalHub::bind(anywhere, Some(token)).await.expect("a hub");
    let (url, cancel) = (format!("ws://{}", hub.address()), CancellationToken::new());
    let mut hubs = JoinSet::new();
    hubs.spawn(hub.run(cancel.clone()));

    let home = TestHome::new(&[]);
    let settings = with_hub(settings_without_model(), &url);
    let running = home.open(settings.clone()).await;
    let trouble = wait_for_state(&running, HubState::Refused).await.expect("some words");
    assert!(trouble.contains("Check its token"), "{trouble}");
    let set = async |running: &RunningApp, token: &str, place| {
        running.app.set_hub_token(SecretString::from(token), place).await
    };
    let refused = set(&running, "two words", KeyStorage::File).await.expect_err("no token");
    assert!(!refused.message.contains("two words"), "{refused}");
    let refused = set(&running, CANARY, KeyStorage::Keyring).await.expect_err("no keyring here");
    assert_eq!(refused.code, ErrorCode::Key);
    assert!(!refused.message.contains(CANARY), "{refused}");
    set(&running, CANARY, KeyStorage::File).await.expect("kept");
    wait_for_state(&running, HubState::Online).await;
    assert_eq!(running.app.hub_token_source().await.source.as_deref(), Some("file"));
    running.quit().await;
    assert_eq!(files_with_token(&home), ["key.hub"]);
    let file = std::fs::metadata(home.data.root().join("key.hub")).expect("its file");
    assert_eq!(file.permissions().mode() & 0o777, 0o600);

    let running = home.open(settings).await;
    wait_for_state(&running, HubState::Online).await;
    set(&running, "", KeyStorage::File).await.expect("removed");
    wait_for_state(&running, HubState::Refused).await;
    assert_eq!(running.app.hub_token_source().await.source, None);
    running.quit().await;
    assert_eq!(files_with_token(&home), [] as [String; 0]);
    cancel.cancel();
}
