//! A vault in memory in which every line has an identity, and the ledger of its changes.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    CallId, Change, ChangeAction, ChangeKind, ChangeSet, ChangeSetId, ContentHash, Effect,
    EffectId, FileId, FileReplacement, FileState, FolderContents, MovedNote, NotePath, RenamedKind,
    TurnId,
};
use vault::undo::{LedgerView, Revert, Reverts, UndoPlan, UndoRequest, VaultFile, VaultReader};

/// A line's identity; its text says nothing that another line says.
pub(crate) type LineId = u32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimulatedNote {
    /// Which note it is, whatever it is called.
    pub(crate) identity: u32,
    pub(crate) file: FileId,
    /// How often its file was replaced and nobody saw it.
    pub(crate) unseen: u32,
    /// A second name of its file, by a hard link.
    pub(crate) link: Option<NotePath>,
    pub(crate) lines: Vec<LineId>,
}

/// A folder in the trash.
#[derive(Debug, Clone)]
pub(crate) struct TrashedFolder {
    pub(crate) path: NotePath,
    pub(crate) file: FileId,
    pub(crate) notes: BTreeMap<NotePath, SimulatedNote>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SimulatedVault {
    pub(crate) notes: BTreeMap<NotePath, SimulatedNote>,
    /// The folders that can be renamed as a whole, and those that came back from the trash.
    pub(crate) folders: BTreeMap<NotePath, FileId>,
    /// By their names in the trash.
    pub(crate) trashed_folders: BTreeMap<String, TrashedFolder>,
    /// The recorded contents of folders.
    folder_texts: Vec<Vec<u8>>,
    /// Whether an earlier version keeps the ledger: it did not know the file of a note that a batch edits and then
    /// moves.
    pub(crate) is_earlier_version: bool,
    pub(crate) ledger: Vec<Effect>,
    /// For each effect the lines before and after.
    pub(crate) lines: BTreeMap<EffectId, (Vec<LineId>, Vec<LineId>)>,
    /// The number of the note that each effect was on.
    pub(crate) note_of_effect: Vec<u32>,
    /// For each effect how often the file of its note had been replaced unseen by then.
    pub(crate) unseen: Vec<u32>,
    /// The successions that the watch saw.
    pub(crate) successions: Vec<FileReplacement>,
    undone: Vec<Revert>,
    pub(crate) trashed: Vec<(NotePath, SimulatedNote)>,
    numbers: u32,
    /// Whether no watch ran while others moved notes.
    pub(crate) is_unwatched: bool,
    /// Whether the watch is off at present.
    pub(crate) is_watch_off: bool,
    /// Where notes are that came there while the watch was off, or by a hard link.
    untracked: BTreeSet<NotePath>,
}

pub(crate) fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

pub(crate) fn bytes(lines: &[LineId]) -> Vec<u8> {
    lines.iter().flat_map(|line| format!("line {line}\n").into_bytes()).collect()
}

pub(crate) fn lines(bytes: &[u8]) -> Vec<LineId> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.strip_prefix("line ").unwrap().parse().unwrap()).collect()
}

/// The name in the trash that the change moves a note to or from.
fn trashed(change: &Change) -> Option<String> {
    match &change.act {
        ChangeAction::Trash { .. } => Some(change.path.name().to_owned()),
        ChangeAction::Create { like, .. } => like.as_ref().map(|like| like.name.clone()),
        _ => None,
    }
}

impl SimulatedVault {
    pub(crate) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn fresh_lines(&mut self, count: usize) -> Vec<LineId> {
        (0..count).map(|_| self.number()).collect()
    }

    pub(crate) fn add_note(&mut self, at: &NotePath, lines: Vec<LineId>) {
        let (is, file) = (self.number(), self.new_file());
        let note = SimulatedNote { identity: is, file, unseen: 0, link: None, lines };
        assert!(self.notes.insert(at.clone(), note).is_none());
        self.untracked.remove(at);
    }

