//! Which changes of an undo happen all or not at all.

mod many_effects;

use protocol::{Change, ContentHash, EffectId, TurnId};
use vault::undo::{Hunks, UndoPlan, UndoRequest, plan_undo};

use crate::cases::{back, edit, world};
use crate::simulation::{SimulatedVault, bytes, path};

/// Plans the undo of everything in the ledger.
fn plan_of_all(world: &SimulatedVault) -> UndoPlan {
    let all: Vec<EffectId> = world.ledger.iter().map(|effect| effect.id.clone()).collect();
    let request = UndoRequest::undo(all);
    let plan = plan_undo(&world.ledger_view(&request), &request, world);
    assert_eq!(plan.conflicts, []);
    assert_eq!(plan.undone.len(), world.ledger.len(), "{plan:?}");
    plan
}

fn unit(plan: &UndoPlan) -> Vec<&str> {
    let mut paths: Vec<_> = plan.unit.iter().map(|path| path.as_str()).collect();
    paths.sort_unstable();
    paths
}

#[test]
fn edit_that_is_undone_with_a_move_is_for_itself() {
    let mut world = world();
    world.add_note(&path("links.md"), vec![60, 61]);
    world.add_note(&path("b.md"), vec![70]);
    let edit = Change::replace(path("b.md"), bytes(&[70]), bytes(&[71]));
    world.apply(&[edit].into_iter().collect(), "turn");
    assert_eq!(unit(&plan_of_all(&world)), [""; 0], "nothing is renamed");
    let set = [
        Change::replace(path("links.md"), bytes(&[60, 61]), bytes(&[60, 62])),
        Change::rename(path("a.md"), path("Moved/a.md")),
    ];
    world.apply(&set.into_iter().collect(), "turn");
    assert_eq!(unit(&plan_of_all(&world)), ["Moved/a.md", "links.md"]);
}

#[test]
fn edit_of_what_is_in_a_moved_folder_belongs_to_the_move() {
    let mut world = world();
    let folder = world.new_file();
    world.folders.insert(path("Old"), folder);
    world.add_note(&path("Old/n.md"), vec![70]);
    let edits = [
        Change::replace(path("Old/n.md"), bytes(&[70]), bytes(&[71])),
        Change::replace(path("a.md"), bytes(&[1, 2, 3, 4, 5]), bytes(&[1, 2, 3])),
    ];
    world.apply(&edits.into_iter().collect(), "turn");
    let folder = Change::rename_folder(path("Old"), path("New"));
    world.apply(&[folder].into_iter().collect(), "turn");
    assert_eq!(unit(&plan_of_all(&world)), ["New", "New/n.md"]);
}

#[test]
fn edit_that_is_redone_with_a_move_belongs_to_it_and_another_stays_undone() {
    let (mut world, links) = (world(), path("links.md"));
    world.add_note(&links, vec![60, 7, 61]);
    let edit = Change::replace(links.clone(), bytes(&[60, 7, 61]), bytes(&[60, 7, 62]));
    world.apply(&[edit].into_iter().collect(), "turn");
    let set = [
        Change::replace(links.clone(), bytes(&[60, 7, 62]), bytes(&[63, 7, 62])),
        Change::rename(path("a.md"), path("Moved/a.md")),
    ];
    world.apply(&set.into_iter().collect(), "turn");
    let all: Vec<EffectId> = world.ledger.iter().map(|effect| effect.id.clone()).collect();
    assert_eq!(back(&mut world, &UndoRequest::undo(all.clone())).conflicts, []);
    assert_eq!(world.notes[&links].lines, [60, 7, 61]);

    let undid: Vec<_> = world.ledger[3..].iter().map(|effect| effect.id.clone()).collect();
    let mut request = UndoRequest::undo(undid.clone());
    request.redone.insert(undid[0].clone(), [(all[1].clone(), Hunks::All)].into());
    let mut changed = world.clone();
    changed.notes.get_mut(&links).unwrap().lines = vec![64, 7, 65];
    let plan = plan_undo(&changed.ledger_view(&request), &request, &changed);
    assert_eq!((plan.changes.len(), plan.redone.len()), (0, 0), "all or nothing");
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    assert_eq!(conflict.effect, all[1]);
    assert_eq!((conflict.lines.len(), &conflict.lines[0].restored), (1, &bytes(&[63])));

    let plan = back(&mut world, &request);
    assert_eq!(unit(&plan), ["a.md", "links.md"]);
    assert_eq!((&plan.redone[0].effect, &plan.redone[0].by), (&all[1], &undid[0]));
    assert_eq!(world.notes[&links].lines, [63, 7, 61]);
}

