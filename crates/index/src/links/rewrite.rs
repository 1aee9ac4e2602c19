//! What must be written anew so that links lead where they led, when files move or come.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use protocol::NotePath;

use super::graph::Graph;
use super::mention::Mention;
use super::resolver::Resolver;
use super::respell::Moved;
use super::spelled::{Form, Spelled, links};
use super::targets::Targets;

/// All that must be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rewriting {
    /// Files with new bytes, in the order of their paths.
    pub files: Vec<Rewritten>,
    /// Links that would be lost. Nothing should be moved while there are any.
    pub problems: Vec<LinkProblem>,
    /// Files that are not changed, whose links will not lead where they led.
    pub left: Vec<Left>,
}

/// A file that should be rewritten and must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Where it is.
    pub path: NotePath,
    /// How many of its links should differ.
    pub links: usize,
    /// Why it is left as it is.
    pub because: LeftBecause,
}

/// Why a file with links to something that moves is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftBecause {
    /// It is in a folder beside the vault, where nothing is changed.
    BesideVault,
    /// It is not UTF-8 text, so other bytes of it could be lost.
    NotText,
    /// This user may not write it.
    Protected,
}

/// What becomes of one file.
enum Look {
    Rewritten(Rewritten),
    Left(Left),
}

/// A file whose links were written anew; all its other bytes are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// Where it is before the move.
    pub path: NotePath,
    /// Its bytes now.
    pub before: Vec<u8>,
    /// Its bytes then.
    pub after: Vec<u8>,
    /// How many links differ.
    pub links: usize,
}

/// A link that cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkProblem {
    /// The file that holds it.
    pub path: NotePath,
    /// The link's line, counted from 1; 0 when the file as a whole cannot be read.
    pub line: usize,
    /// Why, as the end of a sentence.
    pub why: String,
}

/// Where files will be.
struct Plan<'a> {
    moved: HashMap<&'a NotePath, &'a NotePath>,
    after: Resolver,
}

/// What the links of a file mean before and after.
struct Ways<'a, K> {
    before: Targets<'a, Resolver, K>,
    after: Targets<'a, Resolver, K>,
}

impl Plan<'_> {
    fn then<'a>(&'a self, path: &'a NotePath) -> &'a NotePath {
        self.moved.get(path).copied().unwrap_or(path)
    }
}

