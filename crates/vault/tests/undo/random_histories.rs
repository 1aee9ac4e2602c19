//! Thousands of random histories of agent edits, user edits, renames and undo.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use protocol::{Change, ChangeKind, ChangeSet, Effect, EffectId, FileId, NotePath};
use vault::undo::{
    EffectConflict, EffectivePart, Hunks, UndoPlan, UndoRequest, VaultFile, VaultReader, plan_undo,
};

use crate::expected::{ExpectedUndo, MeantNotes, expected_of_certain};
use crate::folders::{
    agent_trashes_folder, are_folders_as_restored, notes_in_restored_folders, undo,
    user_restores_note,
};
use crate::naive_identity::{GuessScore, guesses};
use crate::naive_inverse::undone;
use crate::oracle::edits;
use crate::other_programs::{
    others_copy_and_delete, others_link, user_edits, user_moves_folder, user_renames,
};
use crate::simulation::{LineId, SimulatedNote, SimulatedVault, bytes};
use crate::tally::{HistoryTally, NAIVE_INVERSES};

const HISTORIES: u64 = 15_000;

#[test]
fn undone_changes_leave_no_trace_and_conflicts_match_the_oracle() {
    let tally = all_histories();
    let HistoryTally {
        clean, conflicts, redone, renamed_by_hand, by_hunk, asked, confused, ..
    } = tally;
    assert!(*asked > 1_000 && *confused > 5_000, "{tally:?}");
    assert!(tally.clean_among_conflicts > 1_000 && tally.clean_among_asked > 200, "{tally:?}");
    assert!(*clean > 10_000 && *conflicts > 1_000 && *redone > 5_000, "{tally:?}");
    assert!(*renamed_by_hand > 1_000 && *by_hunk > 1_000, "{tally:?}");
    assert!(tally.unwatched > 1_000 && tally.linked > 1_000, "{tally:?}");
    assert!(tally.moved_with_folder > 1_000 && tally.taken_out > 300, "{tally:?}");
    assert!(tally.trashed_folders > 1_000 && tally.restored_folders > 300, "{tally:?}");
}

#[test]
fn a_planner_that_takes_every_move_for_seen_changes_uncertain_notes() {
    let tally = all_histories();
    assert!(tally.credulous > 50, "{tally:?}");
}

#[test]
fn careless_inverses_are_caught_in_the_same_histories() {
    for caught in all_histories().careless {
        assert!(caught.wrong > 400 && caught.guessed > 1_000, "{caught:?}");
        // The judge is not simply against everything.
        assert!(caught.right > 1_000, "{caught:?}");
    }
}

#[test]
fn who_guesses_by_text_and_name_changes_notes_that_are_not_meant() {
    let GuessScore { right, wrong } = all_histories().guesses;
    assert!(wrong > 500 && right > 5_000, "right={right} wrong={wrong}");
}

/// The tally of all histories, computed once.
fn all_histories() -> &'static HistoryTally {
    static TOLD: OnceLock<HistoryTally> = OnceLock::new();
    TOLD.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        let share = |first: u64| {
            let mut tally = HistoryTally::default();
            (first..HISTORIES).step_by(threads as usize).for_each(|seed| history(seed, &mut tally));
            tally
        };
        let tally = std::thread::scope(|scope| {
            let running: Vec<_> =
                (0..threads).map(|first| scope.spawn(move || share(first))).collect();
            running
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .reduce(HistoryTally::and)
                .unwrap()
        });
        println!("histories={HISTORIES} {tally:?}");
        tally
    })
}

