//! Checks a folder against the record of the ledger.

use std::collections::BTreeSet;

use protocol::Change;

use super::child_process::ChildReport;
use super::folder_tree::{FolderTree, TreeNode};

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Damage {
    /// Bytes that somebody had, or a change that was promised, are gone.
    Lost,
    /// Something is there twice, or is told twice.
    Doubled,
    /// A note is neither as before nor as after, or a part of what belongs together happened.
    Torn,
    /// A file is there that nobody asked for.
    Litter,
    /// A report, or a record of the ledger, is false.
    Untrue,
}

/// A kind of damage, and its place.
pub(super) type DamageFinding = (Damage, String);

/// The state of a change in the ledger once it has happened.
const DONE_STATE: &str = "Done";

/// The expected state, and the actual one.
#[derive(Debug)]
pub(super) struct FaultCase<'a> {
    /// All files before the changes.
    pub(super) before: &'a FolderTree,
    /// The planned changes, in order.
    pub(super) changes: &'a [Change],
    /// Whether only all or nothing will do.
    pub(super) is_atomic: bool,
}

impl FaultCase<'_> {
    /// After a kill and a recovery: nothing, or everything.
    #[must_use]
    pub(super) fn check_after_kill(
        &self,
        found: &FolderTree,
        ledger: &[(String, String)],
    ) -> Vec<DamageFinding> {
        let mut findings = self.check_against_ledger(found, ledger, EmptyFolderPolicy::Exact);
        let undone = ledger.iter().filter(|(_, state)| state != DONE_STATE);
        findings.extend(undone.map(|(path, state)| (Damage::Lost, format!("{path} is {state}"))));
        findings
    }

    /// After errors, told in `said`, and a recovery: each change as the ledger says, a unit whole.
    #[must_use]
    pub(super) fn check_after_errors(
        &self,
        found: &FolderTree,
        said: &ChildReport,
        ledger: &[(String, String)],
    ) -> Vec<DamageFinding> {
        let mut findings = self.check_against_ledger(found, ledger, EmptyFolderPolicy::MoreAllowed);
        let is_done = |path: &str| last_state(ledger, path) == Some(DONE_STATE);
        for path in &said.done {
            if !is_done(path) {
                findings.push((Damage::Lost, format!("{path} was told as done")));
            }
        }
        for (path, why) in &said.problems {
            if is_done(path) && !why.starts_with("Vaultmate can’t tell") {
                findings.push((Damage::Untrue, format!("{path} is done, and told: {why}")));
            }
            findings.extend(unclear_message('`', path, why));
        }
        if said.refused.is_some() && ledger.iter().any(|(_, state)| state == DONE_STATE) {
            findings.push((Damage::Untrue, "told as refused, and done".to_owned()));
        }
        findings.extend(said.refused.iter().flat_map(|why| unclear_message(' ', "all", why)));
        findings
    }

    /// Right after a kill, before anything is put right: a note that is there before and after is
    /// there, whole.
    #[must_use]
    pub(super) fn check_before_recovery(&self, found: &FolderTree) -> Vec<DamageFinding> {
        let after = self.before.after_changes(self.changes);
        let mut findings = Vec::new();
        for (path, node) in &self.before.0 {
            let (TreeNode::File(old), Some(new)) = (node, after.file(path)) else { continue };
            match found.file(path) {
                Some(bytes) if bytes == old || bytes == new => {}
                Some(_) => findings.push((Damage::Torn, format!("{path} at the kill"))),
                None => findings.push((Damage::Lost, format!("{path} at the kill"))),
            }
        }
        findings
    }

    fn check_against_ledger(
        &self,
        found: &FolderTree,
        ledger: &[(String, String)],
        folders: EmptyFolderPolicy,
    ) -> Vec<DamageFinding> {
        let mut findings = Vec::new();
        // An edit that was stale is made again, with a row of its own.
        let last: Vec<Option<&str>> =
            self.changes.iter().map(|change| last_state(ledger, change.path.as_str())).collect();
        for change in self.changes {
            let path = change.path.as_str();
            let done = ledger.iter().filter(|(other, state)| other == path && state == DONE_STATE);
            if done.count() > 1 {
                findings.push((Damage::Doubled, format!("{path} in the ledger")));
            }
        }
        if !ledger.is_empty() && last.contains(&None) {
            findings.push((Damage::Torn, format!("{} rows in the ledger", ledger.len())));
        }
        let open = ledger.iter().filter(|(_, state)| state == "Open");
        findings.extend(open.map(|(path, _)| (Damage::Untrue, format!("{path} is still open"))));
        let pairs = self.changes.iter().zip(last);
        let done: Vec<&Change> = pairs
            .filter(|(_, state)| *state == Some(DONE_STATE))
            .map(|(change, _)| change)
            .collect();
        if self.is_atomic && !done.is_empty() && done.len() < self.changes.len() {
            let part = format!("{} of {} in a unit", done.len(), self.changes.len());
            findings.push((Damage::Torn, part));
        }
        findings.extend(compare(&self.before.after_changes(done), self.before, found, folders));
        findings
    }
}

/// Whether empty folders that nobody asked for are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmptyFolderPolicy {
    Exact,
    /// They were made on the way to something that failed.
    MoreAllowed,
}

