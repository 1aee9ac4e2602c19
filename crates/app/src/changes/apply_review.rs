//! Carries out the user's decisions about pending changes: whole notes and single hunks.
//!
//! A decision names the text that the user saw and is refused if it changed since. Decisions about hunks are stored
//! before anything is applied.

use std::collections::BTreeMap;

use protocol::job::JobKind;
use protocol::request::{DecideReview, HunkDecision, NoteDecision, ReviewDecision};
use protocol::{Change, ChangeKind, ConversationId, NotePath, UserError};
use store::{OpenChangeSet, PartialDecision, PlannedChangeRow, Store};
use vault::{ChangeBatch, PlannedChange, VaultError};

use crate::adapters::ledger::StoreLedger;
use crate::changes::hunk_decisions::split_change;
use crate::changes::link_repair::with_links_since_plan;
use crate::changes::review::change_fingerprint;
use crate::support::blocking::run_blocking;
use crate::support::clock::now;
use crate::support::errors::{apply_error, store_error};
use crate::vault_session::VaultSession;
use crate::workspace::crash_recovery;

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
    session: &VaultSession,
    conversation: &ConversationId,
    request: &DecideReview,
) -> Result<store::ChangeSetDecision, UserError> {
    let store = &session.store;
    let waiting = store.open_change_set(conversation).await.map_err(store_error)?;
    let Some(set) = waiting.filter(|set| set.id == request.review) else {
        return Err(UserError::other(
            "These changes have already been reviewed. Nothing was repeated.",
        ));
    };
    // The change was applied before, but the decision could not be stored. Applying it twice would
    // find the note stale. `lock_changes` made sure that the ledger knows it.
    let before = crash_recovery::already_decided(store, &set).await?;
    let mut decided = before.clone();
    let mut wanted = Vec::new();
    let current = current_decisions(&set, request);
    for row in &set.planned {
        if is_decided(&before, &row.change.path) {
            continue;
        }
        match decision_for(&set, row, request, &current) {
            Ok(Some(RowDecision::Make(how))) => wanted.push((row, how)),
            Ok(Some(RowDecision::Leave)) => decided.rejected.push(row.change.path.clone()),
            Ok(None) => {}
            Err(why) => decided.problems.push((row.change.path.clone(), why.to_owned())),
        }
    }
    store_choices(store, &set, &wanted).await?;
    apply_accepted(session, conversation, &set, wanted, &mut decided).await?;
    store.decide(&set.id, &decided, now()).await.map_err(store_error)?;
    Ok(decided)
}

/// Records the decision about a row that was applied: all of it, or the hunks of its stored choice.
pub(crate) fn record_applied(row: &PlannedChangeRow, decided: &mut store::ChangeSetDecision) {
    let decisions = row.choice.as_deref().and_then(|choice| serde_json::from_str(choice).ok());
    let parts = decisions.and_then(|decisions: Vec<HunkDecision>| split_row(row, &decisions));
    let path = row.change.path.clone();
    match parts {
        Some(parts) => decided.parts.push((path, parts)),
        None => decided.applied.push(path),
    }
}

fn is_decided(decided: &store::ChangeSetDecision, path: &NotePath) -> bool {
    decided.applied.contains(path) || decided.parts.iter().any(|(at, _)| at == path)
}

enum RowDecision {
    Make(AcceptedPortion),
    Leave,
}

/// Decisions by note.
type Decisions<'a> = BTreeMap<&'a NotePath, &'a ReviewDecision>;

/// The decisions about changes that are as the user saw them. Hashes each text once.
fn current_decisions<'a>(set: &OpenChangeSet, request: &'a DecideReview) -> Decisions<'a> {
    let is_current = |note: &&NoteDecision| note.seen == change_fingerprint(set, &note.path);
    request.notes.iter().filter(is_current).map(|note| (&note.path, &note.decision)).collect()
}