    /// Others moved a note to this path.
    pub(crate) fn put_moved(&mut self, to: NotePath, note: SimulatedNote) {
        match self.is_watch_off {
            true => self.untracked.insert(to.clone()),
            false => self.untracked.remove(&to),
        };
        assert!(self.notes.insert(to, note).is_none());
    }

    /// Only the second name of a note is left to its file, whose first one another file may have.
    pub(crate) fn put_at_link(&mut self, mut note: SimulatedNote) {
        if let Some(link) = note.link.take() {
            self.untracked.insert(link.clone());
            assert!(self.notes.insert(link, note).is_none());
        }
    }

    /// Whether nobody saw the note at `path` come there, and another one has its recorded path.
    pub(crate) fn is_displaced(&self, path: &NotePath) -> bool {
        let identity = self.notes[path].identity;
        let newest = self.note_of_effect.iter().rposition(|is| *is == identity);
        newest.and_then(|at| self.ledger.get(at)).is_some_and(|effect| {
            let home = effect.target.as_ref().unwrap_or(&effect.path);
            self.untracked.contains(path) && home != path && self.file(home).is_some()
        })
    }

    /// Whether the ledger trashed the note, itself or with the folder where the ledger has it, and nobody replaced its
    /// file unseen before that.
    pub(crate) fn is_trashed(&self, is: u32, unseen: u32) -> bool {
        let newest = self.note_of_effect.iter().rposition(|one| *one == is);
        let newest = newest.and_then(|at| self.ledger.get(at));
        let home = newest.map(|effect| effect.target.as_ref().unwrap_or(&effect.path));
        let with_folder = self.trashed_folders.values().flat_map(|folder| &folder.notes);
        let with_folder = with_folder.filter(|(path, _)| Some(*path) == home);
        let itself = self.trashed.iter().map(|(_, note)| note);
        let mut trashed = itself.chain(with_folder.map(|(_, note)| note));
        trashed.any(|note| note.identity == is && note.unseen == unseen)
    }

    pub(crate) fn folder_contents(&self, folder: &NotePath) -> FolderContents {
        let inside = self.notes.iter().filter(|(path, _)| path.is_in(folder));
        let entry = |(path, note): (&NotePath, &SimulatedNote)| {
            let size = bytes(&note.lines).len() as u64;
            (path.name().as_bytes().to_vec(), FileState { size, written: (0, note.file.inode) })
        };
        let entries: Vec<_> = inside.map(entry).collect();
        FolderContents::from_entries(
            entries.iter().map(|(name, state)| (name.as_slice(), Some(*state))),
        )
    }

    /// A file that nothing was before.
    pub(crate) fn new_file(&mut self) -> FileId {
        let number = self.number();
        FileId { inode: u64::from(number), born: Some(i64::from(number)) }
    }

    /// The name and the text of every note, by which note it is.
    pub(crate) fn by_identity(&self) -> BTreeMap<u32, (NotePath, Vec<LineId>)> {
        let placed = |(path, note): (&NotePath, &SimulatedNote)| {
            (note.identity, (path.clone(), note.lines.clone()))
        };
        self.notes.iter().map(placed).collect()
    }

    /// The text and the name of every note.
    pub(crate) fn texts(&self) -> BTreeMap<NotePath, Vec<LineId>> {
        self.notes.iter().map(|(path, note)| (path.clone(), note.lines.clone())).collect()
    }

    /// Carries out a set as the vault does, each change with its effect; a set with a rename is a
    /// unit.
    pub(crate) fn apply(&mut self, changes: &ChangeSet, turn: &str) -> ChangeSetId {
        let set = ChangeSetId::from(format!("set {}", self.number()));
        self.apply_as(&set, changes, turn);
        set
    }