fn compare(
    wanted: &FolderTree,
    before: &FolderTree,
    found: &FolderTree,
    folders: EmptyFolderPolicy,
) -> Vec<DamageFinding> {
    let mut findings = Vec::new();
    let found = &with_trash_names_of(wanted, found);
    let somewhere: BTreeSet<&[u8]> = found.0.keys().filter_map(|path| found.file(path)).collect();
    for (path, node) in &wanted.0 {
        match (node, found.0.get(path)) {
            (node, Some(there)) if node == there => {}
            (TreeNode::File(bytes), None) if !somewhere.contains(bytes.as_slice()) => {
                findings.push((Damage::Lost, path.clone()));
            }
            (_, None) => findings.push((Damage::Torn, format!("{path} is elsewhere"))),
            (_, Some(there)) if before.0.get(path) == Some(there) => {
                findings.push((Damage::Lost, format!("{path} is as before")));
            }
            (_, Some(_)) => findings.push((Damage::Torn, path.clone())),
        }
    }
    for (path, node) in found.0.iter().filter(|(path, _)| !wanted.0.contains_key(*path)) {
        match node {
            TreeNode::Folder if folders == EmptyFolderPolicy::MoreAllowed => {}
            TreeNode::File(_) if before.0.contains_key(path) => {
                findings.push((Damage::Doubled, format!("{path} is still there")));
            }
            _ => findings.push((Damage::Litter, path.clone())),
        }
    }
    findings
}

/// In the trash a note may have another number than the simple opinion gave it, where a name could
/// not be looked at.
fn with_trash_names_of(wanted: &FolderTree, found: &FolderTree) -> FolderTree {
    let mut named = found.clone();
    let in_trash = |path: &&String| path.starts_with(".trash/");
    for path in wanted.0.keys().filter(in_trash).filter(|path| !found.0.contains_key(*path)) {
        let node = wanted.0.get(path);
        let is_it = |other: &&String| !wanted.0.contains_key(*other) && found.0.get(*other) == node;
        let other = found.0.keys().filter(in_trash).find(is_it);
        if let Some(node) = other.and_then(|other| named.0.remove(other)) {
            named.0.insert(path.clone(), node);
        }
    }
    named
}

/// How the last change of a path ended.
fn last_state<'a>(ledger: &'a [(String, String)], path: &str) -> Option<&'a str> {
    ledger.iter().rev().find(|(other, _)| other == path).map(|(_, state)| state.as_str())
}

/// A sentence that says what failed on what, and what to do, names a note and ends like one.
fn unclear_message(names: char, path: &str, why: &str) -> Option<DamageFinding> {
    let is_clear = why.contains(names) && why.ends_with('.') && why.len() > 20;
    (!is_clear).then(|| (Damage::Untrue, format!("unclear on {path}: {why}")))
}

#[cfg(test)]
mod tests {
    use protocol::NotePath;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> FolderTree {
        let mut tree = FolderTree::default();
        for (path, text) in files {
            tree.put(path, *text);
        }
        tree
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], states: &[&str], wanted: &[Damage]) {
        let before = tree(&[("a.md", "old"), ("b.md", "b")]);
        let path = |text| NotePath::parse(text).unwrap();
        let changes = [
            Change::replace(path("a.md"), "old", "new"),
            Change::rename(path("b.md"), path("c.md")),
        ];
        let case = FaultCase { before: &before, changes: &changes, is_atomic: true };
        let rows = ["a.md", "b.md", "b.md"].iter().zip(states);
        let ledger: Vec<_> =
            rows.map(|(path, state)| ((*path).to_owned(), (*state).to_owned())).collect();
        let mut found: Vec<_> = case
            .check_after_kill(&tree(files), &ledger)
            .into_iter()
            .map(|(wrong, _)| wrong)
            .collect();
        found.sort();
        found.dedup();
        assert_eq!(found, wanted);
    }

    #[test]
    fn all_or_nothing_is_right() {
        check(&[("a.md", "old"), ("b.md", "b")], &[], &[]);
        check(&[("a.md", "new"), ("c.md", "b")], &["Done", "Done"], &[]);
    }

    #[test]
    fn every_kind_of_damage_is_seen() {
        use Damage::{Doubled, Litter, Lost, Torn, Untrue};
        let done = ["Done", "Done"];
        check(&[("a.md", "new")], &done, &[Lost]);
        check(&[("a.md", "ne"), ("c.md", "b")], &done, &[Torn]);
        check(&[("a.md", ""), ("c.md", "b")], &done, &[Torn]);
        check(&[("a.md", "new"), ("b.md", "b"), ("c.md", "b")], &done, &[Doubled]);
        check(&[("a.md", "new"), ("c.md", "b"), (".t.tmp", "x")], &done, &[Litter]);
        check(&[("a.md", "old"), ("c.md", "b")], &done, &[Lost]);
        check(&[("a.md", "new"), ("b.md", "b")], &[], &[Torn]);
        check(&[("a.md", "new"), ("b.md", "b")], &["Done", "Open"], &[Lost, Torn, Untrue]);
        check(&[("a.md", "new"), ("c.md", "b")], &["Done", "Done", "Done"], &[Doubled]);
        check(&[("a.md", "new"), ("c.md", "b")], &["Done"], &[Torn, Litter]);
    }
}
