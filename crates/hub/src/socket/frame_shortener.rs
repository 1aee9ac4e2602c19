//! Shortens messages that are too long while they stream by, so that each of them can be refused by its id.
//!
//! The WebSocket library ends the connection over a message that is longer than its limit, and a hub that then
//! sends the message again gets no other one through. [`FrameShortener`] stands between the connection and the
//! library and drops the middle of such a message: of one in several frames, the middle of them all.

mod frame_header;
mod message_end;

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead as _, AsyncRead, AsyncWrite, BufReader, ReadBuf};

use self::frame_header::{
    CONTINUATION, FIN, FrameHeader, FrameKind, HeaderProgress, MAX_HEADER_SIZE, put_header,
};
use self::message_end::{MAX_CONTINUATION_BYTES, MessageEnd};

/// The number of reads that bring the reader nothing after which a task gives way to others: a
/// mebibyte, as large as the library reads.
const MAX_STEPS: usize = 64;

/// Headers are read together with what follows them, so that many small messages cost one read. Larger pieces of
/// a payload go past this buffer.
const READ_SIZE: usize = 16 << 10;

/// How many bytes of a message are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeptBytes {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl KeptBytes {
    /// No message that leaves a [`FrameShortener`] is longer.
    pub(crate) const fn longest_message(self) -> usize {
        self.first + MAX_CONTINUATION_BYTES + self.last
    }
}

/// The client's side of a connection, from the server's answer to the upgrade request on. A message of at most
/// `first + last` bytes passes as it is. Of a longer one the first bytes pass, and the last ones in a frame of their
/// own; text stays valid UTF-8. Behind a malformed header nothing is changed, so that the reader sees the server's
/// mistake.
///
/// Bytes that are dropped bring the reader nothing: to it a server that sends only such bytes is silent.
#[derive(Debug)]
pub(crate) struct FrameShortener<S> {
    inner: BufReader<S>,
    kept: KeptBytes,
    /// Bytes for the reader that come before all others.
    ready: VecDeque<u8>,
    state: ReadState,
    /// The message whose last frame has not begun, or that is too long.
    message: Option<PartialMessage>,
}

#[derive(Debug, Clone, Copy)]
enum ReadState {
    /// The server's answer, which ends with an empty line.
    Answer {
        is_line_empty: bool,
    },
    /// A header, of which the first `size` bytes have come.
    Header {
        bytes: [u8; MAX_HEADER_SIZE],
        size: usize,
    },
    /// A payload that passes.
    Whole {
        left: u64,
    },
    /// A payload of a message that goes on or is too long.
    Part {
        pass: u64,
        hold: u64,
        is_last: bool,
    },
    Unparsed,
}

#[derive(Debug)]
struct PartialMessage {
    /// How many bytes of it may still pass.
    room: u64,
    is_too_long: bool,
    end: MessageEnd,
}

/// Continues while there is nothing for the reader, neither bytes nor the end of the stream.
type ReadStep = Poll<io::Result<ControlFlow<()>>>;

const DONE: ReadStep = Poll::Ready(Ok(ControlFlow::Break(())));
const NOTHING_YET: ReadStep = Poll::Ready(Ok(ControlFlow::Continue(())));

impl ReadState {
    const NEXT_HEADER: Self = Self::Header { bytes: [0; MAX_HEADER_SIZE], size: 0 };
}

impl<S: AsyncRead> FrameShortener<S> {
    pub(crate) fn new(inner: S, kept: KeptBytes) -> Self {
        Self {
            inner: BufReader::with_capacity(READ_SIZE, inner),
            kept,
            ready: VecDeque::new(),
            state: ReadState::Answer { is_line_empty: false },
            message: None,
        }
    }

    fn put_ready(&mut self, buf: &mut ReadBuf<'_>) {
        let (front, _) = self.ready.as_slices();
        let part = front.get(..front.len().min(buf.remaining())).unwrap_or(front);
        buf.put_slice(part);
        let length = part.len();
        self.ready.drain(..length);
    }

    fn stop_parsing(&mut self, header: &[u8]) {
        self.ready.extend(header);
        self.state = ReadState::Unparsed;
    }

    fn begin_frame(&mut self, frame: FrameHeader, header: &[u8]) {
        let mut message = match (frame.kind, self.message.take()) {
            (FrameKind::Control, message) => {
                self.message = message;
                self.ready.extend(header);
                return self.read_payload(ReadState::Whole { left: frame.length });
            }
            (FrameKind::First, None) => PartialMessage {
                room: self.kept.first as u64,
                is_too_long: false,
                end: MessageEnd::new(self.kept.last),
            },
            (FrameKind::Continuation, Some(message)) => message,
            (FrameKind::First, Some(_)) | (FrameKind::Continuation, None) => {
                return self.stop_parsing(header);
            }
        };
        let pass = frame.length.min(message.room);
        let hold = frame.length - pass;
        message.room -= pass;
        message.is_too_long |= hold > 0;
        if message.is_too_long {
            if pass > 0 || frame.kind == FrameKind::First {
                put_header(&mut self.ready, frame.opcode, pass);
            }
        } else {
            self.ready.extend(header);
            if frame.is_last {
                return self.read_payload(ReadState::Whole { left: pass });
            }
        }
        self.message = Some(message);
        self.read_payload(ReadState::Part { pass, hold, is_last: frame.is_last });
    }

