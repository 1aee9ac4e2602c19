//! Undoing a move, or accepting one that was planned earlier, also repairs the links that were added since.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use index::UserIndex;
use index::links::{LinkGraph, LinkRewrite, RewrittenFile};
use protocol::{CallId, Change, ChangeAction, ChangeSet, FolderContents, NotePath, Renames};
use vault::merge::{hunks, merge};
use vault::{PlannedChange, Vault, VaultError};

use crate::support::clock::new_id;

/// Changes with what keeps the links that lead to what moves in them.
pub(crate) struct LinkedChanges {
    pub(crate) changes: ChangeSet,
    /// The paths of the notes with such links.
    pub(crate) linking: Vec<NotePath>,
    /// The paths of the notes with such links that are not rewritten; `None` where no links are kept.
    left: Option<Vec<NotePath>>,
}

impl LinkedChanges {
    fn nothing(changes: ChangeSet) -> Self {
        Self { changes, linking: Vec::new(), left: None }
    }

    /// Whether the links in a note lead where they led.
    pub(crate) fn keep_links_of(&self, note: &NotePath) -> bool {
        self.left.as_ref().is_some_and(|left| !left.contains(note))
    }
}

/// `changes` with what keeps every link that leads to what moves in it. Where the links cannot all be kept, or not be
/// looked at, the changes stay as they are: the move counts more. The links in the notes at the paths of
/// `as_planned` name what moves by its new places, and stay as they are or are planned.
pub(crate) fn with_link_updates(
    vault: &Vault,
    changes: ChangeSet,
    as_planned: &HashSet<NotePath>,
) -> LinkedChanges {
    if !changes.is_unit() {
        return LinkedChanges::nothing(changes);
    }
    let renames = changes.renames();
    let contents = changes.filter(|change| !change.is_rename());
    let whole = vault.unfiltered();
    let Some(graph) = link_graph(&whole, &contents) else { return LinkedChanges::nothing(changes) };
    let rewriting = rewrite_after(&graph, &renames);
    if !rewriting.problems.is_empty() {
        return LinkedChanges::nothing(changes);
    }
    let left = rewriting.skipped.into_iter().map(|file| file.path).collect();
    let mut linking = Vec::new();
    let mut follow = Vec::new();
    let is_rewritten = |file: &RewrittenFile| !as_planned.contains(&file.path);
    for file in rewriting.files.into_iter().filter(is_rewritten) {
        let after = match vault.read_bytes(&file.path) {
            Ok(now) => with_planned_lines(&now, &file.path, &file.before, file.after),
            Err(_) => file.after,
        };
        if after != file.before {
            // A later plan names files where the renames have put them.
            follow.push(Change::replace(renames.forward(&file.path), file.before, after));
            linking.push(file.path);
        }
    }
    let mut whole_set = changes.clone();
    match whole_set.extend(follow.into_iter().collect()) {
        Ok(()) => LinkedChanges { changes: whole_set, linking, left: Some(left) },
        Err(_) => LinkedChanges::nothing(changes),
    }
}

/// The links of all notes as they are with these contents; `None` where they cannot be looked at.
pub(crate) fn link_graph<'a>(whole: &'a Vault, contents: &'a ChangeSet) -> Option<LinkGraph<'a>> {
    let graph = LinkGraph::from_vault(whole, contents);
    let graph = graph.inspect_err(|error| {
        tracing::warn!(%error, "the links to what moves were not looked at");
    });
    graph.ok()
}

/// The new texts that keep the links when the files of the graph go where these renames lead.
fn rewrite_after(graph: &LinkGraph<'_>, renames: &Renames) -> LinkRewrite {
    graph.after_moving(&moved_files(graph, renames))
}

/// The files of the graph that these renames move, and where each goes.
fn moved_files(graph: &LinkGraph<'_>, renames: &Renames) -> Vec<(NotePath, NotePath)> {
    let went = |file: &NotePath| {
        let to = renames.forward(file);
        (to.as_str() != file.as_str()).then(|| (file.clone(), to))
    };
    graph.files().iter().filter_map(went).collect()
}

/// The rewritten text of a note, but the lines that the plan writes into its text of `now` stay as planned: their links
/// name the notes by the places to which the moves lead. Another note may have such a place now.
fn with_planned_lines(now: &[u8], path: &NotePath, planned: &[u8], rewritten: Vec<u8>) -> Vec<u8> {
    if !path.is_markdown() {
        return rewritten;
    }
    join_lines(now, (planned, &rewritten), Lines::Planned).unwrap_or(rewritten)
}

/// The planned text of a Markdown note in which those lines that the plan writes into its text of `now` are as in the
/// rewritten text; `None` where the two have not the same number of lines.
pub(crate) fn with_rewritten_lines(
    now: &[u8],
    planned: &[u8],
    rewritten: &[u8],
) -> Option<Vec<u8>> {
    join_lines(now, (planned, rewritten), Lines::Rewritten)
}

