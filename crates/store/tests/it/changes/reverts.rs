//! The effects that a set of the user's own undid, also when it was planned more than once.

use std::collections::BTreeSet;

use protocol::changes::history::AppliedBy;
use protocol::{EffectId, FileId, IntentState, MovedNote, NotePath, SettledIntent, Timestamp};
use store::UserChangeSet;

use crate::changes::ledger::intent;
use crate::test_conversation::{TestConversation, edit, path};

type UndoneRow = (NotePath, EffectId, Option<BTreeSet<usize>>);

async fn happened(story: &TestConversation, effect: &str, set: &str, at: &str) {
    let mut made = intent(effect, "c1", edit(at, "one", effect));
    made.change_set = set.into();
    story.store.record_intents(&[made], Timestamp(1)).await.expect("stored");
    let ended = SettledIntent { effect: effect.into(), state: IntentState::Done, file: None };
    story.store.record_outcomes(&[ended]).await.expect("settled");
}

fn undoes(at: &str, effect: &str, hunks: Option<usize>) -> UndoneRow {
    (path(at), effect.into(), hunks.map(|hunk| BTreeSet::from([hunk])))
}

/// The set `s` is planned, once more after the first time.
async fn plans(story: &TestConversation, rows: &[UndoneRow]) {
    let (id, by, at) = (&"s".into(), AppliedBy::Undo, Timestamp(2));
    let set = UserChangeSet { id, by, reverts: rows, moved: &[], turn: &"t1".into(), at };
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
    happened(&story, "e1", "edits", "a.md").await;
    happened(&story, "e2", "edits", "a.md").await;
    story
}

#[tokio::test]
async fn second_try_undoes_what_it_planned_and_nothing_of_the_first() {
    let story = two_edits().await;
    plans(&story, &[undoes("a.md", "e1", None), undoes("a.md", "e2", None)]).await;
    plans(&story, &[undoes("a.md", "e1", None)]).await;
    happened(&story, "u1", "s", "a.md").await;
    assert_eq!(undone(&story).await, [("e1".to_owned(), None)]);
}

#[tokio::test]
async fn second_try_replaces_hunks_and_path_of_the_first() {
    let story = two_edits().await;
    plans(&story, &[undoes("a.md", "e1", None), undoes("a.md", "e2", None)]).await;
    plans(&story, &[undoes("b.md", "e1", Some(1)), undoes("b.md", "e2", None)]).await;
    happened(&story, "u1", "s", "b.md").await;
    let expected = [("e1".to_owned(), Some([1].into())), ("e2".to_owned(), None)];
    assert_eq!(undone(&story).await, expected);
}

#[tokio::test]
async fn second_try_keeps_what_the_first_one_did() {
    let story = two_edits().await;
    happened(&story, "e3", "edits", "b.md").await;
    plans(&story, &[undoes("a.md", "e1", None), undoes("b.md", "e3", None)]).await;
    happened(&story, "u1", "s", "b.md").await;
    plans(&story, &[undoes("a.md", "e1", Some(0))]).await;
    happened(&story, "u2", "s", "a.md").await;
    let expected = [("e1".to_owned(), Some([0].into())), ("e3".to_owned(), None)];
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
        let (id, by, at) = (&"s".into(), AppliedBy::Undo, Timestamp(2));
        let set = UserChangeSet { id, by, reverts: &[], moved, turn: &"t1".into(), at };
        story.store.begin_user_change_set(&set).await.expect("stored");
    }
    let effects = story.store.effects_since(&"e1".into()).await.expect("read");
    let renames = effects.iter().filter_map(|effect| {
        Some((effect.path.as_str(), effect.target.as_ref()?.as_str(), effect.file?.inode))
    });
    let expected = [("a.md", "b.md", 1), ("c.md", "d.md", 2), ("b.md", "e.md", 1)];
    assert_eq!(renames.collect::<Vec<_>>(), expected);
}
