//! Following one note through the ledger, by the file that it is.

use std::collections::{HashMap, HashSet};

use protocol::{ChangeKind, ContentHash, Effect, FileId, FileReplacement, NotePath};

/// Files that took the place of others in one step.
#[derive(Debug, Clone, Default)]
pub(super) struct Successions {
    next: HashMap<FileId, FileId>,
    /// The pairs by the inode numbers of the later files, also those that a later pair contradicts.
    by_later: HashMap<u64, Vec<(FileId, FileId)>>,
}

impl Successions {
    pub(super) fn add(&mut self, FileReplacement { from, to }: FileReplacement) {
        if self.next.insert(from, to) != Some(to) {
            self.by_later.entry(to.inode).or_default().push((from, to));
        }
    }

    /// The file that goes on from `file`: itself, if nothing took its place.
    pub(super) fn newest_successor(&self, file: FileId) -> FileId {
        let mut here = file;
        // A succession is never longer than all of them, however wrongly they were stored.
        for _ in 0..=self.next.len() {
            match self.next.get(&here) {
                Some(next) => here = *next,
                None => break,
            }
        }
        here
    }

    /// Whether `to` goes on from `from`, directly or through others.
    pub(super) fn is_successor(&self, from: FileId, to: FileId) -> bool {
        let mut here = from;
        for _ in 0..=self.next.len() {
            if is_same_file(here, to) {
                return true;
            }
            match self.next.get(&here) {
                Some(next) => here = *next,
                None => return false,
            }
        }
        false
    }

    /// The same, unless another file went on from `to`: what is still done to `to` then is done to a copy of
    /// the note that kept its old file, as a hard link does. A file that is moved back goes on.
    fn is_present_successor(&self, from: FileId, to: FileId) -> bool {
        let is_left = |next: &FileId| !self.is_successor(*next, to);
        self.is_successor(from, to) && !self.next.get(&to).is_some_and(is_left)
    }

    /// All files that go on from `file`, itself first, each once.
    pub(super) fn successors(&self, file: FileId) -> Vec<FileId> {
        let (mut found, mut seen) = (vec![file], HashSet::from([file]));
        let mut here = file;
        while let Some(next) = self.next.get(&here).copied().filter(|next| seen.insert(*next)) {
            found.push(next);
            here = next;
        }
        found
    }

    /// All files from which `file` may go on, itself first, each once.
    pub(super) fn predecessors(&self, file: FileId) -> Vec<FileId> {
        let (mut found, mut seen) = (vec![file], HashSet::from([file]));
        let mut looked_at = 0;
        while let Some(here) = found.get(looked_at).copied() {
            let pairs = self.by_later.get(&here.inode).into_iter().flatten();
            let from = pairs.filter(|(_, to)| is_same_file(*to, here)).map(|(from, _)| *from);
            found.extend(from.filter(|from| seen.insert(*from)));
            looked_at += 1;
        }
        found
    }
}

/// Whether two files are one. Where one side has no birth time the number has to do; the caller then
/// looks at the path too.
fn is_same_file(one: FileId, other: FileId) -> bool {
    let same_birth = one.born.is_none() || other.born.is_none() || one.born == other.born;
    one.inode == other.inode && same_birth
}

/// The file that an effect was made on, as far as it is known. A rename keeps its file; of a note that was edited in
/// the same batch, earlier versions stored no file before it.
pub(super) fn base_file(effect: &Effect) -> Option<FileId> {
    effect.base.or(effect.file.filter(|_| effect.kind == ChangeKind::Rename))
}

/// The file in which an effect left its note: for one that goes to the trash, the file that is there.
pub(super) fn file_left(effect: &Effect) -> Option<FileId> {
    match effect.kind {
        ChangeKind::Trash | ChangeKind::TrashFolder => effect.base,
        _ => effect.file,
    }
}

/// Where a note was before an effect.
#[derive(Clone, Copy)]
pub(super) enum NoteOrigin<'a> {
    /// Nowhere: the effect made it.
    New,
    /// In the trash, under this name.
    Trash(&'a str),
    /// Where an earlier effect left it.
    Earlier,
}

pub(super) fn note_origin(effect: &Effect) -> NoteOrigin<'_> {
    match (effect.kind, &effect.trashed) {
        (ChangeKind::Create, Some(name)) => NoteOrigin::Trash(name),
        (ChangeKind::Create, None) => NoteOrigin::New,
        _ => NoteOrigin::Earlier,
    }
}

