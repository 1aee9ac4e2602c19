//! The changes that wait in a conversation, and what the user decides about them.

use protocol::request::DecideReview;
use protocol::{ConversationId, ErrorCode, NoteDiff, NotePath, Review, UserError};
use store::{OpenChangeSet, PlannedRow, Store};
use vault::{Order, Planned, VaultError};

use crate::aside::aside;
use crate::clock::now;
use crate::diff::note_diff;
use crate::open_vault::OpenVault;
use crate::ports::ledger::StoreLedger;
use crate::recover;
use crate::trouble::{not_applied, user_error};

/// What stands before the user in a conversation, if anything.
pub(crate) async fn standing(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Option<Review>, UserError> {
    let open = store.open_change_set(conversation).await.map_err(user_error)?;
    let Some(set) = open else { return Ok(None) };
    let conversation = conversation.clone();
    aside(move || Some(shown(&conversation, &set))).await
}

fn shown(conversation: &ConversationId, set: &OpenChangeSet) -> Review {
    let shown = |row: &PlannedRow| {
        let diff = note_diff(&row.change, row.problem.clone());
        NoteDiff { unit: row.unit.clone(), ..diff }
    };
    let mut notes: Vec<NoteDiff> = Vec::with_capacity(set.planned.len());
    for diff in set.planned.iter().map(shown) {
        // A note that is rewritten and moved is one row.
        match notes.iter_mut().find(|note| note.path == diff.path) {
            Some(note) => (note.kind, note.to, note.unit) = (diff.kind, diff.to, diff.unit),
            None => notes.push(diff),
        }
    }
    Review {
        id: set.id.clone(),
        conversation: conversation.clone(),
        request: set.request.clone(),
        notes,
    }
}

/// What came of a verdict.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) applied: Vec<NotePath>,
    pub(crate) rejected: Vec<NotePath>,
    pub(crate) problems: Vec<(NotePath, String)>,
}

/// Applies what was accepted as one recoverable unit and drops what was rejected. A note that
/// cannot be changed keeps waiting with its problem.
pub(crate) async fn decide(
    open: &OpenVault,
    conversation: &ConversationId,
    request: &DecideReview,
) -> Result<Decided, UserError> {
    let store = &open.store;
    let waiting = store.open_change_set(conversation).await.map_err(user_error)?;
    let Some(set) = waiting.filter(|set| set.id == request.review) else {
        return Err(UserError::other("These changes are already decided: nothing was done twice."));
    };
    // Applied before, when the verdict could not be stored: to do it twice would find it stale.
    let mut decided =
        Decided { applied: recover::already_applied(store, &set).await?, ..Decided::default() };
    let accepted: Vec<Planned> = set
        .planned
        .iter()
        .filter(|row| is_accepted(&set, row, request))
        .filter(|row| !decided.applied.contains(&row.change.path))
        .map(|row| Planned {
            change: row.change.clone(),
            turn: row.turn.clone(),
            call: row.call.clone(),
            unit: row.unit.clone(),
        })
        .collect();
    if !accepted.is_empty() {
        let order = Order { change_set: set.id.clone(), changes: accepted };
        let halt = open.applying(conversation);
        let applied = open
            .indexing
            .apply(&open.vault, order, &StoreLedger(store.clone()), &halt)
            .await
            .map_err(|error| not_applied(&error))?;
        decided.applied.extend(applied.done);
        // What the user stopped before waits as it did.
        let stopped = |error: &VaultError| matches!(error, VaultError::Stopped { .. });
        let problems = applied.problems.into_iter().filter(|(_, error)| !stopped(error));
        decided.problems = problems.map(|(path, error)| (path, in_review(&error))).collect();
    }
    let waiting = set.planned.iter().map(|row| &row.change.path);
    decided.rejected = waiting
        .filter(|path| request.rejected.contains(path) && !request.accepted.contains(path))
        .filter(|path| !decided.applied.contains(path))
        .cloned()
        .collect();
    store
        .decide(&set.id, &decided.applied, &decided.rejected, &decided.problems, now())
        .await
        .map_err(user_error)?;
    Ok(decided)
}

/// Whether a row is accepted; of a unit, every row must be.
fn is_accepted(set: &OpenChangeSet, row: &PlannedRow, request: &DecideReview) -> bool {
    let accepted = |row: &PlannedRow| request.accepted.contains(&row.change.path);
    match &row.unit {
        None => accepted(row),
        unit => set.planned.iter().filter(|other| other.unit == *unit).all(accepted),
    }
}

/// What stands under a note that could not be changed: the way on is the user's, not a model's.
fn in_review(error: &VaultError) -> String {
    match error {
        VaultError::Stale { .. } => {
            "Another program changed it since. Reject this change, then ask for it again."
        }
        VaultError::Exists { .. } => {
            "There is a note of this name by now. Reject this change, then ask for it again."
        }
        other => return other.to_string(),
    }
    .to_owned()
}

/// One sentence for the notes that could not be changed.
pub(crate) fn problem_of(decided: &Decided) -> Option<UserError> {
    let (path, why) = decided.problems.first()?;
    let more = match decided.problems.len() {
        1 => String::new(),
        2 => " (1 more note waits for the same or another reason.)".to_owned(),
        n => format!(" ({} more notes wait for the same or other reasons.)", n - 1),
    };
    Some(UserError::new(
        ErrorCode::Write,
        format!("{} was not changed and still waits: {why}{more}", path.title()),
    ))
}
