//! The history of the vault, as the ledger recorded it.

use std::collections::{HashMap, HashSet};

use protocol::{
    CallId, ChangeKind, ChangeSetId, ContentHash, Effect, EffectId, FileId, FileReplacement,
    NotePath, TurnId,
};

use super::locate::{NoteLocation, certain_path, locate};
use super::plan_reader::PlanReader;
use super::trace::{NoteTrace, Successions, file_left, recorded_base};
use super::{Hunks, UndoDirection, UndoRequest};

/// How many versions of a note are looked at, those nearest to the change in question first.
const MAX_VERSIONS: usize = 64;

/// Effects that happened, oldest first, without gaps from the first that is wanted on, and the
/// contents that they name.
#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    effects: Vec<Effect>,
    contents: HashMap<ContentHash, Vec<u8>>,
    successions: Successions,
    undone: HashSet<EffectId>,
}

impl LedgerView {
    /// A past without contents: [`LedgerView::missing_contents`] says which are needed.
    #[must_use]
    pub fn new(effects: Vec<Effect>) -> Self {
        Self { effects, ..Self::default() }
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

    /// The requested effects as positions in the ledger, newest unit first; an effect that is undone by itself is a
    /// unit of its own. With an effect of a unit comes what is undone with it.
    pub(super) fn units(&self, request: &UndoRequest) -> Vec<Vec<usize>> {
        let groups = self.requested_groups(request);
        let mut units: Vec<(Option<UnitKey<'_>>, Vec<usize>)> = Vec::new();
        for place in self.requested_positions(request) {
            let effect = self.effects.get(place);
            let group =
                effect.and_then(|effect| groups.group_of(effect, request.effects.get(&effect.id)));
            match units.iter_mut().find(|(other, _)| group.is_some() && *other == group) {
                Some((_, unit)) => unit.push(place),
                None => units.push((group, vec![place])),
            }
        }
        let mut units: Vec<Vec<usize>> = units.into_iter().map(|(_, unit)| unit).collect();
        units.sort_by_key(|unit| std::cmp::Reverse(unit.last().copied()));
        units
    }

    /// Whether the request undoes a move of the unit of an effect.
    pub(super) fn is_move_requested(&self, effect: &Effect, request: &UndoRequest) -> bool {
        let groups = self.requested_groups(request);
        unit_key(effect).is_some_and(|unit| groups.undo_move_of(unit))
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

    fn requested_groups(&self, request: &UndoRequest) -> RequestedGroups<'_> {
        let whole = self
            .effects
            .iter()
            // Another program overwrites the contents of one note; the rest of its unit still stands.
            .filter(|_| request.direction == UndoDirection::Back)
            .filter(|effect| request.effects.get(&effect.id) == Some(&Hunks::All));
        let standing = self.effects.iter().filter(|effect| self.stands(effect));
        RequestedGroups::new(standing, whole)
    }

    fn stands(&self, effect: &Effect) -> bool {
        !self.undone.contains(&effect.id)
    }

    pub(super) fn effect(&self, place: usize) -> Option<&Effect> {
        self.effects.get(place)
    }

    pub(super) fn content(&self, hash: Option<&ContentHash>) -> Option<&[u8]> {
        self.contents.get(hash?).map(Vec::as_slice)
    }

    /// Follows the file that an effect left at `path` to the newest effect.
    pub(super) fn trace(&self, place: usize, path: &NotePath) -> Option<NoteTrace> {
        let mut trace = NoteTrace::start(place, self.effects.get(place)?, path);
        for (at, later) in self.effects.iter().enumerate().skip(place + 1) {
            trace.apply_effect(at, later, &self.successions);
        }
        Some(trace)
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

    /// The position of an effect in the ledger.
    pub(super) fn position_of(&self, effect: &EffectId) -> Option<usize> {
        self.effects.iter().position(|found| found.id == *effect)
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
    /// leads on. Another note that had the path before or has it since is left out.
    fn effects_on_note(&self, place: usize) -> Vec<(usize, &Effect)> {
        let Some(effect) = self.effects.get(place) else { return Vec::new() };
        let mut found = self.effects_before(place, effect);
        found.reverse();
        found.push((place, effect));
        let mut here = effect.target.clone().unwrap_or_else(|| effect.path.clone());
        let (mut file, mut trashed) = (file_left(effect), name_in_trash(effect));
        for (at, later) in self.effects.iter().enumerate().skip(place + 1) {
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
        for (at, earlier) in self.effects.iter().enumerate().take(place).rev() {
            let is_its = match origin {
                NoteOrigin::New => break,
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

/// A unit of a change set.
type UnitKey<'a> = (&'a ChangeSetId, &'a CallId);

fn unit_key(effect: &Effect) -> Option<UnitKey<'_>> {
    Some((&effect.change_set, effect.unit.as_ref()?))
}

/// The units of effects that are undone whole. Several turns may have planned one unit. The undo includes all that the
/// turns of these effects planned there, and all of each turn that moves something there: a move and the links to it
/// belong together. Another turn that only edited, created or deleted notes keeps its changes: they need no move. A turn
/// of which only creations are undone keeps the rest of its changes too, unless it moves something itself.
struct RequestedGroups<'a> {
    /// The turns of these effects, by unit.
    turns: HashSet<(UnitKey<'a>, &'a TurnId)>,
    /// The units in which more than creations is undone. Those need no move to be undone.
    units: HashSet<UnitKey<'a>>,
    /// The turns that move something, by unit.
    moving: HashSet<(UnitKey<'a>, &'a TurnId)>,
}

impl<'a> RequestedGroups<'a> {
    fn new(
        standing: impl Iterator<Item = &'a Effect>,
        whole: impl Iterator<Item = &'a Effect>,
    ) -> Self {
        let turn_of = |effect: &'a Effect| Some((unit_key(effect)?, &effect.turn));
        let is_move =
            |effect: &&Effect| matches!(effect.kind, ChangeKind::Rename | ChangeKind::RenameFolder);
        let whole: Vec<&'a Effect> = whole.collect();
        let more = whole.iter().copied().filter(|effect| !is_new(effect));
        Self {
            turns: whole.iter().copied().filter_map(turn_of).collect(),
            units: more.filter_map(unit_key).collect(),
            moving: standing.filter(is_move).filter_map(turn_of).collect(),
        }
    }

    /// Whether the undo of these effects undoes another effect of their units too.
    fn are_undone_with(&self, effect: &Effect) -> bool {
        let Some(unit) = unit_key(effect) else { return false };
        let of_turn = (unit, &effect.turn);
        match self.units.contains(&unit) {
            true => self.turns.contains(&of_turn) || self.moving.contains(&of_turn),
            false => self.turns.contains(&of_turn) && self.moving.contains(&of_turn),
        }
    }

    /// Whether the undo of these effects undoes a move of a unit.
    fn undo_move_of(&self, unit: UnitKey<'_>) -> bool {
        let is_undone =
            |turn: &TurnId| self.units.contains(&unit) || self.turns.contains(&(unit, turn));
        self.moving.iter().any(|(of, turn)| *of == unit && is_undone(turn))
    }

    /// The unit with which an effect is undone all or not at all. An effect that is requested by its hunks while the
    /// moves of its unit stand is undone by itself, and so is a creation of a turn that moves nothing there.
    fn group_of<'e>(&self, effect: &'e Effect, requested: Option<&Hunks>) -> Option<UnitKey<'e>> {
        let unit = unit_key(effect)?;
        let is_grouped = match requested {
            Some(Hunks::Some(_)) => self.undo_move_of(unit),
            Some(Hunks::All) | None if is_new(effect) => {
                self.moving.contains(&(unit, &effect.turn))
            }
            Some(Hunks::All) | None => true,
        };
        is_grouped.then_some(unit)
    }
}

const fn is_new(effect: &Effect) -> bool {
    matches!(effect.kind, ChangeKind::Create | ChangeKind::MakeFolder)
}

/// Where a note was before an effect.
#[derive(Clone, Copy)]
enum NoteOrigin<'a> {
    /// Nowhere: the effect made it.
    New,
    /// In the trash, under this name.
    Trash(&'a str),
    /// Where an earlier effect left it.
    Earlier,
}

fn note_origin(effect: &Effect) -> NoteOrigin<'_> {
    match (effect.kind, &effect.trashed) {
        (ChangeKind::Create, Some(name)) => NoteOrigin::Trash(name),
        (ChangeKind::Create, None) => NoteOrigin::New,
        _ => NoteOrigin::Earlier,
    }
}

/// The name in the trash under which an effect left the note.
fn name_in_trash(effect: &Effect) -> Option<&str> {
    effect.trashed.as_deref().filter(|_| effect.kind == ChangeKind::Trash)
}