fn history(seed: u64, tally: &mut HistoryTally) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut world = SimulatedVault::default();
    world.is_earlier_version = random.bool();
    for _ in 0..random.usize(1..4) {
        let (at, height) = (world.free_path("Notes"), random.usize(0..9));
        let lines = world.fresh_lines(height);
        world.add_note(&at, lines);
    }
    for step in 0..random.usize(4..16) {
        match random.u8(0..30) {
            22 => world.is_watch_off = !world.is_watch_off,
            23 => tally.linked += others_link(&mut world, &mut random),
            24 | 25 => {
                let moved = user_moves_folder(&mut world, &mut random);
                tally.moved_with_folder += moved;
                tally.unwatched += if world.is_watch_off { moved } else { 0 };
            }
            26 | 27 => tally.trashed_folders += agent_trashes_folder(&mut world, &mut random, step),
            28 | 29 => tally.taken_out += user_restores_note(&mut world, &mut random),
            0..=6 => agent_edits(&mut world, &mut random, step),
            7..=8 => agent_moves(&mut world, &mut random, step),
            9 => agent_creates_or_trashes(&mut world, &mut random, step),
            10..=12 => {
                user_edits(&mut world, &mut random);
                tally.unwatched += usize::from(world.is_watch_off);
            }
            13 => tally.renamed_by_hand += user_renames(&mut world, &mut random),
            14..=15 => tally.confused += others_copy_and_delete(&mut world, &mut random),
            _ => undo_something(&mut world, &mut random, seed, tally),
        }
    }
}

pub(crate) fn any_path(world: &SimulatedVault, random: &mut fastrand::Rng) -> Option<NotePath> {
    random.choice(world.notes.keys()).cloned()
}

/// A note that the agent can change: a file with two names is refused.
pub(crate) fn changeable_path(
    world: &SimulatedVault,
    random: &mut fastrand::Rng,
) -> Option<NotePath> {
    any_path(world, random).filter(|path| world.notes[path].link.is_none())
}

/// One to three hunks, of lines that say nothing that was ever said.
pub(crate) fn edited(
    world: &mut SimulatedVault,
    lines: &[LineId],
    random: &mut fastrand::Rng,
) -> Vec<LineId> {
    let mut lines = lines.to_vec();
    for _ in 0..random.usize(1..4) {
        let from = random.usize(0..=lines.len());
        let gone = random.usize(0..3).min(lines.len() - from);
        let new = random.usize(0..3);
        lines.splice(from..from + gone, world.fresh_lines(new));
    }
    lines
}

fn agent_edits(world: &mut SimulatedVault, random: &mut fastrand::Rng, step: usize) {
    let mut set = ChangeSet::default();
    for _ in 0..random.usize(1..3) {
        let Some(at) = changeable_path(world, random) else { return };
        let lines = world.notes[&at].lines.clone();
        let after = edited(world, &lines, random);
        if after != lines && !set.changes().any(|change| change.path == at) {
            set.extend(ChangeSet::one(Change::replace(at, bytes(&lines), bytes(&after)))).unwrap();
        }
    }
    world.apply(&set, &format!("turn {}", step / 2));
}

/// A move that edits another note, as for the links in it, and perhaps the moved one too.
fn agent_moves(world: &mut SimulatedVault, random: &mut fastrand::Rng, step: usize) {
    let Some(at) = changeable_path(world, random) else { return };
    // Known limit: a hard link that keeps the file of a note which was saved since, and that is moved without an edit, is
    // taken for the note, so undo refuses to move it back.
    let file = world.notes[&at].file;
    if world.successions.iter().any(|succession| succession.from == file) {
        return;
    }
    let to = world.free_path("Moved");
    let mut set = ChangeSet::default();
    for _ in 0..random.usize(0..3) {
        let Some(linking) = changeable_path(world, random) else { return };
        let lines = world.notes[&linking].lines.clone();
        let mut after = lines.clone();
        if let Some(line) = random.choice(after.iter_mut()) {
            *line = world.number();
        }
        if after != lines && !set.changes().any(|change| change.path == linking) {
            let change = Change::replace(linking, bytes(&lines), bytes(&after));
            set.extend(ChangeSet::one(change)).unwrap();
        }
    }
    set.extend(ChangeSet::one(Change::rename(at, to))).unwrap();
    world.apply(&set, &format!("turn {}", step / 2));
}

fn agent_creates_or_trashes(world: &mut SimulatedVault, random: &mut fastrand::Rng, step: usize) {
    let change = match changeable_path(world, random) {
        Some(at) if random.bool() && world.notes.len() > 1 => {
            let lines = bytes(&world.notes[&at].lines);
            Change::trash(at, lines)
        }
        _ => {
            let height = random.usize(1..5);
            let lines = world.fresh_lines(height);
            Change::create(world.free_path("Made"), bytes(&lines))
        }
    };
    world.apply(&ChangeSet::one(change), &format!("turn {}", step / 2));
}