#[test]
fn edits_are_redone_one_by_one_where_a_part_is_in_conflict_and_the_text_is_the_same() {
    let apart = [[10, 2, 3, 4, 5], [10, 2, 3, 4, 50]];
    let in_one_line = [[10, 2, 30, 4, 5], [11, 2, 30, 4, 5]];
    let (no_conflict, conflict) = ([1, 2, 3, 4, 5], [1, 2, 3, 4, 51]);
    // The effects are the two edits, and the undo of both.
    for (edits, is_stored, now, after, redone, asked) in [
        (apart, true, no_conflict, [10, 2, 3, 4, 50], vec![], vec![]),
        (apart, true, conflict, [10, 2, 3, 4, 51], vec![0], vec![1]),
        (apart, false, conflict, [10, 2, 3, 4, 51], vec![], vec![2]),
        // One by one, the second edit would be made again on the line that the user wrote.
        (in_one_line, true, [10, 2, 3, 4, 5], [10, 2, 30, 4, 5], vec![], vec![2]),
    ] {
        let mut world = world();
        let edits = edits.map(|after| edit(&mut world, &after));
        back(&mut world, &UndoRequest::undo(edits.clone()));
        assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
        world.notes.get_mut(&path("a.md")).unwrap().lines = now.to_vec();
        if !is_stored {
            world.ledger[1].before = Some(ContentHash::of(b"no longer stored"));
        }
        let by = world.ledger[2].id.clone();
        let mut request = UndoRequest::undo([by.clone()]);
        request.redone.insert(by.clone(), edits.map(|edit| (edit, Hunks::All)).into());
        request.whole_first.insert(by);
        let plan = back(&mut world, &request);
        assert_eq!(world.notes[&path("a.md")].lines, after);
        let made: Vec<_> = plan.redone.iter().map(|one| world.position(&one.effect)).collect();
        let left: Vec<_> = plan.conflicts.iter().map(|one| world.position(&one.effect)).collect();
        assert_eq!((made, left), (redone, asked), "{plan:?}");
        assert_eq!(world.position(&plan.undone[0].effect), 2);
    }
}

#[test]
fn edits_in_conflict_about_one_line_are_redone_as_a_whole_and_asked_about_once() {
    let in_one_line = [vec![1, 2, 3, 4, 50], vec![1, 9, 2, 3, 4, 50], vec![1, 9, 2, 3, 4, 51]];
    let apart = [vec![1, 2, 3, 4, 50], vec![1, 9, 2, 3, 4, 50], vec![1, 9, 2, 30, 4, 50]];
    let with_first_line = [vec![10, 2, 30, 4, 5], vec![11, 2, 30, 4, 50], vec![12, 2, 30, 4, 50]];
    for (edits, now, after, asked) in [
        // The second edit moves the line down in which the others are in conflict.
        (in_one_line, vec![1, 2, 3, 4, 6], vec![1, 9, 2, 3, 4, 6], vec![3]),
        // The control: two lines are asked about one by one.
        (apart, vec![1, 2, 7, 4, 6], vec![1, 9, 2, 7, 4, 6], vec![0, 2]),
        // All change the first line, where nothing is in conflict, and two are in conflict about a line of their own.
        (with_first_line, vec![1, 2, 7, 4, 6], vec![12, 2, 7, 4, 6], vec![0, 1]),
    ] {
        let mut world = world();
        let edits = edits.map(|after| edit(&mut world, &after));
        back(&mut world, &UndoRequest::undo(edits.clone()));
        world.notes.get_mut(&path("a.md")).unwrap().lines = now;
        let by = world.ledger[3].id.clone();
        let mut request = UndoRequest::undo([by.clone()]);
        request.redone.insert(by.clone(), edits.map(|edit| (edit, Hunks::All)).into());
        request.whole_first.insert(by);
        let plan = back(&mut world, &request);
        assert_eq!(world.notes[&path("a.md")].lines, after);
        let left: Vec<_> = plan.conflicts.iter().map(|one| world.position(&one.effect)).collect();
        assert_eq!(left, asked, "{plan:?}");
    }
}

