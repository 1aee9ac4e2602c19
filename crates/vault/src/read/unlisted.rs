//! An entry that a listing leaves out, with its name in visible characters.

/// Something that is there but could not be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlisted {
    /// Its path; characters that cannot be shown are escaped, so that no two names look alike.
    pub name: String,
    /// One sentence with the reason and the remedy.
    pub why: String,
}

impl Unlisted {
    pub(super) fn new(name: String, why: String) -> Self {
        Self { name, why }
    }

    /// The same for a name that may hold anything.
    pub(crate) fn from_name(name: &str, why: String) -> Self {
        Self::new(escaped(name.as_bytes()), why)
    }
}

/// The name in visible characters: bytes that are not UTF-8, control characters and `\` escaped.
pub(super) fn escaped(name: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => shown.push_str("\\\\"),
                _ if character.is_control() => shown.extend(character.escape_default()),
                _ => shown.push(character),
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02X}"));
        }
    }
    shown
}
