//! Messages of any length in pieces of any size: short ones arrive as they were sent, of long ones the beginning and
//! the end, and all that follows arrives too.

use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use bytes::Bytes;
use proptest::prelude::*;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::error::{Error, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocket};

use super::*;
use crate::websocket::socket_config;

const ANSWER: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
const PING: &[u8] = b"p";

/// Sizes of pieces: as large as the library reads, and as small as there are.
const WHOLE: &[usize] = &[1 << 14];
const SINGLE: &[usize] = &[1];

/// A connection whose bytes arrive in pieces of these sizes, in turn. Before each one it is not ready once.
struct ArrivingBytes {
    bytes: Cursor<Vec<u8>>,
    sizes: Vec<usize>,
    pieces: usize,
    is_ready: bool,
}

impl AsyncRead for ArrivingBytes {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !std::mem::take(&mut self.is_ready) {
            self.is_ready = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let size = self.sizes[self.pieces % self.sizes.len()].min(buf.remaining());
        self.pieces += 1;
        let mut piece = vec![0; size];
        let length = self.bytes.read(&mut piece)?;
        buf.put_slice(&piece[..length]);
        Poll::Ready(Ok(()))
    }
}

#[derive(Default)]
struct WakeCounter(AtomicUsize);

impl WakeCounter {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// All that comes through, with pieces of these sizes on both sides.
fn read_all(sent: &[u8], kept: KeptBytes, arrivals: &[usize], reads: &[usize]) -> Vec<u8> {
    let bytes = Cursor::new(sent.to_vec());
    let stream = ArrivingBytes { bytes, sizes: arrivals.to_vec(), pieces: 0, is_ready: false };
    let mut shortener = FrameShortener::new(stream, kept);
    let wakes = Arc::new(WakeCounter::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let (mut received, mut polls) = (Vec::new(), 0);
    loop {
        let mut piece = vec![0; reads[polls % reads.len()]];
        let mut buf = ReadBuf::new(&mut piece);
        polls += 1;
        let before = wakes.count();
        let read = Pin::new(&mut shortener).poll_read(&mut cx, &mut buf);
        match read {
            Poll::Pending => {
                assert!(buf.filled().is_empty(), "bytes are lost");
                assert!(wakes.count() > before, "nobody wakes the reader");
            }
            Poll::Ready(read) => {
                read.unwrap();
                if buf.filled().is_empty() {
                    let left = sent.len() as u64 - shortener.inner.get_ref().bytes.position();
                    assert_eq!(left, 0, "the stream is said to end");
                    return received;
                }
                received.extend_from_slice(buf.filled());
            }
        }
    }
}

/// The read half of a connection.
struct ReadSide(Cursor<Vec<u8>>);

impl Read for ReadSide {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.read(room)
    }
}

impl Write for ReadSide {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The messages that the library finds in what came through, up to its end.
fn decode(received: &[u8], kept: KeptBytes) -> Vec<Message> {
    let frames = received.strip_prefix(ANSWER).expect("the answer passes");
    let config = socket_config(kept.longest_message());
    let stream = ReadSide(Cursor::new(frames.to_vec()));
    let mut socket = WebSocket::from_raw_socket(stream, Role::Client, Some(config));
    let mut messages = Vec::new();
    loop {
        match socket.read() {
            Ok(message) => messages.push(message),
            Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => return messages,
            Err(error) => panic!("{error} after {messages:?}"),
        }
    }
}

/// A text message in frames of these sizes and one more. Behind some of them comes a ping.
#[derive(Debug, Clone)]
struct SentMessage {
    text: String,
    frames: Vec<(usize, bool)>,
}

impl SentMessage {
    fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), frames: Vec::new() }
    }

    fn encode(&self) -> Vec<u8> {
        let (mut bytes, mut rest, mut opcode) = (Vec::new(), self.text.as_bytes(), Data::Text);
        for (size, has_ping) in &self.frames {
            let (part, behind) = rest.split_at(rest.len().min(*size));
            let frame = Frame::message(part.to_vec(), OpCode::Data(opcode), false);
            frame.format(&mut bytes).unwrap();
            if *has_ping {
                Frame::ping(PING).format(&mut bytes).unwrap();
            }
            (rest, opcode) = (behind, Data::Continue);
        }
        let frame = Frame::message(rest.to_vec(), OpCode::Data(opcode), true);
        frame.format(&mut bytes).unwrap();
        bytes
    }

    fn expected(&self, kept: KeptBytes) -> Vec<Message> {
        let pings = self.frames.iter().filter(|(_, has_ping)| *has_ping);
        let mut messages: Vec<_> = pings.map(|_| Message::Ping(Bytes::from_static(PING))).collect();
        messages.push(Message::text(shortened(&self.text, kept)));
        messages
    }
}