    /// Goes on with a payload, or behind it if nothing is left of it.
    fn read_payload(&mut self, state: ReadState) {
        self.state = match state {
            ReadState::Whole { left: 0 } => ReadState::NEXT_HEADER,
            ReadState::Part { pass: 0, hold: 0, is_last } => {
                if is_last {
                    self.end_message();
                }
                ReadState::NEXT_HEADER
            }
            unfinished => unfinished,
        };
    }

    fn end_message(&mut self) {
        if let Some(message) = self.message.take() {
            let end = message.end.join();
            put_header(&mut self.ready, FIN | CONTINUATION, end.len() as u64);
            self.ready.extend(end);
        }
    }
}

impl<S: AsyncRead + Unpin> FrameShortener<S> {
    /// Reads at most once from the connection.
    fn poll_step(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> ReadStep {
        if !self.ready.is_empty() {
            self.put_ready(buf);
            return DONE;
        }
        match self.state {
            ReadState::Answer { is_line_empty } => self.poll_answer(cx, buf, is_line_empty),
            ReadState::Header { bytes, size } => self.poll_header(cx, bytes, size),
            ReadState::Whole { left } => {
                let left = left - ready!(self.poll_through(cx, buf, left))?;
                self.read_payload(ReadState::Whole { left });
                DONE
            }
            ReadState::Part { pass: 0, hold, is_last } => self.poll_hold(cx, buf, hold, is_last),
            ReadState::Part { pass, hold, is_last } => {
                let pass = pass - ready!(self.poll_through(cx, buf, pass))?;
                self.read_payload(ReadState::Part { pass, hold, is_last });
                DONE
            }
            ReadState::Unparsed => {
                ready!(self.poll_through(cx, buf, u64::MAX))?;
                DONE
            }
        }
    }

    fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        mut is_line_empty: bool,
    ) -> ReadStep {
        let read = ready!(Pin::new(&mut self.inner).poll_fill_buf(cx))?;
        let read = read.get(..read.len().min(buf.remaining())).unwrap_or(read);
        let last = read.iter().position(|byte| match byte {
            b'\n' => std::mem::replace(&mut is_line_empty, true),
            b'\r' => false,
            _ => {
                is_line_empty = false;
                false
            }
        });
        let length = last.map_or(read.len(), |last| last + 1);
        buf.put_slice(read.get(..length).unwrap_or(read));
        Pin::new(&mut self.inner).consume(length);
        self.state = match last {
            Some(_) => ReadState::NEXT_HEADER,
            None => ReadState::Answer { is_line_empty },
        };
        DONE
    }

    fn poll_header(
        &mut self,
        cx: &mut Context<'_>,
        mut bytes: [u8; MAX_HEADER_SIZE],
        mut size: usize,
    ) -> ReadStep {
        let known = bytes.get(..size).unwrap_or_default();
        if let HeaderProgress::Partial { size: whole } = FrameHeader::parse(known) {
            let missing = bytes.get_mut(size..whole).unwrap_or_default();
            let length = ready!(self.poll_input(cx, missing))?;
            if length == 0 {
                return DONE;
            }
            size += length;
        }
        let known = bytes.get(..size).unwrap_or_default();
        match FrameHeader::parse(known) {
            HeaderProgress::Partial { .. } => self.state = ReadState::Header { bytes, size },
            HeaderProgress::Complete(frame) => self.begin_frame(frame, known),
            HeaderProgress::Malformed => self.stop_parsing(known),
        }
        NOTHING_YET
    }

    /// Reads on in what does not pass. The reader's buffer is only lent for that.
    fn poll_hold(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        hold: u64,
        is_last: bool,
    ) -> ReadStep {
        let room = buf.initialize_unfilled_to(fitting(hold, buf.remaining()));
        let length = ready!(self.poll_input(cx, room))?;
        if length == 0 {
            return DONE;
        }
        if let Some(message) = &mut self.message {
            message.end.push(room.get(..length).unwrap_or_default());
        }
        let hold = hold - length as u64;
        self.read_payload(ReadState::Part { pass: 0, hold, is_last });
        NOTHING_YET
    }

    /// Reads at most `left` bytes straight into the reader's buffer, and counts them; none at the end of the stream.
    fn poll_through(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        left: u64,
    ) -> Poll<io::Result<u64>> {
        let room = buf.initialize_unfilled_to(fitting(left, buf.remaining()));
        let length = ready!(self.poll_input(cx, room))?;
        buf.advance(length);
        Poll::Ready(Ok(length as u64))
    }

    /// Reads the server's next bytes; none at the end of the stream.
    fn poll_input(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(room);
        ready!(Pin::new(&mut self.inner).poll_read(cx, &mut room))?;
        Poll::Ready(Ok(room.filled().len()))
    }
}

/// `length`, or as much of it as there is room for.
fn fitting(length: u64, room: usize) -> usize {
    usize::try_from(length).map_or(room, |length| length.min(room))
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameShortener<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        for _ in 0..MAX_STEPS {
            if ready!(this.poll_step(cx, buf))?.is_break() {
                return Poll::Ready(Ok(()));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for FrameShortener<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
