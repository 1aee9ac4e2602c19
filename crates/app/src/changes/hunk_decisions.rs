//! A planned change taken apart by what the user says of each hunk, and which changes of a set are decided already.

use std::collections::BTreeSet;

use protocol::request::HunkDecision;
use protocol::{Change, IntentState};
use store::{
    ChangeSetDecision, OpenChangeSet, PartialDecision, PlannedChangeRow, Store, StoreError,
};
use vault::merge::{HunkSide, assemble, hunks};

/// A note at four moments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitChange {
    /// With what was accepted, and what the user wrote instead.
    pub(crate) applied: Vec<u8>,
    /// The same, and what was rejected.
    pub(crate) with_rejected: Vec<u8>,
    /// The same as `applied`, with the pending hunks.
    pub(crate) with_pending: Vec<u8>,
    /// Whether some of the lines are the user's own.
    pub(crate) edited: bool,
}

/// Splits the change from `before` to `after` by the decisions on its hunks; `None` unless there is
/// a decision for each hunk.
pub(crate) fn split_change(
    before: &[u8],
    after: &[u8],
    decisions: &[HunkDecision],
) -> Option<SplitChange> {
    let all = hunks(before, after);
    if all.len() != decisions.len() {
        return None;
    }
    let lines: Vec<&[u8]> = after.split_inclusive(|byte| *byte == b'\n').collect();
    let old: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
    let written = |number: usize, text: &str| {
        let hunk = all.get(number);
        let new = hunk.and_then(|hunk| lines.get(hunk.after.clone())).unwrap_or_default();
        let gone = hunk.and_then(|hunk| old.get(hunk.before.clone())).unwrap_or_default();
        let like = if new.is_empty() { gone } else { new };
        let is_last = hunk.is_some_and(|hunk| hunk.after.end == lines.len());
        with_line_endings_of(text, like, is_last)
    };
    let with = |declined: HunkSide, waiting: HunkSide| {
        assemble(before, after, |number| match decisions.get(number) {
            Some(HunkDecision::Accept) | None => HunkSide::New,
            Some(HunkDecision::Edit { text }) => HunkSide::Other(written(number, text)),
            Some(HunkDecision::Reject) => declined.clone(),
            Some(HunkDecision::Wait) => waiting.clone(),
        })
    };
    Some(SplitChange {
        applied: with(HunkSide::Old, HunkSide::Old),
        with_rejected: with(HunkSide::New, HunkSide::Old),
        with_pending: with(HunkSide::Old, HunkSide::New),
        edited: decisions.iter().any(|decision| matches!(decision, HunkDecision::Edit { .. })),
    })
}

/// The lines of the text, blank ones at its end too, with line breaks as those around them have them; behind
/// the last line of a note that ends without one there is none.
fn with_line_endings_of(text: &str, like: &[&[u8]], is_last: bool) -> Vec<u8> {
    if text.is_empty() {
        return Vec::new();
    }
    let ends = |end: &[u8]| like.iter().any(|line| line.ends_with(end));
    let line_break = if ends(b"\r\n") { "\r\n" } else { "\n" };
    let open = is_last && like.last().is_some_and(|line| !line.ends_with(b"\n"));
    // `str::lines` would take a blank last line for the end of the one above.
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut out = lines.collect::<Vec<_>>().join(line_break);
    if !open {
        out.push_str(line_break);
    }
    out.into_bytes()
}

/// The decisions about notes of a pending set that hold their changes already, by the ledger.
pub(crate) async fn already_decided(
    store: &Store,
    set: &OpenChangeSet,
) -> Result<ChangeSetDecision, StoreError> {
    let mut decided = ChangeSetDecision::default();
    // Once for each call: one may have planned thousands of rows, and has as many effects.
    let calls: BTreeSet<_> =
        set.planned.iter().map(|row| (&row.turn, &row.call, row.since)).collect();
    let mut done = BTreeSet::new();
    for (turn, call, since) in calls {
        let effects = store.effects_of_call_since(turn, call, since).await?;
        let made = effects.into_iter().filter(|effect| effect.state == IntentState::Done);
        done.extend(made.map(|effect| (turn, call, since, effect.path)));
    }
    for row in &set.planned {
        if done.contains(&(&row.turn, &row.call, row.since, row.change.path.clone())) {
            record_applied(row, &mut decided);
        }
    }
    Ok(decided)
}

/// Records the decision about a row that was applied: all of it, or the hunks of its stored choice.
fn record_applied(row: &PlannedChangeRow, decided: &mut store::ChangeSetDecision) {
    let decisions = row.choice.as_deref().and_then(|choice| serde_json::from_str(choice).ok());
    let parts = decisions.and_then(|decisions: Vec<HunkDecision>| split_row(row, &decisions));
    let path = row.change.path.clone();
    match parts {
        Some(parts) => decided.parts.push((path, parts)),
        None => decided.applied.push(path),
    }
}

