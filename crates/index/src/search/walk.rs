//! Searching the notes themselves, for as long as the index does not stand.

use std::time::Instant;

use protocol::{ChangeSet, NotePath};
use vault::{Vault, VaultError};

use super::lines::Places;
use super::{Hit, Lines, Matching, Query, hits};
use crate::notes::Notes;
use crate::snapshot::unmarked;

/// Looks at every note whose path is `wanted`.
pub(super) fn walk(
    vault: &Vault,
    overlay: &ChangeSet,
    wanted: impl Fn(&NotePath) -> bool,
    lines: &Lines,
    deadline: Instant,
    query: &Query,
) -> Result<Matching, VaultError> {
    let notes = Notes::list(vault, overlay, wanted, deadline)?;
    let looked = notes.look(deadline, |path, bytes| in_note(path, bytes, lines, query));
    let totals = looked.found.iter().map(|(total, _)| *total);
    Ok(Matching {
        total: totals.fold(0, u32::saturating_add),
        files: looked.found.len(),
        timed_out: looked.timed_out,
        hits: looked.found.into_iter().flat_map(|(_, hits)| hits).collect(),
    })
}

/// How many lines of a note with these bytes match, and its hits; `None` when there are none.
fn in_note(path: &NotePath, bytes: &[u8], lines: &Lines, query: &Query) -> Option<(u32, Vec<Hit>)> {
    let text = unmarked(bytes);
    let Places { first, total } = lines.one_by_one().places(&text);
    (total > 0).then(|| (total, hits(path, &text, &first, lines, query)))
}