    /// The same as a part of a set.
    pub(crate) fn apply_as(&mut self, set: &ChangeSetId, changes: &ChangeSet, turn: &str) {
        let number = self.number();
        let unit = changes.is_unit().then(|| CallId::from(format!("unit {number}")));
        let mut edited = BTreeSet::new();
        for change in changes.changes() {
            self.untracked.remove(change.target().unwrap_or(&change.path));
            let mut effect = self.carry_out(change);
            if self.is_earlier_version && effect.kind == ChangeKind::Rename {
                effect.base = effect.base.filter(|_| !edited.contains(&change.path));
            }
            edited.insert(change.path.clone());
            let id = effect.id.clone();
            let is_folder =
                matches!(effect.kind, ChangeKind::TrashFolder | ChangeKind::RestoreFolder);
            let side =
                |bytes: Option<&[u8]>| bytes.filter(|_| !is_folder).map(lines).unwrap_or_default();
            self.lines.insert(id, (side(change.before()), side(change.after())));
            self.ledger.push(Effect {
                change_set: set.clone(),
                turn: TurnId::from(turn),
                unit: unit.clone(),
                ..effect
            });
        }
    }

    /// Notes which note an effect was on.
    fn record(&mut self, is: u32, unseen: u32) {
        self.note_of_effect.push(is);
        self.unseen.push(unseen);
    }

    /// A note that is restored from the trash is the same note; one that only has the same text is not.
    fn restored_identity(&mut self, at: &NotePath, lines: &[LineId]) -> (u32, u32) {
        let is_it = |(path, note): &(NotePath, SimulatedNote)| path == at && note.lines == lines;
        match self.trashed.iter().rposition(is_it) {
            Some(place) => {
                let (_, note) = self.trashed.remove(place);
                (note.identity, note.unseen)
            }
            None => (self.number(), 0),
        }
    }

    /// Renames a folder with the notes in it; returns which folder it is.
    fn rename_folder(&mut self, from: &NotePath, to: &NotePath) -> FileId {
        let folder = self.folders.remove(from).unwrap();
        self.folders.insert(to.clone(), folder);
        let is = self.number();
        self.record(is, 0);
        let moved = |path: NotePath| path.after_move(from, to).unwrap_or(path);
        let notes = std::mem::take(&mut self.notes).into_iter();
        self.notes = notes.map(|(path, note)| (moved(path), note)).collect();
        folder
    }

    /// A folder goes to the trash with the notes in it.
    fn trash_folder(
        &mut self,
        path: &NotePath,
        holds: Option<&FolderContents>,
        effect: &mut Effect,
    ) {
        let contents = self.folder_contents(path);
        assert!(holds.is_none_or(|holds| *holds == contents), "{path} holds other notes");
        self.folder_texts.push(contents.as_bytes().to_vec());
        let (number, file) = (self.number(), self.file(path).unwrap());
        let name = format!("{} {number}", path.name());
        let is_in = |at: &NotePath, _: &mut SimulatedNote| at.is_in(path);
        let notes = self.notes.extract_if(.., is_in).collect();
        self.folders.remove(path);
        self.record(number, 0);
        (effect.base, effect.file, effect.trashed) = (Some(file), None, Some(name.clone()));
        self.trashed_folders.insert(name, TrashedFolder { path: path.clone(), file, notes });
    }

    fn restore_folder(&mut self, path: &NotePath, trashed: &str, effect: &mut Effect) {
        assert_eq!(self.file(path), None, "{path}");
        let TrashedFolder { path: from, file, notes } =
            self.trashed_folders.remove(trashed).unwrap();
        for (at, note) in notes {
            assert!(self.notes.insert(at.after_move(&from, path).unwrap(), note).is_none());
        }
        self.folders.insert(path.clone(), file);
        let number = self.number();
        self.record(number, 0);
        (effect.base, effect.file, effect.trashed) = (None, Some(file), Some(trashed.to_owned()));
    }

