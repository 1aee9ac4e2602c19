//! The recorded changes and reverts, as the ledger returns them.

use protocol::changes::history::{AppliedBy, UndoScope};
use protocol::{
    Change, EffectId, FileId, Intent, IntentState, MovedNote, SettledIntent, Timestamp,
};
use store::UserChangeSet;

use crate::changes::ledger::intent;
use crate::test_conversation::{TestConversation, edit, path};

const fn file(number: i64) -> FileId {
    FileId { inode: number.cast_unsigned(), born: Some(number) }
}

async fn happened(conversation: &TestConversation, effect: &str, set: &str, at: i64) {
    let mut made = intent(effect, "c1", edit("a.md", "one", effect));
    made.change_set = set.into();
    conversation.store.record_intents(&[made], Timestamp(at)).await.expect("stored");
    let ended =
        SettledIntent { effect: effect.into(), state: IntentState::Done, file: Some(file(at)) };
    conversation.store.record_outcomes(&[ended]).await.expect("settled");
}

#[tokio::test]
async fn the_earliest_effect_is_the_one_that_was_stored_first_whatever_the_clock_said() {
    let story = TestConversation::begin().await;
    happened(&story, "e9", "s1", 9).await;
    happened(&story, "e1", "s2", 1).await;
    happened(&story, "e5", "s3", 5).await;
    for (effects, earliest) in [
        (vec!["e1", "e5", "e9"], Some("e9")),
        (vec!["e5", "e1", "unknown"], Some("e1")),
        (vec!["unknown"], None),
        (Vec::new(), None),
    ] {
        let effects: Vec<EffectId> = effects.into_iter().map(EffectId::from).collect();
        let found = story.store.earliest_effect(&effects).await.expect("read");
        assert_eq!(found, earliest.map(EffectId::from), "{effects:?}");
    }
}

#[tokio::test]
async fn a_scope_names_what_happened_and_not_what_the_user_did_to_it() {
    let story = TestConversation::begin().await;
    happened(&story, "e1", "s1", 1).await;
    happened(&story, "e2", "s2", 2).await;
    let turn =
        story.store.effects_in_scope(&UndoScope::ChangeSet { change_set: "s1".into() }).await;
    let turn = turn.expect("read").remove(0).turn;
    let undoings = [(path("a.md"), "e1".into(), None)];
    let moved = [MovedNote {
        from: path("a.md"),
        to: path("b.md"),
        base: Some(file(1)),
        file: Some(file(1)),
    }];
    let (id, call, by, at) = (&"s3".into(), &"c1".into(), AppliedBy::Undo, Timestamp(3));
    let own = UserChangeSet { id, call, by, reverts: &undoings, moved: &moved, turn: &turn, at };
    story.store.begin_user_change_set(&own).await.expect("stored");
    assert_eq!(story.store.reverts().await.expect("read"), [], "it has not happened yet");
    happened(&story, "e3", "s3", 4).await;

    let [row] = story.store.reverts().await.expect("read").try_into().expect("one");
    assert_eq!((row.by.as_str(), row.effect.as_str(), row.hunks), ("e3", "e1", None));
    let found = story.store.effects_in_scope(&UndoScope::Turn { turn }).await.expect("read");
    let ids: Vec<_> = found.iter().map(|effect| effect.id.as_str()).collect();
    assert_eq!((ids, found[1].file), (vec!["e1", "e2"], Some(file(2))));
    let past = story.store.effects_since(&"e1".into()).await.expect("read");
    assert_eq!(past.len(), 4, "the move by hand is part of the history");
    let sets = story.store.applied_sets(None, None, 2).await.expect("read");
    let sets: Vec<_> = sets.iter().map(|set| set[0].change_set.as_str()).collect();
    assert_eq!(sets, ["s3", "s2"], "newest first, without the move by hand");
    let older = story.store.applied_sets(None, Some(&"s2".into()), 2).await.expect("read");
    assert_eq!((older.len(), older[0][0].id.as_str()), (1, "e1"));
}