/// A version of a text of which the lines are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Planned,
    Rewritten,
}

/// Takes the lines that the plan writes into the text of `now` from the `written` version, and all other lines from the
/// other one.
fn join_lines(now: &[u8], (planned, rewritten): (&[u8], &[u8]), written: Lines) -> Option<Vec<u8>> {
    let split = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n');
    if split(planned).count() != split(rewritten).count() {
        return None;
    }
    let of_plan: HashSet<usize> =
        hunks(now, planned).into_iter().flat_map(|hunk| hunk.after).collect();
    let pairs = split(planned).zip(split(rewritten)).enumerate();
    let taken = pairs.map(|(at, (old, new))| {
        let from_plan = of_plan.contains(&at) == (written == Lines::Planned);
        if from_plan { old } else { new }
    });
    Some(taken.collect::<Vec<_>>().concat())
}

/// Takes those deletions out of `changes` that would be refused, because the note or the folder is not as it was
/// planned: what stays keeps its links to what moves. Returns them with the reasons.
pub(crate) fn take_stale_deletions(
    vault: &Vault,
    changes: &mut Vec<PlannedChange>,
) -> Vec<(NotePath, VaultError)> {
    let mut refused = Vec::new();
    changes.retain(|planned| {
        // A unit is applied or refused as a whole.
        if planned.unit.is_some() {
            return true;
        }
        let path = &planned.change.path;
        let why = match &planned.change.act {
            ChangeAction::Trash { before } if is_other_text(vault, path, before) => {
                VaultError::Stale { path: path.clone() }
            }
            ChangeAction::TrashFolder { holds: Some(holds) }
                if has_new_files(vault, path, holds) =>
            {
                VaultError::FolderChanged { path: path.clone() }
            }
            _ => return true,
        };
        refused.push((path.clone(), why));
        false
    });
    refused
}

fn is_other_text(vault: &Vault, note: &NotePath, planned: &[u8]) -> bool {
    vault.read_bytes(note).is_ok_and(|now| now != planned)
}

fn has_new_files(vault: &Vault, folder: &NotePath, planned: &FolderContents) -> bool {
    let Ok(now) = vault.folder_contents(folder) else { return false };
    let planned: HashSet<&[u8]> = lines(planned.as_bytes()).collect();
    lines(now.as_bytes()).any(|line| !planned.contains(line))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n')
}

/// `changes` with what keeps the links to what moves that somebody added since the plan, in notes that it changes and
/// in others. Each rewritten note gets the unit of the moves that its text is made for. If these are of several
/// units, or the note has one already, the units become one: the text is right only after all of them. Where the
/// links cannot be looked at, the changes stay as they are. An `index` that is up to date saves opening every note.
pub(crate) fn with_links_since_plan(
    vault: &Vault,
    index: Option<&UserIndex>,
    mut changes: Vec<PlannedChange>,
) -> Vec<PlannedChange> {
    let Some(at) = changes.iter().position(|planned| planned.change.is_rename()) else {
        return changes;
    };
    for planned in changes.iter_mut().filter(|planned| planned.change.is_rename()) {
        planned.unit.get_or_insert_with(new_id);
    }
    let accepted: ChangeSet = changes.iter().map(|planned| planned.change.clone()).collect();
    let whole = vault.unfiltered();
    // A note that goes to the trash keeps its links: its folder goes only as the plan saw it.
    let contents = present_contents(&whole, &accepted);
    let Some(graph) = link_graph(&whole, &contents) else { return changes };
    let moves = moved_files(&graph, &accepted.renames());
    let graph = match index.and_then(|index| index.sources_of_links(&moves)) {
        // The index has the texts on disk, and not those of the plan.
        Some(sources) => {
            let planned = contents.changes().map(|change| change.path.clone());
            graph.with_sources(sources.into_iter().chain(planned))
        }
        None => graph,
    };
    let rewriting = graph.after_moving(&moves);
    let (mut joined, mut added) = (JoinedUnits::default(), Vec::new());
    for (file, mut units) in with_needed_units(graph, &changes, rewriting.files) {
        let Some(change) = change_of_links(&accepted, &contents, file) else { continue };
        let is_of_note = |planned: &&mut PlannedChange| {
            !planned.change.is_rename() && planned.change.path == change.path
        };
        if let Some(planned) = changes.iter_mut().find(is_of_note) {
            units.extend(planned.unit.take());
            planned.unit = units.first().cloned();
            planned.change = change;
        } else {
            let is_of_first = |planned: &&PlannedChange| {
                planned.change.is_rename() && planned.unit.as_ref() == units.first()
            };
            let Some(first) = changes.iter().find(is_of_first) else { continue };
            added.push(PlannedChange { change, ..first.clone() });
        }
        joined.join(units);
    }
    changes.splice(at..at, added);
    joined.unify(&mut changes);
    changes
}

