//! The expected result of an undo in a whole vault, by the identities of notes and lines.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{ChangeKind, Effect, EffectId, FileId, NotePath};
use vault::undo::{Hunks, UndoPlan, UndoRequest, VaultReader as _};

use crate::oracle::{merged, without};
use crate::random_histories::{are_certain, in_conflict, with_whole_units};
use crate::simulation::{LineId, SimulatedNote, SimulatedVault, path};

/// The result of the oracle.
pub(crate) struct ExpectedUndo {
    pub(crate) notes: BTreeMap<NotePath, SimulatedNote>,
    pub(crate) is_clean: bool,
}

impl ExpectedUndo {
    pub(crate) fn of(world: &SimulatedVault, request: &UndoRequest) -> Self {
        let mut expected = Self { notes: world.notes.clone(), is_clean: true };
        let chosen = with_whole_units(world, request);
        let places = (0..world.ledger.len()).filter(|at| chosen.contains(&world.ledger[*at].id));
        for at in places.rev() {
            let is_clean = expected.undo(world, request, at);
            expected.is_clean &= is_clean;
        }
        expected
    }

    pub(crate) fn texts(&self) -> BTreeMap<NotePath, Vec<LineId>> {
        self.notes.iter().map(|(path, note)| (path.clone(), note.lines.clone())).collect()
    }

    /// Undoes one effect if it can be undone whole; returns whether it was.
    fn undo(&mut self, world: &SimulatedVault, request: &UndoRequest, at: usize) -> bool {
        let effect = &world.ledger[at];
        let (before, after) = &world.lines[&effect.id];
        let here = self.now_at(world, at);
        match effect.kind {
            ChangeKind::Replace => {
                let Some(here) = here else { return false };
                let versions = world.versions(at);
                let back = match request.effects.get(&effect.id) {
                    Some(Hunks::Some(hunks)) => without(before, after, hunks),
                    _ => before.clone(),
                };
                let note = self.notes.get_mut(&here).unwrap();
                let Some(lines) = merged(after, &note.lines, &back, &versions) else {
                    return false;
                };
                note.lines = lines;
                true
            }
            ChangeKind::Create => {
                let Some(here) = here else { return true };
                let is_as_made = self.notes[&here].lines == *after;
                if is_as_made {
                    self.notes.remove(&here);
                }
                is_as_made
            }
            ChangeKind::Trash => self.restore(world, at, before),
            ChangeKind::Rename => {
                let Some(here) = here else { return false };
                let target = effect.target.clone().unwrap();
                if here == effect.path {
                    return true;
                }
                if here != target || self.notes.contains_key(&effect.path) {
                    return false;
                }
                let note = self.notes.remove(&here).unwrap();
                self.notes.insert(effect.path.clone(), note);
                true
            }
            ChangeKind::TrashFolder => self.restore_folder(world, effect),
            ChangeKind::RestoreFolder => {
                self.notes.retain(|path, _| !path.is_in(&effect.path));
                true
            }
            other => panic!("no history has {other:?}"),
        }
    }

    /// A folder comes back with its notes where nothing is in its place on disk.
    fn restore_folder(&mut self, world: &SimulatedVault, effect: &Effect) -> bool {
        let mut trashed = world.trashed_folders.values();
        let trashed = trashed.find(|folder| Some(folder.file) == effect.base);
        let Some(trashed) = trashed else { return true };
        if world.file(&trashed.path).is_some() {
            return false;
        }
        self.notes.extend(trashed.notes.clone());
        true
    }

    fn restore(&mut self, world: &SimulatedVault, at: usize, lines: &[LineId]) -> bool {
        if self.now_at(world, at).is_some() {
            return true;
        }
        // Where it was when it was last seen.
        let all = world.ledger.iter().zip(&world.note_of_effect).rev();
        let last =
            all.filter(|(_, is)| **is == world.note_of_effect[at]).map(|(effect, _)| effect).next();
        let last = last.unwrap();
        let path = last.target.clone().unwrap_or_else(|| last.path.clone());
        let is_free = !self.notes.contains_key(&path);
        if is_free {
            let file = FileId { inode: 0, born: None };
            let note = SimulatedNote {
                identity: world.note_of_effect[at],
                file,
                unseen: 0,
                link: None,
                lines: lines.to_vec(),
            };
            self.notes.insert(path, note);
        }
        is_free
    }