/// One effect, a set, a turn, a conversation, or some hunks; of effects that still count.
fn some_effects(world: &SimulatedVault, random: &mut fastrand::Rng) -> Option<UndoRequest> {
    let one = random.choice(&world.ledger)?.clone();
    let scope = random.u8(0..8);
    let standings = world.reverts();
    let is_chosen = |effect: &&Effect| match scope {
        3 => effect.change_set == one.change_set,
        4 => effect.turn == one.turn,
        5 => effect.turn.as_str().starts_with("turn"),
        _ => effect.id == one.id,
    };
    let mut effects = BTreeMap::new();
    for effect in world.ledger.iter().filter(is_chosen) {
        let (before, after) = &world.lines[&effect.id];
        let all: BTreeSet<usize> = (0..edits(before, after).len()).collect();
        let some = match standings.effective_part(&effect.id) {
            EffectivePart::Nothing => continue,
            _ if effect.turn.as_str() == "by hand" => continue,
            EffectivePart::Whole if scope < 6 || effect.kind != ChangeKind::Replace => {
                effects.insert(effect.id.clone(), Hunks::All);
                continue;
            }
            EffectivePart::Whole => all.into_iter().filter(|_| random.bool()).collect(),
            EffectivePart::Without(gone) => &all - &gone,
        };
        effects.insert(effect.id.clone(), Hunks::Some(some));
    }
    Some(UndoRequest { effects, ..UndoRequest::undo([]) })
}

fn undo_something(
    world: &mut SimulatedVault,
    random: &mut fastrand::Rng,
    seed: u64,
    tally: &mut HistoryTally,
) {
    let Some(wanted) = some_effects(world, random) else { return };
    if !are_folders_as_restored(world, &wanted) {
        return;
    }
    let expected = ExpectedUndo::of(world, &wanted);
    tally.guesses = tally.guesses.and(guesses(world, &with_whole_units(world, &wanted)));
    if !are_certain(world, &with_whole_units(world, &wanted)) {
        tally.asked += 1;
        tally.credulous += changed_by_a_credulous_planner(world, &wanted);
        tally.clean_among_asked += ask(world, &wanted, seed);
        return;
    }
    try_naive_inverses(world, &wanted, &expected, tally);
    let (before, known) = (world.texts(), world.clone());
    let (set, taken) = undo(world, &wanted);
    if std::env::var_os("TELL").is_some() {
        println!("{}", describe_failure(seed, &wanted, &taken, &before, world));
    }
    let now = world.texts();
    let conflicting: BTreeSet<&EffectId> = taken.conflicts.iter().map(|c| &c.effect).collect();
    let said = || describe_failure(seed, &wanted, &taken, &before, world);
    assert_eq!(conflicting.is_empty(), expected.is_clean, "{}", said());
    if !expected.is_clean {
        tally.conflicts += 1;
        let in_conflict = in_conflict(&known, &wanted, &taken);
        let clean = expected.notes.iter().filter(|(_, note)| !in_conflict.contains(&note.identity));
        for (path, note) in clean {
            assert_eq!(now.get(path), Some(&note.lines), "{path} is clean, {}", said());
            tally.clean_among_conflicts += 1;
        }
        return;
    }
    assert_eq!(now, expected.texts(), "{}", said());
    tally.clean += 1;
    let restores = |change: &Change| change.kind() == ChangeKind::RestoreFolder;
    tally.restored_folders += usize::from(taken.changes.changes().any(restores));
    tally.by_hunk += usize::from(wanted.effects.values().any(|hunks| *hunks != Hunks::All));
    tally.nothing_left += usize::from(taken.changes.is_empty());
    tally.redone += redo(world, &set, &before, seed);
}

