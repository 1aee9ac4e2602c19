//! What the user decides about waiting changes, carried out: whole notes, and single hunks.

use protocol::request::{DecideReview, HunkVerdict, NoteVerdict, Verdict};
use protocol::work::WorkKind;
use protocol::{Change, ChangeKind, ConversationId, NotePath, UserError};
use store::{OpenChangeSet, PlannedParts, PlannedRow, Store};
use vault::{Order, Planned, VaultError};

use crate::clock::now;
use crate::open_vault::OpenVault;
use crate::parts::parts;
use crate::ports::ledger::StoreLedger;
use crate::recover;
use crate::review::seen;
use crate::trouble::{not_applied, user_error};

/// What became of the changes of one planned row.
enum Wanted {
    /// All of it.
    Whole,
    /// Some of it; as stored while it is carried out.
    Parts(Box<PlannedParts>, String),
}

/// Applies what was accepted as one recoverable unit and drops what was rejected. A note that
/// cannot be changed keeps waiting with its problem.
pub(crate) async fn decide(
    open: &OpenVault,
    conversation: &ConversationId,
    request: &DecideReview,
) -> Result<store::Verdict, UserError> {
    let store = &open.store;
    let waiting = store.open_change_set(conversation).await.map_err(user_error)?;
    let Some(set) = waiting.filter(|set| set.id == request.review) else {
        return Err(UserError::other("These changes are already decided: nothing was done twice."));
    };
    // Applied before, when the verdict could not be stored: to do it twice would find it stale.
    let before = recover::already_decided(store, &set).await?;
    let mut decided = before.clone();
    let mut wanted = Vec::new();
    for row in &set.planned {
        if is_in(&before, &row.change.path) {
            continue;
        }
        match asked_for(&set, row, request) {
            Ok(Some(Asked::Make(how))) => wanted.push((row, how)),
            Ok(Some(Asked::Leave)) => decided.rejected.push(row.change.path.clone()),
            Ok(None) => {}
            Err(why) => decided.problems.push((row.change.path.clone(), why.to_owned())),
        }
    }
    choose(store, &set, &wanted).await?;
    apply(open, conversation, &set, wanted, &mut decided).await?;
    store.decide(&set.id, &decided, now()).await.map_err(user_error)?;
    Ok(decided)
}

/// What was decided about a row that was applied: all of it, or what its stored choice says.
pub(crate) fn applied_by(row: &PlannedRow, decided: &mut store::Verdict) {
    let verdicts = row.choice.as_deref().and_then(|choice| serde_json::from_str(choice).ok());
    let parts = verdicts.and_then(|verdicts: Vec<HunkVerdict>| taken_apart(row, &verdicts));
    let path = row.change.path.clone();
    match parts {
        Some(parts) => decided.parts.push((path, parts)),
        None => decided.applied.push(path),
    }
}

fn is_in(decided: &store::Verdict, path: &NotePath) -> bool {
    decided.applied.contains(path) || decided.parts.iter().any(|(at, _)| at == path)
}

/// What a verdict asks for.
enum Asked {
    Make(Wanted),
    Leave,
}

/// What the request says of a row; `None` when it keeps waiting. Of a unit every note must be
/// accepted.
fn asked_for(
    set: &OpenChangeSet,
    row: &PlannedRow,
    request: &DecideReview,
) -> Result<Option<Asked>, &'static str> {
    let note = |row: &PlannedRow| request.notes.iter().find(|note| note.path == row.change.path);
    let Some(NoteVerdict { path, seen: looked_at, verdict }) = note(row) else { return Ok(None) };
    if *looked_at != seen(set, path) {
        return Err("These are not the changes that you looked at: look at them again.");
    }
    let accepted = |row: &PlannedRow| note(row).is_some_and(|note| note.verdict == Verdict::Accept);
    let unit = row.unit.as_ref();
    let whole = || set.planned.iter().filter(|other| other.unit.as_ref() == unit).all(accepted);
    match verdict {
        Verdict::Accept if unit.is_none() || whole() => Ok(Some(Asked::Make(Wanted::Whole))),
        Verdict::Accept => Ok(None),
        Verdict::Reject => Ok(Some(Asked::Leave)),
        Verdict::Hunks { hunks } => by_hunk(set, row, hunks).map(Some),
    }
}

