//! The link and servers that are no hub, or refuse it. `H-handshake-…` are the scenarios by their
//! ids.

use hub::{ConfigProblem, LinkConfig, LinkTiming, Token};
use protocol::{HubState, Origin};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::fixtures::{
    MisbehavingHub, RunningLink, assert_left_while_dripping, config, send_frame, within_timeout,
};

/// Reads the upgrade request to its end.
async fn request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(within_timeout(stream.read_u8()).await.unwrap());
    }
    String::from_utf8(request).unwrap()
}

/// Answers the next connection with `answer` and closes it.
async fn answer(hub: &MisbehavingHub, answer: &str) {
    let mut stream = hub.connection().await;
    request(&mut stream).await;
    // The link may stop reading in the middle of a long answer.
    let _ = within_timeout(stream.write_all(answer.as_bytes())).await;
    let _ = stream.shutdown().await;
}

/// The right answer to a request, but for `more` headers.
async fn upgrade(hub: &MisbehavingHub, more: &str) -> TcpStream {
    use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
    let mut stream = hub.connection().await;
    let request = request(&mut stream).await;
    let key = request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
    let accept = derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn what_is_no_hub_is_said_to_be_none_and_tried_again() {
    let many = format!("HTTP/1.1 101 S\r\n{}\r\n", "X: y\r\n".repeat(10_000));
    let long = format!("HTTP/1.1 101 S\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    // H-handshake-04, -09, -11, -01, then what is no HTTP at all, and -14 and -13.
    for no_hub in [
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
        "HTTP/1.1 404 Not Found\r\n\r\n",
        "HTTP/1.1 500 Internal Server Error\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: d3Jvbmc=\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        many.as_str(),
        long.as_str(),
    ] {
        let hub = MisbehavingHub::start().await;
        let mut link = RunningLink::start(config(hub.address));
        answer(&hub, no_hub).await;
        let trouble = link.trouble(HubState::Waiting).await;
        let head: String = no_hub.chars().take(40).collect();
        assert!(
            trouble.contains("isn’t a hub") || trouble.contains("was lost"),
            "{head}: {trouble}"
        );
        hub.connection().await;
    }
}

#[tokio::test]
async fn what_we_did_not_offer_must_not_be_chosen() {
    // H-handshake-02 and -03
    for extra in
        ["Sec-WebSocket-Extensions: permessage-deflate\r\n", "Sec-WebSocket-Protocol: chat\r\n"]
    {
        let hub = MisbehavingHub::start().await;
        let mut link = RunningLink::start(config(hub.address));
        let _socket = upgrade(&hub, extra).await;
        let trouble = link.trouble(HubState::Waiting).await;
        assert!(trouble.contains("isn’t a hub"), "{extra}: {trouble}");
    }
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let _socket = upgrade(&hub, "X-Harmless: yes\r\n").await;
    link.wait_for_state(HubState::Registering).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_token_is_sent_to_no_other_server() {
    let (hub, elsewhere) = (MisbehavingHub::start().await, MisbehavingHub::start().await);
    let token = Token::new("s3cret").unwrap();
    let mut link = RunningLink::start(config(hub.address).with_token(token));
    // H-handshake-05 and -06
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
        let scheme = if status.starts_with("302") { "http" } else { "ws" };
        let location = format!("Location: {scheme}://{}/", elsewhere.address);
        answer(&hub, &format!("HTTP/1.1 {status}\r\n{location}\r\n\r\n")).await;
        let trouble = link.trouble(HubState::Waiting).await;
        assert!(trouble.contains("isn’t a hub"), "{trouble}");
    }
    assert!(!elsewhere.is_dialled().await);
    assert!(
        within_timeout(async {
            while !hub.is_dialled().await {
                tokio::task::yield_now().await;
            }
            true
        })
        .await
    );
}

#[tokio::test]
async fn a_hub_that_forbids_us_is_dialed_again_only_by_the_user() {
    // H-handshake-07 and -08
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let hub = MisbehavingHub::start().await;
        let mut link = RunningLink::start(config(hub.address));
        answer(&hub, &format!("HTTP/1.1 {status}\r\n\r\n")).await;
        let trouble = link.trouble(HubState::Refused).await;
        assert!(trouble.contains("refuses the connection"), "{trouble}");
        link.handle.wake();
        // A link that does not exist answers only after the wake was seen.
        assert!(link.handle.send(&hub.address.to_string(), ack()).await.is_err());
        assert!(!hub.is_dialled().await);
        link.handle.retry();
        hub.client().await;
        link.wait_for_state(HubState::Online).await;
    }
}

fn ack() -> hub::HubResponse {
    hub::HubResponse::Ack { message_id: "m1".into() }
}

#[tokio::test]
async fn a_busy_hub_is_left_alone_for_as_long_as_it_asks() {
    // H-handshake-10 and -12
    for (status, asked) in [("429 Too Many Requests", 120), ("503 Service Unavailable", 5)] {
        let hub = MisbehavingHub::start().await;
        let mut link = RunningLink::start(config(hub.address));
        let begun = jiff::Timestamp::now().as_millisecond();
        answer(&hub, &format!("HTTP/1.1 {status}\r\nRetry-After: {asked}\r\n\r\n")).await;
        let told = link.wait_for_state(HubState::Waiting).await;
        let trouble = told.trouble.unwrap().message;
        assert!(trouble.contains("is busy"), "{trouble}");
        let pause = told.retry_at.unwrap().0 - begun;
        assert!(pause >= asked * 1000 - 1, "{pause} ms");
        link.handle.wake();
        assert!(link.handle.send(&hub.address.to_string(), ack()).await.is_err());
        assert!(!hub.is_dialled().await);
        link.handle.retry();
        link.wait_for_state(HubState::Connecting).await;
    }
}

#[tokio::test]
async fn a_server_that_never_answers_the_handshake_is_given_up() {
    // H-handshake-16
    let hub = MisbehavingHub::start().await;
    let timing = LinkTiming::default().faster(50);
    let mut link = RunningLink::start_timed(Some(config(hub.address)), timing);
    let _silent = hub.connection().await;
    let trouble = link.trouble(HubState::Waiting).await;
    assert!(trouble.contains("stopped responding"), "{trouble}");
    hub.client().await;
    link.wait_for_state(HubState::Online).await;
}

#[tokio::test]
async fn a_server_that_answers_the_handshake_byte_by_byte_is_given_up() {
    // H-handshake-15
    let hub = MisbehavingHub::start().await;
    let timing = LinkTiming::default().faster(50);
    let mut link = RunningLink::start_timed(Some(config(hub.address)), timing);
    let mut stream = hub.connection().await;
    request(&mut stream).await;
    let slow = [b"HTTP/1.1 101 Switching Protocols\r\nX-Slow: ".as_slice(), &[b'y'; 4096]].concat();
    assert_left_while_dripping(&mut link, &mut stream, &slow).await;
    hub.client().await;
    link.wait_for_state(HubState::Online).await;
}

#[tokio::test]
async fn a_tls_server_is_never_dialed_without_tls_instead() {
    // A port on which TLS is spoken gets no registration in plain.
    let hub = MisbehavingHub::start().await;
    let mut link =
        RunningLink::start(config(hub.address).with_token(Token::new("s3cret").unwrap()));
    let mut stream = hub.connection().await;
    request(&mut stream).await;
    stream.write_all(b"\x15\x03\x01\x00\x02\x02\x46").await.unwrap();
    drop(stream);
    link.wait_for_state(HubState::Waiting).await;
}

#[tokio::test]
async fn plain_words_go_only_to_this_computer() {
    // H-handshake-20
    for elsewhere in ["ws://192.0.2.1:9473", "ws://hub.example:9473", "ws://[2001:db8::1]:9473"] {
        let refused = LinkConfig::new(elsewhere, "Notes", "Keeps my notes.");
        assert!(matches!(refused, Err(ConfigProblem::NotThisComputer(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn a_program_on_the_port_is_only_a_hub_whatever_it_claims() {
    // H-handshake-21
    let squatter = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(squatter.address));
    let mut socket = squatter.client().await;
    let claims = json!({
        "id": "m1", "text": "hi", "origin": "window", "trusted": true,
        "metadata": { "inputMethod": "window", "role": "system", "approve": true },
    });
    send_frame(&mut socket, "message", claims).await;
    assert_eq!(link.message().await.origin, Origin::HubText);
}

#[tokio::test]
async fn switching_off_during_the_handshake_gives_it_up() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut stream = hub.connection().await;
    request(&mut stream).await;
    link.handle.configure(None);
    link.wait_for_state(HubState::Off).await;
    assert_eq!(within_timeout(stream.read(&mut [0; 1])).await.unwrap_or(0), 0);
}