/// The notes of conflicts, and of all effects that can only be undone together with them.
pub(crate) fn in_conflict(
    world: &SimulatedVault,
    request: &UndoRequest,
    plan: &UndoPlan,
) -> BTreeSet<u32> {
    let chosen = with_whole_units(world, request);
    let is_in = |effect: &Effect, conflict: &EffectConflict| {
        let other = world.effect(&conflict.effect);
        let same_unit = effect.unit.is_some() && other.unit == effect.unit;
        effect.id == other.id || (same_unit && other.change_set == effect.change_set)
    };
    let places = chosen.iter().map(|id| world.position(id));
    let places =
        places.filter(|at| plan.conflicts.iter().any(|one| is_in(&world.ledger[*at], one)));
    places.map(|at| world.note_of_effect[at]).collect()
}

/// The results of careless inverses in the same place.
fn try_naive_inverses(
    world: &SimulatedVault,
    request: &UndoRequest,
    expected: &ExpectedUndo,
    tally: &mut HistoryTally,
) {
    let chosen = with_whole_units(world, request);
    for (inverse, caught) in NAIVE_INVERSES.into_iter().zip(&mut tally.careless) {
        match undone(world, request, &chosen, inverse) {
            None => {}
            Some(_) if !expected.is_clean => caught.guessed += 1,
            Some(texts) if texts == expected.texts() => caught.right += 1,
            Some(_) => caught.wrong += 1,
        }
    }
}

/// The vault for a planner that takes every move for one that was seen.
struct AllSeen<'a>(&'a SimulatedVault);

impl VaultReader for AllSeen<'_> {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.0.bytes(path)
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.0.file(path)
    }

    fn files(&self) -> Vec<VaultFile> {
        self.0.files()
    }

    fn has_arrived(&self, _path: &NotePath, _file: FileId) -> bool {
        true
    }
}

/// How many notes of uncertain effects it changes.
fn changed_by_a_credulous_planner(world: &SimulatedVault, request: &UndoRequest) -> usize {
    let plan = plan_undo(&world.ledger_view(request), request, &AllSeen(world));
    let chosen = with_whole_units(world, request);
    let places = chosen.iter().map(|id| world.position(id)).filter(|at| !is_certain(world, *at));
    let uncertain: BTreeSet<u32> = places.map(|at| world.note_of_effect[at]).collect();
    let is_uncertain = |change: &&Change| {
        world.notes.get(&change.path).is_some_and(|note| uncertain.contains(&note.identity))
    };
    plan.changes.changes().filter(is_uncertain).count()
}

/// Whether it is known of each effect which note it left: no file of it was replaced unseen since, nobody
/// else removed it, it has one name, and it did not move unseen while another note took its path.
pub(crate) fn are_certain(world: &SimulatedVault, chosen: &BTreeSet<EffectId>) -> bool {
    chosen.iter().all(|id| is_certain(world, world.position(id)))
}

fn is_certain(world: &SimulatedVault, at: usize) -> bool {
    let is = world.note_of_effect[at];
    let has_two_names = |note: &SimulatedNote| note.identity == is && note.link.is_some();
    is_found(world, at) && !world.notes.values().any(has_two_names)
}

/// The same, but its file may have two names: it is not read then, but can be moved.
fn is_found(world: &SimulatedVault, at: usize) -> bool {
    // Nobody replaces a folder.
    if matches!(world.ledger[at].kind, ChangeKind::TrashFolder | ChangeKind::RestoreFolder) {
        return true;
    }
    let is = world.note_of_effect[at];
    match world.notes.iter().find(|(_, note)| note.identity == is) {
        Some((path, note)) => note.unseen == world.unseen[at] && !world.is_displaced(path),
        None => world.is_trashed(is, world.unseen[at]),
    }
}

