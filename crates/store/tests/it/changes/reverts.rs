//! The effects that a set of the user's own undid, also when it was planned more than once.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use protocol::changes::history::AppliedBy;
use protocol::{
    Change, EffectId, FileId, Intent, IntentState, MovedNote, NotePath, SettledIntent, Timestamp,
};
use store::{RetentionPolicy, UnitMember, UserChangeSet};

use crate::changes::ledger::intent;
use crate::test_conversation::{TestConversation, edit, path};

type UndoneRow = (NotePath, EffectId, Option<BTreeSet<usize>>);

/// A change of a note, by a call of a set, and how it ended.
async fn ended(
    story: &TestConversation,
    (set, call): (&str, &str),
    (effect, at): (&str, &str),
    state: IntentState,
) {
    let mut made = intent(effect, call, edit(at, "one", effect));
    made.change_set = set.into();
    story.store.record_intents(&[made], Timestamp(1)).await.expect("stored");
    let ended = SettledIntent { effect: effect.into(), state, file: None };
    story.store.record_outcomes(&[ended]).await.expect("settled");
}

/// The assistant changed a note.
pub(crate) async fn edited(story: &TestConversation, effect: &str, at: &str) {
    ended(story, ("edits", "edit"), (effect, at), IntentState::Done).await;
}

/// The set `s` changed a note, as the plan of this call says.
pub(crate) async fn happened(story: &TestConversation, call: &str, effect: &str, at: &str) {
    ended(story, ("s", call), (effect, at), IntentState::Done).await;
}

pub(crate) fn undoes(at: &str, effect: &str, hunks: Option<usize>) -> UndoneRow {
    (path(at), effect.into(), hunks.map(|hunk| BTreeSet::from([hunk])))
}

/// The set `s` is planned; each of its plans has another call.
pub(crate) async fn plans(story: &TestConversation, call: &str, rows: &[UndoneRow]) {
    let (id, call, turn) = (&"s".into(), &call.into(), &"t1".into());
    let (by, at) = (AppliedBy::Undo, Timestamp(2));
    let set = UserChangeSet { id, call, by, reverts: rows, moved: &[], turn, at };
    story.store.begin_user_change_set(&set).await.expect("stored");
}

/// The undone effects and their hunks.
async fn undone(story: &TestConversation) -> Vec<(String, Option<BTreeSet<usize>>)> {
    let rows = story.store.reverts().await.expect("read");
    let mut undone: Vec<_> =
        rows.into_iter().map(|row| (row.effect.as_str().to_owned(), row.hunks)).collect();
    undone.sort();
    undone
}

async fn two_edits() -> TestConversation {
    let story = TestConversation::begin().await;
    edited(&story, "e1", "a.md").await;
    edited(&story, "e2", "a.md").await;
    story
}

#[tokio::test]
async fn second_try_undoes_what_it_planned_and_nothing_of_the_first() {
    let story = two_edits().await;
    plans(&story, "c1", &[undoes("a.md", "e1", None), undoes("a.md", "e2", None)]).await;
    plans(&story, "c2", &[undoes("a.md", "e1", None)]).await;
    happened(&story, "c2", "u1", "a.md").await;
    assert_eq!(undone(&story).await, [("e1".to_owned(), None)]);
}

#[tokio::test]
async fn second_try_replaces_hunks_and_path_of_the_first() {
    let story = two_edits().await;
    plans(&story, "c1", &[undoes("a.md", "e1", None), undoes("a.md", "e2", None)]).await;
    plans(&story, "c2", &[undoes("b.md", "e1", Some(1)), undoes("b.md", "e2", None)]).await;
    happened(&story, "c2", "u1", "b.md").await;
    let expected = [("e1".to_owned(), Some([1].into())), ("e2".to_owned(), None)];
    assert_eq!(undone(&story).await, expected);
}

#[tokio::test]
async fn second_try_keeps_what_the_first_one_did() {
    let story = two_edits().await;
    edited(&story, "e3", "b.md").await;
    plans(&story, "c1", &[undoes("a.md", "e1", None), undoes("b.md", "e3", None)]).await;
    happened(&story, "c1", "u1", "b.md").await;
    plans(&story, "c2", &[undoes("a.md", "e1", Some(0))]).await;
    happened(&story, "c2", "u2", "a.md").await;
    let expected = [("e1".to_owned(), Some([0].into())), ("e3".to_owned(), None)];
    assert_eq!(undone(&story).await, expected);
}

