//! Rewrites links so that they keep their targets when files move or are created.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use markdown::{LinkText, TargetForm, links_in_file};
use protocol::NotePath;

use super::graph::LinkGraph;
use super::prefilter::LinkPrefilter;
use super::resolver::LinkResolver;
use super::rewrite_target::{MovedLink, resolves_relative};
use super::targets::{AllTargetCache, AllTargets, TargetCache};

/// All that must be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkRewrite {
    /// Files with new bytes, in the order of their paths.
    pub files: Vec<RewrittenFile>,
    /// Links that would be lost. Nothing should be moved while there are any.
    pub problems: Vec<LinkProblem>,
    /// Files that are not changed, whose links will not lead where they led.
    pub skipped: Vec<SkippedFile>,
}

/// A file that should be rewritten and must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path before the move.
    pub path: NotePath,
    /// How many of its links should differ.
    pub links: usize,
    /// Why it is left as it is.
    pub reason: SkipReason,
}

/// Why a file with links to something that moves is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It is in an additional folder, where nothing is changed.
    OutsideVault,
    /// It is not UTF-8 text, so other bytes of it could be lost.
    NotText,
    /// This user may not write it.
    Protected,
}

enum FileRewrite {
    Rewritten(RewrittenFile),
    Left(SkippedFile),
}

/// A file whose links were rewritten; all its other bytes are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewrittenFile {
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

/// Where the files of a graph were at an earlier time.
#[derive(Debug, Clone, Default)]
pub struct FormerPaths {
    /// The former path of each file that had another one, and the present one.
    pub moves: HashMap<NotePath, NotePath>,
    /// The present paths of files that were not there.
    pub absent: HashSet<NotePath>,
    /// The former paths of files of which it is not known where they are, if anywhere. A link that led to one stays as
    /// it is.
    pub lost: HashSet<NotePath>,
    /// The former paths of files of which it is known where they were, also of those that did not move.
    pub known: HashSet<NotePath>,
    /// The former paths of files that others moved. Nobody saw which other files went with them. So a link there that
    /// leads to a file stays as it is, unless the file that it meant is `known`.
    pub by_others: HashSet<NotePath>,
}

/// Where files will be.
struct MovePlan<'a> {
    moved: HashMap<&'a NotePath, &'a NotePath>,
    before: AllTargets<'a>,
    after: AllTargets<'a>,
    affected: AffectedLinks,
    /// For texts that were written before the files moved.
    former: Option<&'a FormerPaths>,
}

/// The links that must lead to the same file afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AffectedLinks {
    /// All that lead to a file.
    All,
    /// Those that would lead to no file. Others may lead to another file than before.
    Broken,
    /// The same, and those to files of which it is known where they were.
    BrokenOrKnown,
}

/// The targets of the links of a file before and after.
struct TargetsBeforeAndAfter<'t, 'n> {
    source: &'t NotePath,
    affected: AffectedLinks,
    before: AllTargetCache<'t, 'n>,
    after: AllTargetCache<'t, 'n>,
}

impl<'n> TargetsBeforeAndAfter<'_, 'n> {
    /// The file that `link` leads to before; `None` when there is none or the link is not affected.
    fn affected_target(&mut self, link: &LinkText, plan: &MovePlan<'_>) -> Option<&'n NotePath> {
        let target = self.before.first(link)?;
        if plan.former.is_some_and(|former| former.lost.contains(target)) {
            return None;
        }
        let is_known = || plan.former.is_some_and(|former| former.known.contains(target));
        let is_affected = match self.affected {
            AffectedLinks::All => true,
            AffectedLinks::Broken => self.after.first(link).is_none(),
            AffectedLinks::BrokenOrKnown => is_known() || self.after.first(link).is_none(),
        };
        let is_certain = plan.former.is_none() || !self.may_mean_another(link, target, plan);
        (is_affected && is_certain).then_some(target)
    }

    /// Whether a link by name to a file that had this path leads to another file now that could have been meant before: the
    /// file at this path may be newer than the text.
    fn may_mean_another(&mut self, link: &LinkText, then: &NotePath, plan: &MovePlan<'_>) -> bool {
        let is_relative =
            link.form.is_markdown() && resolves_relative(self.source, &link.path, then);
        if link.path.contains('/') || is_relative {
            return false;
        }
        let Some(now) = self.after.first(link) else { return false };
        now != plan.path_after(then)
            && !plan.moved.contains_key(now)
            && self.before.first_few(link).contains(now)
    }
}

impl<'n> MovePlan<'n> {
    fn path_after<'a>(&'a self, path: &'a NotePath) -> &'a NotePath {
        self.moved.get(path).copied().unwrap_or(path)
    }

