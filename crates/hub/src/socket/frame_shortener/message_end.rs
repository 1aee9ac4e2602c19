//! The end of a message that is too long.

/// Bytes of a character in UTF-8 after its first one, at most.
pub(super) const MAX_CONTINUATION_BYTES: usize = 3;

/// Takes a message behind its beginning and keeps the last bytes of it.
#[derive(Debug)]
pub(super) struct MessageEnd {
    /// How many bytes are kept.
    size: usize,
    /// The first bytes after the beginning, which may complete a character.
    next: Vec<u8>,
    /// The last bytes so far, and at times as many before them.
    bytes: Vec<u8>,
    is_cut: bool,
}

impl MessageEnd {
    pub(super) const fn new(size: usize) -> Self {
        Self { size, next: Vec::new(), bytes: Vec::new(), is_cut: false }
    }

    /// Takes the bytes that come next in the message.
    pub(super) fn push(&mut self, part: &[u8]) {
        let missing = MAX_CONTINUATION_BYTES.saturating_sub(self.next.len());
        self.next.extend(part.iter().take(missing));
        self.bytes.extend_from_slice(part);
        if self.bytes.len() >= self.size.saturating_mul(2) {
            self.drop_excess();
        }
    }

    /// The bytes that follow the beginning. Where the middle is missing, the character before it is completed and one
    /// that began in it is replaced, so that valid UTF-8 stays valid.
    pub(super) fn join(mut self) -> Vec<u8> {
        self.drop_excess();
        if !self.is_cut {
            return self.bytes;
        }
        let of_character = continuation_bytes(&self.next);
        let mut joined: Vec<u8> = self.next.iter().take(of_character).copied().collect();
        let broken = continuation_bytes(&self.bytes);
        self.bytes.iter_mut().take(broken).for_each(|byte| *byte = b'?');
        joined.extend(self.bytes);
        joined
    }

    fn drop_excess(&mut self) {
        let excess = self.bytes.len().saturating_sub(self.size);
        if excess > 0 {
            self.is_cut = true;
            self.bytes.drain(..excess);
        }
    }
}

/// How many bytes at the beginning belong to a character that began before them.
fn continuation_bytes(bytes: &[u8]) -> usize {
    let is_continuation = |byte: &&u8| matches!(byte, 0x80..=0xbf);
    bytes.iter().take(MAX_CONTINUATION_BYTES).take_while(is_continuation).count()
}
