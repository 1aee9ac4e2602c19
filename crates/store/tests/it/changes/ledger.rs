//! The ledger: what shall happen to a file is known before it happens.

use protocol::{
    CallId, CallResult, Change, ChangeKind, Effect, FileAccess, FileId, Intent, IntentState,
    SettledIntent, Timestamp, TrashedFile,
};
use serde_json::json;
use store::{CallEffect, StoreError};

use crate::test_conversation::{TestConversation, edit, path, poll_once, result};

pub(crate) fn intent(effect: &str, call: &str, change: Change) -> Intent {
    Intent {
        effect: effect.into(),
        change_set: "s".into(),
        turn: "t1".into(),
        call: call.into(),
        unit: None,
        base: None,
        access: None,
        is_exact: false,
        staged: None,
        temp_name: format!(".vaultmate-{effect}.tmp"),
        change,
    }
}

fn three_intents() -> [Intent; 3] {
    let new = Change::create(path("new.md"), b"hello".to_vec());
    [
        intent("e1", "c1", edit("a.md", "one", "two")),
        intent("e2", "c1", new),
        intent("e3", "c2", edit("b.md", "one", "two")),
    ]
}

fn ended(effect: &str, state: IntentState) -> SettledIntent {
    SettledIntent { effect: effect.into(), state, file: None }
}

#[tokio::test]
async fn open_intents_are_read_whole_and_in_order_after_a_restart() {
    let story = TestConversation::begin().await;
    story.store.record_intents(&three_intents(), Timestamp(1)).await.expect("stored");
    let story = story.restart().await;
    assert_eq!(story.store.open_intents().await.expect("read"), three_intents());
}

#[tokio::test]
async fn who_could_read_a_trashed_note_is_kept_with_its_deletion_and_with_its_way_back() {
    let story = TestConversation::begin().await;
    let file = Some(FileId { inode: u64::MAX, born: Some(5) });
    let access = |mode| Some(FileAccess { mode, uid: 1_000, gid: u32::MAX - 1 });
    let trashed = |name: &str, file, access| TrashedFile { name: name.to_owned(), file, access };
    let restored = |at: &str, like| Change::restore(path(at), b"one".to_vec(), Some(like));
    let intents = [
        Intent {
            base: file,
            access: access(0o600),
            ..intent("e1", "c1", Change::trash(path("a.md"), b"one".to_vec()))
        },
        intent("e2", "c2", restored("a.md", trashed("a 2.md", file, access(0o2640)))),
        // As an earlier version knew it.
        intent("e3", "c2", restored("b.md", trashed("b.md", None, None))),
    ];
    story.store.record_intents(&intents, Timestamp(1)).await.expect("stored");
    let story = story.restart().await;
    assert_eq!(story.store.open_intents().await.expect("read"), intents);

    let outcomes = ["e1", "e2", "e3"].map(|effect| ended(effect, IntentState::Done));
    story.store.record_outcomes(&outcomes).await.expect("settled");
    let effects = story.store.effects_since(&"e1".into()).await.expect("read");
    let files: Vec<_> = effects.iter().filter_map(Effect::trashed_file).collect();
    let expected = [
        trashed(".vaultmate-e1.tmp", file, access(0o600)),
        trashed("a 2.md", None, access(0o2640)),
        trashed("b.md", None, None),
    ];
    assert_eq!(files, expected);
}

#[tokio::test]
async fn a_settled_intent_is_not_open_and_says_how_it_ended() {
    let story = TestConversation::begin().await;
    let states = [
        IntentState::Done,
        IntentState::Stale,
        IntentState::Parked,
        IntentState::Failed,
        IntentState::Open,
    ];
    for (n, state) in states.into_iter().enumerate() {
        let effect = format!("e{n}");
        let made = intent(&effect, "c1", edit("a.md", "one", "two"));
        story.store.record_intents(&[made], Timestamp(1)).await.expect("stored");
        story.store.record_outcomes(&[ended(effect.as_str(), state)]).await.expect("settled");
    }
    let story = story.restart().await;
    let found = story.store.effects_of_call(&"t1".into(), &"c1".into()).await.expect("read");
    let replaced = |state| CallEffect { path: path("a.md"), kind: ChangeKind::Replace, state };
    assert_eq!(found, states.map(replaced));
    let open = story.store.open_intents().await.expect("read");
    assert_eq!(open.iter().map(|made| made.effect.as_str()).collect::<Vec<_>>(), ["e4"]);
}

#[tokio::test]
async fn intents_are_stored_all_or_none() {
    let story = TestConversation::begin().await;
    let [first, second, _] = three_intents();
    let twice = [first.clone(), second, first];
    assert!(matches!(
        story.store.record_intents(&twice, Timestamp(1)).await,
        Err(StoreError::Sql { .. })
    ));
    assert_eq!(story.store.open_intents().await.expect("read"), []);
    story.says("t1", "Go on", 1).await;
    story
        .store
        .record_intents(&three_intents(), Timestamp(1))
        .await
        .expect("what was left is cleared away");
    assert_eq!(story.store.open_intents().await.expect("read"), three_intents());
}

#[tokio::test]
async fn intents_that_are_dropped_half_way_are_stored_all_or_none_and_hold_up_nobody() {
    for steps in 1..12 {
        let story = TestConversation::begin().await;
        let intents = three_intents();
        let mut dropped = Box::pin(story.store.record_intents(&intents, Timestamp(1)));
        for _ in 0..steps {
            if poll_once(dropped.as_mut()).await.is_some() {
                break;
            }
        }
        drop(dropped);
        story.says("t1", "Go on", 1).await;
        let open = story.store.open_intents().await.expect("read");
        assert!(open.is_empty() || open == three_intents(), "after {steps} steps: {open:?}");
        let other = intent("e9", "c9", edit("c.md", "one", "two"));
        story.store.record_intents(&[other], Timestamp(2)).await.expect("stored");
        let story = story.restart().await;
        assert_eq!(story.store.open_intents().await.expect("read").len(), open.len() + 1);
    }
}