    /// The effect of a change that leaves `file`, before the vault has it.
    fn recorded_effect(&mut self, change: &Change, file: FileId) -> Effect {
        Effect {
            id: EffectId::from(format!("effect {}", self.number())),
            change_set: ChangeSetId::from(""),
            conversation: None,
            turn: TurnId::from(""),
            call: CallId::from(""),
            unit: None,
            kind: change.kind(),
            path: change.path.clone(),
            target: change.target().cloned(),
            trashed: trashed(change),
            before: change.before().map(ContentHash::of),
            after: change.after_hash(),
            base: self.notes.get(&change.path).map(|note| note.file),
            file: Some(file),
            access: None,
            at: None,
            purged: None,
        }
    }

    fn carry_out(&mut self, change: &Change) -> Effect {
        let file = self.new_file();
        let mut effect = self.recorded_effect(change, file);
        match &change.act {
            ChangeAction::Create { after, like } => {
                let lines = lines(after);
                let (is, unseen) = match like {
                    Some(_) => self.restored_identity(&change.path, &lines),
                    None => (self.number(), 0),
                };
                self.record(is, unseen);
                let note = SimulatedNote { identity: is, file, unseen, link: None, lines };
                assert!(self.notes.insert(change.path.clone(), note).is_none(), "{change:?}");
            }
            ChangeAction::Replace { before, after } => {
                let note = self.notes.get_mut(&change.path).unwrap();
                assert_eq!(note.lines, lines(before), "{change:?}");
                note.lines = lines(after);
                note.file = file;
                self.note_of_effect.push(note.identity);
                self.unseen.push(note.unseen);
            }
            ChangeAction::Trash { before } => {
                let note = self.notes.remove(&change.path).unwrap();
                assert_eq!(note.lines, lines(before));
                effect.file = None;
                self.record(note.identity, note.unseen);
                self.trashed.push((change.path.clone(), note));
            }
            ChangeAction::Rename { to, what: RenamedKind::Folder } => {
                let folder = Some(self.rename_folder(&change.path, to));
                (effect.base, effect.file) = (folder, folder);
            }
            ChangeAction::Rename { to, .. } => {
                let note = self.notes.remove(&change.path).unwrap_or_else(|| panic!("{change:?}"));
                effect.file = Some(note.file);
                self.record(note.identity, note.unseen);
                assert!(self.notes.insert(to.clone(), note).is_none(), "{change:?}");
            }
            ChangeAction::TrashFolder { holds } => {
                self.trash_folder(&change.path, holds.as_ref(), &mut effect);
            }
            ChangeAction::RestoreFolder { trashed, .. } => {
                self.restore_folder(&change.path, trashed, &mut effect);
            }
            ChangeAction::MakeFolder => panic!("no history makes a folder"),
        }
        effect
    }

    pub(crate) fn ledger_view(&self, request: &UndoRequest) -> LedgerView {
        let mut past = LedgerView::new(self.ledger.clone());
        self.successions.iter().for_each(|succession| past.add_succession(*succession));
        let needs = past.missing_contents(request);
        let notes = self.lines.values().flat_map(|(before, after)| [bytes(before), bytes(after)]);
        for content in notes.chain(self.folder_texts.iter().cloned()) {
            let hash = ContentHash::of(&content);
            if needs.contains(&hash) {
                past.add_content(hash, content);
            }
        }
        past
    }

    /// Somebody renamed a note without us, and we found out.
    pub(crate) fn observe_move(&mut self, moved: &MovedNote) {
        let note = self.notes[&moved.to].clone();
        let mut there = Self { ledger: Vec::new(), ..self.clone() };
        there.notes = BTreeMap::from([(moved.from.clone(), note)]);
        let rename = Change::rename(moved.from.clone(), moved.to.clone());
        there.apply(&ChangeSet::one(rename), "by hand");
        let (base, file) = (moved.base, moved.file);
        let by_hand = |effect| Effect { unit: None, base, file, ..effect };
        self.ledger.extend(there.ledger.into_iter().map(by_hand));
        (self.lines, self.numbers) = (there.lines, there.numbers);
        (self.note_of_effect, self.unseen) = (there.note_of_effect, there.unseen);
    }

