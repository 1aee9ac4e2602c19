//! The rules that hold after every step, whatever it was.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{ChangeKind, EffectId};
use testkit::vaults::temp_vault::Files;

use super::applied_effects::{AppliedEffects, HunkWords, ListedEffect};
use super::tracked_notes::{
    NoteIdentities, NoteNumber, WordCounts, count_words, is_in_trash, link_targets, outside_trash,
    text_of, torn_lines,
};

/// The words that a step may remove and add, and the notes in which it may.
#[derive(Debug, Clone, Default)]
pub(super) struct StepPermission {
    pub(super) may_vanish: BTreeSet<String>,
    pub(super) may_appear: BTreeSet<String>,
    /// `None` for any note.
    pub(super) notes: Option<BTreeSet<NoteNumber>>,
    /// Whether the user chose what becomes of these words, so that they may stand against the list of changes.
    pub(super) is_chosen: bool,
    /// Whether it makes what was planned earlier. Known limit: a link that came since to a note that the plan changes too
    /// is not rewritten with the move of its target.
    pub(super) is_of_plan: bool,
}

impl StepPermission {
    /// To revert these hunks.
    pub(super) fn revert<'a>(&mut self, hunks: impl IntoIterator<Item = &'a HunkWords>) {
        for hunk in hunks {
            self.may_vanish.extend(hunk.added.iter().cloned());
            self.may_appear.extend(hunk.removed.iter().cloned());
        }
    }

    /// To make these hunks.
    pub(super) fn make<'a>(&mut self, hunks: impl IntoIterator<Item = &'a HunkWords>) {
        for hunk in hunks {
            self.may_vanish.extend(hunk.removed.iter().cloned());
            self.may_appear.extend(hunk.added.iter().cloned());
        }
    }
}

/// The vault, and the knowledge of who wrote what in it.
#[derive(Debug, Default)]
pub(super) struct KnownVault {
    pub(super) files: Files,
    pub(super) notes: NoteIdentities,
    pub(super) effects: AppliedEffects,
    /// The words that the user wrote in notes, and whether the user deleted them.
    pub(super) user_words: BTreeMap<String, bool>,
    /// Words that the user copied, restored or removed against the list of changes.
    pub(super) loose_words: BTreeSet<String>,
    /// Notes that are one by what the user said.
    joined: Vec<(NoteNumber, NoteNumber)>,
}