/// The decision of the request about a row; `None` while it stays pending. A unit is accepted only
/// if each of its notes is, as it is now, and rejected with any of them.
fn decision_for(
    set: &OpenChangeSet,
    row: &PlannedChangeRow,
    request: &DecideReview,
    current: &Decisions<'_>,
) -> Result<Option<RowDecision>, &'static str> {
    let unit = row.unit.as_ref();
    let of_unit = || set.planned.iter().filter(|other| other.unit.as_ref() == unit);
    let is = |other: &PlannedChangeRow, wanted: &ReviewDecision| {
        current.get(&other.change.path).is_some_and(|decision| *decision == wanted)
    };
    if unit.is_some() && of_unit().any(|other| is(other, &ReviewDecision::Reject)) {
        return Ok(Some(RowDecision::Leave));
    }
    let Some(decision) = current.get(&row.change.path) else {
        let is_named = request.notes.iter().any(|note| note.path == row.change.path);
        return match is_named {
            true => Err("These aren’t the changes that you looked at. Look at them again."),
            false => Ok(None),
        };
    };
    let whole = || of_unit().all(|other| is(other, &ReviewDecision::Accept));
    match decision {
        ReviewDecision::Accept if unit.is_none() || whole() => {
            Ok(Some(RowDecision::Make(AcceptedPortion::Whole)))
        }
        ReviewDecision::Accept => Ok(None),
        ReviewDecision::Reject => Ok(Some(RowDecision::Leave)),
        ReviewDecision::Hunks { hunks } => decision_by_hunk(set, row, hunks).map(Some),
    }
}

fn decision_by_hunk(
    set: &OpenChangeSet,
    row: &PlannedChangeRow,
    hunks: &[HunkDecision],
) -> Result<RowDecision, &'static str> {
    let others = set.planned.iter().filter(|other| other.change.path == row.change.path);
    let is_content = matches!(row.change.kind(), ChangeKind::Create | ChangeKind::Replace);
    if row.unit.is_some() || !is_content || others.count() > 1 {
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
    let parts = parts.ok_or("These aren’t the changes that you looked at. Look at them again.")?;
    Ok(RowDecision::Make(AcceptedPortion::Parts(Box::new(parts), choice)))
}

/// The change of a row in parts; `None` unless there is a decision for each hunk.
fn split_row(row: &PlannedChangeRow, hunks: &[HunkDecision]) -> Option<PartialDecision> {
    let (before, path) = (row.change.before(), &row.change.path);
    let base = before.unwrap_or_default();
    let parts = split_change(base, row.change.after().unwrap_or_default(), hunks)?;
    let applied = (parts.applied != base).then(|| match before {
        Some(before) => Change::replace(path.clone(), before, parts.applied.clone()),
        None => Change::create(path.clone(), parts.applied.clone()),
    });
    let on_top = |after: Vec<u8>| {
        (after != parts.applied).then(|| match (&applied, before) {
            (None, None) => Change::create(path.clone(), after),
            _ => Change::replace(path.clone(), parts.applied.clone(), after),
        })
    };
    let (declined, left) =
        (on_top(parts.with_rejected.clone()), on_top(parts.with_pending.clone()));
    Some(PartialDecision { rejected: declined, left, applied, edited: parts.edited })
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
    if is_stored {
        Ok(())
    } else {
        store.store_hunk_choices(&set.id, &choices).await.map_err(store_error)
    }
}

/// Makes what is wanted, and adds what came of it.
async fn apply_accepted(
    session: &VaultSession,
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
    let changes: Vec<PlannedChange> = wanted.iter().filter_map(planned).collect();
    let mut done = Vec::new();
    if !changes.is_empty() {
        let vault = session.vault.clone();
        // Without it every note is opened to look for links.
        let index = match changes.iter().any(|planned| planned.change.is_rename()) {
            true => session.indexer.up_to_date().await,
            false => None,
        };
        let with_links = move || with_links_since_plan(&vault, index.as_ref(), changes);
        let changes = run_blocking(with_links).await?;
        let order = ChangeBatch { change_set: set.id.clone(), changes };
        let made: Vec<_> =
            order.changes.iter().map(|one| (one.turn.clone(), &one.change)).collect();
        session.store.propagate_taint(&made).await.map_err(store_error)?;
        let progress = session.start_applying(conversation);
        progress.expect(order.changes.len());
        let ledger = StoreLedger(session.store.clone());
        let work = session.indexer.apply(&session.vault, order, &ledger, &progress);
        let applied = session.jobs.run(JobKind::Applying, &progress, work).await;
        let applied = applied.map_err(|error| apply_error(&error))?;
        // Changes that the user stopped stay pending.
        let stopped = |error: &VaultError| matches!(error, VaultError::Stopped { .. });
        let problems = applied.problems.into_iter().filter(|(_, error)| !stopped(error));
        decided.problems.extend(problems.map(|(path, error)| (path, review_problem(&error))));
        done = applied.done;
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
