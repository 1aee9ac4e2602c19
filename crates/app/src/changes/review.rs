//! The pending changes of a conversation, as the user reviews them.

use std::collections::{BTreeMap, BTreeSet};

use protocol::error::user_text::UserText;
use protocol::request::{DecideReview, NoteDecision};
use protocol::{
    ContentHash, ConversationId, ErrorCode, NoteDiff, NotePath, Review, Source, TurnId, UserError,
};
use store::{ChangeSetDecision, OpenChangeSet, PlannedChangeRow, Store};

use crate::changes::diff::{Diff, note_diff};
use crate::privacy::provenance::{has_foreign_source, is_rules_file, touches_rules_file};
use crate::privacy::was_told_model_title;
use crate::support::blocking::run_blocking;
use crate::user_texts;

/// The pending changes of a conversation, as the user reviews them.
pub(crate) async fn open_review(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Option<Review>, UserError> {
    match store.open_change_set(conversation).await? {
        Some(set) => review_of_set(store, conversation, set).await.map(Some),
        None => Ok(None),
    }
}

/// These changes, as they stand before the user.
pub(crate) async fn review_of_set(
    store: &Store,
    conversation: &ConversationId,
    set: OpenChangeSet,
) -> Result<Review, UserError> {
    let turns: BTreeSet<&TurnId> = set.planned.iter().map(|row| &row.turn).collect();
    let has_rules = set.planned.iter().any(|row| touches_rules_file(&row.change));
    let mut heard = BTreeSet::new();
    for turn in turns {
        heard.extend(store.context_sources(turn).await?);
        if has_rules && was_told_model_title(store, turn).await? {
            heard.insert(Source::Foreign);
        }
    }
    let conversation = conversation.clone();
    run_blocking(move || build_review(&conversation, &set, heard)).await
}

fn build_review(
    conversation: &ConversationId,
    set: &OpenChangeSet,
    heard: BTreeSet<Source>,
) -> Review {
    let rows = rows_by_note(set);
    let shown = |PlannedChangeRow { change, unit, problem, .. }: &PlannedChangeRow| {
        let Diff { hunks, added, removed } = note_diff(change);
        let told = |path: &NotePath| is_rules_file(path) && has_foreign_source(path, &heard);
        NoteDiff {
            path: change.path.clone(),
            kind: change.kind(),
            to: change.target().cloned(),
            unit: unit.clone(),
            added,
            removed,
            hunks,
            seen: change_fingerprint(&rows, &change.path),
            rules: told(&change.path) || change.target().is_some_and(told),
            problem: problem.clone(),
        }
    };
    let mut notes: Vec<NoteDiff> = Vec::with_capacity(rows.len());
    let mut places: BTreeMap<&NotePath, usize> = BTreeMap::new();
    for row in &set.planned {
        let diff = shown(row);
        // A note that is rewritten and moved is one row.
        let place = *places.entry(&row.change.path).or_insert(notes.len());
        match notes.get_mut(place) {
            Some(note) => {
                note.rules |= diff.rules;
                (note.kind, note.to, note.unit) = (diff.kind, diff.to, diff.unit);
            }
            None => notes.push(diff),
        }
    }
    Review {
        id: set.id.clone(),
        conversation: conversation.clone(),
        request: set.request.clone(),
        notes,
        sources: heard.into_iter().filter(|source| is_notable_source(source, &rows)).collect(),
    }
}

/// The user knows their own messages, that tools were used, and that the changed notes were read.
fn is_notable_source(source: &Source, rows: &RowsByNote<'_>) -> bool {
    match source {
        Source::User | Source::Tool(_) | Source::Vault | Source::Hints(_) => false,
        Source::Hub | Source::Foreign => true,
        Source::Note(path) => !rows.contains_key(path),
    }
}

/// The pending changes of each note of a set, in the order they were planned.
pub(crate) type RowsByNote<'a> = BTreeMap<&'a NotePath, Vec<&'a PlannedChangeRow>>;

/// Groups the changes of a set by note.
pub(crate) fn rows_by_note(set: &OpenChangeSet) -> RowsByNote<'_> {
    let mut rows = RowsByNote::new();
    for row in &set.planned {
        rows.entry(&row.change.path).or_default().push(row);
    }
    rows
}

/// Names exactly the pending changes of one note.
pub(crate) fn change_fingerprint(rows: &RowsByNote<'_>, path: &NotePath) -> String {
    let of_note = rows.get(path).into_iter().flatten();
    let told = of_note.map(|PlannedChangeRow { change, unit, .. }| {
        let hash = |bytes: Option<&[u8]>| bytes.map(|bytes| ContentHash::of(bytes).to_string());
        let (before, after) = (hash(change.before()), hash(change.after()));
        format!("{:?} {:?} {before:?} {after:?} {unit:?}\n", change.kind(), change.target())
    });
    ContentHash::of(told.collect::<String>().as_bytes()).to_string()
}

/// The decision that rejects the changes of these notes.
pub(crate) fn reject_request(set: &OpenChangeSet, paths: &[NotePath]) -> DecideReview {
    let rows = rows_by_note(set);
    let notes = paths.iter().map(|path| NoteDecision {
        path: path.clone(),
        seen: change_fingerprint(&rows, path),
        decision: protocol::request::ReviewDecision::Reject,
    });
    DecideReview { review: set.id.clone(), notes: notes.collect() }
}

/// One sentence for the notes that could not be changed.
pub(crate) fn failed_notes_error(decided: &ChangeSetDecision) -> Option<UserError> {
    let (path, why) = decided.problems.first()?;
    // A note that is rewritten and moved has two rows.
    let notes: BTreeSet<&NotePath> = decided.problems.iter().map(|(path, _)| path).collect();
    let more = match notes.len() {
        0 | 1 => UserText::from(""),
        2 => user_texts::one_more_needs_review(),
        n => user_texts::more_need_review((n - 1).to_string()),
    };
    let text = user_texts::not_changed_needs_review(path.title(), why.as_str(), more);
    Some(UserError::new(ErrorCode::Write, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_could_not_be_changed_is_counted_once_although_two_of_its_changes_failed() {
        let failed = |paths: &[&str]| {
            let problems = paths.iter().map(|path| {
                (NotePath::parse(path).expect("a path"), "It changed on disk.".to_owned())
            });
            let decided =
                ChangeSetDecision { problems: problems.collect(), ..ChangeSetDecision::default() };
            failed_notes_error(&decided).expect("an error").message
        };
        let one = "A wasn’t changed and still needs review: It changed on disk.";
        assert_eq!(failed(&["A.md", "A.md"]), one);
        let more = "(1 more note needs review for the same or another reason.)";
        assert_eq!(failed(&["A.md", "C.md", "A.md"]), format!("{one} {more}"));
    }
}