impl Graph<'_> {
    /// What to write when each first path of `moves` goes to the second, all at once. A folder
    /// moves as all the files in it.
    #[must_use]
    pub fn after_moving(&self, moves: &[(NotePath, NotePath)]) -> Rewriting {
        let mut after = self.resolver.clone();
        after.remove(moves.iter().map(|(from, _)| from));
        for (_, to) in moves {
            after.add(to.clone());
        }
        let moved = moves.iter().map(|(from, to)| (from, to)).collect();
        let mention = Mention::of(moves.iter().flat_map(|(from, to)| [from, to]));
        self.rewritten(&Plan { moved, after }, &mention)
    }

    /// The new text with which each link that leads to `from`, which the graph holds as if it were there,
    /// leads to the file `to`.
    #[must_use]
    pub fn after_replacing(&self, from: &NotePath, to: &NotePath) -> Rewriting {
        let mut after = self.resolver.clone();
        after.remove(std::iter::once(from));
        let moved = HashMap::from([(from, to)]);
        self.rewritten(&Plan { moved, after }, &Mention::of(std::iter::once(from)))
    }

    /// What to write so that no link that leads to a file is taken over by one of `created`.
    #[must_use]
    pub fn after_creating(&self, created: &[NotePath]) -> Rewriting {
        if !created.iter().any(|path| self.resolver.has_name_of(path)) {
            return Rewriting::default();
        }
        let mut after = self.resolver.clone();
        for path in created {
            after.add(path.clone());
        }
        let mention = Mention::of(created.iter());
        self.rewritten(&Plan { moved: HashMap::new(), after }, &mention)
    }

    fn rewritten(&self, plan: &Plan<'_>, mention: &Mention) -> Rewriting {
        let mut rewriting = Rewriting::default();
        let is_beside = |path: &NotePath| self.read_only.iter().any(|top| path.is_in(top));
        let left = |path, links, because| Left { path, links, because };
        for result in self.each(|source| self.look(source, plan, mention).transpose()) {
            match result {
                Ok(Look::Rewritten(Rewritten { path, links, .. })) if is_beside(&path) => {
                    rewriting.left.push(left(path, links, LeftBecause::BesideVault));
                }
                Err(LinkProblem { path, .. }) if is_beside(&path) => {
                    rewriting.left.push(left(path, 1, LeftBecause::BesideVault));
                }
                Ok(Look::Rewritten(Rewritten { path, links, .. })) if self.is_protected(&path) => {
                    rewriting.left.push(left(path, links, LeftBecause::Protected));
                }
                Ok(Look::Left(left)) => rewriting.left.push(left),
                Ok(Look::Rewritten(file)) => rewriting.files.push(file),
                Err(problem) => rewriting.problems.push(problem),
            }
        }
        rewriting.files.sort_by(|a, b| a.path.cmp(&b.path));
        rewriting.left.sort_by(|a, b| a.path.cmp(&b.path));
        rewriting
    }

    /// Where the links of `source` lead, and where they will.
    fn ways<'a>(
        &'a self,
        source: &NotePath,
        plan: &'a Plan<'_>,
    ) -> Ways<'a, impl Fn(&NotePath) -> bool + use<>> {
        let all = |_: &NotePath| true;
        Ways {
            before: Targets::of(&self.resolver, source, all),
            after: Targets::of(&plan.after, plan.then(source), all),
        }
    }

    /// One file: `None` when nothing in it changes.
    fn look(
        &self,
        source: &NotePath,
        plan: &Plan<'_>,
        mention: &Mention,
    ) -> Result<Option<Look>, LinkProblem> {
        let may_change =
            |bytes: &Cow<'_, [u8]>| plan.moved.contains_key(source) || mention.is_in(bytes);
        let Some(before) = self.bytes(source) else { return Ok(None) };
        if is_wide(&before) {
            return Ok(self.left_as_no_text(source, plan, mention, &before));
        }
        if !may_change(&before) {
            return Ok(None);
        }
        let Ok(found) = links(source, &before) else {
            return Ok(self.left_as_no_text(source, plan, mention, &before));
        };
        let mut edits: Vec<(&Spelled, String)> = Vec::new();
        let mut ways = self.ways(source, plan);
        // What was written of one link is written of each that is spelled like it.
        let mut known: HashMap<(&str, Form, &[u8]), Option<String>> = HashMap::new();
        for link in found.iter().filter(|link| !link.path.is_empty()) {
            let like = before.get(link.at.clone()).unwrap_or_default();
            let new = match known.entry((&link.path, link.form, like)) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(free) => {
                    let new = self.respelled(link, source, plan, like, &mut ways)?;
                    free.insert(new).clone()
                }
            };
            edits.extend(new.map(|new| (link, new)));
        }
        if edits.is_empty() {
            return Ok(None);
        }
        let after = spliced(&before, &edits);
        let links = edits.len();
        self.check(source, plan, &found, &after)?;
        let before = before.into_owned();
        Ok(Some(Look::Rewritten(Rewritten { path: source.clone(), before, after, links })))
    }

    /// A file that is no UTF-8 text, with how many links will not lead where they led, as far as
    /// they can be read.
    fn left_as_no_text(
        &self,
        source: &NotePath,
        plan: &Plan<'_>,
        mention: &Mention,
        bytes: &[u8],
    ) -> Option<Look> {
        let text = ::markdown::lossy_text(bytes);
        let may_change = plan.moved.contains_key(source) || mention.is_in(text.as_bytes());
        let found = may_change.then(|| links(source, text.as_bytes()).ok()).flatten()?;
        let mut ways = self.ways(source, plan);
        let differs = |link: &&Spelled| {
            let respelled = self.respelled(link, source, plan, text.as_bytes(), &mut ways);
            !link.path.is_empty() && !matches!(respelled, Ok(None))
        };
        let links = found.iter().filter(differs).count();
        let left = Left { path: source.clone(), links, because: LeftBecause::NotText };
        (links > 0).then_some(Look::Left(left))
    }

    /// What to write for the target of one link; `None` when it may stay.
    fn respelled(
        &self,
        link: &Spelled,
        source: &NotePath,
        plan: &Plan<'_>,
        like: &[u8],
        ways: &mut Ways<'_, impl Fn(&NotePath) -> bool>,
    ) -> Result<Option<String>, LinkProblem> {
        let Some(target) = ways.before.first(link) else { return Ok(None) };
        let moved = Moved {
            link,
            source: (source, plan.then(source)),
            target: (target, plan.then(target)),
            format: self.format,
        };
        if moved.holds(ways.after.first(link)) {
            return Ok(None);
        }
        let like = std::str::from_utf8(like).unwrap_or_default();
        let path = moved.path(&plan.after);
        let new = path.and_then(|path| link.form.spell(&path, like));
        new.map(Some).ok_or_else(|| LinkProblem {
            path: source.clone(),
            line: link.line,
            why: format!(
                "a link to `{target}` stands there, and a link of its kind cannot name `{}`",
                plan.then(target)
            ),
        })
    }

    /// Reads the new bytes as anyone would: every link must lead where it led.
    fn check(
        &self,
        source: &NotePath,
        plan: &Plan<'_>,
        before: &[Spelled],
        after: &[u8],
    ) -> Result<(), LinkProblem> {
        let again = links(source, after).unwrap_or_default();
        let lost = |link: &Spelled| LinkProblem {
            path: source.clone(),
            line: link.line,
            why: format!("the link to `{}` there cannot be written anew", link.path),
        };
        let mut ways = self.ways(source, plan);
        for (at, link) in before.iter().enumerate() {
            let new = again.get(at).ok_or_else(|| lost(link))?;
            let leads = ways.before.first(link).map(|to| plan.then(to));
            let now = ways.after.first(new);
            let is_kept = link.path.is_empty() || leads.is_none() || leads == now;
            if !is_kept || link.subpath != new.subpath || link.form != new.form {
                return Err(lost(link));
            }
        }
        if again.len() == before.len() {
            Ok(())
        } else {
            before.first().map_or(Ok(()), |link| Err(lost(link)))
        }
    }
}

/// Whether a mark says that the signs are two bytes each: UTF-16.
fn is_wide(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
}

/// `bytes` with new targets; the links are in order.
fn spliced(bytes: &[u8], edits: &[(&Spelled, String)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16 * edits.len());
    let mut at = 0;
    for (link, new) in edits {
        out.extend_from_slice(bytes.get(at..link.at.start).unwrap_or_default());
        out.extend_from_slice(new.as_bytes());
        at = link.at.end;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out
}
