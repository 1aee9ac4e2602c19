//! A vault in memory in which every line has an identity, and the ledger of what was done there.

use std::collections::BTreeMap;

use protocol::{
    Act, CallId, Change, ChangeKind, ChangeSet, ChangeSetId, ContentHash, Effect, EffectId, FileId,
    Moved, NotePath, Succession, TurnId,
};
use vault::undo::{Done, Notes, Past, Standing, Standings, Taken, Wanted};

/// A line's identity; its text says nothing that another line says.
pub(crate) type Line = u32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// Which note it is, whatever it is called.
    pub(crate) is: u32,
    pub(crate) file: FileId,
    /// How often its file was replaced and nobody saw it.
    pub(crate) unseen: u32,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) notes: BTreeMap<NotePath, Note>,
    pub(crate) ledger: Vec<Effect>,
    /// For each effect the lines before and after.
    pub(crate) lines: BTreeMap<EffectId, (Vec<Line>, Vec<Line>)>,
    /// For each effect the note it was on.
    pub(crate) is: Vec<u32>,
    /// For each effect how often the file of its note had been replaced unseen by then.
    pub(crate) unseen: Vec<u32>,
    /// What the watch saw.
    pub(crate) successions: Vec<Succession>,
    undone: Vec<Done>,
    graves: Vec<(NotePath, Note)>,
    numbers: u32,
    /// Whether no watch ran while others moved notes.
    pub(crate) is_unwatched: bool,
}

pub(crate) fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

pub(crate) fn bytes(lines: &[Line]) -> Vec<u8> {
    lines.iter().flat_map(|line| format!("line {line}\n").into_bytes()).collect()
}

pub(crate) fn lines(bytes: &[u8]) -> Vec<Line> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.strip_prefix("line ").unwrap().parse().unwrap()).collect()
}

/// The name in the trash of what goes there or comes from there.
fn trashed(change: &Change) -> Option<String> {
    match &change.act {
        Act::Trash { .. } => Some(change.path.name().to_owned()),
        Act::Create { like, .. } => like.clone(),
        _ => None,
    }
}

impl World {
    pub(crate) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn fresh_lines(&mut self, count: usize) -> Vec<Line> {
        (0..count).map(|_| self.number()).collect()
    }

    pub(crate) fn add_note(&mut self, at: &NotePath, lines: Vec<Line>) {
        let (is, file) = (self.number(), self.new_file());
        let note = Note { is, file, unseen: 0, lines };
        assert!(self.notes.insert(at.clone(), note).is_none());
    }

    /// Whether the ledger trashed the note, and nobody replaced its file unseen before that.
    pub(crate) fn is_in_grave(&self, is: u32, unseen: u32) -> bool {
        self.graves.iter().any(|(_, note)| note.is == is && note.unseen == unseen)
    }

    /// A file that nothing was before.
    pub(crate) fn new_file(&mut self) -> FileId {
        let number = self.number();
        FileId { inode: u64::from(number), born: Some(i64::from(number)) }
    }

    /// The text of every note, by which note it is.
    pub(crate) fn by_identity(&self) -> BTreeMap<u32, Vec<Line>> {
        self.notes.values().map(|note| (note.is, note.lines.clone())).collect()
    }

    /// The text and the name of every note.
    pub(crate) fn texts(&self) -> BTreeMap<NotePath, Vec<Line>> {
        self.notes.iter().map(|(path, note)| (path.clone(), note.lines.clone())).collect()
    }

    /// Carries out a set as the vault does, each change with its effect; a set with a rename is a
    /// unit.
    pub(crate) fn apply(&mut self, changes: &ChangeSet, turn: &str) -> ChangeSetId {
        let set = ChangeSetId::from(format!("set {}", self.number()));
        let unit = changes.is_unit().then(|| CallId::from("unit"));
        for change in changes.changes() {
            let effect = self.carry_out(change);
            let id = effect.id.clone();
            let side = |hash: Option<&Vec<u8>>| hash.map(|bytes| lines(bytes)).unwrap_or_default();
            let before = change.before().map(<[u8]>::to_vec);
            let after = change.after().map(<[u8]>::to_vec);
            self.lines.insert(id, (side(before.as_ref()), side(after.as_ref())));
            self.ledger.push(Effect {
                change_set: set.clone(),
                turn: TurnId::from(turn),
                unit: unit.clone(),
                ..effect
            });
        }
        set
    }

    /// Notes which note an effect was on.
    fn record(&mut self, is: u32, unseen: u32) {
        self.is.push(is);
        self.unseen.push(unseen);
    }