/// The name in the trash under which an effect left the note.
pub(super) fn name_in_trash(effect: &Effect) -> Option<&str> {
    effect.trashed.as_deref().filter(|_| effect.kind == ChangeKind::Trash)
}

/// Whether the effect is the user's answer which file the note is that was at the path, and of which no file was known.
/// A move of a note is always part of a unit.
fn is_answer(effect: &Effect) -> bool {
    effect.kind == ChangeKind::Rename && effect.unit.is_none() && effect.base.is_none()
}

/// The file that an effect was made on, as far as the ledger knows that it is the note: an answer of the user says that
/// the note goes on in another one.
pub(super) fn recorded_base(effect: &Effect) -> Option<FileId> {
    base_file(effect).filter(|_| !is_answer(effect))
}

/// Whether an earlier version stored the effect: it knew no birth times and no files before.
fn is_unrecorded(effect: &Effect) -> bool {
    effect.base.is_none() && effect.file.is_none_or(|file| file.born.is_none())
}

/// The recorded state of a note, or of a folder, after an effect and all that followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoteTrace {
    /// Where it should be, unless somebody moved it without us.
    pub(super) path: NotePath,
    /// The file that it is, also in the trash; `None` when the chain of files is broken.
    pub(super) file: Option<FileId>,
    /// Whether the ledger had it trashed, itself or with its folder. The user may have taken it out of there since.
    pub(super) is_gone: bool,
    /// The name in the trash under which it went there last, or its folder; `None` when it is not gone, and when another
    /// note that looks the same went there under that name since.
    pub(super) trash_name: Option<String>,
    /// The position in the ledger of the effect that trashed it, if it was trashed itself.
    pub(super) trashed_at: Option<usize>,
    /// The folder in the trash that has its place, if there is one.
    pub(super) trashed_folder: Option<FolderInTrash>,
    /// Its last text.
    pub(super) text: Option<ContentHash>,
    /// Whether all of it was stored by an earlier version, which knew no files for sure.
    pub(super) is_unrecorded: bool,
}

/// A folder that went to the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FolderInTrash {
    /// Where it was. Renames of the folders around it are followed.
    pub(super) path: NotePath,
    /// Its name in the trash.
    name: Option<String>,
    file: Option<FileId>,
}

impl FolderInTrash {
    fn new(effect: &Effect) -> Self {
        Self { path: effect.path.clone(), name: effect.trashed.clone(), file: effect.base }
    }
}

/// How a later effect relates to the note that is followed.
enum EffectRelation {
    Same,
    Other,
    /// It was on the same path, and nobody recorded on which file.
    Unknown,
}

impl NoteTrace {
    /// The trace of the file that an effect left at `path`.
    pub(super) fn start(place: usize, effect: &Effect, path: &NotePath) -> Self {
        let is_gone = matches!(effect.kind, ChangeKind::Trash | ChangeKind::TrashFolder);
        Self {
            path: path.clone(),
            file: file_left(effect),
            is_gone,
            trash_name: effect.trashed.clone().filter(|_| is_gone),
            trashed_at: (effect.kind == ChangeKind::Trash).then_some(place),
            trashed_folder: (effect.kind == ChangeKind::TrashFolder)
                .then(|| FolderInTrash::new(effect)),
            text: effect.after.clone().or(effect.before.clone()),
            is_unrecorded: is_unrecorded(effect),
        }
    }

    /// Goes on over the next effect of the ledger.
    pub(super) fn apply_effect(
        &mut self,
        place: usize,
        effect: &Effect,
        successions: &Successions,
    ) {
        match (effect.kind, &effect.target) {
            (ChangeKind::RenameFolder, Some(target)) => self.move_with_folder(effect, target),
            (ChangeKind::TrashFolder, _) if self.path.is_in(&effect.path) => {
                if !self.is_gone {
                    (self.is_gone, self.trash_name) = (true, effect.trashed.clone());
                }
                self.trashed_folder.get_or_insert_with(|| FolderInTrash::new(effect));
            }
            (ChangeKind::RestoreFolder, _) if self.path.is_in(&effect.path) => {
                self.restore_with_folder(effect);
            }
            (ChangeKind::Create, _) => self.restore_from_trash(effect),
            (ChangeKind::Rename | ChangeKind::Replace | ChangeKind::Trash, target) => {
                let path = target.as_ref().unwrap_or(&effect.path);
                match self.relation(effect, successions) {
                    EffectRelation::Other => self.give_up_trash_name(effect, successions),
                    EffectRelation::Same => {
                        self.continue_at(place, effect, path, file_left(effect))
                    }
                    EffectRelation::Unknown => self.continue_at(place, effect, path, None),
                }
            }
            _ => {}
        }
    }

