//! The link and a hub that answers wrongly, sends rubbish, or falls silent.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use hub::{HubResponse, LinkConfig, LinkTiming, NotOnline, Token};
use protocol::HubState;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

use crate::fixtures::{
    MisbehavingHub, RunningLink, close_code, config, next_frame, send_frame, send_message,
    within_timeout,
};

const MEBIBYTE: usize = 1 << 20;

/// A message frame of exactly `bytes` bytes.
fn message_of(bytes: usize) -> String {
    let frame =
        |text: &str| format!(r#"{{"type":"message","payload":{{"id":"m1","text":"{text}"}}}}"#);
    frame(&"x".repeat(bytes - frame("").len()))
}

#[tokio::test]
async fn online_is_reported_only_after_the_hub_has_accepted_the_name() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let (mut socket, registration) = hub.registration().await;
    assert_eq!(registration["type"], "registration");
    assert_eq!(registration["payload"]["name"], "Notes");
    assert_eq!(registration["payload"]["description"], "Keeps my notes.");
    link.wait_for_state(HubState::Registering).await;
    let response = HubResponse::Ack { message_id: "m1".into() };
    assert!(link.handle.send(&hub.address.to_string(), response).await.is_err());
    assert!(link.events.is_empty());
    send_frame(&mut socket, "registration_response", json!({ "success": true })).await;
    link.wait_for_state(HubState::Online).await;
}

#[tokio::test]
async fn codes_that_need_the_user_stop_the_link_with_a_sentence() {
    for (code, said) in [
        ("INVALID_NAME", "The hub refuses the name “Notes”. Use letters"),
        ("INVALID_DESCRIPTION", "The hub refuses the description."),
        ("ALREADY_REGISTERED", "(ALREADY_REGISTERED)"),
        ("VALIDATION_ERROR", "(VALIDATION_ERROR)"),
    ] {
        let hub = MisbehavingHub::start().await;
        let mut link = RunningLink::start(config(hub.address));
        let (mut socket, _) = hub.registration().await;
        let answer = json!({ "success": false, "code": code, "message": "no" });
        send_frame(&mut socket, "registration_response", answer).await;
        let trouble = link.trouble(HubState::Refused).await;
        assert!(trouble.contains(said) && !trouble.contains("automatically"), "{trouble}");
        assert_eq!(close_code(&mut socket).await, Some(1000));
        assert!(!hub.is_dialled().await);
    }
}

#[tokio::test]
async fn an_unknown_code_backs_off_and_its_text_is_tamed() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let (mut socket, _) = hub.registration().await;
    let answer = json!({ "success": false, "code": "NEW_CODE\u{1b}[2J <b>" });
    send_frame(&mut socket, "registration_response", answer).await;
    let trouble = link.trouble(HubState::Waiting).await;
    assert!(trouble.contains("(NEW_CODE2Jb)"), "{trouble}");
    hub.client().await;
    link.wait_for_state(HubState::Online).await;
}

#[tokio::test]
async fn a_hub_that_never_answers_the_registration_is_left() {
    let hub = MisbehavingHub::start().await;
    let timing = LinkTiming::default().faster(50);
    let mut link = RunningLink::start_timed(Some(config(hub.address)), timing);
    let (mut socket, _) = hub.registration().await;
    assert_eq!(close_code(&mut socket).await, Some(1000));
    link.wait_for_state(HubState::Waiting).await;
}

