//! The history of the vault, as the ledger recorded it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::{ChangeKind, ContentHash, Effect, EffectId, FileId, FileReplacement, NotePath};

use super::ledger_index::{EffectKey, LedgerIndex};
use super::locate::{NoteLocation, certain_path, locate};
use super::plan_reader::PlanReader;
use super::requested_groups::{RequestedGroups, UnitKey};
use super::trace::{
    NoteOrigin, NoteTrace, Successions, file_left, name_in_trash, note_origin, recorded_base,
};
use super::{Hunks, UndoDirection, UndoRequest};

/// How many versions of a note are looked at, those nearest to the change in question first.
const MAX_VERSIONS: usize = 64;

/// Effects that happened, oldest first, without gaps from the first that is wanted on, and the
/// contents that they name.
#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    effects: Vec<Effect>,
    index: LedgerIndex,
    contents: HashMap<ContentHash, Vec<u8>>,
    successions: Successions,
    undone: HashSet<EffectId>,
    link_hunks: HashMap<EffectId, BTreeSet<usize>>,
}

impl LedgerView {
    /// A past without contents: [`LedgerView::missing_contents`] says which are needed.
    #[must_use]
    pub fn new(effects: Vec<Effect>) -> Self {
        Self { index: LedgerIndex::new(&effects), effects, ..Self::default() }
    }

    /// The effects, oldest first.
    #[must_use]
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// The contents that have to be known to undo the requested effects.
    #[must_use]
    pub fn missing_contents(&self, request: &UndoRequest) -> HashSet<ContentHash> {
        let redone = request.redone.values().flat_map(|edits| edits.keys());
        let redone = redone.filter_map(|edit| self.position_of(edit));
        self.requested_positions(request)
            .into_iter()
            .chain(redone)
            .flat_map(|place| self.version_hashes(place))
            .collect()
    }

    /// Adds the bytes with this hash.
    pub fn add_content(&mut self, hash: ContentHash, content: Vec<u8>) {
        self.contents.insert(hash, content);
    }

    /// Adds that one file took the place of another.
    pub fn add_succession(&mut self, replacement: FileReplacement) {
        self.successions.add(replacement);
    }

    /// Adds that an effect is undone, and counts no more: the rest of its unit is undone without it.
    pub fn add_undone(&mut self, effect: EffectId) {
        self.undone.insert(effect);
    }

    /// Adds that the moves of its unit only rewrote links in these hunks of an edit. Where they cannot be undone in the
    /// note, the moves are undone without: the caller then leads the links of the note to where the moved notes are.
    pub fn add_link_hunks(&mut self, edit: EffectId, hunks: BTreeSet<usize>) {
        self.link_hunks.insert(edit, hunks);
    }

