//! A vault in memory in which every line has an identity, and the ledger of what was done there.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    Act, CallId, Change, ChangeKind, ChangeSet, ChangeSetId, ContentHash, Effect, EffectId,
    NotePath, TurnId,
};
use vault::undo::{Done, Notes, Past, Standing, Standings, Taken, Wanted};

/// A line's identity; its text says nothing that another line says.
pub(crate) type Line = u32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// Which note it is, whatever it is called.
    pub(crate) is: u32,
    pub(crate) inode: u64,
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
    /// Notes that somebody renamed without us.
    pub(crate) by_hand: BTreeSet<u32>,
    undone: Vec<Done>,
    graves: BTreeMap<NotePath, u32>,
    numbers: u32,
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

impl World {
    pub(crate) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn fresh_lines(&mut self, count: usize) -> Vec<Line> {
        (0..count).map(|_| self.number()).collect()
    }

    pub(crate) fn add_note(&mut self, at: &NotePath, lines: Vec<Line>) {
        let (is, inode) = (self.number(), u64::from(self.number()));
        let note = Note { is, inode, lines };
        assert!(self.notes.insert(at.clone(), note).is_none());
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

    fn carry_out(&mut self, change: &Change) -> Effect {
        let inode = u64::from(self.number());
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
            trashed: None,
            before: change.before().map(ContentHash::of),
            after: change.after_hash(),
            inode: Some(inode),
            at: None,
            forgotten: None,
        };
        match &change.act {
            Act::Create { after } => {
                // What comes back out of the trash is the same note.
                let is = self.graves.remove(&change.path).unwrap_or_else(|| self.number());
                self.is.push(is);
                let note = Note { is, inode, lines: lines(after) };
                assert!(self.notes.insert(change.path.clone(), note).is_none(), "{change:?}");
            }
            Act::Replace { before, after } => {
                let note = self.notes.get_mut(&change.path).unwrap();
                assert_eq!(note.lines, lines(before), "{change:?}");
                note.lines = lines(after);
                note.inode = inode;
                self.is.push(note.is);
            }
            Act::Trash { before } => {
                let note = self.notes.remove(&change.path).unwrap();
                assert_eq!(note.lines, lines(before));
                effect.inode = None;
                self.is.push(note.is);
                self.graves.insert(change.path.clone(), note.is);
            }
            Act::Rename { to, .. } => {
                let note = self.notes.remove(&change.path).unwrap_or_else(|| panic!("{change:?}"));
                effect.inode = Some(note.inode);
                self.is.push(note.is);
                assert!(self.notes.insert(to.clone(), note).is_none(), "{change:?}");
            }
            other => panic!("no history has {other:?}"),
        }
        effect
    }

    pub(crate) fn past(&self, wanted: &Wanted) -> Past {
        let mut past = Past::new(self.ledger.clone());
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
    pub(crate) fn observe_move(&mut self, from: &NotePath, to: &NotePath) {
        let note = self.notes[to].clone();
        let mut there = Self { ledger: Vec::new(), ..self.clone() };
        there.notes = BTreeMap::from([(from.clone(), note)]);
        there.apply(&ChangeSet::one(Change::rename(from.clone(), to.clone())), "by hand");
        self.ledger.extend(there.ledger.into_iter().map(|effect| Effect { unit: None, ..effect }));
        (self.lines, self.is, self.numbers) = (there.lines, there.is, there.numbers);
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

    fn is_there(&self, path: &NotePath) -> bool {
        self.notes.contains_key(path)
    }

    fn files(&self) -> Vec<Standing> {
        let standing = |(path, note): (&NotePath, &Note)| Standing {
            path: path.clone(),
            size: bytes(&note.lines).len() as u64,
            inode: note.inode,
        };
        self.notes.iter().map(standing).collect()
    }
}
