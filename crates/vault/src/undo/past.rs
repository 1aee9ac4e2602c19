//! What the ledger tells of the vault's past.

use std::collections::{HashMap, HashSet};

use protocol::{ChangeKind, ContentHash, Effect, EffectId, NotePath};

use super::{Hunks, Wanted};

/// How many versions of a note are looked at, those nearest to the change in question first.
const VERSIONS: usize = 64;

/// Effects that happened, oldest first, without gaps from the first that is wanted on, and the
/// contents that they name.
#[derive(Debug, Clone, Default)]
pub struct Past {
    effects: Vec<Effect>,
    images: HashMap<ContentHash, Vec<u8>>,
}

/// Where the ledger says that something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Whereabouts {
    pub(super) path: NotePath,
    pub(super) is_gone: bool,
}

impl Past {
    /// A past without contents: [`Past::needs`] says which are needed.
    #[must_use]
    pub fn new(effects: Vec<Effect>) -> Self {
        Self { effects, images: HashMap::new() }
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

    /// Where an effect stands in the past, and where the ledger says that the note is which it left;
    /// `None` when that is gone.
    pub(super) fn left(&self, effect: &EffectId) -> Option<(usize, NotePath)> {
        let place = self.effects.iter().position(|found| found.id == *effect)?;
        let found = self.effects.get(place)?;
        let home = self.now_at(place, found.target.as_ref().unwrap_or(&found.path));
        (!home.is_gone).then_some((place, home.path))
    }

    /// Where what an effect left at `path` is now, as far as the ledger knows.
    pub(super) fn now_at(&self, place: usize, path: &NotePath) -> Whereabouts {
        let trashes =
            |effect: &Effect| matches!(effect.kind, ChangeKind::Trash | ChangeKind::TrashFolder);
        let is_gone = self.effects.get(place).is_some_and(trashes);
        let start = Whereabouts { path: path.clone(), is_gone };
        self.effects.iter().skip(place + 1).fold(start, |mut here, effect| {
            here.follow(effect);
            here
        })
    }

    /// The number that the file system gave the note last.
    pub(super) fn inode(&self, place: usize) -> Option<u64> {
        self.of_the_note(place).filter_map(|effect| effect.inode).last()
    }

    /// The versions of the note that an effect changed, with those nearest in time first.
    pub(super) fn versions(&self, place: usize) -> Vec<&[u8]> {
        self.versions_at(place).iter().filter_map(|hash| self.image(Some(hash))).collect()
    }

    /// Where other notes are that were changed later. One of them may be the note, if it was
    /// renamed by hand between.
    pub(super) fn touched_later(&self, place: usize) -> Vec<NotePath> {
        let later = self.effects.iter().enumerate().skip(place + 1);
        let later = later.filter(|(_, effect)| effect.kind == ChangeKind::Replace);
        let now = later.map(|(at, effect)| self.now_at(at, &effect.path));
        let mut paths: Vec<_> = now.filter(|now| !now.is_gone).map(|now| now.path).collect();
        paths.sort();
        paths.dedup();
        paths
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

    fn of_the_note(&self, place: usize) -> impl Iterator<Item = &Effect> {
        self.places_of_the_note(place).into_iter().map(|(_, effect)| effect)
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
        let mut here = Whereabouts { path: effect.path.clone(), is_gone: false };
        for (at, later) in self.effects.iter().enumerate().skip(place) {
            if later.path == here.path {
                found.push((at, later));
            }
            here.follow(later);
        }
        found
    }
}

impl Whereabouts {
    fn follow(&mut self, effect: &Effect) {
        match (effect.kind, &effect.target) {
            (ChangeKind::Rename | ChangeKind::RenameFolder, Some(target)) => {
                if let Some(moved) = self.path.moved(&effect.path, target) {
                    self.path = moved;
                }
            }
            (ChangeKind::Trash, _) if effect.path == self.path => self.is_gone = true,
            (ChangeKind::TrashFolder, _) if self.path.is_in(&effect.path) => self.is_gone = true,
            (ChangeKind::Create, _) if effect.path == self.path => self.is_gone = false,
            (ChangeKind::RestoreFolder, _) if self.path.is_in(&effect.path) => self.is_gone = false,
            _ => {}
        }
    }
}
