//! What the ledger tells of the vault's past.

use std::collections::{HashMap, HashSet};

use protocol::{ContentHash, Effect, EffectId, FileId, NotePath, Succession};

use super::locate::{Located, locate};
use super::trace::{Successions, Trace};
use super::{Hunks, Notes, Wanted};

/// How many versions of a note are looked at, those nearest to the change in question first.
const VERSIONS: usize = 64;

/// Effects that happened, oldest first, without gaps from the first that is wanted on, and the
/// contents that they name.
#[derive(Debug, Clone, Default)]
pub struct Past {
    effects: Vec<Effect>,
    images: HashMap<ContentHash, Vec<u8>>,
    successions: Successions,
}

impl Past {
    /// A past without contents: [`Past::needs`] says which are needed.
    #[must_use]
    pub fn new(effects: Vec<Effect>) -> Self {
        Self { effects, ..Self::default() }
    }

    /// The effects, oldest first.
    #[must_use]
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// The contents that have to be known to take back what is wanted.
    #[must_use]
    pub fn needs(&self, wanted: &Wanted) -> HashSet<ContentHash> {
        self.wanted(wanted).into_iter().flat_map(|place| self.versions_at(place)).collect()
    }

    /// Adds a content.
    pub fn know(&mut self, hash: ContentHash, content: Vec<u8>) {
        self.images.insert(hash, content);
    }

    /// Adds that one file took the place of another.
    pub fn succeed(&mut self, succession: Succession) {
        self.successions.add(succession);
    }

    /// The wanted effects as places in the past, newest unit first; an effect without a unit is
    /// one alone. Of a unit all effects are there.
    pub(super) fn units(&self, wanted: &Wanted) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        for place in self.wanted(wanted) {
            let same = |unit: &Vec<usize>| {
                let of = |place: usize| {
                    let effect = self.effects.get(place)?;
                    Some((&effect.change_set, effect.unit.as_ref()?))
                };
                of(place).is_some() && unit.first().and_then(|first| of(*first)) == of(place)
            };
            match units.iter_mut().find(|unit| same(unit)) {
                Some(unit) => unit.push(place),
                None => units.push(vec![place]),
            }
        }
        units.sort_by_key(|unit| std::cmp::Reverse(unit.last().copied()));
        units
    }

    fn wanted(&self, wanted: &Wanted) -> Vec<usize> {
        let is_wanted = |effect: &Effect| wanted.effects.contains_key(&effect.id);
        let units: HashSet<_> = self
            .effects
            .iter()
            .filter(|effect| wanted.effects.get(&effect.id) == Some(&Hunks::All))
            .filter_map(|effect| Some((&effect.change_set, effect.unit.as_ref()?)))
            .collect();
        let belongs = |effect: &Effect| {
            let unit = effect.unit.as_ref();
            unit.is_some_and(|unit| units.contains(&(&effect.change_set, unit)))
        };
        let all = self.effects.iter().enumerate();
        all.filter(|(_, effect)| is_wanted(effect) || belongs(effect)).map(|(at, _)| at).collect()
    }

    pub(super) fn effect(&self, place: usize) -> Option<&Effect> {
        self.effects.get(place)
    }

    pub(super) fn image(&self, hash: Option<&ContentHash>) -> Option<&[u8]> {
        self.images.get(hash?).map(Vec::as_slice)
    }

    /// Follows what an effect left at `path` to the end of the past.
    pub(super) fn trace(&self, place: usize, path: &NotePath) -> Option<Trace> {
        let mut trace = Trace::begin(place, self.effects.get(place)?, path);
        for (at, later) in self.effects.iter().enumerate().skip(place + 1) {
            trace.follow(at, later, &self.successions);
        }
        Some(trace)
    }

    /// The file that what is traced is by now.
    pub(super) fn file(&self, trace: &Trace) -> Option<FileId> {
        trace.file.map(|file| self.successions.last(file))
    }

    /// Where the note is that an effect left at `path`, as far as that is certain.
    pub(super) fn locate(&self, place: usize, trace: &Trace, notes: &dyn Notes) -> Located {
        locate(trace, &self.successions, self.newest(place), notes)
    }

    /// The place of an effect in the past.
    pub(super) fn place_of(&self, effect: &EffectId) -> Option<usize> {
        self.effects.iter().position(|found| found.id == *effect)
    }

    /// The versions of the note that an effect changed, with those nearest in time first.
    pub(super) fn versions(&self, place: usize) -> Vec<&[u8]> {
        self.versions_at(place).iter().filter_map(|hash| self.image(Some(hash))).collect()
    }

    /// What the note said last, as far as the ledger knows.
    pub(super) fn newest(&self, place: usize) -> Option<&[u8]> {
        let images = |effect: &Effect| [effect.after.clone(), effect.before.clone()];
        let newest_first = self.places_of_the_note(place).into_iter().rev();
        let mut images = newest_first.flat_map(|(_, effect)| images(effect)).flatten();
        images.find_map(|hash| self.image(Some(&hash)))
    }

    fn versions_at(&self, place: usize) -> Vec<ContentHash> {
        let mut effects: Vec<(usize, &Effect)> = self.places_of_the_note(place);
        effects.sort_by_key(|(at, _)| at.abs_diff(place));
        let images = |(_, effect): (usize, &Effect)| [effect.before.clone(), effect.after.clone()];
        let mut seen = HashSet::new();
        let mut hashes: Vec<ContentHash> = Vec::new();
        for hash in effects.iter().copied().flat_map(images).flatten() {
            if hashes.len() < VERSIONS && seen.insert(hash.clone()) {
                hashes.push(hash);
            }
        }
        // By what it says last it is found again.
        let newest = effects.iter().max_by_key(|(at, _)| *at);
        let newest = newest.and_then(|(_, effect)| effect.after.clone().or(effect.before.clone()));
        hashes.extend(newest.filter(|hash| seen.insert(hash.clone())));
        hashes
    }

    /// Every effect on the note, before and after, oldest first.
    fn places_of_the_note(&self, place: usize) -> Vec<(usize, &Effect)> {
        let Some(effect) = self.effects.get(place) else { return Vec::new() };
        let mut found = Vec::new();
        let mut path = effect.path.clone();
        for (at, earlier) in self.effects.iter().enumerate().take(place).rev() {
            if let Some(target) = &earlier.target
                && let Some(before) = path.moved(target, &earlier.path)
            {
                path = before;
            } else if earlier.path == path {
                found.push((at, earlier));
            }
        }
        found.reverse();
        let mut here = effect.path.clone();
        for (at, later) in self.effects.iter().enumerate().skip(place) {
            if later.path == here {
                found.push((at, later));
            }
            if let Some(target) = &later.target
                && let Some(moved) = here.moved(&later.path, target)
            {
                here = moved;
            }
        }
        found
    }
}
