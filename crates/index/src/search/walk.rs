//! Searching the notes themselves, for as long as the index does not stand.

use std::time::Instant;

use protocol::{ChangeSet, NotePath};
use vault::{Vault, VaultError};

use super::{Lines, NoteHits, Query, hits};
use crate::notes::Notes;
use crate::parallel::Looked;
use crate::snapshot::{is_odd, unmarked};

/// Looks at every note whose path is `wanted`.
pub(super) fn walk(
    vault: &Vault,
    overlay: &ChangeSet,
    wanted: impl Fn(&NotePath) -> bool,
    lines: &Lines,
    deadline: Instant,
    query: &Query,
) -> Result<Looked<NoteHits>, VaultError> {
    let notes = Notes::list(vault, overlay, wanted, deadline)?;
    Ok(notes.look(deadline, |path, bytes| in_note(path, bytes, lines, query)))
}

/// The hits of a note with these bytes.
pub(super) fn in_note(
    path: &NotePath,
    bytes: &[u8],
    lines: &Lines,
    query: &Query,
) -> Option<NoteHits> {
    let text = unmarked(bytes);
    let places = if is_odd(&text) { lines.places_in_odd(&text) } else { lines.places(&text) };
    hits(path, &text, &places, lines, query)
}