    /// Records the effects that a set undid.
    pub(crate) fn remember(&mut self, set: &ChangeSetId, plan: &UndoPlan) {
        let is_rename =
            |effect: &Effect| matches!(effect.kind, ChangeKind::Rename | ChangeKind::RenameFolder);
        for undoing in &plan.undone {
            let undone = is_rename(self.effect(&undoing.effect));
            let by = self.ledger.iter().find(|effect| {
                effect.change_set == *set
                    && effect.path == undoing.path
                    && is_rename(effect) == undone
            });
            let done = by.map(|by| Revert {
                by: by.id.clone(),
                effect: undoing.effect.clone(),
                hunks: undoing.hunks.clone(),
            });
            self.undone.extend(done);
        }
    }

    pub(crate) fn reverts(&self) -> Reverts {
        Reverts::from_reverts(self.undone.iter().cloned())
    }

    pub(crate) fn position(&self, id: &EffectId) -> usize {
        self.ledger.iter().position(|effect| effect.id == *id).unwrap()
    }

    /// The recorded versions of the note of an effect, as long as nobody replaced its file unseen.
    pub(crate) fn versions(&self, at: usize) -> Vec<Vec<LineId>> {
        let note = |at: usize| (self.note_of_effect[at], self.unseen[at]);
        let same = self.ledger.iter().enumerate().filter(|(other, _)| note(*other) == note(at));
        let both = same.flat_map(|(_, effect)| {
            let (before, after) = self.lines[&effect.id].clone();
            [effect.before.is_some().then_some(before), effect.after.is_some().then_some(after)]
        });
        both.flatten().collect()
    }

    pub(crate) fn effect(&self, id: &EffectId) -> &Effect {
        self.ledger.iter().find(|effect| effect.id == *id).unwrap()
    }

    /// A name that nothing has and nothing had.
    pub(crate) fn free_path(&mut self, folder: &str) -> NotePath {
        path(&format!("{folder}/note {}.md", self.number()))
    }
}

impl VaultReader for SimulatedVault {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        // A file with two names is not read.
        self.notes.get(path).filter(|note| note.link.is_none()).map(|note| bytes(&note.lines))
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        let linked = || self.notes.values().find(|note| note.link.as_ref() == Some(path));
        let note = self.notes.get(path).or_else(linked).map(|note| note.file);
        // A folder that is made for a note is another one each time.
        let made = || {
            let newest = self.notes.iter().filter(|(at, _)| at.is_in(path)).map(|(_, note)| note);
            newest.map(|note| note.file).max_by_key(|file| file.born)
        };
        let of_folder = made().map(|file| FileId { inode: file.inode + (1 << 40), ..file });
        note.or_else(|| self.folders.get(path).copied()).or(of_folder)
    }

    fn files(&self) -> Vec<VaultFile> {
        let names = self.notes.iter().flat_map(|(path, note)| {
            std::iter::once(path).chain(&note.link).map(move |name| (name, note))
        });
        let standing = |(path, note): (&NotePath, &SimulatedNote)| VaultFile {
            path: path.clone(),
            size: bytes(&note.lines).len() as u64,
            file: note.file,
            is_folder: false,
        };
        let folder = |(path, file): (&NotePath, &FileId)| VaultFile {
            path: path.clone(),
            size: 0,
            file: *file,
            is_folder: true,
        };
        names.map(standing).chain(self.folders.iter().map(folder)).collect()
    }

    fn has_arrived(&self, path: &NotePath, file: FileId) -> bool {
        !self.is_unwatched
            && !self.untracked.contains(path)
            && self.notes.get(path).is_some_and(|note| note.file == file)
    }
}
