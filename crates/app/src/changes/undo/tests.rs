//! How failures of an undo of several notes are told.

use protocol::NotePath;
use protocol::changes::history::UndoAction;
use vault::undo::{Hunks, UndoPlan, UndoneEffect};
use vault::{Applied, VaultError};

use super::conflicts::{NOTE_KEEPS_CHANGING, refused_conflicts};
use super::new_id;

#[test]
fn of_a_unit_the_note_that_kept_changing_is_told_and_not_those_that_go_along() {
    let path = |name: &str| NotePath::parse(name).expect("a path");
    let (diary, list, plan) = (path("Diary.md"), path("List.md"), path("Plan.md"));
    let undoing =
        |path: &NotePath| UndoneEffect { effect: new_id(), path: path.clone(), hunks: Hunks::All };
    let taken = UndoPlan {
        undone: [&diary, &list, &plan].map(undoing).into(),
        unit: [&diary, &list].map(NotePath::clone).into(),
        ..UndoPlan::default()
    };
    let why = String::from("`List.md` changed");
    let problems = vec![
        (diary.clone(), VaultError::Reverted { path: diary.clone(), why }),
        (list.clone(), VaultError::Stale { path: list.clone() }),
        (plan.clone(), VaultError::Stopped { path: plan }),
    ];
    let mut applied = Applied { problems, ..Applied::default() };

    let told = refused_conflicts(UndoAction::Undo, &taken, &applied);
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0].path, told[0].why.as_str()), (&list, NOTE_KEEPS_CHANGING));

    // A link that follows is nobody's effect.
    let taken = UndoPlan { undone: vec![taken.undone[0].clone()], ..UndoPlan::default() };
    let told = refused_conflicts(UndoAction::Undo, &taken, &applied);
    assert_eq!(told.len(), 1);
    assert!(told[0].why.contains("`List.md` changed"), "{}", told[0].why);

    // A note that fails for itself says nothing about the unit.
    let other = path("Other.md");
    let undone = vec![taken.undone[0].clone(), undoing(&other)];
    let taken = UndoPlan { undone, unit: [diary].into(), ..UndoPlan::default() };
    applied.problems.push((other.clone(), VaultError::Stale { path: other.clone() }));
    let told = refused_conflicts(UndoAction::Undo, &taken, &applied);
    assert_eq!(
        told.iter().map(|conflict| &conflict.path).collect::<Vec<_>>(),
        [&other, &taken.undone[0].path]
    );
}