/// The text as it should come through.
fn shortened(text: &str, kept: KeptBytes) -> String {
    if text.len() <= kept.first + kept.last {
        return text.to_owned();
    }
    let next_character = |at: usize| (at..).find(|at| text.is_char_boundary(*at)).unwrap();
    let (begin, end) = (next_character(kept.first), text.len() - kept.last);
    let whole = next_character(end);
    format!("{}{}{}", &text[..begin], "?".repeat(whole - end), &text[whole..])
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,90}", any::<String>(), "[aéß漢🎂]{0,40}"]
}

fn any_message() -> impl Strategy<Value = SentMessage> {
    let frames = proptest::collection::vec((0..30_usize, any::<bool>()), 0..5);
    (any_text(), frames).prop_map(|(text, frames)| SentMessage { text, frames })
}

fn any_sizes() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(prop_oneof![Just(1_usize), 2..20_usize, Just(1_usize << 14)], 1..4)
}

proptest! {
    #[test]
    fn short_messages_arrive_as_they_were_sent_and_of_long_ones_the_beginning_and_the_end(
        messages in proptest::collection::vec(any_message(), 1..6),
        first in 0..50_usize, last in 0..20_usize, arrivals in any_sizes(), reads in any_sizes(),
    ) {
        let kept = KeptBytes { first, last };
        let mut sent = ANSWER.to_vec();
        sent.extend(messages.iter().flat_map(SentMessage::encode));
        let received = read_all(&sent, kept, &arrivals, &reads);
        let expected: Vec<_> = messages.iter().flat_map(|sent| sent.expected(kept)).collect();
        prop_assert_eq!(decode(&received, kept), expected);
        prop_assert_eq!(received, read_all(&sent, kept, WHOLE, WHOLE));
    }
}

#[test]
fn a_character_in_which_a_message_is_cut_is_completed_or_replaced() {
    for (first, last, expected) in [
        (2, 2, "abkl"),
        (3, 3, "ab🎂?kl"),
        (4, 4, "ab🎂??kl"),
        (5, 5, "ab🎂???kl"),
        (6, 6, "ab🎂🎂kl"),
        (0, 0, ""),
    ] {
        let kept = KeptBytes { first, last };
        let sent = [ANSWER, &SentMessage::whole("ab🎂cdefgh🎂kl").encode()].concat();
        let messages = decode(&read_all(&sent, kept, WHOLE, WHOLE), kept);
        assert_eq!(messages, [Message::text(expected)]);
    }
    // The control: bytes that are no text in what is kept stay so.
    let kept = KeptBytes { first: 3, last: 3 };
    let sent = [ANSWER, b"\x81\x08\xffbcdefg\xff"].concat();
    let received = [ANSWER, b"\x01\x03\xffbc\x80\x03fg\xff"].concat();
    assert_eq!(read_all(&sent, kept, WHOLE, WHOLE), received);
}

