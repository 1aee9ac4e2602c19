//! Pending changes are seen as done, and later plans fit on them.

mod naive_change_set;

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::NotePath;

fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

fn set(changes: impl IntoIterator<Item = Change>) -> ChangeSet {
    let mut set = ChangeSet::default();
    for change in changes {
        set.extend(ChangeSet::one(change)).unwrap();
    }
    set
}

fn create(at: &str, after: &str) -> Change {
    Change::create(path(at), after)
}

fn replace(at: &str, before: &str, after: &str) -> Change {
    Change::replace(path(at), before, after)
}

fn rename(at: &str, to: &str) -> Change {
    Change::rename(path(at), path(to))
}

fn rename_folder(at: &str, to: &str) -> Change {
    Change::rename_folder(path(at), path(to))
}

fn check(changes: impl IntoIterator<Item = Change>, expected: impl IntoIterator<Item = Change>) {
    let found: Vec<_> = set(changes).changes().cloned().collect();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn changes_of_one_note_become_one() {
    check([replace("a.md", "1", "2"), replace("a.md", "2", "3")], [replace("a.md", "1", "3")]);
    check([create("a.md", "1"), replace("a.md", "1", "2")], [create("a.md", "2")]);
    check([replace("a.md", "1", "2"), replace("a.md", "2", "1")], []);
    check([create("a.md", "1"), Change::trash(path("a.md"), "1")], []);
    let trash = Change::trash(path("a.md"), "1");
    check([replace("a.md", "1", "2"), Change::trash(path("a.md"), "2")], [trash.clone()]);
    check([trash, create("a.md", "2")], [replace("a.md", "1", "2")]);
}

#[test]
fn an_edit_of_what_moves_is_kept_under_its_first_path() {
    check(
        [rename("a.md", "b.md"), replace("b.md", "1", "2")],
        [replace("a.md", "1", "2"), rename("a.md", "b.md")],
    );
    check(
        [rename_folder("f", "g"), replace("g/a.md", "1", "2"), create("g/n.md", "n")],
        [replace("f/a.md", "1", "2"), create("f/n.md", "n"), rename_folder("f", "g")],
    );
}

#[test]
fn renames_of_one_thing_become_one() {
    check([rename("a.md", "b.md"), rename("b.md", "c.md")], [rename("a.md", "c.md")]);
    check([rename("a.md", "b.md"), rename("b.md", "a.md")], []);
    check([create("a.md", "1"), rename("a.md", "b.md")], [create("b.md", "1")]);
    check([rename("a.md", "A.md")], [rename("a.md", "A.md")]);
}

#[test]
fn a_created_note_that_is_moved_into_a_renamed_folder_is_created_where_the_folder_is_before() {
    check(
        [rename_folder("f", "g"), create("n.md", "1"), rename("n.md", "g/n.md")],
        [create("f/n.md", "1"), rename_folder("f", "g")],
    );
}

#[test]
fn a_folder_that_was_made_is_moved_with_what_is_in_it() {
    let made = |at: &str| Change { path: path(at), act: ChangeAction::MakeFolder };
    check(
        [made("f"), create("f/n.md", "1"), replace("i.md", "f", "g"), rename_folder("f", "g")],
        [made("f"), create("f/n.md", "1"), replace("i.md", "f", "g"), rename_folder("f", "g")],
    );
}

#[test]
fn what_went_away_takes_no_later_plan() {
    let refused = |first: Change, later: Change| {
        let mut set = set([first]);
        let before = set.clone();
        assert!(set.extend(ChangeSet::one(later)).is_err());
        assert_eq!(set, before);
    };
    refused(rename("a.md", "b.md"), replace("a.md", "1", "2"));
    refused(rename("a.md", "b.md"), create("a.md", "2"));
    refused(rename_folder("f", "g"), create("f/a.md", "2"));
    refused(
        Change { path: path("f"), act: ChangeAction::TrashFolder { holds: None } },
        replace("f/a.md", "1", "2"),
    );
    refused(Change::trash(path("a.md"), "1"), replace("a.md", "1", "2"));
}

#[test]
fn a_change_that_does_not_fit_leaves_all_renames() {
    let mut set: ChangeSet =
        [Change::trash(path("a.md"), "1"), rename("a.md", "b.md"), rename("z.md", "y.md")]
            .into_iter()
            .collect();
    let before = set.clone();
    // A note goes to the trash without its rename, and this one is there already.
    let refused = set.add_change(Change::trash(path("b.md"), "1"));
    assert_eq!(refused, Err(ChangeSetConflict { path: path("b.md") }));
    assert_eq!(set, before);
    // The control: the deletion of another note drops the rename of that one alone.
    set.add_change(Change::trash(path("y.md"), "1")).unwrap();
    assert_eq!(set.renames(), [(path("a.md"), path("b.md"))].into_iter().collect());
}

#[test]
fn several_changes_are_added_all_or_none() {
    let mut all = set([rename("a.md", "b.md"), replace("n.md", "1", "2")]);
    let before = all.clone();
    let later = [replace("n.md", "2", "3"), create("m.md", "1"), create("a.md", "1")];
    assert!(all.extend(later.into_iter().collect()).is_err());
    assert_eq!(all, before);
}

/// How often a time is taken: other programs disturb, and the shortest counts.
const ATTEMPTS: usize = 3;

/// The time to add replacements to a move one by one, and to look at each.
fn time_to_add(count: usize) -> Duration {
    let measure = |_| {
        let later = (0..count).map(|n| replace(&format!("{n}.md"), "1", "2"));
        let later: Vec<ChangeSet> = later.map(ChangeSet::one).collect();
        let mut all = set([rename("a.md", "b.md")]);
        let begun = Instant::now();
        later.into_iter().for_each(|one| all.extend(one).unwrap());
        for change in all.changes().take(count) {
            assert_eq!(all.planned_state(&change.path), PlannedState::Planned(b"2"));
            assert_eq!(all.disk_path(&change.path).as_ref(), Some(&change.path));
        }
        let took = begun.elapsed();
        assert_eq!(all.len(), count + 1);
        took
    };
    (0..ATTEMPTS).map(measure).min().unwrap()
}

#[test]
fn the_time_to_add_changes_one_by_one_grows_as_their_number() {
    let (few, many) = (time_to_add(2_000), time_to_add(8_000));
    println!("{few:?} for some changes, {many:?} for four times as many");
    // Four times the changes may cost eight times the time; the square would be sixteen times.
    assert!(many < few * 8 + Duration::from_millis(20), "{many:?} after {few:?}");
}

#[test]
fn a_reader_sees_pending_changes_as_done() {
    let all = set([
        replace("f/a.md", "1", "2"),
        create("n.md", "new"),
        Change::trash(path("t.md"), "t"),
        Change { path: path("old"), act: ChangeAction::TrashFolder { holds: None } },
        rename_folder("f", "g"),
        rename("g/b.md", "b.md"),
    ]);
    for (at, seen) in [
        ("g/a.md", PlannedState::Planned(b"2")),
        ("f/a.md", PlannedState::Gone),
        ("n.md", PlannedState::Planned(b"new")),
        ("t.md", PlannedState::Gone),
        ("old/x/y.md", PlannedState::Gone),
        ("older.md", PlannedState::OnDisk(path("older.md"))),
        ("b.md", PlannedState::OnDisk(path("f/b.md"))),
        ("g/b.md", PlannedState::Gone),
    ] {
        assert_eq!(all.planned_state(&path(at)), seen, "{at}");
    }
    for (at, to) in [
        ("f/a.md", Some("g/a.md")),
        ("f/b.md", Some("b.md")),
        ("t.md", None),
        ("old/x.md", None),
        ("z.md", Some("z.md")),
    ] {
        assert_eq!(all.disk_path(&path(at)), to.map(path), "{at}");
    }
    assert_eq!(all.planned_notes(), [(path("g/a.md"), &b"2"[..]), (path("n.md"), b"new")]);
}

#[test]
fn what_is_renamed_and_then_trashed_goes_to_the_trash_from_where_it_is() {
    let mut set: ChangeSet = [
        Change::rename(path("f/a.md"), path("f/b.md")),
        Change::rename_folder(path("f"), path("g")),
        Change::rename(path("z.md"), path("y.md")),
    ]
    .into_iter()
    .collect();
    set.extend(ChangeSet::one(Change::trash(path("g/b.md"), "1"))).unwrap();
    let expected: ChangeSet = [
        Change::trash(path("f/a.md"), "1"),
        Change::rename_folder(path("f"), path("g")),
        Change::rename(path("z.md"), path("y.md")),
    ]
    .into_iter()
    .collect();
    assert_eq!(set, expected);
    let trash = Change { path: path("g"), act: ChangeAction::TrashFolder { holds: None } };
    set.extend(ChangeSet::one(trash)).unwrap();
    assert_eq!(set.renames(), [(path("z.md"), path("y.md"))].into_iter().collect());
}

proptest! {
    /// Wherever something goes, looking from there leads back.
    #[test]
    fn back_undoes_forward(
        pairs in prop::collection::vec(("[ab](/[ab]){0,2}", "[cd](/[cd]){0,2}"), 0..4),
        at in "[ab](/[ab]){0,3}",
    ) {
        // New places are free: a suffix makes each its own.
        let mut renames = Renames::default();
        for (n, (from, to)) in pairs.iter().enumerate() {
            renames.push(path(from), path(&format!("{to}{n}")));
        }
        let there = renames.forward(&path(&at));
        prop_assert_eq!(renames.back(&there), Some(path(&at)));
    }
}
