//! Frames as bytes: how they are made, what they hold, and what RFC 6455 says is wrong with them.

/// The largest frame that is read; a longer one ends the connection.
pub(super) const FRAME_MAX: u64 = 64 << 20;
/// The largest message that is taken; a longer one is refused with a sentence.
pub(super) const MESSAGE_MAX: usize = 16 << 20;

/// Bytes of a hub, and what becomes of the connection after them.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) bytes: Vec<u8>,
    pub(super) end: End,
}

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Stays,
    Rst,
    Fin,
}

/// What bytes come to, up to the first that is wrong.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// The texts that came whole.
    pub(super) texts: Vec<String>,
    /// The codes with which a peer may leave; empty when none is due.
    pub(super) due: Vec<u16>,
}

impl Sent {
    pub(super) const fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes, end: End::Stays }
    }

    pub(super) fn content(&self) -> Content {
        let mut content = Content::default();
        let mut reader = Reader { rest: &self.bytes, begun: None };
        while let Some(step) = reader.step() {
            match step {
                Ok(text) => content.texts.extend(text),
                Err(due) => {
                    content.due = due;
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

const PROTOCOL: u16 = 1002;
const NOT_UTF8: u16 = 1007;
const TOO_BIG: u16 = 1009;

struct Reader<'a> {
    rest: &'a [u8],
    /// The opcode and the bytes of a message in pieces.
    begun: Option<(u8, Vec<u8>)>,
}

/// A text, or nothing of interest, or the codes that are due.
type Step = Result<Option<String>, Vec<u16>>;

impl Reader<'_> {
    /// The next frame; `None` when no whole one is left.
    fn step(&mut self) -> Option<Step> {
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
        let is_out_of_order = !is_control && (opcode == 0) != self.begun.is_some();
        let is_masked = second & 0x80 != 0;
        if is_reserved || is_bad_control || is_out_of_order || is_masked {
            return Some(Err(vec![PROTOCOL]));
        }
        let before = self.begun.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64);
        if length >> 63 == 1 {
            return Some(Err(vec![PROTOCOL, TOO_BIG]));
        }
        if length.saturating_add(before) > FRAME_MAX {
            return Some(Err(vec![TOO_BIG]));
        }
        let end = head + usize::try_from(length).ok()?;
        let payload = self.rest.get(head..end)?.to_vec();
        self.rest = self.rest.get(end..)?;
        Some(self.take(is_last, opcode, payload))
    }

    fn take(&mut self, is_last: bool, opcode: u8, payload: Vec<u8>) -> Step {
        match opcode {
            8 => Err(closing(&payload)),
            9 | 10 => Ok(None),
            _ => {
                let (kind, mut whole) = self.begun.take().unwrap_or((opcode, Vec::new()));
                whole.extend(payload);
                if !is_last {
                    self.begun = Some((kind, whole));
                    return Ok(None);
                }
                match (kind, String::from_utf8(whole)) {
                    (1, Ok(text)) => Ok(Some(text)),
                    (1, Err(_)) => Err(vec![NOT_UTF8]),
                    _ => Ok(None),
                }
            }
        }
    }
}

/// What answers a close frame: its own code, if it has a good one.
fn closing(payload: &[u8]) -> Vec<u16> {
    match payload {
        [] => Vec::new(),
        [high, low, reason @ ..] => match u16::from_be_bytes([*high, *low]) {
            _ if std::str::from_utf8(reason).is_err() => vec![PROTOCOL, NOT_UTF8],
            code @ (1000..=1003 | 1007..=1014 | 3000..=4999) => vec![code],
            _ => vec![PROTOCOL],
        },
        [_] => vec![PROTOCOL],
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}