    /// The requested effects as positions in the ledger, newest unit first; an effect that is undone by itself is a
    /// unit of its own. With an effect of a unit comes what is undone with it.
    pub(super) fn units(
        &self,
        request: &UndoRequest,
        groups: &RequestedGroups<'_>,
    ) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        let mut of_groups: HashMap<UnitKey<'_>, usize> = HashMap::new();
        for place in self.requested_positions(request) {
            let effect = self.effects.get(place);
            let group =
                effect.and_then(|effect| groups.group_of(effect, request.effects.get(&effect.id)));
            let new = units.len();
            let unit = group.map_or(new, |group| *of_groups.entry(group).or_insert(new));
            match units.get_mut(unit) {
                Some(unit) => unit.push(place),
                None => units.push(vec![place]),
            }
        }
        units.sort_by_key(|unit| std::cmp::Reverse(unit.last().copied()));
        units
    }

    /// The effects that are undone with the requested ones, these included, oldest first.
    pub fn undone_with(&self, request: &UndoRequest) -> impl Iterator<Item = &Effect> {
        self.requested_positions(request)
            .into_iter()
            .filter_map(move |place| self.effects.get(place))
    }

    fn requested_positions(&self, request: &UndoRequest) -> Vec<usize> {
        let groups = self.requested_groups(request);
        let is_wanted = |effect: &Effect| request.effects.contains_key(&effect.id);
        let belongs = |effect: &Effect| self.stands(effect) && groups.are_undone_with(effect);
        let all = self.effects.iter().enumerate();
        all.filter(|(_, effect)| is_wanted(effect) || belongs(effect)).map(|(at, _)| at).collect()
    }

    /// The units of the effects that the request undoes whole.
    pub(super) fn requested_groups(&self, request: &UndoRequest) -> RequestedGroups<'_> {
        let whole = self
            .effects
            .iter()
            // Another program overwrites the contents of one note; the rest of its unit still stands.
            .filter(|_| request.direction == UndoDirection::Back)
            .filter(|effect| request.effects.get(&effect.id) == Some(&Hunks::All));
        let standing = self.effects.iter().filter(|effect| self.stands(effect));
        RequestedGroups::new(standing, whole)
    }

    /// Whether an effect counts: nothing was added that undoes it.
    #[must_use]
    pub fn stands(&self, effect: &Effect) -> bool {
        !self.undone.contains(&effect.id)
    }

    pub(super) fn effect(&self, place: usize) -> Option<&Effect> {
        self.effects.get(place)
    }

    pub(super) fn link_hunks(&self, edit: &EffectId) -> Option<&BTreeSet<usize>> {
        self.link_hunks.get(edit)
    }

    /// A content that was added.
    #[must_use]
    pub fn content(&self, hash: Option<&ContentHash>) -> Option<&[u8]> {
        self.contents.get(hash?).map(Vec::as_slice)
    }

    /// Follows the file that an effect left at `path` to the newest effect.
    pub(super) fn trace(&self, place: usize, path: &NotePath) -> Option<NoteTrace> {
        let mut trace = NoteTrace::start(place, self.effects.get(place)?, path);
        let mut from = place + 1;
        while let Some((at, later)) = self.next_on(&trace.path, trace.file, None, from) {
            trace.apply_effect(at, later, &self.successions);
            from = at + 1;
        }
        Some(trace)
    }

    /// The next effect, from a position on, that may be about the note at a path, about one that is this file or goes on
    /// from it, about one under this name in the trash, or about a folder.
    fn next_on(
        &self,
        path: &NotePath,
        file: Option<FileId>,
        trashed: Option<&str>,
        from: usize,
    ) -> Option<(usize, &Effect)> {
        // Without its birth time a file tells only together with the path.
        let known = file.filter(|file| file.born.is_some());
        let files = known.map(|file| self.successions.successors(file)).unwrap_or_default();
        let bases = files.into_iter().map(|file| EffectKey::Base(file.inode));
        let keys = [EffectKey::OfFolder, EffectKey::Path(path)].into_iter().chain(bases);
        let keys = keys.chain(trashed.map(EffectKey::Trashed));
        let at = keys.filter_map(|key| self.index.next(key, from)).min()?;
        Some((at, self.effects.get(at)?))
    }

    /// The last effect before a position that may have left the note at a path, or in this file or one from which it
    /// goes on, or that may be about a folder.
    fn previous_on(
        &self,
        path: &NotePath,
        base: Option<FileId>,
        end: usize,
    ) -> Option<(usize, &Effect)> {
        let known = base.filter(|base| base.born.is_some());
        let files = known.map(|base| self.successions.predecessors(base)).unwrap_or_default();
        let left = files.into_iter().map(|file| EffectKey::FileLeft(file.inode));
        let keys = [EffectKey::OfFolder, EffectKey::PathLeft(path)].into_iter().chain(left);
        let at = keys.filter_map(|key| self.index.previous(key, end)).max()?;
        Some((at, self.effects.get(at)?))
    }

    /// The present file of a trace.
    pub(super) fn file(&self, trace: &NoteTrace) -> Option<FileId> {
        trace.file.map(|file| self.successions.newest_successor(file))
    }

    /// Whether a note that was the file `from` is the file `to` by now: the same one, or one after saves of other
    /// programs that the watch saw and changes of the ledger.
    pub(super) fn is_successor(&self, from: FileId, to: FileId) -> bool {
        let mut here = from;
        for effect in &self.effects {
            if self.successions.is_successor(here, to) {
                return true;
            }
            if let (Some(base), Some(file)) = (effect.base, effect.file)
                && self.successions.is_successor(here, base)
            {
                here = file;
            }
        }
        self.successions.is_successor(here, to)
    }

    /// Whether it is certain that a file, or one from which it goes on, was made before the effect at a position: by
    /// when it was made, saves of other programs that the watch saw, and changes of the ledger.
    #[must_use]
    pub fn was_there_before(&self, file: FileId, place: usize) -> bool {
        let Some(at) = self.effects.get(place).and_then(|effect| effect.at) else { return false };
        let is_older = |file: &FileId| file.born.is_some_and(|born| born / 1_000_000 < at.0);
        let (mut here, mut end) = (file, self.effects.len());
        loop {
            let files = self.successions.predecessors(here);
            if files.iter().any(is_older) {
                return true;
            }
            let keys = files.iter().map(|file| EffectKey::FileLeft(file.inode));
            let last = keys.filter_map(|key| self.index.previous(key, end)).max();
            let known = last.and_then(|last| Some((last, self.effects.get(last)?)));
            let Some((last, effect)) = known else { return false };
            end = last;
            let is_its = |left: FileId| left.born.is_some() && files.contains(&left);
            if file_left(effect).is_some_and(is_its) {
                if last < place {
                    return true;
                }
                let base = match (note_origin(effect), effect.kind) {
                    (NoteOrigin::New, _) => None,
                    (NoteOrigin::Trash(name), ChangeKind::Create) => {
                        let gone = self.previous_in_trash(name, last);
                        gone.and_then(|(_, gone)| recorded_base(gone))
                    }
                    _ => recorded_base(effect),
                };
                let Some(base) = base else { return false };
                here = base;
            }
        }
    }

    /// The place of the note that the trace follows from the effect at `place`, or the notes that may be it.
    pub(super) fn locate(
        &self,
        place: usize,
        trace: &NoteTrace,
        notes: &PlanReader<'_>,
    ) -> NoteLocation {
        locate(trace, &self.successions, self.newest_version(place), notes)
    }

    /// The path of that note where it is without doubt. Looks for no others.
    pub(super) fn certain_path(
        &self,
        place: usize,
        trace: &NoteTrace,
        notes: &PlanReader<'_>,
    ) -> Option<NotePath> {
        certain_path(trace, &self.successions, self.newest_version(place), notes)
    }

    /// The same as far as files alone tell it: no contents have to be known, and no note is read.
    pub(super) fn path_of_file(
        &self,
        trace: &NoteTrace,
        notes: &PlanReader<'_>,
    ) -> Option<NotePath> {
        certain_path(trace, &self.successions, None, notes)
    }

    /// The position of an effect in the ledger.
    pub(super) fn position_of(&self, effect: &EffectId) -> Option<usize> {
        let mut from = 0;
        loop {
            let at = self.index.next(EffectKey::Id(effect), from)?;
            if self.effects.get(at)?.id == *effect {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// The versions of the note that an effect changed, with those nearest in time first.
    pub(super) fn versions(&self, place: usize) -> Vec<&[u8]> {
        self.version_hashes(place).iter().filter_map(|hash| self.content(Some(hash))).collect()
    }

    /// The last text of the note, as far as the ledger knows.
    pub(super) fn newest_version(&self, place: usize) -> Option<&[u8]> {
        let contents = |effect: &Effect| [effect.after.clone(), effect.before.clone()];
        let newest_first = self.effects_on_note(place).into_iter().rev();
        let mut hashes = newest_first.flat_map(|(_, effect)| contents(effect)).flatten();
        hashes.find_map(|hash| self.content(Some(&hash)))
    }

    fn version_hashes(&self, place: usize) -> Vec<ContentHash> {
        let mut effects: Vec<(usize, &Effect)> = self.effects_on_note(place);
        effects.sort_by_key(|(at, _)| at.abs_diff(place));
        let contents =
            |(_, effect): (usize, &Effect)| [effect.before.clone(), effect.after.clone()];
        let mut seen = HashSet::new();
        let mut hashes: Vec<ContentHash> = Vec::new();
        for hash in effects.iter().copied().flat_map(contents).flatten() {
            if hashes.len() < MAX_VERSIONS && seen.insert(hash.clone()) {
                hashes.push(hash);
            }
        }
        // By what it says last it is found again.
        let newest = effects.iter().max_by_key(|(at, _)| *at);
        let newest = newest.and_then(|(_, effect)| effect.after.clone().or(effect.before.clone()));
        hashes.extend(newest.filter(|hash| seen.insert(hash.clone())));
        hashes
    }

    /// Every effect on the note, before and after, oldest first. Where somebody moved it without us its file
    /// leads on. Another note that had its path or its name in the trash before, or has it since, is left out.
    fn effects_on_note(&self, place: usize) -> Vec<(usize, &Effect)> {
        let Some(effect) = self.effects.get(place) else { return Vec::new() };
        let mut found = self.effects_before(place, effect);
        found.reverse();
        found.push((place, effect));
        let mut here = effect.target.clone().unwrap_or_else(|| effect.path.clone());
        let (mut file, mut trashed) = (file_left(effect), name_in_trash(effect));
        let mut from = place + 1;
        while let Some((at, later)) = self.next_on(&here, file, trashed, from) {
            from = at + 1;
            let base = recorded_base(later);
            let is_its = match later.kind {
                ChangeKind::Create => trashed.is_some() && later.trashed.as_deref() == trashed,
                _ => {
                    let may_be_its = later.path == here && !self.is_other(file, base);
                    may_be_its || self.leads_to(file, base)
                }
            };
            if is_its {
                found.push((at, later));
                (here, file) = (later.path.clone(), file_left(later));
                trashed = name_in_trash(later);
            } else if later.trashed.as_deref() == trashed {
                trashed = None;
            }
            if (is_its || later.kind == ChangeKind::RenameFolder)
                && let Some(target) = &later.target
                && let Some(moved) = here.after_move(&later.path, target)
            {
                here = moved;
            }
        }
        found
    }

    /// The effects on the note before one of them, newest first.
    fn effects_before(&self, place: usize, effect: &Effect) -> Vec<(usize, &Effect)> {
        let mut found = Vec::new();
        let (mut path, mut base) = (effect.path.clone(), recorded_base(effect));
        let mut origin = note_origin(effect);
        let mut end = place;
        loop {
            let previous = match origin {
                NoteOrigin::New => None,
                NoteOrigin::Trash(name) => self.previous_in_trash(name, end),
                NoteOrigin::Earlier => self.previous_on(&path, base, end),
            };
            let Some((at, earlier)) = previous else { break };
            end = at;
            let is_its = match origin {
                NoteOrigin::New => false,
                NoteOrigin::Trash(name) => name_in_trash(earlier) == Some(name),
                NoteOrigin::Earlier if earlier.kind == ChangeKind::RenameFolder => {
                    let target = earlier.target.as_ref();
                    let before = target.and_then(|target| path.after_move(target, &earlier.path));
                    path = before.unwrap_or(path);
                    false
                }
                NoteOrigin::Earlier => {
                    let (left, left_at) = (file_left(earlier), earlier.target.as_ref());
                    let is_there = *left_at.unwrap_or(&earlier.path) == path;
                    (is_there && !self.is_other(left, base)) || self.leads_to(left, base)
                }
            };
            if is_its {
                found.push((at, earlier));
                (path, base) = (earlier.path.clone(), recorded_base(earlier));
                origin = note_origin(earlier);
            }
        }
        found
    }

    /// The last effect before a position that may have moved something to or from the trash under a name.
    fn previous_in_trash(&self, name: &str, end: usize) -> Option<(usize, &Effect)> {
        let at = self.index.previous(EffectKey::Trashed(name), end)?;
        Some((at, self.effects.get(at)?))
    }

    /// Whether a file certainly did not go on as another.
    fn is_other(&self, from: Option<FileId>, to: Option<FileId>) -> bool {
        let are_known =
            from.zip(to).is_some_and(|(from, to)| from.born.is_some() && to.born.is_some());
        are_known && !self.leads_to(from, to)
    }

    /// Whether a file is certainly one that went on as another.
    fn leads_to(&self, from: Option<FileId>, to: Option<FileId>) -> bool {
        from.zip(to).is_some_and(|(from, to)| {
            from.born.is_some() && to.born.is_some() && self.successions.is_successor(from, to)
        })
    }
}
