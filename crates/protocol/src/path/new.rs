//! The rules for names that we create.

use unicode_normalization::UnicodeNormalization;

use super::{NotePath, PathError, characters, refusal, refuse_part};

/// A [`NotePath`] that may be created: it is a legal name on every system the vault may sync to.
///
/// Spelled in NFC and ending in `.md` or `.canvas`. Whether something with this name, or one that
/// collides with it, is already there, only the vault knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotePath(NotePath);

impl NewNotePath {
    /// Parses and judges a name for a new note; `.md` is added when no extension is given.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Ok(Self(NotePath::trusted(judged(&NotePath::parse(text)?)?)))
    }

    /// Judges `rest` as a path for a new note in `folder`, which exists: its own spelling is kept
    /// and not judged again.
    pub fn within(folder: &NotePath, rest: &str) -> Result<Self, PathError> {
        let rest = judged(&NotePath::parse(rest)?)?;
        NotePath::parse(&format!("{folder}/{rest}")).map(Self)
    }

    /// The path.
    #[must_use]
    pub const fn path(&self) -> &NotePath {
        &self.0
    }
}

impl From<NewNotePath> for NotePath {
    fn from(path: NewNotePath) -> Self {
        path.0
    }
}

/// The path in NFC with its extension, every part legal everywhere.
fn judged(path: &NotePath) -> Result<String, PathError> {
    let mut spelled: String = path.as_str().nfc().collect();
    for part in spelled.split('/') {
        refuse_part(part)?;
        refuse_new_part(part)?;
    }
    match extension(&spelled) {
        Some(known) if is_note_extension(known) => {}
        Some(_) => return refusal(&spelled, "is not a note", "End the name in `.md` or `.canvas`"),
        None => spelled.push_str(".md"),
    }
    refuse_part(name(&spelled))?;
    Ok(spelled)
}

fn refuse_new_part(part: &str) -> Result<(), PathError> {
    if part.contains(['<', '>', ':', '"', '|', '?', '*']) {
        return refusal(part, "holds one of `<>:\"|?*`", "Leave these characters out");
    }
    if part.ends_with(['.', ' ']) || stem(part).ends_with(' ') {
        return refusal(part, "has a dot or space at its end", "Remove it");
    }
    if part.contains(char::REPLACEMENT_CHARACTER) {
        return refusal(part, "holds the sign of lost characters (U+FFFD)", "Leave it out");
    }
    if let Some(hidden) = characters::stray_invisible(part) {
        let fault = format!("holds an invisible character (U+{:04X})", u32::from(hidden));
        return refusal(part, &fault, "Leave it out");
    }
    if characters::visible(part).contains(['/', '\\']) {
        return refusal(part, "holds a character that looks like `/`", "Leave it out");
    }
    if is_device(part) {
        return refusal(part, "is a device name on Windows", "Use another name");
    }
    if is_short_name(part) {
        return refusal(part, "looks like a short name of Windows", "Leave out the `~` and number");
    }
    Ok(())
}

/// What a person would call the extension: letters behind the last dot. "Dr. Smith" and "v1.2"
/// have none.
fn extension(path: &str) -> Option<&str> {
    let (_, extension) = name(path).rsplit_once('.')?;
    let plain =
        extension.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_$".contains(&byte));
    let lettered = extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    (extension.len() <= 12 && plain && lettered).then_some(extension)
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_note_extension(extension: &str) -> bool {
    extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("canvas")
}

/// The part up to its last dot.
fn stem(part: &str) -> &str {
    part.rsplit_once('.').map_or(part, |(stem, _)| stem)
}

/// Names that Windows gives to devices, with any extension, trailing blanks and superscript digits.
/// Source: Microsoft, "Naming Files, Paths, and Namespaces".
fn is_device(part: &str) -> bool {
    let visible = characters::visible(part);
    let stem = visible.split('.').next().unwrap_or(&visible).trim().to_ascii_uppercase();
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$") {
        return true;
    }
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    port.is_some_and(|number| number.len() == 1 && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether the part has the form that Windows makes for 8.3 aliases: `PROGRA~1`, `GI7EBA~1.MD`.
fn is_short_name(part: &str) -> bool {
    let (stem, extension) = part.split_once('.').unwrap_or((part, ""));
    let Some((head, number)) = stem.rsplit_once('~') else { return false };
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    numbered && !head.is_empty() && stem.len() <= 8 && extension.len() <= 3
}