#[tokio::test]
async fn large_and_small_contents_are_stored_in_one_commit() {
    let story = TestConversation::begin().await;
    let large = "A long line.\n".repeat(3_000);
    let intents = [
        intent("e1", "c1", edit("a.md", "one", &large)),
        intent("e2", "c1", edit("b.md", &large, "two")),
    ];
    story.store.record_intents(&intents, Timestamp(1)).await.expect("stored");
    assert_eq!(story.restart().await.store.open_intents().await.expect("read"), intents);
}

#[tokio::test]
async fn effects_are_found_by_call_and_changed_notes_by_turn() {
    let story = TestConversation::begin().await;
    story.store.record_intents(&three_intents(), Timestamp(1)).await.expect("stored");
    story.store.record_outcomes(&[ended("e3", IntentState::Failed)]).await.expect("settled");
    let turn = "t1".into();
    let effect = |at: &str, kind, state| CallEffect { path: path(at), kind, state };
    let of_call = story.store.effects_of_call(&turn, &"c1".into()).await.expect("read");
    let open = [("a.md", ChangeKind::Replace), ("new.md", ChangeKind::Create)];
    assert_eq!(of_call, open.map(|(at, kind)| effect(at, kind, IntentState::Open)));
    let of_call = story.store.effects_of_call(&turn, &"c2".into()).await.expect("read");
    assert_eq!(of_call, [effect("b.md", ChangeKind::Replace, IntentState::Failed)]);
    let changes = story.store.turn_changes(&turn).await.expect("read");
    assert_eq!((changes.changed, changes.uncertain), (vec![path("a.md"), path("new.md")], vec![]));
}

#[tokio::test]
async fn a_parked_change_counts_neither_as_made_nor_as_without_effect() {
    let story = TestConversation::begin().await;
    story.says("t1", "Edit them", 1).await;
    story.begins().await;
    let calls = ["c1", "c2"].map(|call| (call, "edit_file", json!({})));
    story.steps("t1", "m1", &calls).await;
    let effects = [
        intent("e1", "c1", edit("a.md", "one", "two")),
        intent("e2", "c2", edit("b.md", "one", "two")),
    ];
    story.store.record_intents(&effects, Timestamp(1)).await.expect("stored");
    let states = [ended("e1", IntentState::Parked), ended("e2", IntentState::Failed)];
    story.store.record_outcomes(&states).await.expect("settled");
    let turn = "t1".into();
    let results =
        ["c1", "c2"].map(|call| CallResult { is_error: true, ..result(call, "Not done.") });
    story.store.store_results(&turn, &results).await.expect("stored");
    let changes = story.store.turn_changes(&turn).await.expect("read");
    assert_eq!((changes.changed, changes.uncertain), (vec![], vec![path("a.md")]));
    let found = story.store.ineffective_calls(&turn).await.expect("read");
    assert_eq!(found, [CallId::from("c2")], "what certainly was not made");
}

#[tokio::test]
async fn a_failed_call_is_without_effect_unless_the_ledger_knows_of_one_that_may_have_happened() {
    let story = TestConversation::begin().await;
    story.says("t1", "Edit them", 1).await;
    story.begins().await;
    let calls = ["c1", "c2", "c3", "c4", "c5"];
    story.steps("t1", "m1", &calls.map(|call| (call, "edit_file", json!({})))).await;
    let effects = [
        intent("e1", "c1", edit("a.md", "one", "two")),
        intent("e2", "c2", edit("b.md", "one", "two")),
        intent("e3", "c3", edit("c.md", "one", "two")),
    ];
    story.store.record_intents(&effects, Timestamp(1)).await.expect("stored");
    let states = [ended("e1", IntentState::Done), ended("e2", IntentState::Stale)];
    story.store.record_outcomes(&states).await.expect("settled");
    let turn = "t1".into();
    let failed = |call| CallResult { is_error: true, ..result(call, "Not done.") };
    let results = [failed("c1"), failed("c2"), failed("c3"), failed("c4"), result("c5", "Done.")];
    story.store.store_results(&turn, &results).await.expect("stored");
    // The outcome of c3 is not known yet, and c5 did not fail.
    let found = story.store.ineffective_calls(&turn).await.expect("read");
    assert_eq!(found, [CallId::from("c2"), CallId::from("c4")]);
}

#[tokio::test]
async fn an_unknown_effect_is_not_settled_in_silence() {
    let story = TestConversation::begin().await;
    let lost = story.store.record_outcomes(&[ended("nothing", IntentState::Done)]).await;
    assert!(matches!(lost, Err(StoreError::NotFound { what: "This change", .. })));
}

#[tokio::test]
async fn settling_and_storing_at_once_both_succeed() {
    let story = TestConversation::begin().await;
    for round in 0..20_i64 {
        let effect = format!("e{round}");
        let made = intent(&effect, "c1", edit("a.md", "one", "two"));
        story.store.record_intents(&[made], Timestamp(1)).await.expect("stored");
        let turn = crate::test_conversation::new_turn(&format!("t{round}"), "Hello", round);
        let ended = [ended(&effect, IntentState::Done)];
        let (settled, submitted) =
            tokio::join!(story.store.record_outcomes(&ended), story.store.submit_turn(&turn));
        settled.expect("settled");
        submitted.expect("stored");
    }
    assert_eq!(story.store.open_intents().await.expect("read"), []);
}