/// Of what cannot be known nothing is changed or moved: what changes is only what certain effects left. A note of
/// certain effects alone, without a conflict, is as if they had been undone alone. Returns how many of these changed: a
/// planner that leaves them out is noticed.
fn ask(world: &mut SimulatedVault, request: &UndoRequest, seed: u64) -> usize {
    let known = world.clone();
    let chosen = with_whole_units(world, request);
    let left_by = |is_known: fn(&SimulatedVault, usize) -> bool| -> BTreeSet<u32> {
        let places = chosen.iter().map(|id| world.position(id));
        places.filter(|at| is_known(world, *at)).map(|at| world.note_of_effect[at]).collect()
    };
    let mut meant = MeantNotes { changed: left_by(is_certain), moved: left_by(is_found) };
    meant.changed.extend(notes_in_restored_folders(world, &chosen));
    let (before, earlier) = (world.by_identity(), world.texts());
    let (_, plan) = undo(world, request);
    let others = meant.others_changed(&before, &world.by_identity());
    let said = || describe_failure(seed, request, &plan, &earlier, world);
    assert_eq!(others, [0; 0], "they are not meant, {}", said());
    let (expected, now) = (expected_of_certain(&known, request, &plan), world.by_identity());
    let lines = |notes: &BTreeMap<u32, (NotePath, Vec<LineId>)>, is: &u32| {
        notes.get(is).map(|(_, lines)| lines.clone())
    };
    for (is, expected) in &expected {
        assert_eq!(lines(&now, is), *expected, "note {is}, {}", said());
    }
    expected.iter().filter(|(is, expected)| lines(&before, is) != **expected).count()
}

/// Undoing what was just undone restores every byte. A folder that came back with a note that was changed then does not
/// go again, so that is not tried; returns how often it was.
fn redo(
    world: &SimulatedVault,
    set: &protocol::ChangeSetId,
    before: &BTreeMap<NotePath, Vec<LineId>>,
    seed: u64,
) -> usize {
    let mut world = world.clone();
    let effects = world.ledger.iter().filter(|effect| effect.change_set == *set);
    let wanted = UndoRequest::undo(effects.map(|effect| effect.id.clone()));
    if !are_folders_as_restored(&world, &wanted) {
        return 0;
    }
    let (_, redone) = undo(&mut world, &wanted);
    let said = || describe_failure(seed, &wanted, &redone, before, &world);
    assert_eq!(redone.conflicts, [], "redo, {}", said());
    assert_eq!(world.texts(), *before, "redo, {}", said());
    1
}

/// The requested effects, with all other effects of their units.
pub(crate) fn with_whole_units(
    world: &SimulatedVault,
    request: &UndoRequest,
) -> BTreeSet<EffectId> {
    let belongs = |effect: &&Effect| {
        request.effects.iter().any(|(id, hunks)| {
            let other = world.effect(id);
            let same_unit = effect.unit.is_some() && other.unit == effect.unit;
            let same_unit = same_unit && other.change_set == effect.change_set;
            other.id == effect.id || (same_unit && *hunks == Hunks::All)
        })
    };
    world.ledger.iter().filter(belongs).map(|effect| effect.id.clone()).collect()
}

/// Everything that a person needs to see what went wrong.
fn describe_failure(
    seed: u64,
    request: &UndoRequest,
    plan: &UndoPlan,
    before: &BTreeMap<NotePath, Vec<LineId>>,
    world: &SimulatedVault,
) -> String {
    let mut out = format!("seed {seed}: {request:?}\n");
    for (effect, is) in world.ledger.iter().zip(&world.note_of_effect) {
        let (before, after) = &world.lines[&effect.id];
        let target = effect.target.as_ref().map(NotePath::as_str);
        let id = &effect.id;
        out += &format!(
            "{id} of {} by {} note {is}: {:?} {} {target:?} {before:?} {after:?} from {:?} to {:?}\n",
            effect.change_set,
            effect.turn,
            effect.kind,
            effect.path,
            effect.base.map(|file| file.born),
            effect.file.map(|file| file.born)
        );
    }
    out += &format!("{:?}\n", world.successions);
    for (path, note) in &world.notes {
        out += &format!("has {path}: {} {:?} {:?}\n", note.identity, note.file, note.link);
    }
    for (path, lines) in before {
        out += &format!("had {path}: {lines:?}\n");
    }
    for change in plan.changes.changes() {
        let after = change.after().map(crate::simulation::lines);
        out += &format!("change {:?} {} {:?}\n", change.kind(), change.path, after);
    }
    for conflict in &plan.conflicts {
        out += &format!("conflict {} {} {:?}\n", conflict.effect, conflict.path, conflict.why);
    }
    out
}
