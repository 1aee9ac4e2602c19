//! The local hub's rules over real sockets. `O-listen-…` are the scenarios by their ids.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hub::local::{InputMethod, Report, Rules, Seen, SendProblem, Wait};
use hub::{Timing, Token};
use protocol::HubState;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::stage::{Hub, Link, Socket, anywhere, close_code, config, named, soon};

/// Connects, with one more header if wanted; `Err` holds the status that was answered.
async fn knock(hub: &Hub, header: Option<(&'static str, &str)>) -> Result<Socket, u16> {
    knock_at(hub, "/", header.as_slice()).await
}

async fn knock_at(hub: &Hub, path: &str, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
    let mut request = format!("ws://{}{path}", hub.address).into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(hub.address).await.unwrap();
    match soon(client_async(request, stream)).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn browsers_are_refused_and_programs_are_not() {
    let hub = Hub::start().await;
    // O-listen-01, -02, -03, -04
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
    ] {
        assert_eq!(knock(&hub, Some(("origin", origin))).await.err(), Some(403), "{origin}");
    }
    // O-listen-05
    let rebound = [("origin", "tauri://localhost"), ("host", "evil.example")];
    assert_eq!(knock_at(&hub, "/", &rebound).await.err(), Some(403));
    assert_eq!(knock(&hub, Some(("host", "evil.example"))).await.err(), Some(403));
    // O-listen-09
    let everywhere = format!("0.0.0.0:{}", hub.address.port());
    assert_eq!(knock(&hub, Some(("host", everywhere.as_str()))).await.err(), Some(403));
    assert!(knock(&hub, None).await.is_ok());
}

#[tokio::test]
async fn a_token_counts_in_its_header_and_to_the_last_byte() {
    let token = Token::new("s3cret").unwrap();
    let hub = Hub::start_with(anywhere(), Some(token), Rules::default()).await;
    // O-listen-06
    assert_eq!(knock(&hub, None).await.err(), Some(401));
    // O-listen-07
    assert_eq!(knock_at(&hub, "/?token=s3cret", &[]).await.err(), Some(401));
    // O-listen-08
    for wrong in ["Bearer s3creT", "Bearer s3cre", "Bearer s3crets", "s3cret"] {
        assert_eq!(knock(&hub, Some(("authorization", wrong))).await.err(), Some(401), "{wrong}");
    }
    assert!(knock(&hub, Some(("authorization", "Bearer s3cret"))).await.is_ok());
}

#[tokio::test]
async fn a_port_scan_learns_nothing() {
    // O-listen-10
    let hub = Hub::start().await;
    let mut stream = TcpStream::connect(hub.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    soon(stream.read_to_end(&mut answer)).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "");
}

#[tokio::test]
async fn the_hundred_and_first_socket_is_turned_away_until_one_leaves() {
    let mut hub = Hub::start().await;
    let mut sockets = Vec::new();
    for _ in 0..100 {
        sockets.push(knock(&hub, None).await.unwrap());
    }
    assert_eq!(knock(&hub, None).await.err(), Some(503));
    let mut leaving = sockets.pop().unwrap();
    leaving.close(None).await.unwrap();
    hub.saw(|seen| matches!(seen, Seen::Left { .. }).then_some(())).await;
    // The place is free a moment after the hub has seen the socket leave.
    soon(async { while knock(&hub, None).await.is_err() {} }).await;
}

#[tokio::test]
async fn a_frame_over_one_mebibyte_is_answered_with_1009_and_one_that_fits_is_not() {
    let mut hub = Hub::start().await;
    let mut socket = knock(&hub, None).await.unwrap();
    socket.send(Message::text("x".repeat(1 << 20))).await.unwrap();
    hub.saw(|seen| matches!(seen, Seen::Dropped { .. }).then_some(())).await;
    socket.send(Message::text("x".repeat((1 << 20) + 1))).await.unwrap();
    assert_eq!(close_code(&mut socket).await, Some(1009));
}

#[tokio::test]
async fn a_socket_without_a_pong_is_cut_and_one_with_is_kept() {
    let mut rules = Rules::default();
    rules.ping_every = Duration::from_millis(50);
    let mut hub = Hub::start_with(anywhere(), None, rules).await;
    let mut alive = knock(&hub, None).await.unwrap();
    // This one never reads, so it never answers a ping.
    let _dead = knock(&hub, None).await.unwrap();
    let mut pings = 0;
    while pings < 5 {
        pings += u32::from(soon(alive.next()).await.unwrap().unwrap().is_ping());
    }
    let code = hub.saw(|seen| if let Seen::Left { code, .. } = seen { Some(code) } else { None });
    assert_eq!(code.await, None);
    assert!(soon(alive.next()).await.unwrap().unwrap().is_ping());
}

#[tokio::test]
async fn silence_is_a_rejection_and_the_next_client_is_asked() {
    let mut rules = Rules::default();
    rules.response_timeout = Duration::from_millis(50);
    let hub = Hub::start_with(anywhere(), None, rules).await;
    let mut notes = Link::start(config(hub.address));
    let mut tasks = Link::start(named(hub.address, "Tasks"));
    notes.reaches(HubState::Online).await;
    tasks.reaches(HubState::Online).await;
    let (how, wait) = (InputMethod::Text, Wait::Responses);
    let mut reports = hub::local::send(hub.address, None, "Notes: hi", how, wait).await.unwrap();
    let first = notes.message().await;
    let second = tasks.message().await;
    assert_eq!(first.text, second.text);
    assert_ne!(first.id, second.id);
    let timed_out = Report::Rejected { by: "Notes".into(), reason: "Response timeout".into() };
    soon(async { while reports.next().await.unwrap().unwrap() != timed_out {} }).await;
}

#[tokio::test]
async fn a_closing_hub_says_1001() {
    let hub = Hub::start().await;
    let mut socket = knock(&hub, None).await.unwrap();
    // An answer to a ping shows that the hub has taken the socket in.
    socket.send(Message::Ping(Vec::new().into())).await.unwrap();
    assert!(soon(socket.next()).await.unwrap().unwrap().is_pong());
    let (code, ()) = tokio::join!(close_code(&mut socket), hub.stop());
    assert_eq!(code, Some(1001));
}

#[tokio::test]
async fn a_sender_is_told_when_there_is_no_hub_and_when_there_is_no_client() {
    let hub = Hub::start().await;
    let address = hub.address;
    let (how, wait) = (InputMethod::Text, Wait::Responses);
    let mut reports = hub::local::send(address, None, "hi", how, wait).await.unwrap();
    assert!(matches!(soon(reports.next()).await, Some(Ok(Report::Undelivered { .. }))));
    assert!(soon(reports.next()).await.is_none());
    hub.stop().await;
    let problem = hub::local::send(address, None, "hi", how, wait).await.err().unwrap();
    assert!(matches!(problem, SendProblem::NoHub(_)), "{problem}");
}

#[tokio::test]
async fn notifications_are_shown_without_markup() {
    let mut hub = Hub::start().await;
    let mut link = Link::start_timed(Some(config(hub.address)), Timing::default());
    link.reaches(HubState::Online).await;
    let (how, wait) = (InputMethod::Text, Wait::Delivery);
    hub::local::send(hub.address, None, "hi", how, wait).await.unwrap();
    let message = link.message().await;
    let note = hub::Response::Notification {
        message_id: message.id,
        title: "<i>Notes</i>".into(),
        body: "Done.".into(),
        priority: hub::Priority::Low,
    };
    link.handle.send(note).await.unwrap();
    let shown = hub.saw(|seen| if let Seen::Shown { notice } = seen { Some(notice) } else { None });
    assert_eq!(shown.await.title, "Notes");
}
