//! A set that looks through all its changes each time and grows as a copy: a [`ChangeSet`] holds the same.

use super::*;

#[derive(Debug, Clone, Default)]
struct NaiveChangeSet {
    contents: Vec<Change>,
    renames: Vec<Change>,
}

impl NaiveChangeSet {
    /// The set with a later plan; `None` where that does not fit.
    fn extended(&self, later: &ChangeSet) -> Option<Self> {
        let mut grown = self.clone();
        for change in later.changes().cloned() {
            match change.is_rename() {
                true => grown.add_rename(change)?,
                false => grown.add_content(change)?,
            }
        }
        grown.contents.retain(|change| !change.is_noop());
        grown.renames.retain(|change| !change.is_noop());
        Some(grown)
    }

    fn renames(&self) -> Renames {
        let pair = |change: &Change| Some((change.path.clone(), change.target()?.clone()));
        self.renames.iter().filter_map(pair).collect()
    }

    fn add_content(&mut self, later: Change) -> Option<()> {
        let path = self.renames().back(&later.path)?;
        let is_trashed = |change: &Change| {
            matches!(change.act, ChangeAction::TrashFolder { .. }) && path.is_in(&change.path)
        };
        if self.contents.iter().any(is_trashed) {
            return None;
        }
        if matches!(later.act, ChangeAction::Trash { .. } | ChangeAction::TrashFolder { .. }) {
            self.drop_rename(&path);
        }
        let found = self.contents.iter().position(|change| change.path == path);
        let Some(earlier) = found.map(|at| &mut self.contents[at]) else {
            self.contents.push(Change { path, act: later.act });
            return Some(());
        };
        earlier.act = match (earlier.act.clone(), later.act) {
            (ChangeAction::Create { like, .. }, ChangeAction::Replace { after, .. }) => {
                ChangeAction::Create { after, like }
            }
            (ChangeAction::Replace { before, .. }, ChangeAction::Replace { after, .. })
            | (ChangeAction::Trash { before }, ChangeAction::Create { after, .. }) => {
                ChangeAction::Replace { before, after }
            }
            (ChangeAction::Replace { before, .. }, ChangeAction::Trash { .. }) => {
                ChangeAction::Trash { before }
            }
            (ChangeAction::Create { .. }, ChangeAction::Trash { .. })
            | (ChangeAction::MakeFolder, ChangeAction::TrashFolder { .. }) => {
                self.contents.retain(|change| change.path != path);
                return Some(());
            }
            _ => return None,
        };
        Some(())
    }

    fn drop_rename(&mut self, path: &NotePath) {
        let mut here = path.clone();
        let mut dropped = false;
        self.renames.retain(|change| {
            let Some(target) = change.target() else { return false };
            let is_of_it = here == change.path || (dropped && change.path.is_in(&here));
            if let Some(moved) = here.after_move(&change.path, target) {
                here = moved;
            }
            dropped |= is_of_it;
            !is_of_it
        });
    }

    fn add_rename(&mut self, later: Change) -> Option<()> {
        let to = later.target()?.clone();
        let renames = self.renames();
        let before = renames.back(&later.path)?;
        let first = self.contents.iter_mut().find(|change| change.path == before);
        if let Some(made) = first.filter(|made| matches!(made.act, ChangeAction::Create { .. })) {
            made.path = renames.back(&to)?;
            return Some(());
        }
        if let Some(Change { act: ChangeAction::Rename { to: first, .. }, .. }) =
            self.renames.last_mut()
            && *first == later.path
        {
            *first = to;
            return Some(());
        }
        self.renames.push(later);
        Some(())
    }

    fn planned_state(&self, path: &NotePath) -> PlannedState<'_> {
        let Some(before) = self.renames().back(path) else { return PlannedState::Gone };
        for change in &self.contents {
            match &change.act {
                ChangeAction::Create { after, .. } | ChangeAction::Replace { after, .. }
                    if change.path == before =>
                {
                    return PlannedState::Planned(after);
                }
                ChangeAction::Trash { .. } if change.path == before => return PlannedState::Gone,
                ChangeAction::TrashFolder { .. } if before.is_in(&change.path) => {
                    return PlannedState::Gone;
                }
                _ => {}
            }
        }
        PlannedState::OnDisk(before)
    }
}

const PATHS: [&str; 7] = ["a", "b", "f", "f/a", "f/b", "g", "g/a"];

fn any_change() -> impl Strategy<Value = Change> {
    let at = || prop::sample::select(PATHS.to_vec()).prop_map(path);
    let bytes = || prop::sample::select(vec!["1", "2"]);
    let of_folder = vec![
        ChangeAction::MakeFolder,
        ChangeAction::TrashFolder { holds: None },
        ChangeAction::RestoreFolder { trashed: "f".to_owned(), holds: None },
    ];
    prop_oneof![
        (at(), bytes()).prop_map(|(at, after)| Change::create(at, after)),
        (at(), bytes(), bytes()).prop_map(|(at, before, after)| Change::replace(at, before, after)),
        (at(), bytes()).prop_map(|(at, before)| Change::trash(at, before)),
        (at(), at()).prop_map(|(at, to)| Change::rename(at, to)),
        (at(), at()).prop_map(|(at, to)| Change::rename_folder(at, to)),
        (at(), prop::sample::select(of_folder)).prop_map(|(path, act)| Change { path, act }),
    ]
}

proptest! {
    #[test]
    fn a_set_grows_as_its_copy_would(
        first in prop::collection::vec(any_change(), 0..3),
        plans in prop::collection::vec(prop::collection::vec(any_change(), 0..4), 1..10),
    ) {
        let mut set: ChangeSet = first.iter().cloned().collect();
        let mut naive = NaiveChangeSet::default();
        (naive.renames, naive.contents) = first.into_iter().partition(Change::is_rename);
        for plan in plans {
            let (later, before): (ChangeSet, _) = (plan.into_iter().collect(), set.clone());
            let grown = naive.extended(&later);
            prop_assert_eq!(set.extend(later.clone()).is_ok(), grown.is_some());
            if grown.is_none() {
                prop_assert_eq!(&set, &before, "{:?} does not fit", later);
            }
            naive = grown.unwrap_or(naive);
            let expected: Vec<&Change> = naive.contents.iter().chain(&naive.renames).collect();
            prop_assert_eq!(set.changes().collect::<Vec<_>>(), expected);
            prop_assert_eq!(set.len(), naive.contents.len() + naive.renames.len());
            for at in PATHS.map(path) {
                prop_assert_eq!(set.planned_state(&at), naive.planned_state(&at));
                prop_assert_eq!(set.disk_path(&at), set.disk_locations().locate(&at));
                prop_assert_eq!(set.path_before(&at), naive.renames().back(&at));
            }
        }
    }
}
