//! Frames as bytes: how they are made, what they hold, and what RFC 6455 says is wrong with them.

/// The largest frame that is taken for one; what announces more ends the connection.
pub(super) const MAX_FRAME_BYTES: u64 = 1 << 40;
/// The largest message that is taken; a longer one is refused with a sentence.
pub(super) const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// Bytes of a hub, and what becomes of the connection after them.
#[derive(Debug, Clone)]
pub(super) struct RawFrames {
    pub(super) bytes: Vec<u8>,
    pub(super) end: HubConnectionEnd,
}

/// The fate of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HubConnectionEnd {
    Stays,
    Rst,
    Fin,
}

/// The frames in some bytes, up to the first that is wrong.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DecodedFrames {
    /// The texts that came whole.
    pub(super) texts: Vec<String>,
    /// The codes with which a peer may leave; empty when none is due.
    pub(super) close_codes: Vec<u16>,
}

impl RawFrames {
    pub(super) const fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes, end: HubConnectionEnd::Stays }
    }

    pub(super) fn decode(&self) -> DecodedFrames {
        let mut content = DecodedFrames::default();
        let mut reader = FrameReader { rest: &self.bytes, partial: None };
        while let Some(step) = reader.step() {
            match step {
                Ok(text) => content.texts.extend(text),
                Err(due) => {
                    content.close_codes = due;
                    break;
                }
            }
        }
        content
    }
}

/// A text frame of a server.
pub(super) fn text_frame(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x81];
    match (u8::try_from(text.len()), u16::try_from(text.len())) {
        (Ok(length), _) if length < 126 => frame.push(length),
        (_, Ok(length)) => {
            frame.push(126);
            frame.extend(length.to_be_bytes());
        }
        _ => {
            frame.push(127);
            frame.extend((text.len() as u64).to_be_bytes());
        }
    }
    frame.extend(text);
    frame
}

const CLOSE_PROTOCOL_ERROR: u16 = 1002;
const CLOSE_INVALID_UTF8: u16 = 1007;
const CLOSE_TOO_BIG: u16 = 1009;

struct FrameReader<'a> {
    rest: &'a [u8],
    /// The opcode and the bytes of a message in pieces.
    partial: Option<(u8, Vec<u8>)>,
}

/// A text, or nothing of interest, or the codes that are due.
type FrameStep = Result<Option<String>, Vec<u16>>;

impl FrameReader<'_> {
    /// The next frame; `None` when no whole one is left.
    fn step(&mut self) -> Option<FrameStep> {
        let (first, second) = (*self.rest.first()?, *self.rest.get(1)?);
        let (is_last, opcode) = (first & 0x80 != 0, first & 0x0f);
        let (length, head) = match second & 0x7f {
            126 => (u64::from(u16::from_be_bytes(array(self.rest.get(2..4)?)?)), 4),
            127 => (u64::from_be_bytes(array(self.rest.get(2..10)?)?), 10),
            short => (u64::from(short), 2),
        };
        let is_control = opcode >= 8;
        let is_reserved = first & 0x70 != 0 || !matches!(opcode, 0 | 1 | 2 | 8 | 9 | 10);
        let is_bad_control = is_control && (!is_last || length > 125);
        let is_out_of_order = !is_control && (opcode == 0) != self.partial.is_some();
        let is_masked = second & 0x80 != 0;
        if is_reserved || is_bad_control || is_out_of_order || is_masked {
            return Some(Err(vec![CLOSE_PROTOCOL_ERROR]));
        }
        let before = self.partial.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64);
        if length >> 63 == 1 {
            return Some(Err(vec![CLOSE_PROTOCOL_ERROR, CLOSE_TOO_BIG]));
        }
        if length.saturating_add(before) > MAX_FRAME_BYTES {
            return Some(Err(vec![CLOSE_TOO_BIG]));
        }
        let end = head + usize::try_from(length).ok()?;
        let payload = self.rest.get(head..end)?.to_vec();
        self.rest = self.rest.get(end..)?;
        Some(self.handle_frame(is_last, opcode, payload))
    }

    fn handle_frame(&mut self, is_last: bool, opcode: u8, payload: Vec<u8>) -> FrameStep {
        match opcode {
            8 => Err(close_codes_for(&payload)),
            9 | 10 => Ok(None),
            _ => {
                let (kind, mut whole) = self.partial.take().unwrap_or((opcode, Vec::new()));
                whole.extend(payload);
                if !is_last {
                    self.partial = Some((kind, whole));
                    return Ok(None);
                }
                match (kind, String::from_utf8(whole)) {
                    (1, Ok(text)) => Ok(Some(text)),
                    (1, Err(_)) => Err(vec![CLOSE_INVALID_UTF8]),
                    _ => Ok(None),
                }
            }
        }
    }
}

/// The answer to a close frame: its own code, if it has a good one.
fn close_codes_for(payload: &[u8]) -> Vec<u16> {
    match payload {
        [] => Vec::new(),
        [high, low, reason @ ..] => match u16::from_be_bytes([*high, *low]) {
            _ if std::str::from_utf8(reason).is_err() => {
                vec![CLOSE_PROTOCOL_ERROR, CLOSE_INVALID_UTF8]
            }
            code @ (1000..=1003 | 1007..=1014 | 3000..=4999) => vec![code],
            _ => vec![CLOSE_PROTOCOL_ERROR],
        },
        [_] => vec![CLOSE_PROTOCOL_ERROR],
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}