fn by_hunk(
    set: &OpenChangeSet,
    row: &PlannedRow,
    hunks: &[HunkVerdict],
) -> Result<Asked, &'static str> {
    let others = set.planned.iter().filter(|other| other.change.path == row.change.path);
    let is_content = matches!(row.change.kind(), ChangeKind::Create | ChangeKind::Replace);
    if row.unit.is_some() || !is_content || others.count() > 1 {
        return Err("This is decided whole, with all that belongs to it.");
    }
    if hunks.iter().all(|hunk| *hunk == HunkVerdict::Accept) {
        return Ok(Asked::Make(Wanted::Whole));
    }
    if hunks.iter().all(|hunk| *hunk == HunkVerdict::Reject) {
        return Ok(Asked::Leave);
    }
    let choice = serde_json::to_string(hunks).map_err(|_| "This verdict cannot be stored.")?;
    let parts = taken_apart(row, hunks);
    let parts = parts.ok_or("These are not the changes that you looked at: look at them again.")?;
    Ok(Asked::Make(Wanted::Parts(Box::new(parts), choice)))
}

/// The change of a row in parts; `None` when there are not as many verdicts as hunks.
fn taken_apart(row: &PlannedRow, hunks: &[HunkVerdict]) -> Option<PlannedParts> {
    let (before, path) = (row.change.before(), &row.change.path);
    let base = before.unwrap_or_default();
    let parts = parts(base, row.change.after().unwrap_or_default(), hunks)?;
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
    let (declined, left) = (on_top(parts.declined.clone()), on_top(parts.left.clone()));
    Some(PlannedParts { declined, left, applied, edited: parts.edited })
}

/// Stored before anything is applied, so that a crash leads on and not back.
async fn choose(
    store: &Store,
    set: &OpenChangeSet,
    wanted: &[(&PlannedRow, Wanted)],
) -> Result<(), UserError> {
    let choices: Vec<(NotePath, String)> = wanted
        .iter()
        .filter_map(|(row, wanted)| match wanted {
            Wanted::Parts(_, choice) => Some((row.change.path.clone(), choice.clone())),
            Wanted::Whole => None,
        })
        .collect();
    let is_stored = choices.is_empty() && set.planned.iter().all(|row| row.choice.is_none());
    if is_stored { Ok(()) } else { store.choose(&set.id, &choices).await.map_err(user_error) }
}

/// Makes what is wanted, and adds what came of it.
async fn apply(
    open: &OpenVault,
    conversation: &ConversationId,
    set: &OpenChangeSet,
    wanted: Vec<(&PlannedRow, Wanted)>,
    decided: &mut store::Verdict,
) -> Result<(), UserError> {
    let planned = |(row, wanted): &(&PlannedRow, Wanted)| {
        let change = match wanted {
            Wanted::Whole => row.change.clone(),
            Wanted::Parts(parts, _) => parts.applied.clone()?,
        };
        let (turn, call, unit) = (row.turn.clone(), row.call.clone(), row.unit.clone());
        Some(Planned { change, turn, call, unit, file: None })
    };
    let changes: Vec<Planned> = wanted.iter().filter_map(planned).collect();
    let mut done = Vec::new();
    if !changes.is_empty() {
        let order = Order { change_set: set.id.clone(), changes };
        let made: Vec<_> =
            order.changes.iter().map(|one| (one.turn.clone(), &one.change)).collect();
        open.store.pass_on_taint(&made).await.map_err(user_error)?;
        let progress = open.applying(conversation);
        progress.expect(order.changes.len());
        let ledger = StoreLedger(open.store.clone());
        let work = open.indexing.apply(&open.vault, order, &ledger, &progress);
        let applied = open.works.watch(WorkKind::Applying, &progress, work).await;
        let applied = applied.map_err(|error| not_applied(&error))?;
        // What the user stopped before waits as it did.
        let stopped = |error: &VaultError| matches!(error, VaultError::Stopped { .. });
        let problems = applied.problems.into_iter().filter(|(_, error)| !stopped(error));
        decided.problems.extend(problems.map(|(path, error)| (path, in_review(&error))));
        done = applied.done;
    }
    for (row, wanted) in wanted {
        let path = row.change.path.clone();
        match wanted {
            Wanted::Whole if done.contains(&path) => decided.applied.push(path),
            Wanted::Parts(parts, _) if parts.applied.is_none() || done.contains(&path) => {
                decided.parts.push((path, *parts));
            }
            Wanted::Whole | Wanted::Parts(..) => {}
        }
    }
    Ok(())
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
