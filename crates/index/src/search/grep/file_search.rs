//! Searching the notes themselves, for as long as the index does not stand.

use std::time::Instant;

use protocol::{ChangeSet, NotePath};
use vault::{Vault, VaultError};

use super::hits::{GrepMatches, hits};
use super::line_matcher::{LineMatcher, MatchedLines};
use super::query::GrepQuery;
use crate::snapshot::to_utf8;
use crate::vault_scan::all_notes::AllNotes;

/// A note with lines that match.
struct FileMatch {
    path: NotePath,
    /// How many lines match.
    total: u32,
    /// How many of them can be shown.
    shown: usize,
}

/// Looks at every note whose path is `wanted`. Hits are made of those that are shown alone, which are
/// looked at once more: of many notes they would be much to hold.
pub(super) fn search_files(
    vault: &Vault,
    overlay: &ChangeSet,
    wanted: impl Fn(&NotePath) -> bool,
    lines: &LineMatcher,
    deadline: Instant,
    query: &GrepQuery,
) -> Result<GrepMatches, VaultError> {
    let notes = AllNotes::list(vault, overlay, wanted, deadline)?;
    let looked = notes.map_notes(deadline, |path, bytes| {
        let MatchedLines { first, total, .. } = lines.note_searcher().find_lines(&to_utf8(bytes));
        (total > 0).then(|| FileMatch { path: path.clone(), total, shown: first.len() })
    });
    let mut room = usize::from(query.max_results);
    let shown = looked.found.iter().take_while(|note| {
        let has_room = room > 0;
        room = room.saturating_sub(note.shown);
        has_room
    });
    let in_note = |path: &NotePath, bytes: &[u8]| {
        let text = to_utf8(bytes);
        let MatchedLines { first, .. } = lines.note_searcher().find_lines(&text);
        Some(hits(path, &text, &first, lines, query))
    };
    // One that has gone meanwhile has nothing to show.
    let hits = shown.filter_map(|note| notes.read_one(&note.path, in_note)).flatten().collect();
    let totals = looked.found.iter().map(|note| note.total);
    Ok(GrepMatches {
        hits,
        total: totals.fold(0, u32::saturating_add),
        files: looked.found.len(),
        timed_out: looked.timed_out,
    })
}