#[tokio::test]
async fn effect_of_a_unit_is_read_without_the_others() {
    let story = TestConversation::begin().await;
    let made = ["e1", "e2", "e3"].map(|effect| {
        let unit = Some("c1".into());
        Intent { unit, ..intent(effect, "c1", edit("a.md", "one", effect)) }
    });
    story.store.record_intents(&made, Timestamp(1)).await.expect("stored");
    let ended = ["e1", "e2"].map(|effect| SettledIntent {
        effect: effect.into(),
        state: IntentState::Done,
        file: Some(file(1)),
    });
    story.store.record_outcomes(&ended).await.expect("settled");
    let found = story.store.effect(&"e2".into()).await.expect("read").expect("it happened");
    // The control: its scope names the unit.
    let scope = UndoScope::Effect { effect: "e2".into(), hunks: Vec::new() };
    let unit = story.store.effects_in_scope(&scope).await.expect("read");
    assert_eq!((unit.len(), &unit[1]), (2, &found));
    assert_eq!(story.store.effect(&"e3".into()).await.expect("read"), None, "it is under way");
    assert_eq!(story.store.effect(&"other".into()).await.expect("read"), None);
}

#[tokio::test]
async fn note_history_is_newest_first_with_moves_to_its_path_and_before_an_effect() {
    let story = TestConversation::begin().await;
    happened(&story, "e1", "s1", 1).await;
    happened(&story, "e2", "s2", 2).await;
    let moved = [MovedNote {
        from: path("a.md"),
        to: path("b.md"),
        base: Some(file(1)),
        file: Some(file(1)),
    }];
    let (id, call, turn) = (&"s3".into(), &"c1".into(), &"turn-e1".into());
    let (by, at) = (AppliedBy::Undo, Timestamp(3));
    let own = UserChangeSet { id, call, by, reverts: &[], moved: &moved, turn, at };
    story.store.begin_user_change_set(&own).await.expect("stored");
    let ids = async |at: &str, before: Option<&str>| -> Vec<String> {
        let before = before.map(Into::into);
        let found = story.store.note_history(&path(at), before.as_ref()).await.expect("read");
        found.iter().map(|effect| effect.id.to_string()).collect()
    };
    assert_eq!(ids("b.md", None).await, ["s3-by-hand-0"]);
    assert_eq!(ids("a.md", Some("s3-by-hand-0")).await, ["e2", "e1"]);
    assert_eq!(ids("a.md", Some("e2")).await, ["e1"]);
    assert_eq!(ids("c.md", None).await, [""; 0]);
}

#[tokio::test]
async fn what_was_renamed_is_the_file_that_it_was_before() {
    let story = TestConversation::begin().await;
    let rename = || Change::rename(path("a.md"), path("b.md"));
    let cases = [
        // Edited in the same batch: its file was not made yet, or the one before the edit was planned.
        ("e1", rename(), None, Some(file(7)), Some(file(7))),
        ("e2", rename(), Some(file(1)), Some(file(7)), Some(file(7))),
        ("e3", Change::rename_folder(path("A"), path("B")), None, Some(file(7)), Some(file(7))),
        ("e4", rename(), Some(file(1)), None, Some(file(1))),
        // The control: an edit leaves another file.
        ("e5", edit("a.md", "one", "two"), Some(file(1)), Some(file(7)), Some(file(1))),
        ("e6", edit("a.md", "two", "three"), None, Some(file(7)), None),
    ];
    for (effect, change, base, left, expected) in cases {
        let made = Intent { base, ..intent(effect, "c1", change) };
        story.store.record_intents(&[made], Timestamp(1)).await.expect("stored");
        let ended = SettledIntent { effect: effect.into(), state: IntentState::Done, file: left };
        story.store.record_outcomes(&[ended]).await.expect("settled");
        let past = story.store.effects_since(&effect.into()).await.expect("read");
        let stored = past.iter().find(|stored| stored.id.as_str() == effect).expect("stored");
        assert_eq!((stored.base, stored.file), (expected, left), "{effect}");
    }
}

