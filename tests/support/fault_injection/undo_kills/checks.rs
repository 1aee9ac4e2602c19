//! Checks the state after an action was cut: the notes and the list of changes must agree.

use super::child_process::{UndoChildReport, UndoSnapshot};
use super::scenarios::UndoOrRedo;
use crate::fault_injection::checks::{Damage, DamageFinding};
use crate::fault_injection::folder_tree::{FolderTree, TreeNode};

/// The allowed states.
#[derive(Debug, Default)]
pub(super) struct UndoCase {
    /// Before the deed.
    pub(super) before: UndoSnapshot,
    /// The state once the action has succeeded.
    pub(super) after: UndoSnapshot,
    /// The notes once the changes are undone.
    pub(super) notes_if_reverted: FolderTree,
    pub(super) way: UndoOrRedo,
}

impl UndoCase {
    /// Whether the deed does what it shall when nothing disturbs it.
    pub(super) fn check_undisturbed(&self) -> Vec<DamageFinding> {
        let mut findings = Vec::new();
        let undone = match self.way {
            UndoOrRedo::Undo => &self.after,
            UndoOrRedo::Redo => &self.before,
        };
        if visible_notes(&undone.tree) != visible_notes(&self.notes_if_reverted) {
            findings.push((Damage::Lost, format!("undone it is {:?}", undone.tree)));
        }
        if self.before.listed == self.after.listed || self.before.tree == self.after.tree {
            findings.push((Damage::Untrue, "nothing is done".to_owned()));
        }
        findings
    }

    /// After a kill at `site`: `found` in the moment, `said` by the application started again,
    /// which then did the action again, and its opposite.
    pub(super) fn check_after_kill(
        &self,
        site: &str,
        found: &FolderTree,
        said: &UndoChildReport,
    ) -> Vec<DamageFinding> {
        let mut findings = self.check_before_restart(found);
        let [start, again, back] = said.moments.as_slice() else {
            findings.push((Damage::Untrue, format!("{} moments", said.moments.len())));
            return findings;
        };
        let is_done = start.tree == self.after.tree;
        if !is_done && start.tree != self.before.tree {
            findings.push((Damage::Torn, format!("at the start: {:?}", start.tree)));
            return findings;
        }
        // Files are touched only after the intents of the whole set are durable.
        let is_promised = site == "store.intend.after" || site.starts_with("vault.");
        let promised = is_promised && site != "vault.intend.before";
        if promised && !is_done {
            findings.push((Damage::Lost, "it was promised and did not happen".to_owned()));
        }
        let expected = if is_done { &self.after } else { &self.before };
        if start.listed != expected.listed {
            findings.push((Damage::Untrue, format!("listed at the start: {:?}", start.listed)));
        }
        if again.tree != self.after.tree || again.listed != self.after.listed {
            findings.push((Damage::Doubled, format!("done again: {again:?}")));
        }
        if is_done != again.refused.is_some() {
            findings.push((Damage::Untrue, format!("told when done again: {:?}", again.refused)));
        }
        if visible_notes(&back.tree) != visible_notes(&self.before.tree) || back.refused.is_some() {
            findings.push((Damage::Lost, format!("after the opposite: {back:?}")));
        }
        findings
    }

    /// A note that is there before and after is there, whole.
    fn check_before_restart(&self, found: &FolderTree) -> Vec<DamageFinding> {
        let mut findings = Vec::new();
        for path in self.before.tree.0.keys() {
            let (old, new) = (self.before.tree.file(path), self.after.tree.file(path));
            let (Some(old), Some(new)) = (old, new) else { continue };
            match found.file(path) {
                Some(bytes) if bytes == old || bytes == new => {}
                Some(_) => findings.push((Damage::Torn, format!("{path} at the kill"))),
                None => findings.push((Damage::Lost, format!("{path} at the kill"))),
            }
        }
        findings
    }
}

/// The files that a user sees: an undo leaves copies in the trash, and folders.
fn visible_notes(tree: &FolderTree) -> Vec<(&str, &[u8])> {
    let seen = tree.0.iter().filter(|(path, _)| !path.starts_with('.'));
    seen.filter_map(|(path, node)| match node {
        TreeNode::File(bytes) => Some((path.as_str(), bytes.as_slice())),
        TreeNode::Folder => None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use protocol::changes::history::{AppliedBy, ChangeStatus};

    use super::*;

    fn moment(text: &str, status: ChangeStatus, refused: Option<&str>) -> UndoSnapshot {
        let mut tree = FolderTree::default();
        tree.put("a.md", text);
        let listed = vec![(AppliedBy::Assistant, vec![("a.md".to_owned(), status)])];
        UndoSnapshot { tree, listed, refused: refused.map(str::to_owned) }
    }

    const STANDS: ChangeStatus = ChangeStatus::Stands;
    const UNDONE: ChangeStatus = ChangeStatus::Undone;

    #[track_caller]
    fn check(site: &str, moments: [(&str, ChangeStatus, Option<&str>); 3], wanted: &[Damage]) {
        let case = UndoCase {
            before: moment("changed", STANDS, None),
            after: moment("first", UNDONE, None),
            ..UndoCase::default()
        };
        let moments = moments.map(|(text, standing, refused)| moment(text, standing, refused));
        let found = moments[0].tree.clone();
        let said = UndoChildReport { moments: moments.into(), points: 0 };
        let wrong = case.check_after_kill(site, &found, &said).into_iter().map(|(wrong, _)| wrong);
        assert_eq!(wrong.collect::<Vec<_>>(), wanted);
    }

    const DONE: (&str, ChangeStatus, Option<&str>) = ("first", UNDONE, None);
    const REFUSED: (&str, ChangeStatus, Option<&str>) = ("first", UNDONE, Some("already undone"));
    const AS_BEFORE: (&str, ChangeStatus, Option<&str>) = ("changed", STANDS, None);

    #[test]
    fn done_or_not_done_is_right() {
        check("store.begin_own_set.after", [AS_BEFORE, DONE, AS_BEFORE], &[]);
        check("vault.rename.before", [DONE, REFUSED, AS_BEFORE], &[]);
    }

    #[test]
    fn every_kind_of_damage_is_seen() {
        use Damage::{Doubled, Lost, Torn, Untrue};
        let site = "store.intend.before";
        check("vault.rename.before", [AS_BEFORE, DONE, AS_BEFORE], &[Lost]);
        check(site, [("fir", UNDONE, None), DONE, AS_BEFORE], &[Torn, Torn]);
        check(site, [("first", STANDS, None), REFUSED, AS_BEFORE], &[Untrue]);
        check(site, [DONE, ("firstfirst", UNDONE, Some("no")), AS_BEFORE], &[Doubled]);
        check(site, [DONE, DONE, AS_BEFORE], &[Untrue]);
        check(site, [AS_BEFORE, ("first", UNDONE, Some("conflict")), AS_BEFORE], &[Untrue]);
        check(site, [DONE, REFUSED, ("other", STANDS, None)], &[Lost]);
    }
}