impl KnownVault {
    /// Lets a step change the notes of these changes.
    pub(super) fn allow_notes<'a>(
        &self,
        permission: &mut StepPermission,
        effects: impl IntoIterator<Item = &'a ListedEffect>,
    ) {
        let notes = permission.notes.get_or_insert_default();
        notes.extend(effects.into_iter().filter_map(|effect| effect.number));
        for _ in 0..self.joined.len() {
            for (one, other) in &self.joined {
                if notes.contains(one) || notes.contains(other) {
                    notes.extend([*one, *other]);
                }
            }
        }
    }

    /// From now on the note of a change is the one at a path.
    pub(super) fn join_notes(&mut self, effect: &EffectId, path: &str) {
        if let (Some(one), Some(other)) = (self.effects.get(effect).number, self.notes.at(path)) {
            self.joined.push((one, other));
        }
    }

    /// Takes the files as they are after a step, with the changes that are new in the list, and returns what is wrong.
    pub(super) fn take_step(
        &mut self,
        after: Files,
        new: &[EffectId],
        permission: &StepPermission,
        appended: &[String],
    ) -> Vec<String> {
        let before = std::mem::replace(&mut self.files, after);
        let links_before = link_targets(&before, &self.notes);
        for word in appended {
            self.user_words.insert(word.clone(), false);
        }
        let mut wrong = self.follow_notes(&before, new, permission);
        let change = word_change(&before, &self.files);
        wrong.extend(self.check_listed(&change, new, appended));
        wrong.extend(check_permitted(&change, permission, appended));
        wrong.extend(self.check_named_files(&before, new, appended));
        if permission.is_chosen {
            let chosen = permission.may_vanish.iter().chain(&permission.may_appear);
            self.loose_words.extend(chosen.cloned());
        } else {
            wrong.extend(self.check_links(&before, &links_before, permission.is_of_plan, new));
        }
        wrong.extend(self.check_presence());
        wrong.extend(
            torn_lines(&self.files).into_iter().map(|line| format!("a torn line in {line}")),
        );
        wrong.extend(self.check_strange_files());
        wrong
    }

    /// Follows each note through the new changes; a change of lines is in a note in which it may be.
    fn follow_notes(
        &mut self,
        before: &Files,
        new: &[EffectId],
        permission: &StepPermission,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut files = before.clone();
        for id in new {
            let effect = self.effects.get(id).clone();
            let path = effect.note.path.as_str();
            let mut number = self.notes.at(path);
            match (effect.note.kind, &effect.note.target) {
                (ChangeKind::Create, _) => {
                    let bytes = self.created_bytes(path, new, id);
                    self.notes.restore(path, &bytes);
                    files.insert(path.to_owned(), bytes);
                    number = self.notes.at(path);
                }
                (ChangeKind::Trash | ChangeKind::TrashFolder, _) => self.notes.trash(path, &files),
                (ChangeKind::Rename | ChangeKind::RenameFolder, Some(target)) => {
                    self.notes.rename(path, target.as_str());
                    rename_files(&mut files, path, target.as_str());
                }
                (ChangeKind::RestoreFolder, _) => self.restore_folder(path),
                _ => {}
            }
            let is_of_lines = effect.hunks.iter().any(|hunk| !hunk.is_empty());
            let is_allowed =
                |number| permission.notes.as_ref().is_none_or(|all| all.contains(number));
            if effect.note.kind == ChangeKind::Replace
                && is_of_lines
                && !number.as_ref().is_some_and(is_allowed)
            {
                wrong.push(format!(
                    "{path} (note {number:?}) was changed, not one of {:?}",
                    permission.notes
                ));
            }
            self.effects.all.get_mut(id).expect("it is there").number = number;
        }
        let places: BTreeSet<&String> = outside_trash(&self.files).map(|(path, _)| path).collect();
        if places != self.notes.paths() {
            wrong.push(format!("notes are at {places:?}, by the list at {:?}", self.notes.paths()));
        }
        wrong
    }

    /// The text with which a note was made: later changes of the same step may have moved it.
    fn created_bytes(&self, path: &str, new: &[EffectId], id: &EffectId) -> Vec<u8> {
        let later = new.iter().skip_while(|one| *one != id).skip(1);
        let mut at = path.to_owned();
        for effect in later.map(|later| self.effects.get(later)) {
            if let (true, Some(target)) = (effect.note.path.as_str() == at, &effect.note.target) {
                at = target.as_str().to_owned();
            }
        }
        self.files.get(&at).cloned().unwrap_or_default()
    }

    fn restore_folder(&mut self, folder: &str) {
        let inside = outside_trash(&self.files)
            .filter(|(path, _)| super::tracked_notes::is_below(path, folder));
        let inside: Vec<_> = inside.map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
        for (path, bytes) in inside
            .iter()
            .filter(|(path, _)| self.notes.at(path).is_none())
            .cloned()
            .collect::<Vec<_>>()
        {
            self.notes.restore(&path, &bytes);
        }
    }

    /// The list of changes says the same as the files.
    fn check_listed(
        &self,
        change: &BTreeMap<String, i64>,
        new: &[EffectId],
        appended: &[String],
    ) -> Option<String> {
        let mut listed: BTreeMap<String, i64> = BTreeMap::new();
        for word in appended {
            *listed.entry(word.clone()).or_default() += 1;
        }
        for hunk in new.iter().flat_map(|id| &self.effects.get(id).hunks) {
            hunk.removed.iter().for_each(|word| *listed.entry(word.clone()).or_default() -= 1);
            hunk.added.iter().for_each(|word| *listed.entry(word.clone()).or_default() += 1);
        }
        listed.retain(|_, count| *count != 0);
        (listed != *change)
            .then(|| format!("the words changed by {change:?}, by the list by {listed:?}"))
    }

    fn check_named_files(
        &self,
        before: &Files,
        new: &[EffectId],
        appended: &[String],
    ) -> Vec<String> {
        let paths: BTreeSet<&String> = before.keys().chain(self.files.keys()).collect();
        let is_changed = |path: &&&String| before.get(**path) != self.files.get(**path);
        let is_named = |path: &str| {
            let was_appended = || {
                let text = self.files.get(path).map(|bytes| text_of(bytes)).unwrap_or_default();
                appended.iter().any(|word| text.contains(word.as_str()))
            };
            new.iter().any(|id| self.effects.get(id).names(path)) || was_appended()
        };
        let changed = paths.iter().filter(is_changed).filter(|path| !is_in_trash(path));
        changed
            .filter(|path| !is_named(path))
            .map(|path| format!("{path} changed, and no change is listed"))
            .collect()
    }

    /// A link leads to the same note as before, as long as that is there.
    fn check_links(
        &self,
        files_before: &Files,
        before: &BTreeMap<(String, usize), Option<NoteNumber>>,
        is_of_plan: bool,
        new: &[EffectId],
    ) -> Vec<String> {
        let after = link_targets(&self.files, &self.notes);
        let changed = new.iter().filter_map(|id| self.effects.get(id).number);
        let changed: BTreeSet<NoteNumber> = changed.collect();
        let in_changed = outside_trash(&self.files)
            .filter(|(path, _)| self.notes.at(path).is_some_and(|note| changed.contains(&note)));
        let in_changed = count_words(in_changed);
        let line_with = |files: &Files, word: &str| {
            let is_it = |line: &&str| line.split(' ').any(|one| one == word);
            let texts = outside_trash(files).map(|(path, bytes)| (path.clone(), text_of(bytes)));
            let lines =
                texts.filter_map(|(path, text)| Some((path, text.lines().find(is_it)?.to_owned())));
            lines.collect::<Vec<_>>()
        };
        let is_limit =
            |word: &str| {
                is_of_plan
                    && in_changed.contains_key(word)
                    && line_with(files_before, word)
                        .into_iter()
                        .map(|(_, line)| line)
                        .eq(line_with(&self.files, word).into_iter().map(|(_, line)| line))
            };
        let leads_elsewhere = |(key, target): (&(String, usize), &Option<NoteNumber>)| {
            let note = target.filter(|note| self.notes.is_alive(*note) && !is_limit(&key.0))?;
            let now = after.get(key)?;
            (*now != Some(note)).then(|| {
                format!(
                    "a link led to note {note}, now to {now:?}: {:?}",
                    line_with(&self.files, &key.0)
                )
            })
        };
        before.iter().filter_map(leads_elsewhere).collect()
    }

    /// A line of the user is there once, unless the user deleted it or a change that stands did; a line of the model is
    /// there once while its change stands.
    fn check_presence(&self) -> Vec<String> {
        let counts = count_words(outside_trash(&self.files));
        let trashed = count_words(self.files.iter().filter(|(path, _)| is_in_trash(path)));
        let own = self.effects.all.values().filter(|effect| effect.is_own());
        let (mut removed, mut added) = (BTreeMap::<&str, ChangeKind>::new(), BTreeSet::new());
        let mut removals = BTreeMap::<&str, usize>::new();
        for effect in own {
            for word in effect.hunks.iter().flat_map(|hunk| &hunk.removed) {
                *removals.entry(word.as_str()).or_default() += 1;
            }
            for hunk in effect.words_where(true) {
                removed.extend(hunk.removed.iter().map(|word| (word.as_str(), effect.note.kind)));
                added.extend(hunk.added.iter().map(String::as_str));
            }
        }
        // Known limit: the undo of a change restores a line that it removed, also where another change that removed it
        // stands, or the one that wrote it is undone.
        let is_uncertain = |word: &str| {
            let count = removals.get(word).copied().unwrap_or_default();
            let is_written = self.user_words.contains_key(word) || added.contains(word);
            count > 1 || (count == 1 && !is_written)
        };
        let words = counts.keys().chain(self.user_words.keys()).map(String::as_str);
        let all: BTreeSet<&str> = words.chain(added.iter().copied()).collect();
        let is_sure = |word: &&str| !self.loose_words.contains(*word) && !is_uncertain(word);
        let mut wrong = Vec::new();
        for word in all.into_iter().filter(is_sure) {
            let is_there = match self.user_words.get(word) {
                Some(is_deleted) => !is_deleted && !removed.contains_key(word),
                None => added.contains(word) && !removed.contains_key(word),
            };
            let count = counts.get(word).copied().unwrap_or_default();
            if count != usize::from(is_there) {
                wrong.push(format!(
                    "{word} is there {count} times, and should be {}",
                    usize::from(is_there)
                ));
            }
            let is_in_trash = || trashed.contains_key(word);
            let went_to_trash =
                matches!(removed.get(word), Some(ChangeKind::Trash | ChangeKind::TrashFolder));
            if went_to_trash && self.user_words.get(word) == Some(&false) && !is_in_trash() {
                wrong.push(format!("{word} is not in the trash"));
            }
        }
        wrong
    }

    fn check_strange_files(&self) -> Vec<String> {
        let strange = outside_trash(&self.files).filter(|(path, _)| {
            !path.ends_with(".md") || path.contains("/.") || path.starts_with('.')
        });
        strange.map(|(path, _)| format!("{path} is left in the vault")).collect()
    }
}