#[tokio::test]
async fn overwritten_changes_are_noted_until_they_stand_again() {
    let story = TestConversation::begin().await;
    let noted = async || -> Vec<String> {
        let noted = story.store.overwritten_effects().await.expect("read");
        let mut noted: Vec<String> = noted.iter().map(ToString::to_string).collect();
        noted.sort();
        noted
    };
    let [first, second, third] = ["e1", "e2", "e3"].map(EffectId::from);
    let two = [first.clone(), second];
    story.store.mark_overwritten(&two, Timestamp(1)).await.expect("noted");
    story.store.mark_overwritten(&[first.clone(), third], Timestamp(2)).await.expect("one again");
    assert_eq!(noted().await, ["e1", "e2", "e3"]);
    story.store.clear_overwritten(&two).await.expect("cleared");
    assert_eq!(noted().await, ["e3"]);
    story.store.clear_overwritten(&[]).await.expect("nothing to clear");
    story.store.clear_overwritten(&[first]).await.expect("it is cleared already");
    assert_eq!(noted().await, ["e3"]);
}

#[tokio::test]
async fn edits_of_several_notes_since_a_time_are_read_at_once() {
    let story = TestConversation::begin().await;
    let made = [("e1", "a.md"), ("e2", "b.md"), ("e3", "c.md"), ("e4", "a.md"), ("e5", "a.md")];
    for ((effect, note), at) in made.into_iter().zip(1..) {
        let change = match effect {
            // A move changes no bytes.
            "e5" => Change::rename(path(note), path("d.md")),
            _ => edit(note, "one", effect),
        };
        let made = intent(effect, "c1", change);
        story.store.record_intents(&[made], Timestamp(at)).await.expect("stored");
        let ended =
            SettledIntent { effect: effect.into(), state: IntentState::Done, file: Some(file(at)) };
        story.store.record_outcomes(&[ended]).await.expect("settled");
    }
    let both = [path("a.md"), path("b.md")];
    for (notes, since, expected) in [
        (&both[..], 1, "e4 e2 e1"),
        (&both[..], 2, "e4 e2"),
        (&both[..1], 1, "e4 e1"),
        (&both[..], 5, ""),
        (&both[..0], 1, ""),
    ] {
        let found = story.store.edits_at(notes, Timestamp(since)).await.expect("read");
        let found: Vec<_> = found.iter().map(|effect| effect.id.as_str()).collect();
        assert_eq!(found.join(" "), expected, "{notes:?} since {since}");
    }
    let under_way = intent("e6", "c1", edit("d.md", "one", "e6"));
    story.store.record_intents(&[under_way], Timestamp(6)).await.expect("stored");
    for (since, expected) in
        [(1, "a.md b.md c.md"), (3, "a.md c.md"), (4, "a.md"), (5, ""), (6, "")]
    {
        let mut found = story.store.paths_edited_since(Timestamp(since)).await.expect("read");
        found.sort();
        let found: Vec<_> = found.iter().map(protocol::NotePath::as_str).collect();
        assert_eq!(found.join(" "), expected, "since {since}");
    }
}

#[tokio::test]
async fn overwritten_edits_of_notes_are_read_however_old_they_are() {
    let story = TestConversation::begin().await;
    let made = [("e1", "a.md"), ("e2", "b.md"), ("e3", "a.md"), ("e4", "a.md"), ("e5", "a.md")];
    for ((effect, note), at) in made.into_iter().zip(1..) {
        let change = match effect {
            "e5" => Change::rename(path(note), path("d.md")),
            _ => edit(note, "one", effect),
        };
        let made = intent(effect, "c1", change);
        story.store.record_intents(&[made], Timestamp(at)).await.expect("stored");
        let ended =
            SettledIntent { effect: effect.into(), state: IntentState::Done, file: Some(file(at)) };
        story.store.record_outcomes(&[ended]).await.expect("settled");
    }
    let both = [path("a.md"), path("b.md")];
    let found = async |notes: &[protocol::NotePath]| -> String {
        let found = story.store.overwritten_edits_at(notes).await.expect("read");
        let found: Vec<_> = found.iter().map(|effect| effect.id.as_str()).collect();
        found.join(" ")
    };
    assert_eq!(found(&both[..]).await, "", "none is marked yet");
    // A move changes no bytes, and one of these is not known.
    let marked = ["e1", "e2", "e3", "e5", "e6"].map(EffectId::from);
    story.store.mark_overwritten(&marked, Timestamp(9)).await.expect("noted");
    assert_eq!(found(&both[..]).await, "e3 e2 e1");
    assert_eq!(found(&both[..1]).await, "e3 e1");
    assert_eq!(found(&both[..0]).await, "");
    let mut paths = story.store.overwritten_paths().await.expect("read");
    paths.sort();
    assert_eq!(paths, both);
}
