//! Finds the effects of the ledger that may be about a note, so that a plan does not go through all of them for each
//! note.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use protocol::{ChangeKind, Effect, EffectId, NotePath};

use super::trace::{base_file, file_left};

/// The positions of effects by the hashes of their keys. Different keys may have the same hash, so the caller checks
/// what is found.
#[derive(Debug, Clone, Default)]
pub(super) struct LedgerIndex(Vec<(u64, usize)>);

/// A property by which an effect is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum EffectKey<'a> {
    /// Under which the ledger stores it.
    Id(&'a EffectId),
    /// Where it was made.
    Path(&'a NotePath),
    /// Where the note was after it.
    PathLeft(&'a NotePath),
    /// The inode number of the file on which it was made.
    Base(u64),
    /// The inode number of the file that it left.
    FileLeft(u64),
    /// The name in the trash of what it moved to or from there.
    Trashed(&'a str),
    /// It renames a folder, or moves it to or from the trash.
    OfFolder,
}

impl LedgerIndex {
    /// Of the effects of a ledger, oldest first.
    pub(super) fn new(effects: &[Effect]) -> Self {
        let entries = |(place, effect)| keys(effect).map(move |key| (hash_of(key), place));
        let mut all: Vec<(u64, usize)> = effects.iter().enumerate().flat_map(entries).collect();
        all.sort_unstable();
        all.shrink_to_fit();
        Self(all)
    }

    /// The first position, from `from` on, of an effect that may have the key.
    pub(super) fn next(&self, key: EffectKey<'_>, from: usize) -> Option<usize> {
        let start = (hash_of(key), from);
        let at = self.0.partition_point(|entry| *entry < start);
        self.0.get(at).filter(|(hash, _)| *hash == start.0).map(|(_, place)| *place)
    }

    /// The last position before `end` of an effect that may have the key.
    pub(super) fn previous(&self, key: EffectKey<'_>, end: usize) -> Option<usize> {
        let end = (hash_of(key), end);
        let after = self.0.partition_point(|entry| *entry < end);
        let found = self.0.get(after.checked_sub(1)?);
        found.filter(|(hash, _)| *hash == end.0).map(|(_, place)| *place)
    }
}

fn keys(effect: &Effect) -> impl Iterator<Item = EffectKey<'_>> {
    let is_of_folder = matches!(
        effect.kind,
        ChangeKind::RenameFolder | ChangeKind::TrashFolder | ChangeKind::RestoreFolder
    );
    let keys = [
        Some(EffectKey::Id(&effect.id)),
        Some(EffectKey::Path(&effect.path)),
        Some(EffectKey::PathLeft(effect.target.as_ref().unwrap_or(&effect.path))),
        base_file(effect).map(|file| EffectKey::Base(file.inode)),
        file_left(effect).map(|file| EffectKey::FileLeft(file.inode)),
        effect.trashed.as_deref().map(EffectKey::Trashed),
        is_of_folder.then_some(EffectKey::OfFolder),
    ];
    keys.into_iter().flatten()
}

fn hash_of(key: EffectKey<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
