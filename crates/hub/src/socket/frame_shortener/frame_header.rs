//! Headers of WebSocket frames as a server sends them (RFC 6455, section 5.2).

use std::collections::VecDeque;

/// The size of the longest header in bytes; a server's has no mask.
pub(super) const MAX_HEADER_SIZE: usize = 10;

/// The bit of the last frame of a message.
pub(super) const FIN: u8 = 0x80;

/// The opcode of every frame of a message but the first.
pub(super) const CONTINUATION: u8 = 0;

/// The largest payload of a ping, a pong or a close frame.
const MAX_CONTROL_LENGTH: u64 = 125;

/// A frame that announces more than a tebibyte is a mistake or an attack: no connection carries it within the
/// time in which a hub has to show a sign of life.
const MAX_LENGTH: u64 = 1 << 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// A ping, a pong or a close frame, which may stand between the frames of a message.
    Control,
    /// The first frame of a text or binary message.
    First,
    Continuation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) kind: FrameKind,
    pub(super) opcode: u8,
    pub(super) is_last: bool,
    /// The size of the payload in bytes, at most a tebibyte.
    pub(super) length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderProgress {
    /// The header has `size` bytes as far as is known: 2, or all of them.
    Partial {
        size: usize,
    },
    Complete(FrameHeader),
    /// No server that obeys the protocol sends it.
    Malformed,
}

impl FrameHeader {
    /// Reads the bytes of one header, of which some may be missing.
    pub(super) fn parse(header: &[u8]) -> HeaderProgress {
        let (Some(&first), Some(&second)) = (header.first(), header.get(1)) else {
            return HeaderProgress::Partial { size: 2 };
        };
        let size = match second {
            0..=125 => 2,
            126 => 4,
            127 => MAX_HEADER_SIZE,
            // The frame is masked.
            128.. => return HeaderProgress::Malformed,
        };
        let Some(extended) = header.get(2..size) else { return HeaderProgress::Partial { size } };
        let length = match extended {
            [] => u64::from(second),
            bytes => bytes.iter().fold(0, |length, byte| (length << 8) | u64::from(*byte)),
        };
        let (is_last, opcode) = (first & FIN != 0, first & 0x0f);
        let kind = match opcode {
            CONTINUATION => FrameKind::Continuation,
            1 | 2 => FrameKind::First,
            8..=10 if is_last && length <= MAX_CONTROL_LENGTH => FrameKind::Control,
            _ => return HeaderProgress::Malformed,
        };
        let has_reserved_bits = first & 0x70 != 0;
        if has_reserved_bits || length > MAX_LENGTH {
            return HeaderProgress::Malformed;
        }
        HeaderProgress::Complete(Self { kind, opcode, is_last, length })
    }
}

/// Appends a header; `first` is its first byte.
pub(super) fn put_header(to: &mut VecDeque<u8>, first: u8, length: u64) {
    to.push_back(first);
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ 0..=125), _) => to.push_back(short),
        (_, Ok(medium)) => {
            to.push_back(126);
            to.extend(medium.to_be_bytes());
        }
        _ => {
            to.push_back(127);
            to.extend(length.to_be_bytes());
        }
    }
}
