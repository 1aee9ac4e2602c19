//! What is wrong after a deed was cut: the notes and what is listed must tell the same story.

use super::child::{Moment, Said};
use super::deed::Way;
use crate::faults::tree::{Node, Tree};
use crate::faults::verdict::{Finding, Wrong};

/// What there may be.
#[derive(Debug, Default)]
pub(super) struct Case {
    /// Before the deed.
    pub(super) before: Moment,
    /// After it.
    pub(super) after: Moment,
    /// The notes once they are taken back.
    pub(super) changed_back: Tree,
    pub(super) way: Way,
}

impl Case {
    /// Whether the deed does what it shall when nothing disturbs it.
    pub(super) fn judge_undisturbed(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let undone = match self.way {
            Way::Undo => &self.after,
            Way::Redo => &self.before,
        };
        if notes(&undone.tree) != notes(&self.changed_back) {
            findings.push((Wrong::Lost, format!("taken back it is {:?}", undone.tree)));
        }
        if self.before.listed == self.after.listed || self.before.tree == self.after.tree {
            findings.push((Wrong::Untrue, "nothing is done".to_owned()));
        }
        findings
    }

    /// After a kill at `site`: `found` in the moment, `said` by the application started again,
    /// which then did the deed again, and its opposite.
    pub(super) fn judge(&self, site: &str, found: &Tree, said: &Said) -> Vec<Finding> {
        let mut findings = self.in_the_moment(found);
        let [start, again, back] = said.moments.as_slice() else {
            findings.push((Wrong::Untrue, format!("{} moments", said.moments.len())));
            return findings;
        };
        let is_done = start.tree == self.after.tree;
        if !is_done && start.tree != self.before.tree {
            findings.push((Wrong::Torn, format!("at the start: {:?}", start.tree)));
            return findings;
        }
        // Files are touched only after the intents of the whole set are durable.
        let is_promised = site == "store.intend.after" || site.starts_with("vault.");
        let promised = is_promised && site != "vault.intend.before";
        if promised && !is_done {
            findings.push((Wrong::Lost, "it was promised and did not happen".to_owned()));
        }
        let expected = if is_done { &self.after } else { &self.before };
        if start.listed != expected.listed {
            findings.push((Wrong::Untrue, format!("listed at the start: {:?}", start.listed)));
        }
        if again.tree != self.after.tree || again.listed != self.after.listed {
            findings.push((Wrong::Doubled, format!("done again: {again:?}")));
        }
        if is_done != again.refused.is_some() {
            findings.push((Wrong::Untrue, format!("told when done again: {:?}", again.refused)));
        }
        if notes(&back.tree) != notes(&self.before.tree) || back.refused.is_some() {
            findings.push((Wrong::Lost, format!("after the opposite: {back:?}")));
        }
        findings
    }

    /// A note that is there before and after is there, whole.
    fn in_the_moment(&self, found: &Tree) -> Vec<Finding> {
        let mut findings = Vec::new();
        for path in self.before.tree.0.keys() {
            let (old, new) = (self.before.tree.file(path), self.after.tree.file(path));
            let (Some(old), Some(new)) = (old, new) else { continue };
            match found.file(path) {
                Some(bytes) if bytes == old || bytes == new => {}
                Some(_) => findings.push((Wrong::Torn, format!("{path} at the kill"))),
                None => findings.push((Wrong::Lost, format!("{path} at the kill"))),
            }
        }
        findings
    }
}

/// The files that a user sees: what is taken back leaves copies in the trash, and folders.
fn notes(tree: &Tree) -> Vec<(&str, &[u8])> {
    let seen = tree.0.iter().filter(|(path, _)| !path.starts_with('.'));
    seen.filter_map(|(path, node)| match node {
        Node::File(bytes) => Some((path.as_str(), bytes.as_slice())),
        Node::Folder => None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use protocol::applied::{AppliedBy, Standing};

    use super::*;

    fn moment(text: &str, standing: Standing, refused: Option<&str>) -> Moment {
        let mut tree = Tree::default();
        tree.put("a.md", text);
        let listed = vec![(AppliedBy::Assistant, vec![("a.md".to_owned(), standing)])];
        Moment { tree, listed, refused: refused.map(str::to_owned) }
    }

    const STANDS: Standing = Standing::Stands;
    const UNDONE: Standing = Standing::Undone;

    #[track_caller]
    fn check(site: &str, moments: [(&str, Standing, Option<&str>); 3], wanted: &[Wrong]) {
        let case = Case {
            before: moment("changed", STANDS, None),
            after: moment("first", UNDONE, None),
            ..Case::default()
        };
        let moments = moments.map(|(text, standing, refused)| moment(text, standing, refused));
        let found = moments[0].tree.clone();
        let said = Said { moments: moments.into(), points: 0 };
        let wrong = case.judge(site, &found, &said).into_iter().map(|(wrong, _)| wrong);
        assert_eq!(wrong.collect::<Vec<_>>(), wanted);
    }

    const DONE: (&str, Standing, Option<&str>) = ("first", UNDONE, None);
    const REFUSED: (&str, Standing, Option<&str>) = ("first", UNDONE, Some("taken back already"));
    const AS_BEFORE: (&str, Standing, Option<&str>) = ("changed", STANDS, None);

    #[test]
    fn done_or_not_done_is_right() {
        check("store.begin_own_set.after", [AS_BEFORE, DONE, AS_BEFORE], &[]);
        check("vault.rename.before", [DONE, REFUSED, AS_BEFORE], &[]);
    }

    #[test]
    fn every_kind_of_damage_is_seen() {
        use Wrong::{Doubled, Lost, Torn, Untrue};
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