#[tokio::test]
async fn rubbish_is_counted_and_the_link_stays() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    for (rubbish, count) in [
        Message::text("{"),
        Message::text("null"),
        Message::text(r#"{"type":"messages","payload":{}}"#),
        Message::text(r#"{"type":"registration_response","payload":{"success":true}}"#),
        Message::text(r#"{"type":"registration_response","payload":{"success":false}}"#),
        Message::text("[".repeat(100_000)),
        Message::text(r#"{"type":"message","payload":{"id":"","text":"x"}}"#),
        Message::binary(vec![0, 159, 146, 150]),
    ]
    .into_iter()
    .zip(1..)
    {
        socket.send(rubbish).await.unwrap();
        assert_eq!(link.ignored().await, count);
    }
    socket.send(Message::Pong("unasked".into())).await.unwrap();
    assert_eq!(link.ignored().await, 9);
    send_message(&mut socket, "m1", "still here").await;
    let message = link.message().await;
    assert_eq!(message.text, "still here");
    message.receipt.ack();
    assert_eq!(next_frame(&mut socket).await["payload"]["type"], "ack");
}

/// Raw bytes of a server after the registration, and the code we leave with, if we still can.
const BROKEN: [(&str, &[u8]); 13] = [
    ("a reserved bit", b"\xc1\x02hi"),
    ("another reserved bit", b"\x91\x02hi"),
    ("a reserved opcode", b"\x83\x02hi"),
    ("a reserved control opcode", b"\x8f\x00"),
    ("a continuation of nothing", b"\x80\x02hi"),
    ("a message inside a message", b"\x01\x02hi\x81\x02hi"),
    ("a control frame that is too long", b"\x89\x7e\x00\x7e"),
    ("a ping in pieces", b"\x09\x01p"),
    ("a close frame with half a code", b"\x88\x01\x03"),
    ("text that is not UTF-8", b"\x81\x03\xff\xfe\xfd"),
    ("a masked frame", b"\x81\x82\x00\x00\x00\x00hi"),
    ("a length without end", b"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"),
    ("a length with its top bit set", b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"),
];

#[tokio::test]
async fn a_broken_stream_is_closed_and_dialed_again() {
    let hub = MisbehavingHub::start().await;
    for (what, bytes) in BROKEN {
        let mut link = RunningLink::start(config(hub.address));
        let mut socket = hub.client().await;
        link.wait_for_state(HubState::Online).await;
        // The next bytes fill a frame whose length can be checked only when it is whole.
        socket.get_mut().write_all(&[bytes, &[b'x'; 126]].concat()).await.unwrap();
        let trouble = link.trouble(HubState::Waiting).await;
        assert!(trouble.contains("sent an unexpected message"), "{what}: {trouble}");
        let code = close_code(&mut socket).await;
        assert!(matches!(code, Some(1002 | 1007 | 1009)), "{what}: {code:?}");
        hub.client().await;
        link.wait_for_state(HubState::Online).await;
        link.stop().await;
    }
}

#[tokio::test]
async fn frames_in_pieces_are_joined() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    let frame = br#"{"type":"message","payload":{"id":"m1","text":"hi"}}"#;
    let mut bytes = Vec::new();
    for (at, byte) in frame.iter().enumerate() {
        let last = if at + 1 == frame.len() { 0x80 } else { 0 };
        bytes.extend([last | u8::from(at == 0), 1, *byte]);
    }
    socket.get_mut().write_all(&bytes).await.unwrap();
    assert_eq!(link.message().await.text, "hi");
}

#[tokio::test]
async fn eight_mebibytes_are_taken_and_more_is_refused_with_a_sentence_on_the_same_line() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    for size in [MEBIBYTE + 1, 8 * MEBIBYTE] {
        socket.send(Message::text(message_of(size))).await.unwrap();
        let message = link.message().await;
        assert!(message.text.starts_with("xxx"));
        message.receipt.ack();
        assert_eq!(next_frame(&mut socket).await["payload"]["type"], "ack");
    }
    for (refused, why) in [
        (message_of(8 * MEBIBYTE + 1), "longer than 8 MiB"),
        (r#"{"type":"message","payload":{"id":"m2","text":" "}}"#.to_owned(), "is empty"),
    ] {
        socket.send(Message::text(refused)).await.unwrap();
        let payload = next_frame(&mut socket).await["payload"].clone();
        let reason = payload["payload"]["reason"].as_str().unwrap_or_default();
        assert!(payload["type"] == "reject" && reason.contains(why), "{payload}");
    }
    send_message(&mut socket, "m3", "still here").await;
    assert_eq!(link.message().await.text, "still here");
}

#[tokio::test]
async fn a_hub_that_falls_silent_is_pinged_and_left_even_in_the_middle_of_a_frame() {
    let timing = LinkTiming::default().faster(100);
    for begun in [&b""[..], b"\x81\x65{\"type\":"] {
        let hub = MisbehavingHub::start().await;
        let mut link = RunningLink::start_timed(Some(config(hub.address)), timing.clone());
        let mut socket = hub.client().await;
        link.wait_for_state(HubState::Online).await;
        socket.get_mut().write_all(begun).await.unwrap();
        // The socket stays open and is not read: no pong, no close.
        let trouble = link.trouble(HubState::Waiting).await;
        assert!(trouble.contains("stopped responding"), "{trouble}");
        hub.client().await;
        link.wait_for_state(HubState::Online).await;
    }
}

#[tokio::test]
async fn a_hub_that_only_pongs_is_kept() {
    let hub = MisbehavingHub::start().await;
    let mut link =
        RunningLink::start_timed(Some(config(hub.address)), LinkTiming::default().faster(100));
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    // Five pings are more than twice the time after which silence is death.
    for _ in 0..5 {
        assert!(within_timeout(socket.next()).await.unwrap().unwrap().is_ping());
        socket.flush().await.unwrap();
    }
    assert!(link.events.is_empty());
}

#[tokio::test]
async fn a_frame_that_comes_a_byte_at_a_time_is_no_sign_of_life() {
    // Q-sequence-10
    let hub = MisbehavingHub::start().await;
    let mut link =
        RunningLink::start_timed(Some(config(hub.address)), LinkTiming::default().faster(100));
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    let frame = [&b"\x81\x7e\xff\xff"[..], &[b'x'; 4096]].concat();
    let dripping = async {
        let mut drops = tokio::time::interval(std::time::Duration::from_millis(20));
        for byte in frame {
            drops.tick().await;
            if socket.get_mut().write_all(&[byte]).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = dripping => panic!("it waited to the end"),
        trouble = link.trouble(HubState::Waiting) => {
            assert!(trouble.contains("stopped responding"), "{trouble}");
        }
    }
}

#[tokio::test]
async fn a_flood_of_pings_ends_the_connection_and_a_few_are_answered() {
    // Q-sequence-11
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    for _ in 0..50 {
        socket.send(Message::Ping("p".into())).await.unwrap();
        // The link asks too.
        while !within_timeout(socket.next()).await.unwrap().unwrap().is_pong() {}
    }
    socket.get_mut().write_all(&b"\x89\x00".repeat(10_000)).await.unwrap();
    let trouble = link.trouble(HubState::Waiting).await;
    assert!(trouble.contains("sent an unexpected message"), "{trouble}");
    hub.client().await;
    link.wait_for_state(HubState::Online).await;
}

#[tokio::test]
async fn a_full_channel_stops_the_reading_and_loses_nothing() {
    let hub = MisbehavingHub::start().await;
    let mut link =
        RunningLink::start_timed(Some(config(hub.address)), LinkTiming::default().faster(100));
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    for n in 0..300 {
        send_message(&mut socket, &format!("m{n}"), "hi").await;
    }
    // Nobody takes the messages for longer than silence may last; the link lives and pings.
    for _ in 0..5 {
        assert!(within_timeout(socket.next()).await.unwrap().unwrap().is_ping());
    }
    for n in 0..300 {
        assert_eq!(link.message().await.id, format!("m{n}"));
    }
}

#[tokio::test]
async fn a_receipt_given_while_the_link_is_down_is_sent_after_the_next_registration() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    send_message(&mut socket, "m1", "hi").await;
    let message = link.message().await;
    drop(socket);
    link.wait_for_state(HubState::Waiting).await;
    message.receipt.ack();
    let mut socket = hub.client().await;
    let expected = json!({
        "type": "response",
        "payload": { "messageId": "m1", "type": "ack", "payload": {} },
    });
    assert_eq!(next_frame(&mut socket).await, expected);
}

#[tokio::test]
async fn a_hub_hears_nothing_that_is_for_another_one() {
    let (first, second) = (MisbehavingHub::start().await, MisbehavingHub::start().await);
    let mut link = RunningLink::start(config(first.address));
    let mut socket = first.client().await;
    send_message(&mut socket, "m1", "for the first").await;
    let message = link.message().await;
    assert_eq!(message.hub, first.address.to_string());
    link.handle.configure(Some(config(second.address)));
    let mut socket = second.client().await;
    link.wait_for_state(HubState::Online).await;
    message.receipt.ack();
    let answer = HubResponse::Ack { message_id: "m2".into() };
    assert_eq!(link.handle.send(&first.address.to_string(), answer).await, Err(NotOnline));
    // The control: the second hub hears of its own message, and of no other before.
    send_message(&mut socket, "m3", "for the second").await;
    link.message().await.receipt.ack();
    assert_eq!(next_frame(&mut socket).await["payload"]["messageId"], "m3");
}

/// Other configs of the hub at this address.
type ConfigChange = fn(SocketAddr) -> Vec<Option<LinkConfig>>;

#[tokio::test]
async fn a_receipt_outlives_another_config_of_the_same_hub() {
    let changes: [ConfigChange; 3] = [
        |at| vec![Some(config(at).with_token(Token::new("s3cret").unwrap()))],
        |at| vec![Some(LinkConfig::new(&format!("ws://{at}"), "Notes", "Keeps lists.").unwrap())],
        |at| vec![None, Some(config(at))],
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let hub = MisbehavingHub::start().await;
        let mut link = RunningLink::start(config(hub.address));
        let mut socket = hub.client().await;
        send_message(&mut socket, "m1", "hi").await;
        // The hub reads nothing any more, so the receipt may be lost with the connection.
        link.message().await.receipt.ack();
        for config in change(hub.address) {
            link.handle.configure(config);
        }
        drop(socket);
        let mut socket = hub.client().await;
        let sent = next_frame(&mut socket).await;
        assert_eq!(sent["payload"]["messageId"], "m1", "change {number}");
    }
}

#[tokio::test]
async fn a_receipt_that_is_given_while_the_link_is_off_waits_for_the_same_hub() {
    let (first, second) = (MisbehavingHub::start().await, MisbehavingHub::start().await);
    for (next, is_sent) in [(&first, true), (&second, false)] {
        let mut link = RunningLink::start(config(first.address));
        let mut socket = first.client().await;
        send_message(&mut socket, "m1", "hi").await;
        let message = link.message().await;
        link.handle.configure(None);
        drop(socket);
        link.wait_for_state(HubState::Off).await;
        message.receipt.ack();
        link.handle.configure(Some(config(next.address)));
        let mut socket = next.client().await;
        send_message(&mut socket, "m2", "hi").await;
        link.message().await.receipt.ack();
        let sent = next_frame(&mut socket).await;
        assert_eq!(sent["payload"]["messageId"], if is_sent { "m1" } else { "m2" });
        drop(socket);
        link.stop().await;
    }
}

#[tokio::test]
async fn nothing_is_acked_that_was_not_given_back() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    send_message(&mut socket, "m1", "kept").await;
    send_message(&mut socket, "m2", "refused").await;
    let _kept = link.message().await;
    link.message().await.receipt.reject("busy");
    let first = next_frame(&mut socket).await;
    assert_eq!(first["payload"]["messageId"], "m2");
    assert_eq!(first["payload"]["payload"], json!({ "reason": "busy" }));
}

#[tokio::test]
async fn an_answer_that_was_lost_with_the_link_goes_out_again_and_one_that_was_read_does_not() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    // It asks whether we answer; the library has the pong ready, and sends it with the message.
    assert!(within_timeout(socket.next()).await.unwrap().unwrap().is_ping());
    send_message(&mut socket, "m1", "read").await;
    link.message().await.receipt.ack();
    assert_eq!(next_frame(&mut socket).await["payload"]["messageId"], "m1");
    assert!(within_timeout(socket.next()).await.unwrap().unwrap().is_ping());
    send_message(&mut socket, "m2", "never read").await;
    link.message().await.receipt.ack();
    let note = HubResponse::Ack { message_id: "m3".into() };
    let (told, id) = (link.handle.clone(), hub.address.to_string());
    let mut waits = JoinSet::new();
    waits.spawn(async move { told.send(&id, note).await });
    drop(socket);
    link.wait_for_state(HubState::Waiting).await;
    let told = within_timeout(waits.join_next()).await.unwrap().unwrap();
    assert_eq!(told, Err(NotOnline), "the waiting caller sends it again");
    let mut socket = hub.client().await;
    assert_eq!(next_frame(&mut socket).await["payload"]["messageId"], "m2");
    send_message(&mut socket, "m4", "next").await;
    link.message().await.receipt.ack();
    assert_eq!(next_frame(&mut socket).await["payload"]["messageId"], "m4");
}

#[tokio::test]
async fn a_hub_that_answers_no_pings_hears_everything_once() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    send_message(&mut socket, "m1", "never read").await;
    link.message().await.receipt.ack();
    let note = HubResponse::Ack { message_id: "m2".into() };
    assert_eq!(link.handle.send(&hub.address.to_string(), note).await, Ok(()));
    drop(socket);
    link.wait_for_state(HubState::Waiting).await;
    let mut socket = hub.client().await;
    send_message(&mut socket, "m3", "next").await;
    link.message().await.receipt.ack();
    assert_eq!(next_frame(&mut socket).await["payload"]["messageId"], "m3");
}
