//! Messages that are larger than the library could ever take: each is refused by its id, and what follows arrives over
//! the same connection.

use futures_util::{SinkExt, StreamExt};
use hub::LinkTiming;
use protocol::HubState;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;

use crate::fixtures::{
    MisbehavingHub, RunningLink, ServerSocket, assert_left_while_dripping, config, next_frame,
    send_long_frame, send_message, within_timeout,
};

const MEBIBYTE: usize = 1 << 20;

/// The bits of the header for a text frame, alone or first, and for the frames that follow it.
const TEXT: u8 = 0x81;
const FIRST_OF_TEXT: u8 = 0x01;
const CONTINUATION: u8 = 0x00;
const LAST: u8 = 0x80;

/// The beginning and the end of a message with its id before the text, and after it.
const ID_FIRST: (&str, &str) = (r#"{"type":"message","payload":{"id":"m1","text":""#, r#""}}"#);
const ID_LAST: (&str, &str) = (r#"{"type":"message","payload":{"text":""#, r#"","id":"m1"}}"#);

/// The message is refused, and the next one is taken over the same connection.
async fn assert_refused(hub: &MisbehavingHub, link: &mut RunningLink, socket: &mut ServerSocket) {
    let payload = next_frame(socket).await["payload"].clone();
    assert_eq!((&payload["messageId"], &payload["type"]), (&"m1".into(), &"reject".into()));
    let reason = &payload["payload"]["reason"];
    assert_eq!(reason, "The message is longer than 8 MiB. Send it in parts.");
    send_message(socket, "m2", "still here").await;
    let message = link.message().await;
    assert_eq!(message.text, "still here");
    message.receipt.ack();
    let payload = next_frame(socket).await["payload"].clone();
    assert_eq!((&payload["messageId"], &payload["type"]), (&"m2".into(), &"ack".into()));
    assert!(!hub.is_dialled().await, "it came over another connection");
}

#[tokio::test]
async fn a_message_of_any_length_is_refused_by_its_id_and_the_next_one_is_taken() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    for message in [ID_FIRST, ID_LAST] {
        for length in [8 * MEBIBYTE + 1, 65 * MEBIBYTE] {
            send_long_frame(&mut socket, TEXT, message, length).await;
            assert_refused(&hub, &mut link, &mut socket).await;
        }
    }
    assert!(link.events.is_empty(), "nothing was ignored, and the link was not lost");
}

#[tokio::test]
async fn a_message_in_many_frames_is_refused_by_its_id_and_pings_between_them_are_answered() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    for ((begin, end), size) in [(ID_FIRST, 5 * MEBIBYTE), (ID_LAST, 7 * MEBIBYTE)] {
        send_long_frame(&mut socket, FIRST_OF_TEXT, (begin, ""), size).await;
        for frame in 0..13_u8 {
            send_long_frame(&mut socket, CONTINUATION, ("", ""), size).await;
            socket.send(Message::Ping(vec![frame].into())).await.unwrap();
            let is_answer =
                |message: &Message| matches!(message, Message::Pong(bytes) if bytes[..] == [frame]);
            while !is_answer(&within_timeout(socket.next()).await.unwrap().unwrap()) {}
        }
        // The id is cut as well: its frames hold one byte each.
        for byte in end.as_bytes() {
            let stream = socket.get_mut();
            stream.write_all(&[CONTINUATION, 1, *byte]).await.unwrap();
        }
        socket.get_mut().write_all(&[LAST, 0]).await.unwrap();
        assert_refused(&hub, &mut link, &mut socket).await;
    }
}

#[tokio::test]
async fn a_message_whose_id_is_in_the_middle_is_ignored_and_the_next_one_is_taken() {
    let hub = MisbehavingHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    let mut socket = hub.client().await;
    let middle = "x".repeat(9 * MEBIBYTE);
    let begin = format!(r#"{{"type":"message","payload":{{"text":"{middle}","id":"m1","more":""#);
    send_long_frame(&mut socket, TEXT, (begin.as_str(), r#""}}"#), 20 * MEBIBYTE).await;
    assert_eq!(link.ignored().await, 1);
    // The control: with the same field after it, and less text before, the id is read.
    let begin = r#"{"type":"message","payload":{"text":"x","id":"m1","more":""#;
    send_long_frame(&mut socket, TEXT, (begin, r#""}}"#), 20 * MEBIBYTE).await;
    assert_refused(&hub, &mut link, &mut socket).await;
}

#[tokio::test]
async fn a_long_message_that_comes_a_byte_at_a_time_is_no_sign_of_life() {
    let hub = MisbehavingHub::start().await;
    let timing = LinkTiming::default().faster(50);
    let mut link = RunningLink::start_timed(Some(config(hub.address)), timing);
    let mut socket = hub.client().await;
    link.wait_for_state(HubState::Online).await;
    let header = [&[TEXT, 127][..], &(100 * MEBIBYTE as u64).to_be_bytes()].concat();
    socket.get_mut().write_all(&header).await.unwrap();
    // Nothing passes of what follows.
    socket.get_mut().write_all(&vec![b'x'; 8 * MEBIBYTE]).await.unwrap();
    assert_left_while_dripping(&mut link, socket.get_mut(), &[b'x'; 4096]).await;
    hub.client().await;
    link.wait_for_state(HubState::Online).await;
}