    /// Where the links of `source` lead, and where they will.
    fn link_targets<'t>(&'t self, source: &'t NotePath) -> TargetsBeforeAndAfter<'t, 'n> {
        let is_by_others = self.former.is_some_and(|former| former.by_others.contains(source));
        TargetsBeforeAndAfter {
            source,
            affected: if is_by_others { AffectedLinks::BrokenOrKnown } else { self.affected },
            before: TargetCache::for_note(&self.before, source),
            after: TargetCache::for_note(&self.after, self.path_after(source)),
        }
    }
}

impl LinkGraph<'_> {
    /// The rewrites when each first path of `moves` goes to the second, all at once. A folder moves
    /// as all the files in it.
    #[must_use]
    pub fn after_moving(&self, moves: &[(NotePath, NotePath)]) -> LinkRewrite {
        let mut after = self.resolver.clone();
        after.remove(moves.iter().map(|(from, _)| from));
        after.add_all(moves.iter().map(|(_, to)| to.clone()));
        let moved = moves.iter().map(|(from, to)| (from, to)).collect();
        let mention = LinkPrefilter::for_files(moves.iter().flat_map(|(from, to)| [from, to]));
        self.rewrite_all(&self.move_plan(moved, &after, AffectedLinks::All), &mention)
    }

    /// The new text with which each broken link that would lead to `from` leads to the file `to`. The
    /// graph holds `from` as if it were there; a link that leads to a file without it is left as it is.
    #[must_use]
    pub fn after_replacing(&self, from: &NotePath, to: &NotePath) -> LinkRewrite {
        let mut after = self.resolver.clone();
        after.remove(std::iter::once(from));
        let moved = HashMap::from([(from, to)]);
        self.rewrite_all(
            &self.move_plan(moved, &after, AffectedLinks::Broken),
            &LinkPrefilter::for_files(std::iter::once(from)),
        )
    }

    /// The rewrites of texts of `sources` that were written before files moved, so that their links lead where they led
    /// then. The files of the graph are at their present paths; `sources` and the files of the result are named by their
    /// former paths.
    #[must_use]
    pub fn after_restoring(
        &self,
        sources: impl IntoIterator<Item = NotePath>,
        former: &FormerPaths,
    ) -> LinkRewrite {
        let then = self.with_former_paths(former).with_sources(sources);
        let mention =
            LinkPrefilter::for_files(former.moves.iter().flat_map(|(from, to)| [from, to]));
        let plan = MovePlan {
            former: Some(former),
            ..then.move_plan(former.moves.iter().collect(), &self.resolver, AffectedLinks::All)
        };
        then.rewrite_all(&plan, &mention)
    }

    /// The rewrites that keep links to existing files from being taken over by one of `created`.
    #[must_use]
    pub fn after_creating(&self, created: &[NotePath]) -> LinkRewrite {
        if !created.iter().any(|path| self.resolver.has_name_of(path)) {
            return LinkRewrite::default();
        }
        let mut after = self.resolver.clone();
        after.add_all(created.iter().cloned());
        let mention = LinkPrefilter::for_files(created.iter());
        let plan = self.move_plan(HashMap::new(), &after, AffectedLinks::All);
        self.rewrite_all(&plan, &mention)
    }

    fn move_plan<'p>(
        &'p self,
        moved: HashMap<&'p NotePath, &'p NotePath>,
        after: &'p LinkResolver,
        affected: AffectedLinks,
    ) -> MovePlan<'p> {
        let (before, after) = (AllTargets::among_all(&self.resolver), AllTargets::among_all(after));
        MovePlan { moved, before, after, affected, former: None }
    }

    fn rewrite_all(&self, plan: &MovePlan<'_>, prefilter: &LinkPrefilter) -> LinkRewrite {
        let mut rewriting = LinkRewrite::default();
        let is_read_only = |path: &NotePath| self.read_only.iter().any(|top| path.is_in(top));
        let left = |path, links, because| SkippedFile { path, links, reason: because };
        for result in
            self.map_files(|source| self.rewrite_file(source, plan, prefilter).transpose())
        {
            match result {
                Ok(FileRewrite::Rewritten(RewrittenFile { path, links, .. }))
                    if is_read_only(&path) =>
                {
                    rewriting.skipped.push(left(path, links, SkipReason::OutsideVault));
                }
                Err(LinkProblem { path, .. }) if is_read_only(&path) => {
                    rewriting.skipped.push(left(path, 1, SkipReason::OutsideVault));
                }
                Ok(FileRewrite::Rewritten(RewrittenFile { path, links, .. }))
                    if self.is_protected(&path) =>
                {
                    rewriting.skipped.push(left(path, links, SkipReason::Protected));
                }
                Ok(FileRewrite::Left(left)) => rewriting.skipped.push(left),
                Ok(FileRewrite::Rewritten(file)) => rewriting.files.push(file),
                Err(problem) => rewriting.problems.push(problem),
            }
        }
        rewriting.files.sort_by(|a, b| a.path.cmp(&b.path));
        rewriting.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        rewriting
    }

    /// One file: `None` when nothing in it changes.
    fn rewrite_file(
        &self,
        source: &NotePath,
        plan: &MovePlan<'_>,
        prefilter: &LinkPrefilter,
    ) -> Result<Option<FileRewrite>, LinkProblem> {
        let may_change =
            |bytes: &Cow<'_, [u8]>| plan.moved.contains_key(source) || prefilter.may_match(bytes);
        let Some(before) = self.bytes(source) else { return Ok(None) };
        if is_utf16(&before) {
            return Ok(self.skip_non_text(source, plan, prefilter, &before));
        }
        if !may_change(&before) {
            return Ok(None);
        }
        let Ok(found) = links_in_file(source, &before) else {
            return Ok(self.skip_non_text(source, plan, prefilter, &before));
        };
        let mut edits: Vec<(&LinkText, String)> = Vec::new();
        let mut ways = plan.link_targets(source);
        // The rewrite of one link is used for each link with the same spelling.
        let mut known: HashMap<(&str, TargetForm, &[u8]), Option<String>> = HashMap::new();
        for link in found.iter().filter(|link| !link.path.is_empty()) {
            let like = before.get(link.at.clone()).unwrap_or_default();
            let new = match known.entry((&link.path, link.form, like)) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(free) => {
                    let new = self.new_target(link, source, plan, like, &mut ways)?;
                    free.insert(new).clone()
                }
            };
            edits.extend(new.map(|new| (link, new)));
        }
        if edits.is_empty() {
            return Ok(None);
        }
        let after = splice_targets(&before, &edits);
        let links = edits.len();
        self.verify_rewritten(source, plan, &found, &after)?;
        let before = before.into_owned();
        Ok(Some(FileRewrite::Rewritten(RewrittenFile {
            path: source.clone(),
            before,
            after,
            links,
        })))
    }

    /// A file that is no UTF-8 text, with how many links will not lead where they led, as far as
    /// they can be read.
    fn skip_non_text(
        &self,
        source: &NotePath,
        plan: &MovePlan<'_>,
        prefilter: &LinkPrefilter,
        bytes: &[u8],
    ) -> Option<FileRewrite> {
        let text = ::markdown::lossy_text(bytes);
        let may_change = plan.moved.contains_key(source) || prefilter.may_match(text.as_bytes());
        let found = may_change.then(|| links_in_file(source, text.as_bytes()).ok()).flatten()?;
        let mut ways = plan.link_targets(source);
        let differs = |link: &&LinkText| {
            let respelled = self.new_target(link, source, plan, text.as_bytes(), &mut ways);
            !link.path.is_empty() && !matches!(respelled, Ok(None))
        };
        let links = found.iter().filter(differs).count();
        let left = SkippedFile { path: source.clone(), links, reason: SkipReason::NotText };
        (links > 0).then_some(FileRewrite::Left(left))
    }

    /// The new target of one link; `None` when it may stay.
    fn new_target(
        &self,
        link: &LinkText,
        source: &NotePath,
        plan: &MovePlan<'_>,
        like: &[u8],
        ways: &mut TargetsBeforeAndAfter<'_, '_>,
    ) -> Result<Option<String>, LinkProblem> {
        let Some(target) = ways.affected_target(link, plan) else { return Ok(None) };
        let moved = MovedLink {
            link,
            source: (source, plan.path_after(source)),
            target: (target, plan.path_after(target)),
            format: self.format,
        };
        if moved.still_resolves(ways.after.first(link)) {
            return Ok(None);
        }
        let like = std::str::from_utf8(like).unwrap_or_default();
        let path = moved.new_path(&plan.after);
        let new = path.and_then(|path| link.form.write_target(&path, like));
        new.map(Some).ok_or_else(|| LinkProblem {
            path: source.clone(),
            line: link.line,
            why: format!(
                "a link to `{target}` stands there, and a link of its kind cannot name `{}`",
                plan.path_after(target)
            ),
        })
    }

    /// Reads the new bytes as anyone would: every affected link must lead where it led.
    fn verify_rewritten(
        &self,
        source: &NotePath,
        plan: &MovePlan<'_>,
        before: &[LinkText],
        after: &[u8],
    ) -> Result<(), LinkProblem> {
        let again = links_in_file(source, after).unwrap_or_default();
        let lost = |link: &LinkText| LinkProblem {
            path: source.clone(),
            line: link.line,
            why: format!("the link to `{}` there cannot be rewritten", link.path),
        };
        let mut ways = plan.link_targets(source);
        for (at, link) in before.iter().enumerate() {
            let new = again.get(at).ok_or_else(|| lost(link))?;
            let leads = ways.affected_target(link, plan).map(|to| plan.path_after(to));
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
fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
}

/// `bytes` with new targets; the links are in order.
fn splice_targets(bytes: &[u8], edits: &[(&LinkText, String)]) -> Vec<u8> {
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