/// The accepted contents. A change of a note that is not as it was when it was planned is made on its present text.
fn present_contents(vault: &Vault, accepted: &ChangeSet) -> ChangeSet {
    let on_present_text = |change: &Change| {
        let ChangeAction::Replace { before, after } = &change.act else { return None };
        let now = vault.read_bytes(&change.path).ok()?;
        let merged = merge(before, &now, after).without_shared_changes()?;
        Some(Change::replace(change.path.clone(), now, merged))
    };
    let contents = accepted.changes().filter(|change| !change.is_rename());
    contents.map(|change| on_present_text(change).unwrap_or_else(|| change.clone())).collect()
}

/// The change that writes the links of a note, and whatever else is planned for it. `None` where nobody has added
/// anything since the plan: then the note becomes as it was reviewed. A planned canvas, where no lines tell the links
/// of the plan from others, is left to the plan.
fn change_of_links(
    accepted: &ChangeSet,
    contents: &ChangeSet,
    file: RewrittenFile,
) -> Option<Change> {
    let Some(planned) = contents.changes().find(|change| change.path == file.path) else {
        return Some(Change::replace(file.path, file.before, file.after));
    };
    if !file.path.is_markdown() || accepted.changes().any(|change| change == planned) {
        return None;
    }
    let now = planned.before()?;
    let after = with_planned_lines(now, &file.path, &file.before, file.after);
    (after != file.before).then(|| Change::replace(file.path, now, after))
}

/// The new texts, each with the units whose moves it is made for: those that move the note, or a file that it links
/// to. If the text would differ without the rest of the moves, because one of them frees or takes a name, that is all
/// units.
fn with_needed_units(
    graph: LinkGraph<'_>,
    changes: &[PlannedChange],
    files: Vec<RewrittenFile>,
) -> Vec<(RewrittenFile, BTreeSet<CallId>)> {
    let graph = graph.with_sources(files.iter().map(|file| file.path.clone()));
    let mut moves: BTreeMap<CallId, Renames> = BTreeMap::new();
    for planned in changes {
        if let Some((unit, target)) = planned.unit.as_ref().zip(planned.change.target()) {
            let renames = moves.entry(unit.clone()).or_default();
            renames.push(planned.change.path.clone(), target.clone());
        }
    }
    let all: BTreeSet<CallId> = moves.keys().cloned().collect();
    let mut rewritings: BTreeMap<BTreeSet<CallId>, LinkRewrite> = BTreeMap::new();
    let with_units = |file: RewrittenFile| {
        let linked = graph.outgoing_links(&file.path).into_iter();
        let linked = linked.filter_map(|link| link.targets.into_iter().next());
        let places: Vec<NotePath> = linked.chain([file.path.clone()]).collect();
        let moving = moves.iter().filter(|(_, renames)| {
            places.iter().any(|place| renames.forward(place).as_str() != place.as_str())
        });
        let units: BTreeSet<CallId> = moving.map(|(unit, _)| unit.clone()).collect();
        if units == all {
            return (file, units);
        }
        let rewriting = rewritings
            .entry(units.clone())
            .or_insert_with_key(|units| rewrite_after(&graph, &renames_of(changes, units)));
        let is_same = rewriting.files.contains(&file);
        (file, if is_same { units } else { all.clone() })
    };
    files.into_iter().map(with_units).collect()
}

/// The renames of some units, in the order in which they happen.
fn renames_of(changes: &[PlannedChange], units: &BTreeSet<CallId>) -> Renames {
    let is_of_one =
        |planned: &&PlannedChange| planned.unit.as_ref().is_some_and(|unit| units.contains(unit));
    let changes = changes.iter().filter(is_of_one).map(|planned| &planned.change);
    changes.filter_map(|change| Some((change.path.clone(), change.target()?.clone()))).collect()
}

/// Units that happen all or not at all.
#[derive(Default)]
struct JoinedUnits(Vec<BTreeSet<CallId>>);

impl JoinedUnits {
    /// Joins these units, and all that one of them was joined with.
    fn join(&mut self, units: BTreeSet<CallId>) {
        let (apart, with_one): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|group| group.is_disjoint(&units));
        self.0 = apart;
        self.0.push(with_one.into_iter().flatten().chain(units).collect());
    }

    /// Gives all changes of joined units the first of their ids.
    fn unify(&self, changes: &mut [PlannedChange]) {
        for planned in changes {
            let Some(unit) = &planned.unit else { continue };
            if let Some(joined) = self.0.iter().find(|joined| joined.contains(unit)) {
                planned.unit = joined.first().cloned();
            }
        }
    }
}