    fn carry_out(&mut self, change: &Change) -> Effect {
        let file = self.new_file();
        let mut effect = Effect {
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
            at: None,
            forgotten: None,
        };
        match &change.act {
            Act::Create { after, like } => {
                // What comes back out of the trash is the same note; one that only says the same is not.
                let lines = lines(after);
                let is_it = |(path, note): &(NotePath, Note)| {
                    like.is_some() && *path == change.path && note.lines == lines
                };
                let (is, unseen) = match self.graves.iter().rposition(is_it) {
                    Some(at) => {
                        let (_, note) = self.graves.remove(at);
                        (note.is, note.unseen)
                    }
                    None => (self.number(), 0),
                };
                self.record(is, unseen);
                let note = Note { is, file, unseen, lines };
                assert!(self.notes.insert(change.path.clone(), note).is_none(), "{change:?}");
            }
            Act::Replace { before, after } => {
                let note = self.notes.get_mut(&change.path).unwrap();
                assert_eq!(note.lines, lines(before), "{change:?}");
                note.lines = lines(after);
                note.file = file;
                self.is.push(note.is);
                self.unseen.push(note.unseen);
            }
            Act::Trash { before } => {
                let note = self.notes.remove(&change.path).unwrap();
                assert_eq!(note.lines, lines(before));
                effect.file = None;
                self.record(note.is, note.unseen);
                self.graves.push((change.path.clone(), note));
            }
            Act::Rename { to, .. } => {
                let note = self.notes.remove(&change.path).unwrap_or_else(|| panic!("{change:?}"));
                effect.file = Some(note.file);
                self.record(note.is, note.unseen);
                assert!(self.notes.insert(to.clone(), note).is_none(), "{change:?}");
            }
            other => panic!("no history has {other:?}"),
        }
        effect
    }

    pub(crate) fn past(&self, wanted: &Wanted) -> Past {
        let mut past = Past::new(self.ledger.clone());
        self.successions.iter().for_each(|succession| past.succeed(*succession));
        let needs = past.needs(wanted);
        for (before, after) in self.lines.values() {
            for content in [bytes(before), bytes(after)] {
                let hash = ContentHash::of(&content);
                if needs.contains(&hash) {
                    past.know(hash, content);
                }
            }
        }
        past
    }

    /// Somebody renamed a note without us, and we found out.
    pub(crate) fn observe_move(&mut self, moved: &Moved) {
        let note = self.notes[&moved.to].clone();
        let mut there = Self { ledger: Vec::new(), ..self.clone() };
        there.notes = BTreeMap::from([(moved.from.clone(), note)]);
        let rename = Change::rename(moved.from.clone(), moved.to.clone());
        there.apply(&ChangeSet::one(rename), "by hand");
        let (base, file) = (moved.base, moved.file);
        let by_hand = |effect| Effect { unit: None, base, file, ..effect };
        self.ledger.extend(there.ledger.into_iter().map(by_hand));
        (self.lines, self.numbers) = (there.lines, there.numbers);
        (self.is, self.unseen) = (there.is, there.unseen);
    }

    /// Notes what a set took back.
    pub(crate) fn remember(&mut self, set: &ChangeSetId, taken: &Taken) {
        for undoing in &taken.undoings {
            let is_rename = self.effect(&undoing.effect).kind == ChangeKind::Rename;
            let by = self.ledger.iter().find(|effect| {
                effect.change_set == *set
                    && effect.path == undoing.path
                    && is_rename == (effect.kind == ChangeKind::Rename)
            });
            let done = by.map(|by| Done {
                by: by.id.clone(),
                effect: undoing.effect.clone(),
                hunks: undoing.hunks.clone(),
            });
            self.undone.extend(done);
        }
    }

    pub(crate) fn standings(&self) -> Standings {
        Standings::of(self.undone.iter().cloned())
    }

    pub(crate) fn place(&self, id: &EffectId) -> usize {
        self.ledger.iter().position(|effect| effect.id == *id).unwrap()
    }

    /// What the ledger has of the note that an effect was on.
    pub(crate) fn versions(&self, at: usize) -> Vec<Vec<Line>> {
        let same = self.ledger.iter().zip(&self.is).filter(|(_, is)| **is == self.is[at]);
        let both = same.flat_map(|(effect, _)| {
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

impl Notes for World {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.notes.get(path).map(|note| bytes(&note.lines))
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.notes.get(path).map(|note| note.file)
    }

    fn files(&self) -> Vec<Standing> {
        let standing = |(path, note): (&NotePath, &Note)| Standing {
            path: path.clone(),
            size: bytes(&note.lines).len() as u64,
            file: note.file,
            is_folder: false,
        };
        self.notes.iter().map(standing).collect()
    }

    fn is_followed(&self, path: &NotePath, file: FileId) -> bool {
        !self.is_unwatched && self.file(path) == Some(file)
    }
}