fn rename_files(files: &mut Files, from: &str, to: &str) {
    let all = std::mem::take(files).into_iter();
    *files = all
        .map(|(path, bytes)| match path.strip_prefix(from) {
            Some("") => (to.to_owned(), bytes),
            Some(rest) if rest.starts_with('/') => (format!("{to}{rest}"), bytes),
            _ => (path, bytes),
        })
        .collect();
}

/// By how much more or less often each word occurs, where that is different.
fn word_change(before: &Files, after: &Files) -> BTreeMap<String, i64> {
    let (before, after): (WordCounts, WordCounts) =
        (count_words(outside_trash(before)), count_words(outside_trash(after)));
    let count = |counts: &WordCounts, word: &str| counts.get(word).map_or(0, |count| *count as i64);
    let words: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change =
        words.into_iter().map(|word| (word.clone(), count(&after, word) - count(&before, word)));
    change.filter(|(_, by)| *by != 0).collect()
}

fn check_permitted(
    change: &BTreeMap<String, i64>,
    permission: &StepPermission,
    appended: &[String],
) -> Vec<String> {
    let is_wrong = |(word, by): &(&String, &i64)| match **by {
        by if by < 0 => !permission.may_vanish.contains(*word),
        _ => !permission.may_appear.contains(*word) && !appended.contains(*word),
    };
    let wrong = change.iter().filter(is_wrong);
    wrong
        .map(|(word, by)| format!("{word} is there {by:+} times, and the step is not about it"))
        .collect()
}
