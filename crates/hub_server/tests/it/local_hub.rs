//! The local hub's rules over real sockets. `O-listen-…` are the scenarios by their ids.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hub::{LinkTiming, Token};
use hub_server::{
    DeliveryReport, InputMethod, LocalHubEvent, LocalHubLimits, ReportsWanted, SendProblem,
};
use protocol::HubState;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::fixtures::{
    RunningHub, RunningLink, ServerSocket, any_local_port, close_code, config, named,
    within_timeout,
};

/// Connects, with one more header if wanted; `Err` holds the status that was answered.
async fn connect(
    hub: &RunningHub,
    header: Option<(&'static str, &str)>,
) -> Result<ServerSocket, u16> {
    connect_to_path(hub, "/", header.as_slice()).await
}

async fn connect_to_path(
    hub: &RunningHub,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<ServerSocket, u16> {
    let mut request = format!("ws://{}{path}", hub.address).into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(hub.address).await.unwrap();
    match within_timeout(client_async(request, stream)).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn browsers_are_refused_and_programs_are_not() {
    let hub = RunningHub::start().await;
    // O-listen-01, -02, -03, -04
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
    ] {
        assert_eq!(connect(&hub, Some(("origin", origin))).await.err(), Some(403), "{origin}");
    }
    // O-listen-05
    let rebound = [("origin", "tauri://localhost"), ("host", "evil.example")];
    assert_eq!(connect_to_path(&hub, "/", &rebound).await.err(), Some(403));
    assert_eq!(connect(&hub, Some(("host", "evil.example"))).await.err(), Some(403));
    // O-listen-09
    let everywhere = format!("0.0.0.0:{}", hub.address.port());
    assert_eq!(connect(&hub, Some(("host", everywhere.as_str()))).await.err(), Some(403));
    assert!(connect(&hub, None).await.is_ok());
}

#[tokio::test]
async fn a_token_counts_in_its_header_and_to_the_last_byte() {
    let token = Token::new("s3cret").unwrap();
    let hub =
        RunningHub::start_with(any_local_port(), Some(token), LocalHubLimits::default()).await;
    // O-listen-06
    assert_eq!(connect(&hub, None).await.err(), Some(401));
    // O-listen-07
    assert_eq!(connect_to_path(&hub, "/?token=s3cret", &[]).await.err(), Some(401));
    // O-listen-08
    for wrong in ["Bearer s3creT", "Bearer s3cre", "Bearer s3crets", "s3cret"] {
        assert_eq!(connect(&hub, Some(("authorization", wrong))).await.err(), Some(401), "{wrong}");
    }
    assert!(connect(&hub, Some(("authorization", "Bearer s3cret"))).await.is_ok());
}

#[tokio::test]
async fn a_port_scan_learns_nothing() {
    // O-listen-10
    let hub = RunningHub::start().await;
    let mut stream = TcpStream::connect(hub.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    within_timeout(stream.read_to_end(&mut answer)).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "");
}

#[tokio::test]
async fn the_hundred_and_first_socket_is_turned_away_until_one_leaves() {
    let mut hub = RunningHub::start().await;
    let mut sockets = Vec::new();
    for _ in 0..100 {
        sockets.push(connect(&hub, None).await.unwrap());
    }
    assert_eq!(connect(&hub, None).await.err(), Some(503));
    let mut leaving = sockets.pop().unwrap();
    leaving.close(None).await.unwrap();
    hub.wait_for_event(|seen| matches!(seen, LocalHubEvent::Left { .. }).then_some(())).await;
    // The place is free a moment after the hub has seen the socket leave.
    within_timeout(async { while connect(&hub, None).await.is_err() {} }).await;
}

#[tokio::test]
async fn a_frame_over_one_mebibyte_is_answered_with_1009_and_one_that_fits_is_not() {
    let mut hub = RunningHub::start().await;
    let mut socket = connect(&hub, None).await.unwrap();
    socket.send(Message::text("x".repeat(1 << 20))).await.unwrap();
    hub.wait_for_event(|seen| matches!(seen, LocalHubEvent::Dropped { .. }).then_some(())).await;
    socket.send(Message::text("x".repeat((1 << 20) + 1))).await.unwrap();
    assert_eq!(close_code(&mut socket).await, Some(1009));
}

#[tokio::test]
async fn a_socket_without_a_pong_is_cut_and_one_with_is_kept() {
    let mut rules = LocalHubLimits::default();
    rules.ping_every = Duration::from_millis(50);
    let mut hub = RunningHub::start_with(any_local_port(), None, rules).await;
    let mut alive = connect(&hub, None).await.unwrap();
    // This one never reads, so it never answers a ping.
    let _dead = connect(&hub, None).await.unwrap();
    let mut pings = 0;
    while pings < 5 {
        pings += u32::from(within_timeout(alive.next()).await.unwrap().unwrap().is_ping());
    }
    let code = hub.wait_for_event(|seen| {
        if let LocalHubEvent::Left { code, .. } = seen { Some(code) } else { None }
    });
    assert_eq!(code.await, None);
    assert!(within_timeout(alive.next()).await.unwrap().unwrap().is_ping());
}

#[tokio::test]
async fn silence_is_a_rejection_and_the_next_client_is_asked() {
    let mut rules = LocalHubLimits::default();
    rules.response_timeout = Duration::from_millis(50);
    let hub = RunningHub::start_with(any_local_port(), None, rules).await;
    let mut notes = RunningLink::start(config(hub.address));
    let mut tasks = RunningLink::start(named(hub.address, "Tasks"));
    notes.wait_for_state(HubState::Online).await;
    tasks.wait_for_state(HubState::Online).await;
    let (how, wait) = (InputMethod::Text, ReportsWanted::Responses);
    let mut reports = hub_server::send(hub.address, None, "Notes: hi", how, wait).await.unwrap();
    let first = notes.message().await;
    let second = tasks.message().await;
    assert_eq!(first.text, second.text);
    assert_ne!(first.id, second.id);
    let timed_out =
        DeliveryReport::Rejected { by: "Notes".into(), reason: "Response timeout".into() };
    within_timeout(async { while reports.next().await.unwrap().unwrap() != timed_out {} }).await;
}

#[tokio::test]
async fn a_closing_hub_says_1001() {
    let hub = RunningHub::start().await;
    let mut socket = connect(&hub, None).await.unwrap();
    // An answer to a ping shows that the hub has taken the socket in.
    socket.send(Message::Ping(Vec::new().into())).await.unwrap();
    assert!(within_timeout(socket.next()).await.unwrap().unwrap().is_pong());
    let (code, ()) = tokio::join!(close_code(&mut socket), hub.stop());
    assert_eq!(code, Some(1001));
}

#[tokio::test]
async fn a_sender_is_told_when_there_is_no_hub_and_when_there_is_no_client() {
    let hub = RunningHub::start().await;
    let address = hub.address;
    let (how, wait) = (InputMethod::Text, ReportsWanted::Responses);
    let mut reports = hub_server::send(address, None, "hi", how, wait).await.unwrap();
    assert!(matches!(
        within_timeout(reports.next()).await,
        Some(Ok(DeliveryReport::Undelivered { .. }))
    ));
    assert!(within_timeout(reports.next()).await.is_none());
    hub.stop().await;
    let problem = hub_server::send(address, None, "hi", how, wait).await.err().unwrap();
    assert!(matches!(problem, SendProblem::NoHub(_)), "{problem}");
}

#[tokio::test]
async fn a_sender_that_waits_for_acceptance_hears_until_a_client_takes_the_text_or_none_does() {
    let hub = RunningHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    link.wait_for_state(HubState::Online).await;
    let (how, wait) = (InputMethod::Text, ReportsWanted::Acceptance);
    for is_taken in [true, false] {
        let mut reports = hub_server::send(hub.address, None, "hi", how, wait).await.unwrap();
        let hub::IncomingMessage { id: message_id, hub: address, .. } = link.message().await;
        let response = match is_taken {
            true => hub::HubResponse::Ack { message_id },
            false => hub::HubResponse::Reject { message_id, reason: "Busy".into() },
        };
        link.handle.send(&address, response).await.unwrap();
        let mut heard = Vec::new();
        while let Some(report) = within_timeout(reports.next()).await {
            heard.push(report.unwrap());
        }
        let by = "Notes".to_owned();
        let [DeliveryReport::Delivered { .. }, then @ ..] = heard.as_slice() else {
            panic!("{heard:?}")
        };
        match then {
            [last] if is_taken => assert_eq!(*last, DeliveryReport::Acked { by }),
            [first, DeliveryReport::Undelivered { .. }] if !is_taken => {
                assert_eq!(*first, DeliveryReport::Rejected { by, reason: "Busy".into() });
            }
            _ => panic!("{is_taken}: {heard:?}"),
        }
    }
}

#[tokio::test]
async fn notifications_are_shown_without_markup() {
    let mut hub = RunningHub::start().await;
    let mut link = RunningLink::start_timed(Some(config(hub.address)), LinkTiming::default());
    link.wait_for_state(HubState::Online).await;
    let (how, wait) = (InputMethod::Text, ReportsWanted::Delivery);
    hub_server::send(hub.address, None, "hi", how, wait).await.unwrap();
    let message = link.message().await;
    let note = hub::HubResponse::Notification {
        message_id: message.id,
        title: "<i>Notes</i>".into(),
        body: "Done.".into(),
        priority: hub::Priority::Low,
    };
    link.handle.send(&message.hub, note).await.unwrap();
    let shown = hub.wait_for_event(|seen| {
        if let LocalHubEvent::Shown { notice } = seen { Some(notice) } else { None }
    });
    assert_eq!(shown.await.title, "Notes");
}
