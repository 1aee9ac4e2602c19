//! Carries out the user's decisions about pending changes: whole notes and single hunks.
//!
//! A decision names the text that the user saw and is refused if it changed since. Decisions about hunks are stored
//! before anything is applied.

use std::collections::{BTreeMap, BTreeSet};

use protocol::job::JobKind;
use protocol::request::{DecideReview, HunkDecision, NoteDecision, ReviewDecision};
use protocol::{CallId, ChangeKind, ConversationId, NotePath, UserError};
use store::{OpenChangeSet, PartialDecision, PlannedChangeRow, Store};
use vault::{ChangeBatch, PlannedChange, VaultError};

use crate::App;
use crate::adapters::ledger::StoreLedger;
use crate::changes::NoteChanges;
use crate::changes::hunk_decisions::{already_decided, split_row};
use crate::changes::link_repair::{take_stale_deletions, with_links_since_plan};
use crate::changes::review::{self, RowsByNote, change_fingerprint, rows_by_note};
use crate::events::domain_event::DomainEvent;
use crate::support::blocking::run_blocking;
use crate::support::clock::now;
use crate::user_texts;

impl App {
    /// Applies and rejects pending changes. A note that cannot be changed stays pending and is told
    /// as the error; the others are done.
    pub async fn decide_review(&self, request: &DecideReview) -> Result<(), UserError> {
        let open = self.session().await?;
        let conversation = open.store.conversation_of_change_set(&request.review).await?;
        let Some(conversation) = conversation else {
            return Err(UserError::other(user_texts::changes_already_reviewed()));
        };
        let _alone = open.changes.lock_changes().await?;
        if open.chats.service.is_working(&conversation) {
            return Err(UserError::other(user_texts::review_before_answer_end()));
        }
        let decided = apply_decisions(&open.changes, &conversation, request).await?;
        open.changes.emit(DomainEvent::Decided(conversation));
        open.changes.emit(DomainEvent::Applied(vec![request.review.clone()]));
        review::failed_notes_error(&decided).map_or(Ok(()), Err)
    }
}

/// The accepted part of one planned row.
enum AcceptedPortion {
    /// The row as it was planned.
    Whole,
    /// Some of it; as stored while it is carried out.
    Parts(Box<PartialDecision>, String),
}

/// Applies what was accepted as one recoverable unit and drops what was rejected. A note that
/// cannot be changed stays pending with its problem.
pub(crate) async fn apply_decisions(
    note_changes: &NoteChanges,
    conversation: &ConversationId,
    request: &DecideReview,
) -> Result<store::ChangeSetDecision, UserError> {
    let store = &note_changes.store;
    let waiting = store.open_change_set(conversation).await?;
    let Some(set) = waiting.filter(|set| set.id == request.review) else {
        return Err(UserError::other(user_texts::review_not_repeated()));
    };
    // The change was applied before, but the decision could not be stored. Applying it twice would
    // find the note stale. `lock_changes` made sure that the ledger knows it.
    let mut decided = already_decided(store, &set).await?;
    let wanted = wanted_changes(&set, request, &mut decided);
    store_choices(store, &set, &wanted).await?;
    apply_accepted(note_changes, conversation, &set, wanted, &mut decided).await?;
    store.decide(&set.id, &decided, now()).await?;
    Ok(decided)
}

enum RowDecision {
    Make(AcceptedPortion),
    Leave,
}

/// The changes that a request accepts. Adds the others that it is about to what is decided already.
fn wanted_changes<'a>(
    set: &'a OpenChangeSet,
    request: &DecideReview,
    decided: &mut store::ChangeSetDecision,
) -> Vec<(&'a PlannedChangeRow, AcceptedPortion)> {
    let parts = decided.parts.iter().map(|(path, _)| path);
    let before: BTreeSet<NotePath> = decided.applied.iter().chain(parts).cloned().collect();
    let requested = RequestedDecisions::new(set, request);
    let mut wanted = Vec::new();
    for row in set.planned.iter().filter(|row| !before.contains(&row.change.path)) {
        match requested.decision_for(row) {
            Ok(Some(RowDecision::Make(how))) => wanted.push((row, how)),
            Ok(Some(RowDecision::Leave)) => decided.rejected.push(row.change.path.clone()),
            Ok(None) => {}
            Err(why) => decided.problems.push((row.change.path.clone(), why.to_owned())),
        }
    }
    wanted
}

/// The decisions of a request about a set. A move may change thousands of notes, so nothing here is looked up in
/// the whole set for each of its rows.
struct RequestedDecisions<'a> {
    rows: RowsByNote<'a>,
    /// By note, about changes that are as the user saw them.
    current: BTreeMap<&'a NotePath, &'a ReviewDecision>,
    /// All notes of the request.
    named: BTreeSet<&'a NotePath>,
    /// Units with a rejected note.
    rejected: BTreeSet<&'a CallId>,
    /// Units with a note that is neither accepted nor rejected as a whole.
    undecided: BTreeSet<&'a CallId>,
}