#[tokio::test]
async fn two_tries_at_one_path_are_not_mixed() {
    let story = two_edits().await;
    plans(&story, "c1", &[undoes("a.md", "e1", None)]).await;
    happened(&story, "c1", "u1", "a.md").await;
    plans(&story, "c2", &[undoes("a.md", "e2", None)]).await;
    happened(&story, "c2", "u2", "a.md").await;
    let rows = story.store.reverts().await.expect("read");
    let mut pairs: Vec<_> = rows.iter().map(|row| (row.by.as_str(), row.effect.as_str())).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [("u1", "e1"), ("u2", "e2")]);
}

#[tokio::test]
async fn second_try_that_did_not_happen_undoes_nothing() {
    let story = two_edits().await;
    plans(&story, "c1", &[undoes("a.md", "e1", None)]).await;
    happened(&story, "c1", "u1", "a.md").await;
    plans(&story, "c2", &[undoes("a.md", "e2", None)]).await;
    assert_eq!(undone(&story).await, [("e1".to_owned(), None)], "it has not happened yet");
    for (effect, state) in [
        ("u2", IntentState::Open),
        ("u3", IntentState::Stale),
        ("u4", IntentState::Parked),
        ("u5", IntentState::Failed),
    ] {
        ended(&story, ("s", "c2"), (effect, "a.md"), state).await;
        assert_eq!(undone(&story).await, [("e1".to_owned(), None)], "{state:?}");
    }
}

#[tokio::test]
async fn second_try_undoes_the_rest_of_what_the_first_undid_in_part() {
    let story = two_edits().await;
    plans(&story, "c1", &[undoes("a.md", "e1", Some(1))]).await;
    happened(&story, "c1", "u1", "a.md").await;
    plans(&story, "c2", &[undoes("a.md", "e1", None)]).await;
    assert_eq!(undone(&story).await, [("e1".to_owned(), Some([1].into()))]);
    happened(&story, "c2", "u2", "a.md").await;
    let expected = [("e1".to_owned(), None), ("e1".to_owned(), Some([1].into()))];
    assert_eq!(undone(&story).await, expected);
}