/// The change of a row in parts; `None` unless there is a decision for each hunk.
pub(super) fn split_row(row: &PlannedChangeRow, hunks: &[HunkDecision]) -> Option<PartialDecision> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    /// The window shows the lines that the same table tells: both must agree.
    const TABLE: &str = include_str!("hunk_decisions/cases.json");

    /// A change of one hunk, the text that the user wrote for it, and the note that this makes. The window reads how
    /// it shows the hunk then.
    #[derive(Deserialize)]
    struct EditedHunkCase {
        name: String,
        before: String,
        after: String,
        text: String,
        written: String,
    }

    const ACCEPT: HunkDecision = HunkDecision::Accept;
    const REJECT: HunkDecision = HunkDecision::Reject;
    const WAIT: HunkDecision = HunkDecision::Wait;

    fn edit(text: &str) -> HunkDecision {
        HunkDecision::Edit { text: text.into() }
    }

    fn taken(before: &str, after: &str, decisions: &[HunkDecision]) -> [String; 3] {
        let parts = split_change(before.as_bytes(), after.as_bytes(), decisions).expect("as many");
        [parts.applied, parts.with_rejected, parts.with_pending]
            .map(|text| String::from_utf8(text).expect("text"))
    }

    #[test]
    fn each_hunk_goes_its_own_way() {
        let (before, after) = ("a\n-\nb\n-\nc\n-\nd\n", "A\n-\nB\n-\nC\n-\nD\n");
        let taken = taken(before, after, &[ACCEPT, REJECT, WAIT, edit("mine\nand more")]);
        assert_eq!(
            taken,
            [
                "A\n-\nb\n-\nc\n-\nmine\nand more\n",
                "A\n-\nB\n-\nc\n-\nmine\nand more\n",
                "A\n-\nb\n-\nC\n-\nmine\nand more\n",
            ]
        );
        assert_eq!(split_change(b"a\n", b"b\n", &[]), None, "a decision for each hunk");
    }

    #[test]
    fn what_the_user_writes_is_broken_into_lines_as_the_note_is() {
        assert_eq!(taken("a\r\n", "b\r\n", &[edit("x\ny")])[0], "x\r\ny\r\n");
        assert_eq!(taken("a\nb\n", "a\nc\n", &[edit("x\r\ny\r\n")])[0], "a\nx\ny\n\n");
        assert_eq!(taken("a\nb", "a\nc", &[edit("x\ny")])[0], "a\nx\ny");
        assert_eq!(taken("a\nb\nc\n", "a\nc\n", &[edit("x")])[0], "a\nx\nc\n");
        assert_eq!(taken("", "new\n", &[edit("mine")])[0], "mine\n");
    }

    #[test]
    fn every_line_that_the_window_shows_is_written() {
        let cases: Vec<EditedHunkCase> = serde_json::from_str(TABLE).expect("a table");
        for EditedHunkCase { name, before, after, text, written } in cases {
            assert_eq!(taken(&before, &after, &[edit(&text)])[0], written, "{name}");
        }
    }

    fn note() -> impl Strategy<Value = Vec<u8>> {
        let line = prop::sample::select(vec!["a\n", "b\n", "c\r\n", "\n", "d"]);
        prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn what_is_accepted_rejected_and_left_add_up(before in note(), after in note(), choices in prop::collection::vec(0..3_usize, 12)) {
            let count = hunks(&before, &after).len();
            let decision = |choice: &usize| match choice { 0 => ACCEPT, 1 => REJECT, _ => WAIT };
            let decisions: Vec<_> = choices.iter().cycle().take(count).map(decision).collect();
            let parts = split_change(&before, &after, &decisions).expect("as many");
            let is = |one: &HunkDecision| decisions.iter().all(|decision| decision == one);
            if is(&ACCEPT) { prop_assert_eq!(&parts.applied, &after); }
            if is(&REJECT) {
                prop_assert_eq!(&parts.applied, &before);
                prop_assert_eq!(&parts.with_rejected, &after);
            }
            if is(&WAIT) {
                prop_assert_eq!(&parts.applied, &before);
                prop_assert_eq!(&parts.with_pending, &after);
            }
            if !decisions.contains(&REJECT) { prop_assert_eq!(&parts.with_pending, &after); }
            if !decisions.contains(&WAIT) { prop_assert_eq!(&parts.with_rejected, &after); }
        }
    }
}