impl<'a> RequestedDecisions<'a> {
    /// Hashes each text once.
    fn new(set: &'a OpenChangeSet, request: &'a DecideReview) -> Self {
        let rows = rows_by_note(set);
        let is_current = |note: &&NoteDecision| note.seen == change_fingerprint(&rows, &note.path);
        let current = request.notes.iter().filter(is_current);
        let current: BTreeMap<&NotePath, &ReviewDecision> =
            current.map(|note| (&note.path, &note.decision)).collect();
        let (mut rejected, mut undecided) = (BTreeSet::new(), BTreeSet::new());
        for row in &set.planned {
            let Some(unit) = &row.unit else { continue };
            match current.get(&row.change.path) {
                Some(ReviewDecision::Accept) => continue,
                Some(ReviewDecision::Reject) => rejected.insert(unit),
                Some(ReviewDecision::Hunks { .. }) | None => undecided.insert(unit),
            };
        }
        let named = request.notes.iter().map(|note| &note.path).collect();
        Self { rows, current, named, rejected, undecided }
    }

    /// The decision about a row; `None` while it stays pending. A unit is accepted only if each of
    /// its notes is, as it is now, and rejected with any of them.
    fn decision_for(&self, row: &PlannedChangeRow) -> Result<Option<RowDecision>, &'static str> {
        let is_in =
            |units: &BTreeSet<&CallId>| row.unit.as_ref().is_some_and(|one| units.contains(one));
        if is_in(&self.rejected) {
            return Ok(Some(RowDecision::Leave));
        }
        let Some(decision) = self.current.get(&row.change.path) else {
            return match self.named.contains(&row.change.path) {
                true => Err("These aren’t the changes that you looked at. Look at them again."),
                false => Ok(None),
            };
        };
        match decision {
            ReviewDecision::Accept if is_in(&self.undecided) => Ok(None),
            ReviewDecision::Accept => Ok(Some(RowDecision::Make(AcceptedPortion::Whole))),
            ReviewDecision::Reject => Ok(Some(RowDecision::Leave)),
            ReviewDecision::Hunks { hunks } => self.decision_by_hunk(row, hunks).map(Some),
        }
    }

    fn decision_by_hunk(
        &self,
        row: &PlannedChangeRow,
        hunks: &[HunkDecision],
    ) -> Result<RowDecision, &'static str> {
        let has_others = self.rows.get(&row.change.path).is_some_and(|rows| rows.len() > 1);
        let is_content = matches!(row.change.kind(), ChangeKind::Create | ChangeKind::Replace);
        if row.unit.is_some() || !is_content || has_others {
            return Err("This change can only be accepted or rejected as a whole.");
        }
        if hunks.iter().all(|hunk| *hunk == HunkDecision::Accept) {
            return Ok(RowDecision::Make(AcceptedPortion::Whole));
        }
        if hunks.iter().all(|hunk| *hunk == HunkDecision::Reject) {
            return Ok(RowDecision::Leave);
        }
        let choice =
            serde_json::to_string(hunks).map_err(|_| "Couldn’t save your decision. Try again.")?;
        let parts = split_row(row, hunks);
        let parts =
            parts.ok_or("These aren’t the changes that you looked at. Look at them again.")?;
        Ok(RowDecision::Make(AcceptedPortion::Parts(Box::new(parts), choice)))
    }
}

/// Stored before anything is applied, so that a crash leads on and not back.
async fn store_choices(
    store: &Store,
    set: &OpenChangeSet,
    wanted: &[(&PlannedChangeRow, AcceptedPortion)],
) -> Result<(), UserError> {
    let choices: Vec<(NotePath, String)> = wanted
        .iter()
        .filter_map(|(row, wanted)| match wanted {
            AcceptedPortion::Parts(_, choice) => Some((row.change.path.clone(), choice.clone())),
            AcceptedPortion::Whole => None,
        })
        .collect();
    let is_stored = choices.is_empty() && set.planned.iter().all(|row| row.choice.is_none());
    if !is_stored {
        store.store_hunk_choices(&set.id, &choices).await?;
    }
    Ok(())
}