#[tokio::test]
async fn renames_by_hand_that_a_second_try_finds_are_stored_too() {
    let story = two_edits().await;
    let file = |inode: u64| Some(FileId { inode, born: Some(1) });
    let moved = |from: &str, to: &str, inode: u64| MovedNote {
        from: path(from),
        to: path(to),
        base: file(inode),
        file: file(inode),
    };
    let tries = [
        vec![moved("a.md", "b.md", 1), moved("c.md", "d.md", 2)],
        vec![moved("b.md", "e.md", 1)],
        Vec::new(),
    ];
    for moved in &tries {
        let (id, call, turn) = (&"s".into(), &"c1".into(), &"t1".into());
        let (by, at) = (AppliedBy::Undo, Timestamp(2));
        let set = UserChangeSet { id, call, by, reverts: &[], moved, turn, at };
        story.store.begin_user_change_set(&set).await.expect("stored");
    }
    let effects = story.store.effects_since(&"e1".into()).await.expect("read");
    let renames = effects.iter().filter_map(|effect| {
        Some((effect.path.as_str(), effect.target.as_ref()?.as_str(), effect.file?.inode))
    });
    let expected = [("a.md", "b.md", 1), ("c.md", "d.md", 2), ("b.md", "e.md", 1)];
    assert_eq!(renames.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_change_at_another_spelling_of_the_path_is_the_planned_one() {
    let (planned, made) = ("Caf\u{e9}.md", "Cafe\u{301}.md");
    let story = TestConversation::begin().await;
    edited(&story, "e1", planned).await;
    plans(&story, "c1", &[undoes(planned, "e1", None)]).await;
    happened(&story, "c1", "u1", made).await;
    assert_eq!(undone(&story).await, [("e1".to_owned(), None)]);
    // The control: another note.
    let story = TestConversation::begin().await;
    edited(&story, "e1", planned).await;
    plans(&story, "c1", &[undoes(planned, "e1", None)]).await;
    happened(&story, "c1", "u1", "Cafe.md").await;
    assert!(undone(&story).await.is_empty());
}

#[tokio::test]
async fn moves_and_edits_of_a_unit_are_read_once_one_of_its_moves_was_to_be_undone() {
    let story = TestConversation::begin().await;
    let change = |effect: &str, unit: &str, change: Change| Intent {
        change_set: "edits".into(),
        unit: Some(unit.into()),
        ..intent(effect, "c1", change)
    };
    let made = [
        change("e1", "c1", Change::rename(path("a.md"), path("b.md"))),
        change("e2", "c1", edit("l.md", "a", "b")),
        change("e3", "c1", Change::create(path("n.md"), b"n".to_vec())),
        change("e4", "c2", Change::rename(path("x.md"), path("y.md"))),
        change("e5", "c2", edit("k.md", "x", "y")),
    ];
    story.store.record_intents(&made, Timestamp(1)).await.expect("stored");
    let ended = made.each_ref().map(|made| SettledIntent {
        effect: made.effect.clone(),
        state: IntentState::Done,
        file: None,
    });
    story.store.record_outcomes(&ended).await.expect("settled");
    let found = async || -> Vec<(String, String, bool)> {
        let found = story.store.units_of_undone_moves().await.expect("read");
        let member = |one: &UnitMember| {
            (one.unit.as_str().to_owned(), one.effect.as_str().to_owned(), one.is_move)
        };
        found.iter().map(member).collect()
    };
    // The control: an edit that is undone by itself.
    plans(&story, "c3", &[undoes("k.md", "e5", None)]).await;
    assert!(found().await.is_empty());
    plans(&story, "c4", &[undoes("b.md", "e1", None)]).await;
    let of_unit = |effect: &str, is_move: bool| ("c1".to_owned(), effect.to_owned(), is_move);
    assert_eq!(found().await, [of_unit("e2", false), of_unit("e1", true)]);
}

/// The set `s` undid so many changes of the set `edits`, each of another note.
async fn large_undo(count: usize) -> TestConversation {
    let story = TestConversation::begin().await;
    let note = |n: usize| format!("{n}.md");
    let rows: Vec<_> = (0..count).map(|n| undoes(&note(n), &format!("e{n}"), None)).collect();
    plans(&story, "u", &rows).await;
    for (set, kind) in [("edits", "e"), ("s", "u")] {
        let change = |n: usize| Intent {
            change_set: set.into(),
            ..intent(&format!("{kind}{n}"), kind, edit(&note(n), "1", "2"))
        };
        let made: Vec<Intent> = (0..count).map(change).collect();
        story.store.record_intents(&made, Timestamp(1)).await.expect("stored");
        let ended = |made: &Intent| SettledIntent {
            effect: made.effect.clone(),
            state: IntentState::Done,
            file: None,
        };
        let ended: Vec<SettledIntent> = made.iter().map(ended).collect();
        story.store.record_outcomes(&ended).await.expect("settled");
    }
    story
}

/// How long a read takes: the least of several times, because other programs disturb.
async fn least_time(read: impl AsyncFn()) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..4 {
        let begun = Instant::now();
        read().await;
        least = least.min(begun.elapsed());
    }
    least
}

/// Four times the changes may cost eight times the time; the square would be sixteen times.
fn check_growth(few: Duration, many: Duration) {
    assert!(many < few * 8 + Duration::from_millis(20), "{many:?} after {few:?}");
}

#[tokio::test]
async fn a_large_undo_is_read_at_a_cost_that_grows_with_its_changes() {
    let time_to_read = async |count: usize| {
        let story = large_undo(count).await;
        let read = async || {
            let found = story.store.reverts().await.expect("read");
            assert_eq!(found.len(), count);
        };
        least_time(read).await
    };
    check_growth(time_to_read(400).await, time_to_read(1_600).await);
}

#[tokio::test]
async fn history_with_a_large_undo_is_measured_at_a_cost_that_grows_with_its_changes() {
    let time_to_measure = async |count: usize| {
        let story = large_undo(count).await;
        let measure = async || {
            let stats = story.store.retention_stats(&[Timestamp(2)]).await.expect("read");
            assert_eq!(stats.affected, [2 * count as u64]);
        };
        least_time(measure).await
    };
    check_growth(time_to_measure(400).await, time_to_measure(1_600).await);
}

#[tokio::test]
async fn history_to_delete_is_found_at_a_cost_that_grows_with_a_large_undo() {
    let time_to_look = async |count: usize| {
        let story = large_undo(count).await;
        let look = async || {
            let policy = RetentionPolicy { since: Timestamp(1), bytes: 0 };
            assert!(story.store.purgeable(policy).await.expect("read").is_empty());
        };
        least_time(look).await
    };
    check_growth(time_to_look(400).await, time_to_look(1_600).await);
}