    /// A folder in the trash is not the one that has its path meanwhile, unless the user took it out of there.
    fn move_with_folder(&mut self, effect: &Effect, target: &NotePath) {
        if let Some(folder) = &mut self.trashed_folder {
            let is_it = folder.path == effect.path
                && folder.file.is_some_and(|file| effect.base == Some(file));
            if effect.path.is_in(&folder.path) && !is_it {
                return;
            }
            if let Some(moved) = folder.path.after_move(&effect.path, target) {
                folder.path = moved;
            }
        }
        if let Some(moved) = self.path.after_move(&effect.path, target) {
            self.path = moved;
        }
    }

    fn continue_at(
        &mut self,
        place: usize,
        effect: &Effect,
        path: &NotePath,
        file: Option<FileId>,
    ) {
        self.path = path.clone();
        self.is_gone = effect.kind == ChangeKind::Trash;
        self.trashed_at = self.is_gone.then_some(place);
        self.trash_name = effect.trashed.clone().filter(|_| self.is_gone);
        self.trashed_folder = None;
        self.file = file;
        self.is_unrecorded &= is_unrecorded(effect);
        self.text = effect.after.clone().or(effect.before.clone()).or(self.text.take());
    }

    /// A name in the trash is given again once it is free. If another note with the same text went there from the same
    /// path under the name of this one, what is restored from there is the other one. By a path or a text of its own it
    /// would be told apart.
    fn give_up_trash_name(&mut self, effect: &Effect, successions: &Successions) {
        let has_name =
            name_in_trash(effect).is_some_and(|name| self.trash_name.as_deref() == Some(name));
        // A text that was purged may have been the same.
        let looks_same =
            effect.path == self.path && (effect.before.is_none() || effect.before == self.text);
        // Without birth times it may be this note, which somebody took out of the trash before.
        let may_be_it = match (self.file, base_file(effect)) {
            (Some(file), Some(base)) => {
                (file.born.is_none() || base.born.is_none()) && successions.is_successor(file, base)
            }
            _ => true,
        };
        if has_name && looks_same && !may_be_it {
            self.trash_name = None;
        }
    }

    /// A note that was trashed and is restored from the trash with the same text to the same place
    /// is the same note: undo restores it so. A new note with that text there is another one.
    fn restore_from_trash(&mut self, effect: &Effect) {
        let is_it = self.trashed_at.is_some()
            && effect.trashed.is_some()
            && effect.trashed == self.trash_name
            && effect.path == self.path
            && effect.after.is_some()
            && effect.after == self.text;
        if is_it {
            (self.is_gone, self.trashed_at, self.file) = (false, None, effect.file);
            (self.trash_name, self.trashed_folder) = (None, None);
        }
    }

    /// A note comes back with the folder with which it went, and not if it went before that, by itself or with
    /// a folder in it.
    fn restore_with_folder(&mut self, effect: &Effect) {
        self.trashed_folder.take_if(|folder| folder.name == effect.trashed);
        if self.trashed_at.is_none() && self.trash_name == effect.trashed {
            (self.is_gone, self.trash_name) = (false, None);
        }
    }

    fn relation(&self, effect: &Effect, successions: &Successions) -> EffectRelation {
        let is_here = effect.path == self.path && !self.is_gone;
        match (self.file, base_file(effect)) {
            (Some(file), Some(base)) if file.born.is_some() && base.born.is_some() => {
                if successions.is_present_successor(file, base) {
                    EffectRelation::Same
                } else {
                    EffectRelation::Other
                }
            }
            (Some(file), Some(base)) if is_here && is_same_file(file, base) => EffectRelation::Same,
            _ if !is_here => EffectRelation::Other,
            _ if is_answer(effect) => EffectRelation::Same,
            // An earlier version left no trace of files.
            _ if effect.kind == ChangeKind::Rename && self.is_unrecorded => EffectRelation::Same,
            _ if effect.before.is_some() && effect.before == self.text => EffectRelation::Same,
            _ => EffectRelation::Unknown,
        }
    }
}