    /// Where the note is that an effect left, by its identity.
    fn now_at(&self, world: &SimulatedVault, at: usize) -> Option<NotePath> {
        let is = world.note_of_effect[at];
        self.notes.iter().find(|(_, note)| note.identity == is).map(|(path, _)| path.clone())
    }
}

/// The lines of the notes that only certain effects left, if these are undone alone; `None` for a note that is gone
/// then. Notes of conflicts are left out.
pub(crate) fn expected_of_certain(
    world: &SimulatedVault,
    request: &UndoRequest,
    plan: &UndoPlan,
) -> BTreeMap<u32, Option<Vec<LineId>>> {
    let notes_of = |effects: &BTreeSet<EffectId>| -> BTreeSet<u32> {
        effects.iter().map(|id| world.note_of_effect[world.position(id)]).collect()
    };
    let alone = |(id, hunks): (&EffectId, &Hunks)| UndoRequest {
        effects: BTreeMap::from([(id.clone(), hunks.clone())]),
        ..UndoRequest::undo([])
    };
    let (certain, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        request.effects.clone().into_iter().partition(|(id, hunks)| {
            are_certain(world, &with_whole_units(world, &alone((id, hunks))))
        });
    let part = |effects| UndoRequest { effects, ..UndoRequest::undo([]) };
    let (certain, others) = (part(certain), part(others));
    let left_out =
        &notes_of(&with_whole_units(world, &others)) | &in_conflict(world, request, plan);
    let expected = ExpectedUndo::of(world, &certain);
    let lines = |is: &u32| {
        let mut notes = expected.notes.values();
        notes.find(|note| note.identity == *is).map(|note| note.lines.clone())
    };
    let clean = &notes_of(&with_whole_units(world, &certain)) - &left_out;
    clean.into_iter().map(|is| (is, lines(&is))).collect()
}

/// The notes that an undo may touch where it is not known of all effects which note they left.
#[derive(Debug, Default)]
pub(crate) struct MeantNotes {
    /// Those that may be changed in any way.
    pub(crate) changed: BTreeSet<u32>,
    /// Those that may be moved.
    pub(crate) moved: BTreeSet<u32>,
}

impl MeantNotes {
    /// The notes that are not as they were, or not where they were, although they are not meant.
    pub(crate) fn others_changed(
        &self,
        before: &BTreeMap<u32, (NotePath, Vec<LineId>)>,
        now: &BTreeMap<u32, (NotePath, Vec<LineId>)>,
    ) -> Vec<u32> {
        let is_left = |is: &u32, (path, lines): &(NotePath, Vec<LineId>)| {
            now.get(is).is_some_and(|(path_now, lines_now)| {
                lines_now == lines && (path_now == path || self.moved.contains(is))
            })
        };
        let others = before.iter().filter(|(is, _)| !self.changed.contains(*is));
        others.filter(|&(is, note)| !is_left(is, note)).map(|(is, _)| *is).collect()
    }
}

#[test]
fn a_note_that_is_not_meant_is_noticed_when_it_is_only_moved() {
    let (home, elsewhere) = (path("Notes/a.md"), path("Elsewhere/a.md"));
    let mut world = SimulatedVault::default();
    world.add_note(&home, vec![1]);
    world.add_note(&path("Notes/b.md"), vec![2]);
    let (before, is) = (world.by_identity(), world.notes[&home].identity);
    let others_changed = |meant: &MeantNotes, world: &SimulatedVault| {
        meant.others_changed(&before, &world.by_identity())
    };
    let nothing = MeantNotes::default();
    let may_move = MeantNotes { moved: BTreeSet::from([is]), ..MeantNotes::default() };
    let may_change = MeantNotes { changed: BTreeSet::from([is]), ..MeantNotes::default() };
    // The control: as long as everything is where it was, nothing is noticed.
    assert_eq!(others_changed(&nothing, &world), [0; 0]);
    let note = world.notes.remove(&home).unwrap();
    world.put_moved(elsewhere.clone(), note);
    assert_eq!(others_changed(&nothing, &world), [is]);
    assert_eq!(others_changed(&may_move, &world), [0; 0]);
    world.notes.get_mut(&elsewhere).unwrap().lines.push(3);
    assert_eq!(others_changed(&may_move, &world), [is]);
    assert_eq!(others_changed(&may_change, &world), [0; 0]);
}