/// Makes what is wanted, and adds what came of it.
async fn apply_accepted(
    note_changes: &NoteChanges,
    conversation: &ConversationId,
    set: &OpenChangeSet,
    wanted: Vec<(&PlannedChangeRow, AcceptedPortion)>,
    decided: &mut store::ChangeSetDecision,
) -> Result<(), UserError> {
    let planned = |(row, wanted): &(&PlannedChangeRow, AcceptedPortion)| {
        let change = match wanted {
            AcceptedPortion::Whole => row.change.clone(),
            AcceptedPortion::Parts(parts, _) => parts.applied.clone()?,
        };
        let (turn, call, unit) = (row.turn.clone(), row.call.clone(), row.unit.clone());
        Some(PlannedChange { change, turn, call, unit, file: None })
    };
    let mut changes: Vec<PlannedChange> = wanted.iter().filter_map(planned).collect();
    let mut done = BTreeSet::new();
    if !changes.is_empty() {
        let vault = note_changes.vault.clone();
        // Without it every note is opened to look for links.
        let index = match changes.iter().any(|planned| planned.change.is_rename()) {
            true => note_changes.indexer.up_to_date().await,
            false => None,
        };
        let with_links = move || {
            let refused = match changes.iter().any(|planned| planned.change.is_rename()) {
                true => take_stale_deletions(&vault, &mut changes),
                false => Vec::new(),
            };
            (with_links_since_plan(&vault, index.as_ref(), changes), refused)
        };
        let (changes, refused) = run_blocking(with_links).await?;
        decided
            .problems
            .extend(refused.into_iter().map(|(path, why)| (path, review_problem(&why))));
        let order = ChangeBatch { change_set: set.id.clone(), changes };
        let made: Vec<_> =
            order.changes.iter().map(|one| (one.turn.clone(), &one.change)).collect();
        note_changes.store.propagate_taint(&made).await?;
        let progress = note_changes.start_applying(conversation);
        progress.expect(order.changes.len());
        let ledger = StoreLedger(note_changes.store.clone());
        let work = note_changes.indexer.apply(&note_changes.vault, order, &ledger, &progress);
        let applied = note_changes.jobs.run(JobKind::Applying, &progress, work).await?;
        // Changes that the user stopped stay pending.
        let stopped = |error: &VaultError| matches!(error, VaultError::Stopped { .. });
        let problems = applied.problems.into_iter().filter(|(_, error)| !stopped(error));
        decided.problems.extend(problems.map(|(path, error)| (path, review_problem(&error))));
        done.extend(applied.done);
    }
    for (row, wanted) in wanted {
        let path = row.change.path.clone();
        match wanted {
            AcceptedPortion::Whole if done.contains(&path) => decided.applied.push(path),
            AcceptedPortion::Parts(parts, _) if parts.applied.is_none() || done.contains(&path) => {
                decided.parts.push((path, *parts));
            }
            AcceptedPortion::Whole | AcceptedPortion::Parts(..) => {}
        }
    }
    Ok(())
}

/// The text under a note that could not be changed. It is for the user, not for a model.
fn review_problem(error: &VaultError) -> String {
    match error {
        VaultError::Stale { .. } => {
            "Another program changed it since. Reject this change, then ask for it again."
        }
        VaultError::Exists { .. } => {
            "A note with this name was created in the meantime. Reject this change, then ask for \
             it again."
        }
        other => return other.to_string(),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use protocol::Change;

    use super::*;

    fn row(change: Change) -> PlannedChangeRow {
        PlannedChangeRow {
            change,
            turn: "t".into(),
            call: "c".into(),
            unit: Some("t/c".into()),
            problem: None,
            choice: None,
            since: 0,
        }
    }

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    /// The move of a folder, with so many notes that link into it.
    fn moved_folder(links: usize) -> OpenChangeSet {
        let link =
            |n: usize| Change::replace(path(&format!("{n}.md")), "[[Old/a]]\n", "[[New/a]]\n");
        let moved = Change::rename_folder(path("Old"), path("New"));
        let planned = (0..links).map(link).chain([moved]).map(row).collect();
        OpenChangeSet { id: "s".into(), planned, request: String::new() }
    }

    /// The same decision about all notes of a set.
    fn about_all(set: &OpenChangeSet, decision: &ReviewDecision) -> DecideReview {
        let rows = rows_by_note(set);
        let decide = |path: &&NotePath| NoteDecision {
            path: (*path).clone(),
            seen: change_fingerprint(&rows, path),
            decision: decision.clone(),
        };
        DecideReview { review: set.id.clone(), notes: rows.keys().map(decide).collect() }
    }

    /// How many rows a request accepts, and how many it rejects.
    fn counts(set: &OpenChangeSet, request: &DecideReview) -> (usize, usize) {
        let mut decided = store::ChangeSetDecision::default();
        let wanted = wanted_changes(set, request, &mut decided);
        assert!(decided.problems.is_empty(), "{:?}", decided.problems);
        (wanted.len(), decided.rejected.len())
    }

    #[test]
    fn a_unit_is_decided_as_one() {
        let set = moved_folder(3);
        let all = about_all(&set, &ReviewDecision::Accept);
        assert_eq!(counts(&set, &all), (4, 0));
        let mut some = all.clone();
        some.notes.pop();
        assert_eq!(counts(&set, &some), (0, 0));
        let mut rejected = all;
        rejected.notes[1].decision = ReviewDecision::Reject;
        assert_eq!(counts(&set, &rejected), (0, 4));
    }

    /// The time to decide about a move; the least of several, because other programs disturb.
    fn time_for_links(links: usize) -> Duration {
        let set = moved_folder(links);
        let request = about_all(&set, &ReviewDecision::Accept);
        let measure = |_| {
            let begun = Instant::now();
            assert_eq!(counts(&set, &request), (links + 1, 0));
            begun.elapsed()
        };
        (0..4).map(measure).min().expect("some")
    }

    /// Four times the links may cost eight times the time; the square would be sixteen times.
    #[test]
    fn a_large_move_is_accepted_at_a_cost_that_grows_with_its_links() {
        let (few, many) = (time_for_links(300), time_for_links(1_200));
        assert!(many < few * 8 + Duration::from_millis(20), "{many:?} after {few:?}");
    }
}
