//! Searching the notes themselves, for as long as the index does not stand.

use std::time::Instant;

use protocol::{ChangeSet, NotePath};
use vault::{Vault, VaultError};

use super::lines::Places;
use super::{Lines, Matching, Query, hits};
use crate::notes::Notes;
use crate::snapshot::unmarked;

/// A note with lines that match.
struct Matched {
    path: NotePath,
    /// How many lines match.
    total: u32,
    /// How many of them can be shown.
    shown: usize,
}

/// Looks at every note whose path is `wanted`. Hits are made of those that are shown alone, which are
/// looked at once more: of many notes they would be much to hold.
pub(super) fn walk(
    vault: &Vault,
    overlay: &ChangeSet,
    wanted: impl Fn(&NotePath) -> bool,
    lines: &Lines,
    deadline: Instant,
    query: &Query,
) -> Result<Matching, VaultError> {
    let notes = Notes::list(vault, overlay, wanted, deadline)?;
    let looked = notes.look(deadline, |path, bytes| {
        let Places { first, total } = lines.one_by_one().places(&unmarked(bytes));
        (total > 0).then(|| Matched { path: path.clone(), total, shown: first.len() })
    });
    let mut room = usize::from(query.max_results);
    let shown = looked.found.iter().take_while(|note| {
        let has_room = room > 0;
        room = room.saturating_sub(note.shown);
        has_room
    });
    let in_note = |path: &NotePath, bytes: &[u8]| {
        let text = unmarked(bytes);
        let Places { first, .. } = lines.one_by_one().places(&text);
        Some(hits(path, &text, &first, lines, query))
    };
    // One that has gone meanwhile has nothing to show.
    let hits = shown.filter_map(|note| notes.look_at(&note.path, in_note)).flatten().collect();
    let totals = looked.found.iter().map(|note| note.total);
    Ok(Matching {
        hits,
        total: totals.fold(0, u32::saturating_add),
        files: looked.found.len(),
        timed_out: looked.timed_out,
    })
}