/// The effects that are undone with one of them.
fn undone_with(world: &SimulatedVault, effect: &EffectId) -> Vec<EffectId> {
    let request = UndoRequest::undo([effect.clone()]);
    let past = world.ledger_view(&request);
    past.undone_with(&request).map(|effect| effect.id.clone()).collect()
}

#[test]
fn undo_of_a_move_leaves_the_edit_and_the_creation_of_another_turn_in_its_unit() {
    let (mut world, links) = (world(), path("links.md"));
    world.add_note(&links, vec![60, 61]);
    let set = [
        Change::replace(path("a.md"), bytes(&[1, 2, 3, 4, 5]), bytes(&[1, 2, 3])),
        Change::create(path("new.md"), bytes(&[70])),
        Change::replace(links.clone(), bytes(&[60, 61]), bytes(&[60, 62])),
        Change::rename(path("a.md"), path("Moved/a.md")),
    ];
    world.apply(&set.into_iter().collect(), "two");
    let effect_of = |world: &SimulatedVault, at: &str| {
        world.ledger.iter().position(|effect| effect.path == path(at)).unwrap()
    };
    let (edit, creation) = (effect_of(&world, "a.md"), effect_of(&world, "new.md"));
    // The control: of one turn all is undone together.
    let all: Vec<EffectId> = world.ledger.iter().map(|effect| effect.id.clone()).collect();
    for effect in &all {
        assert_eq!(undone_with(&world, effect), all);
    }
    for others in [edit, creation] {
        world.ledger[others].turn = TurnId::from("one");
    }
    let is_its = |at: &usize| *at != edit && *at != creation;
    let of_move: Vec<EffectId> = (0..all.len()).filter(is_its).map(|at| all[at].clone()).collect();
    for effect in &of_move {
        assert_eq!(undone_with(&world, effect), of_move);
    }
    // An edit may hold links to what is moved.
    assert_eq!(undone_with(&world, &all[edit]), all);
    world.ledger[creation].turn = TurnId::from("none");
    assert_eq!(undone_with(&world, &all[creation]), [all[creation].clone()]);

    let plan = back(&mut world, &UndoRequest::undo([of_move[0].clone()]));
    assert_eq!((plan.conflicts.len(), plan.undone.len()), (0, 2), "{plan:?}");
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3]);
    assert_eq!(world.notes[&path("new.md")].lines, [70]);
    assert_eq!(world.notes[&links].lines, [60, 61]);
}

#[test]
fn edits_that_are_requested_by_hunks_are_undone_each_by_itself_while_the_move_stands() {
    let mut world = world();
    let edits = ["one.md", "two.md"].map(|note| {
        world.add_note(&path(note), vec![60, 7, 61]);
        Change::replace(path(note), bytes(&[60, 7, 61]), bytes(&[60, 7, 62]))
    });
    let new = Change::create(path("new.md"), bytes(&[70]));
    let moved = Change::rename(path("a.md"), path("b.md"));
    world.apply(&edits.into_iter().chain([new, moved]).collect(), "edits");
    let [one, two, new, moved] = ["one.md", "two.md", "new.md", "a.md"].map(|at| {
        let effect = world.ledger.iter_mut().find(|effect| effect.path == path(at)).unwrap();
        if at == "a.md" {
            effect.turn = TurnId::from("move");
        }
        effect.id.clone()
    });
    world.notes.get_mut(&path("two.md")).unwrap().lines = vec![60, 7, 63];
    let mut request = UndoRequest::undo([new]);
    for edit in [&one, &two] {
        request.effects.insert(edit.clone(), Hunks::Some([0].into()));
    }

    // The control: together with the move, the edits are undone all or not at all. The new note needs no move.
    let mut with_move = request.clone();
    with_move.effects.insert(moved, Hunks::All);
    let plan = plan_undo(&world.ledger_view(&with_move), &with_move, &world);
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    assert_eq!((&conflict.effect, &conflict.hunks), (&two, &Hunks::All));
    let paths: Vec<_> = plan.changes.changes().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["new.md"]);

    let plan = back(&mut world, &request);
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    assert_eq!((&conflict.effect, &conflict.hunks), (&two, &Hunks::Some([0].into())));
    assert_eq!(world.notes[&path("one.md")].lines, [60, 7, 61]);
    assert_eq!(world.notes[&path("two.md")].lines, [60, 7, 63]);
    assert!(!world.notes.contains_key(&path("new.md")));
    assert!(world.notes.contains_key(&path("b.md")), "the move stands");
}