/// Frames that no server sends; the library says why.
const MALFORMED: [(&str, &[u8]); 10] = [
    ("a reserved bit", b"\xc1\x02hi"),
    ("a reserved opcode", b"\x83\x02hi"),
    ("a reserved control opcode", b"\x8f\x00"),
    ("a continuation of nothing", b"\x80\x02hi"),
    ("a masked frame", b"\x81\x82\x00\x00\x00\x00hi"),
    ("a ping in pieces", b"\x09\x01p"),
    ("a ping that is too long", b"\x89\x7e\x00\x7e"),
    ("more than a tebibyte", b"\x81\x7f\x00\x00\x01\x00\x00\x00\x00\x01"),
    ("a length without end", b"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"),
    ("a length with its top bit set", b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"),
];

#[test]
fn behind_a_malformed_header_nothing_is_changed() {
    let kept = KeptBytes { first: 4, last: 1 };
    let long = SentMessage::whole("much too long").encode();
    for (what, malformed) in MALFORMED {
        let sent = [ANSWER, b"\x81\x02hi\x89\x01p", malformed, &long].concat();
        for (arrivals, reads) in [(WHOLE, WHOLE), (SINGLE, WHOLE), (WHOLE, SINGLE)] {
            assert_eq!(read_all(&sent, kept, arrivals, reads), sent, "{what}");
        }
    }
    let inside = [ANSWER, b"\x01\x06inside", b"\x81\x01!", &long].concat();
    let expected = [ANSWER, b"\x01\x04insi", b"\x81\x01!", &long].concat();
    assert_eq!(read_all(&inside, kept, WHOLE, WHOLE), expected, "a message inside a message");
    let sent = [ANSWER, &long].concat();
    assert_ne!(read_all(&sent, kept, WHOLE, WHOLE), sent, "the control");
}

#[test]
fn a_message_of_a_tebibyte_is_begun_without_room_for_it() {
    let kept = KeptBytes { first: 4, last: 1 };
    let header = [&b"\x81\x7f"[..], &(1_u64 << 40).to_be_bytes()].concat();
    let sent = [ANSWER, &header, &[b'x'; 1000]].concat();
    assert_eq!(read_all(&sent, kept, WHOLE, WHOLE), [ANSWER, b"\x01\x04xxxx"].concat());
    // The control: a message that fits is announced as it was.
    let sent = [ANSWER, b"\x81\x05xxxx"].concat();
    let kept = KeptBytes { first: 5, last: 1 };
    assert_eq!(read_all(&sent, kept, WHOLE, WHOLE), sent);
}

#[test]
fn the_servers_answer_passes_up_to_its_empty_line() {
    let kept = KeptBytes { first: 4, last: 1 };
    let long = SentMessage::whole("much too long").encode();
    let short = b"\x01\x04much\x80\x01g";
    for answer in ["HTTP/1.1 101 S\r\nA: b\r\n\r\n", "HTTP/1.1 101 S\nA: b\n\n"] {
        let sent = [answer.as_bytes(), &long].concat();
        for arrivals in [WHOLE, SINGLE, &[7]] {
            let received = read_all(&sent, kept, arrivals, WHOLE);
            assert_eq!(received, [answer.as_bytes(), short].concat(), "{answer:?}");
        }
    }
    for no_end in ["HTTP/1.1 101 S\r\nA: b\r\n", "SSH-2.0-OpenSSH_9.9\r\n", ""] {
        let sent = [no_end.as_bytes(), &long].concat();
        assert_eq!(read_all(&sent, kept, WHOLE, WHOLE), sent, "{no_end:?}");
    }
}

/// A connection that is always ready, with a message that does not end.
struct EndlessMessage {
    begin: Cursor<Vec<u8>>,
    reads: usize,
}

impl AsyncRead for EndlessMessage {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.reads += 1;
        let mut piece = vec![b'x'; buf.remaining()];
        let length = match self.begin.read(&mut piece)? {
            0 => piece.len(),
            length => length,
        };
        buf.put_slice(&piece[..length]);
        Poll::Ready(Ok(()))
    }
}

#[test]
fn reading_over_a_long_middle_gives_way_to_other_tasks_and_takes_no_memory() {
    let header = [&b"\x81\x7f"[..], &(1_u64 << 40).to_be_bytes()].concat();
    let begin = Cursor::new([ANSWER, &header].concat());
    let kept = KeptBytes { first: 4, last: 100 };
    let mut shortener = FrameShortener::new(EndlessMessage { begin, reads: 0 }, kept);
    let wakes = Arc::new(WakeCounter::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let mut room = vec![0; READ_SIZE];
    let mut received = Vec::new();
    for _ in 0..100 {
        let (reads, woken) = (shortener.inner.get_ref().reads, wakes.count());
        let mut buf = ReadBuf::new(&mut room);
        match Pin::new(&mut shortener).poll_read(&mut cx, &mut buf) {
            Poll::Ready(read) => {
                read.unwrap();
                received.extend_from_slice(buf.filled());
            }
            Poll::Pending => assert_eq!(wakes.count(), woken + 1, "it goes on by itself"),
        }
        assert!(shortener.inner.get_ref().reads - reads <= MAX_STEPS);
    }
    assert_eq!(received, [ANSWER, b"\x01\x04xxxx"].concat());
    assert!(wakes.count() > 90 && shortener.inner.get_ref().reads > 90 * MAX_STEPS, "the control");
    let held = shortener.message.map(|message| format!("{:?}", message.end).len());
    // Each byte is printed as a number and a comma.
    assert!(held.unwrap() < 5 * (2 * kept.last + room.len()) + 200, "{held:?}");
}
