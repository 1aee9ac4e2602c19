//! Notes that are no longer where they were when a turn was told their text, and may be private by
//! now.
//!
//! Such a note may lie in a private folder, or may have been private by its last text. It counts as
//! open only where a change of ours, made since it was read last, moved it to a place that is open, or
//! put it into the trash while it was. Another note may have been at its path by then, and at that
//! place by now. A change that is older moved a note that was at the path before.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use protocol::{ChangeKind, Effect, FileId, Message, NotePath, Privacy, Source, TurnId, UserError};
use store::Store;
use vault::Vault;

use super::note_lineage::{KnownNote, NoteLineage, ReadTimes};
use super::replaced_notes::{read_times, turn_times};
use super::{PrivacyGuard, PrivacyView, SourcesByTurn};
use crate::support::blocking::run_blocking;

/// The sources of turns, with the notes that their calls and decisions may name.
pub(super) struct NamedSources<'a> {
    /// The sources, and the notes of planned changes.
    pub(super) all: Cow<'a, SourcesByTurn>,
    /// Those of them of which the turn was told nothing: a change of another note or folder only keeps their
    /// links right.
    linking: SourcesByTurn,
}

impl NamedSources<'_> {
    /// The same, borrowed from nowhere.
    pub(super) fn into_owned(self) -> NamedSources<'static> {
        NamedSources { all: Cow::Owned(self.all.into_owned()), linking: self.linking }
    }

    /// The sources of what the turn was told or wrote.
    pub(super) fn told_to<'s>(&'s self, turn: &TurnId) -> impl Iterator<Item = &'s Source> {
        let linking = self.linking.get(turn);
        let is_told = move |source: &&Source| linking.is_none_or(|links| !links.contains(*source));
        self.all.get(turn).into_iter().flatten().filter(is_told)
    }
}

/// A note that was moved more often in a row is followed no further.
const MAX_MOVES: usize = 16;

impl PrivacyGuard {
    /// Gives access to the ledger of changes.
    pub(crate) fn set_effect_history(&self, ledger: Store) {
        // There is one for each vault.
        let _first_stays = self.effect_history.set(ledger);
    }

    /// Those of the notes that are not there and may be private, whatever runs. Some of these turns may
    /// have read each.
    pub(crate) async fn missing_for_any(
        &self,
        notes: BTreeSet<NotePath>,
        turns: &BTreeSet<TurnId>,
    ) -> Result<BTreeSet<NotePath>, UserError> {
        let turns: Vec<&TurnId> = turns.iter().collect();
        let times = self.stored_times(&turns).await?;
        let mut known = BTreeMap::new();
        if let Some(read) = times.into_values().reduce(ReadTimes::and) {
            known.extend(notes.iter().map(|path| (path.clone(), KnownNote::Read(read))));
        }
        let view = self.view_for(Privacy::Open).await?;
        self.missing_private_notes(&view, notes, &known).await
    }

    /// Whether the note, as it was known, is not there and may be private, whatever runs.
    pub(crate) async fn is_missing_for_any(
        &self,
        path: &NotePath,
        known: Option<KnownNote>,
    ) -> Result<bool, UserError> {
        let view = self.view_for(Privacy::Open).await?;
        let known = known.map(|known| (path.clone(), known)).into_iter().collect();
        let gone = self.missing_private_notes(&view, [path.clone()].into(), &known).await?;
        Ok(!gone.is_empty())
    }

