//! Which changes of an undo happen all or not at all.

use protocol::{Change, EffectId};
use vault::undo::{UndoPlan, UndoRequest, plan_undo};

use crate::cases::world;
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
