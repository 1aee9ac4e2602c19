//! The rules for names that we create.

use unicode_normalization::UnicodeNormalization;

use super::{NotePath, PathError, invisible_in_names, path_error, reject_part};

/// A [`NotePath`] that may be created: it is a legal name on every system the vault may sync to.
///
/// Spelled in NFC. Whether something with this name, or one that
/// collides with it, is already there, only the vault knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotePath(NotePath);

/// The kind of entry that gets the new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewPathKind<'a> {
    /// A note: the name ends in `.md` or `.canvas`; `.md` is added when it has no extension.
    Note,
    /// A file that moves: it keeps its extension, which is added when none is given.
    Moved(&'a NotePath),
    /// A folder: the name gets no extension.
    Folder,
}

impl NewNotePath {
    /// Parses and judges a name for a new note; `.md` is added when no extension is given.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Self::parse_in(None, text, NewPathKind::Note)
    }

    /// Judges `rest` as a path for something new in `folder`, which exists: its own spelling is
    /// kept and not judged again.
    pub fn parse_in(
        folder: Option<&NotePath>,
        rest: &str,
        kind: NewPathKind<'_>,
    ) -> Result<Self, PathError> {
        let rest = checked_spelling(&NotePath::parse(rest)?, kind)?;
        match folder {
            Some(folder) => NotePath::parse(&format!("{folder}/{rest}")).map(Self),
            None => Ok(Self(NotePath::from_valid(rest))),
        }
    }

    /// The checked path, with the extension that was added.
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
fn checked_spelling(path: &NotePath, naming: NewPathKind<'_>) -> Result<String, PathError> {
    let mut spelled: String = path.as_str().nfc().collect();
    for part in spelled.split('/') {
        reject_part(part)?;
        reject_new_part(part)?;
    }
    match (naming, extension(&spelled)) {
        (NewPathKind::Folder, Some(kind)) if has_system_meaning(kind) => {
            return path_error(
                &spelled,
                "looks like a file that systems open by themselves",
                "Remove the file extension",
            );
        }
        (NewPathKind::Folder, _) => {}
        (NewPathKind::Note, Some(known)) if is_note_extension(known) => {}
        (NewPathKind::Note, Some(_)) => {
            return path_error(&spelled, "isn’t a note", "End the name in `.md` or `.canvas`");
        }
        (NewPathKind::Note, None) => spelled.push_str(".md"),
        (NewPathKind::Moved(from), given) => match (from.extension(), given) {
            (Some(kept), Some(given)) if kept.eq_ignore_ascii_case(given) => {}
            (Some(kept), None) => spelled = format!("{spelled}.{kept}"),
            (None, None) => {}
            (kept, Some(_)) => {
                let keep = kept.map_or_else(String::new, |kept| format!(" `.{kept}`"));
                let advice = format!("Keep its extension{keep}");
                return path_error(&spelled, "changes what kind of file it is", &advice);
            }
        },
    }
    reject_part(name(&spelled))?;
    Ok(spelled)
}

fn reject_new_part(part: &str) -> Result<(), PathError> {
    if part.contains(['<', '>', ':', '"', '|', '?', '*']) {
        return path_error(part, "contains one of `<>:\"|?*`", "Leave these characters out");
    }
    if part.ends_with(['.', ' ']) || stem(part).ends_with(' ') {
        return path_error(part, "has a dot or space at its end", "Remove it");
    }
    if part.contains(char::REPLACEMENT_CHARACTER) {
        return path_error(part, "contains the replacement character (U+FFFD)", "Leave it out");
    }
    if let Some(hidden) = invisible_in_names::first_invisible(part) {
        let fault = format!("contains an invisible character (U+{:04X})", u32::from(hidden));
        return path_error(part, &fault, "Leave it out");
    }
    if invisible_in_names::visible_form(part).contains(['/', '\\']) {
        return path_error(part, "contains a character that looks like `/`", "Leave it out");
    }
    if is_windows_device(part) {
        return path_error(part, "is a device name on Windows", "Use another name");
    }
    if is_system_file(part) {
        return path_error(part, "is the name of a system file on Windows", "Use another name");
    }
    if invisible_in_names::longest_stack(part) > MAX_STACKED_MARKS {
        return path_error(part, "has many marks on one letter", "Leave some of them out");
    }
    if is_short_name(part) {
        return path_error(
            part,
            "looks like a short name of Windows",
            "Remove the `~` and the number",
        );
    }
    Ok(())
}

/// The extension as a person understands it: letters behind the last dot. "Dr. Smith" and "v1.2"
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

/// Extensions that Windows, macOS or Linux give a meaning in a listing alone, also on folders:
/// settings of a folder, shortcuts that fetch an icon from elsewhere, bundles.
fn has_system_meaning(extension: &str) -> bool {
    const KINDS: [&str; 10] =
        ["ini", "url", "scf", "lnk", "library-ms", "search-ms", "desktop", "app", "webloc", "cpl"];
    KINDS.iter().any(|kind| extension.eq_ignore_ascii_case(kind))
}

/// The part up to its last dot.
fn stem(part: &str) -> &str {
    part.rsplit_once('.').map_or(part, |(stem, _)| stem)
}

/// How many combining marks one letter may carry. Living scripts need at most four, Tibetan stacks
/// and pointed biblical Hebrew up to eight.
const MAX_STACKED_MARKS: usize = 8;

/// Names of device files on Windows and on DOS, with any extension, trailing blanks and superscript
/// digits. `LST` of DOS 1 is omitted: no later system reserves it, and people name notes so.
/// Sources: Microsoft, "Naming Files, Paths, and Namespaces"; the reserved words of MS-DOS 4 and 7
/// and of DR DOS.
fn is_windows_device(part: &str) -> bool {
    let visible = invisible_in_names::visible_form(part);
    let stem = visible.split('.').next().unwrap_or(&visible).trim().to_ascii_uppercase();
    const DEVICES: [&str; 11] = [
        "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$", "KEYBD$", "SCREEN$", "$IDLE$",
        "CONFIG$",
    ];
    if DEVICES.contains(&stem.as_str()) {
        return true;
    }
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    port.is_some_and(|number| number.len() == 1 && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The metadata files of NTFS, and the files in which the Windows shell keeps the look of a folder:
/// nothing else may have their names, and shells act on their contents. Sources: the [MS-FSCC]
/// list of NTFS system files; Microsoft, "How to customize folders with desktop.ini".
fn is_system_file(part: &str) -> bool {
    const FILES: [&str; 18] = [
        "$MFT",
        "$MFTMirr",
        "$LogFile",
        "$Volume",
        "$AttrDef",
        "$Bitmap",
        "$Boot",
        "$BadClus",
        "$Secure",
        "$UpCase",
        "$Extend",
        "$Quota",
        "$ObjId",
        "$Reparse",
        "desktop.ini",
        "thumbs.db",
        "ehthumbs.db",
        "autorun.inf",
    ];
    let visible = invisible_in_names::visible_form(part);
    FILES.iter().any(|file| visible.trim().eq_ignore_ascii_case(file))
}

/// Whether the part has the form that Windows makes for 8.3 aliases: `PROGRA~1`, `GI7EBA~1.MD`.
fn is_short_name(part: &str) -> bool {
    let (stem, extension) = part.split_once('.').unwrap_or((part, ""));
    let Some((head, number)) = stem.rsplit_once('~') else { return false };
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    numbered && !head.is_empty() && stem.len() <= 8 && extension.len() <= 3
}