    /// The sources, with the notes of planned changes: calls and decisions name them, whether they were
    /// read or not.
    pub(super) async fn with_planned_notes<'a>(
        &self,
        view: &PrivacyView,
        rows: &[Message],
        sources: &'a SourcesByTurn,
    ) -> Result<NamedSources<'a>, UserError> {
        let mut named = NamedSources { all: Cow::Borrowed(sources), linking: SourcesByTurn::new() };
        let (Some(ledger), Some(row)) = (self.effect_history.get(), rows.first()) else {
            return Ok(named);
        };
        if view.hides_nothing() {
            return Ok(named);
        }
        for planned in ledger.planned_notes(&row.conversation).await? {
            let note = Source::Note(planned.note);
            let all = named.all.to_mut().entry(planned.turn.clone()).or_default();
            // Another spelling of the path comes first where the turn planned more for the note.
            if all.insert(note.clone()) && planned.updates_links {
                named.linking.entry(planned.turn).or_default().insert(note);
            }
        }
        Ok(named)
    }

    /// The missing notes of which those rows were told text, and that may be private now.
    pub(super) async fn missing_in_rows(
        &self,
        view: &Arc<PrivacyView>,
        rows: &[Message],
        sources: &SourcesByTurn,
    ) -> Result<Arc<BTreeSet<NotePath>>, UserError> {
        if view.hides_nothing() {
            return Ok(Arc::default());
        }
        let mut notes: BTreeSet<NotePath> =
            sources.values().flatten().filter_map(source_note).collect();
        // A note with a pending creation is not there yet, and says nothing that its turn did not
        // write. A note with a pending change was there.
        if let (Some(ledger), Some(row)) = (self.effect_history.get(), rows.first()) {
            let open = ledger.open_change_set(&row.conversation).await?;
            let planned = open.into_iter().flat_map(|set| set.planned);
            for made in planned.filter(|planned| planned.change.kind() == ChangeKind::Create) {
                notes.remove(&made.change.path);
            }
        }
        let mut times = turn_times(rows);
        let read = read_times(&times, sources);
        // Turns of other branches planned changes, too.
        let others = sources.keys().filter(|turn| !times.contains_key(*turn));
        let others: Vec<&TurnId> = others.collect();
        times.extend(self.stored_times(&others).await?);
        let known = as_read(read_times(&times, sources));
        let mut gone = self.missing_private_notes(view, notes, &known).await?;
        // A path that is hidden itself needs no doubt about its file.
        let may_show = |path: &NotePath| view.rules.by_path(path) <= view.max_privacy;
        let read = read.into_iter().filter(|(path, _)| may_show(path));
        let read = read.map(|(path, read)| (path, read.first));
        gone.extend(self.replaced(view, read.collect()).await?);
        Ok(Arc::new(gone))
    }

    /// Those of the notes that are not there and may be private. Of one that is not `known` nothing tells
    /// where it went.
    pub(super) async fn missing_private_notes(
        &self,
        view: &PrivacyView,
        mut notes: BTreeSet<NotePath>,
        known: &BTreeMap<NotePath, KnownNote>,
    ) -> Result<BTreeSet<NotePath>, UserError> {
        if !view.rules.hide_any(view.max_privacy) {
            return Ok(BTreeSet::new());
        }
        notes.retain(|path| view.rules.by_path(path) <= view.max_privacy);
        let vault = self.vault_for_view(view);
        let missing = run_blocking(move || {
            notes.retain(|path| !exists(&vault, path));
            notes
        })
        .await?;
        let mut gone = BTreeSet::new();
        if missing.is_empty() {
            return Ok(gone);
        }
        let lineage = self.note_lineage().await?;
        for path in missing {
            let known = known.get(&path).copied();
            if !self.is_known_open(view, &lineage, &path, known).await? {
                gone.insert(path);
            }
        }
        Ok(gone)
    }

    /// Whether a note that is gone, as it was known, went to a place by a change of ours where it may be
    /// seen, or to the trash while it might.
    async fn is_known_open(
        &self,
        view: &PrivacyView,
        lineage: &NoteLineage,
        from: &NotePath,
        known: Option<KnownNote>,
    ) -> Result<bool, UserError> {
        let (Some(ledger), Some(mut known)) = (self.effect_history.get(), known) else {
            return Ok(false);
        };
        let seen = self.vault_for_view(view);
        let mut path = from.clone();
        for moves in 0..=MAX_MOVES {
            let changes = self.changes_at(&path).await?;
            if moves > 0
                && let Some((file, is_open)) = look_at(&seen, &path).await?
                && self.is_same_note(view, lineage, &changes, file, known).await?
            {
                return Ok(is_open);
            }
            let is_taken = |last: &&Effect| {
                last.path == path
                    && matches!(last.kind, ChangeKind::Rename | ChangeKind::Trash)
                    && known.is_before(last.at)
            };
            let Some(last) = changes.first().filter(is_taken) else { return Ok(false) };
            // A rename keeps the file.
            let file = last.base.or(last.file.filter(|_| last.kind == ChangeKind::Rename));
            if !self.is_same_note(view, lineage, &changes, file, known).await? {
                return Ok(false);
            }
            match &last.target {
                Some(to) => path = to.clone(),
                None => return was_open(ledger, &seen, last).await,
            }
            known = KnownNote::File(last.file, last.at);
        }
        Ok(false)
    }
}

pub(super) fn as_read(read: BTreeMap<NotePath, ReadTimes>) -> BTreeMap<NotePath, KnownNote> {
    read.into_iter().map(|(path, read)| (path, KnownNote::Read(read))).collect()
}

/// Which file is at the path, and whether it may be seen; `None` where nothing can be read.
async fn look_at(
    seen: &Vault,
    path: &NotePath,
) -> Result<Option<(Option<FileId>, bool)>, UserError> {
    let (vault, at) = (seen.clone(), path.clone());
    run_blocking(move || exists(&vault, &at).then(|| (vault.file_id(&at), !vault.hides(&at)))).await
}

/// Whether a note might be seen when it went to the trash; not where its text is not kept any more.
async fn was_open(ledger: &Store, seen: &Vault, trashed: &Effect) -> Result<bool, UserError> {
    let Some(hash) = trashed.before.clone() else { return Ok(false) };
    let mut kept = ledger.contents(std::slice::from_ref(&hash)).await?;
    let Some(text) = kept.remove(&hash) else { return Ok(false) };
    let (vault, path) = (seen.clone(), trashed.path.clone());
    run_blocking(move || vault.shows(&path, &text, None)).await
}

/// For each turn, the missing notes of which it may know text: its own and those of the turns
/// before it. Turns without such notes are omitted.
pub(super) fn missing_by_turn(
    rows: &[Message],
    sources: &SourcesByTurn,
    gone: &BTreeSet<NotePath>,
) -> HashMap<TurnId, BTreeSet<NotePath>> {
    let mut found = HashMap::new();
    if gone.is_empty() {
        return found;
    }
    let mut so_far = BTreeSet::new();
    for row in rows {
        if found.contains_key(&row.turn) {
            continue;
        }
        let own = sources.get(&row.turn).into_iter().flatten().filter_map(source_note);
        so_far.extend(own.filter(|path| gone.contains(path)));
        if !so_far.is_empty() {
            found.insert(row.turn.clone(), so_far.clone());
        }
    }
    found
}

/// Whether the file can be read there, a link to it followed where links are.
pub(super) fn exists(seen: &Vault, path: &NotePath) -> bool {
    seen.file_times(path).is_ok()
}

pub(super) fn source_note(source: &Source) -> Option<NotePath> {
    match source {
        Source::Note(path) => Some(path.clone()),
        _ => None,
    }
}
