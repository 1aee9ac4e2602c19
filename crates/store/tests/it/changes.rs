//! Change sets: pending changes, and the user's decisions.

pub(crate) mod earlier_plan;
pub(crate) mod effect_history;
pub(crate) mod ledger;
pub(crate) mod provenance;
pub(crate) mod purge;
pub(crate) mod reverts;
pub(crate) mod succession;

use std::collections::BTreeMap;

use protocol::{
    CallId, Change, ChangeKind, ChangeSet, ChangeSetId, NotePath, Timestamp, TurnStatus,
};
use store::{ChangeSetDecision, OpenChangeSet, PartialDecision, StoreError, TurnPlace};

use crate::test_conversation::{TestConversation, conversation_id, edit, ending, path};

/// Turn `t1` runs, for the message "Rename it".
async fn running_turn() -> TestConversation {
    let story = TestConversation::begin().await;
    story.says("t1", "Rename it", 1).await;
    story.begins().await;
    story
}

async fn plan(
    conversation: &TestConversation,
    set: &str,
    call: &str,
    changes: &[Change],
) -> ChangeSetId {
    plan_in_turn(conversation, set, ("t1", call), changes).await
}

async fn plan_in_turn(
    conversation: &TestConversation,
    set: &str,
    (turn, call): (&str, &str),
    changes: &[Change],
) -> ChangeSetId {
    let (turn, call) = (turn.into(), call.into());
    let planned: ChangeSet = changes.iter().cloned().collect();
    conversation
        .store
        .add_planned_changes(&conversation_id(), &set.into(), &planned, &turn, &call, Timestamp(10))
        .await
        .expect("planned")
}

async fn open(conversation: &TestConversation) -> Option<OpenChangeSet> {
    conversation.store.open_change_set(&conversation_id()).await.expect("read")
}

async fn waiting(conversation: &TestConversation) -> Vec<Change> {
    let set = open(conversation).await;
    set.into_iter().flat_map(|set| set.planned).map(|row| row.change).collect()
}

async fn decide(
    conversation: &TestConversation,
    applied: &[NotePath],
    rejected: &[NotePath],
    at: i64,
) -> bool {
    let (applied, rejected) = (applied.to_vec(), rejected.to_vec());
    let decision = ChangeSetDecision { applied, rejected, ..ChangeSetDecision::default() };
    conversation.store.decide(&"s".into(), &decision, Timestamp(at)).await.expect("decided")
}

#[tokio::test]
async fn moves_of_two_turns_are_two_units_although_their_calls_have_one_id() {
    let story = running_turn().await;
    let moves = |from: &str, to: &str| Change::rename(path(from), path(to));
    plan(&story, "s", "call_0", &[edit("link.md", "a", "b"), moves("a.md", "A/a.md")]).await;
    story.says("t2", "And the other", 2).await;
    plan_in_turn(&story, "s", ("t2", "call_0"), &[moves("b.md", "B/b.md")]).await;
    let planned = open(&story).await.expect("pending").planned;
    let unit = |at: &str| {
        let row = planned.iter().find(|row| row.change.path.as_str() == at).expect(at);
        row.unit.clone().expect("a unit")
    };
    assert_eq!(unit("link.md"), unit("a.md"));
    assert_ne!(unit("a.md"), unit("b.md"));
}

/// The unit of each pending change, by its path.
async fn units(conversation: &TestConversation) -> BTreeMap<String, Option<CallId>> {
    let planned = open(conversation).await.expect("pending").planned;
    planned.into_iter().map(|row| (row.change.path.to_string(), row.unit)).collect()
}

#[tokio::test]
async fn changes_in_a_folder_are_decided_with_the_move_of_the_folder() {
    let story = running_turn().await;
    let made = Change::create(path("A/new.md"), "x");
    let moved = Change::rename(path("A/y.md"), path("A/z.md"));
    let out = Change::rename(path("A/o.md"), path("o.md"));
    let others = [edit("A/x.md", "1", "2"), edit("B/x.md", "1", "2"), edit("Ab.md", "1", "2")];
    plan(&story, "s", "c1", &[&others[..], &[made]].concat()).await;
    plan(&story, "s", "c2", &[moved]).await;
    plan(&story, "s", "c3", &[out]).await;
    let separate = units(&story).await;
    assert_ne!(separate["A/y.md"], separate["A/o.md"], "each is a unit of its own");
    let folder = Change::rename_folder(path("A"), path("C"));
    plan(&story, "s", "c4", &[folder]).await;
    // An edit in the moved folder is planned after the move.
    plan(&story, "s", "c5", &[edit("C/late.md", "1", "2")]).await;

    let units = units(&story).await;
    let unit = units["A"].as_ref();
    assert!(unit.is_some());
    for at in ["A/x.md", "A/new.md", "A/y.md", "A/o.md", "A/late.md"] {
        assert_eq!(units[at].as_ref(), unit, "{at}");
    }
    for at in ["B/x.md", "Ab.md"] {
        assert_eq!(units[at], None, "{at}");
    }
}

#[tokio::test]
async fn planned_notes_are_those_that_were_there_before_decided_or_not() {
    let story = running_turn().await;
    let moved = Change::rename(path("b.md"), path("New/b.md"));
    let made = Change::create(path("made.md"), "x");
    let own = edit("own.md", "a", "b");
    plan(&story, "s", "c0", &[own]).await;
    plan(&story, "s", "c1", &[edit("a.md", "a", "b"), moved, edit("New/b.md", "c", "d"), made])
        .await;
    assert_eq!(planned_notes(&story).await, ["t1 a.md (links)", "t1 b.md", "t1 own.md"]);
    decide(&story, &[path("b.md"), path("New/b.md")], &[path("a.md"), path("made.md")], 20).await;
    let decided = ["t1 New/b.md (links)", "t1 a.md (links)", "t1 b.md", "t1 own.md"];
    assert_eq!(planned_notes(&story).await, decided);
}

/// The turn and path of each note of a planned change, and whether only its links are kept right.
async fn planned_notes(conversation: &TestConversation) -> Vec<String> {
    let planned = conversation.store.planned_notes(&conversation_id()).await.expect("read");
    let mut notes: Vec<String> = planned
        .iter()
        .map(|planned| {
            let links = if planned.updates_links { " (links)" } else { "" };
            format!("{} {}{links}", planned.turn, planned.note)
        })
        .collect();
    notes.sort();
    notes
}

#[tokio::test]
async fn planned_changes_for_links_alone_are_told_from_others() {
    for others in [
        Change::rename(path("b.md"), path("New/b.md")),
        Change::rename_folder(path("b"), path("New/b")),
        Change::create(path("b.md"), "x"),
    ] {
        let story = running_turn().await;
        let own = edit("own.md", "a", "b");
        plan(&story, "s", "c1", &[own, edit("both.md", "a", "b")]).await;
        plan(&story, "s", "c2", &[edit("linking.md", "a", "b"), others.clone()]).await;
        // Another turn whose call has the same id edits a note for its text.
        story.says("t2", "And this", 2).await;
        plan_in_turn(&story, "s", ("t2", "c2"), &[edit("both.md", "b", "c")]).await;
        let of_moved = (others.kind() == ChangeKind::Rename).then_some("t1 b.md");
        let expected: Vec<&str> = of_moved
            .into_iter()
            .chain(["t1 linking.md (links)", "t1 own.md", "t2 both.md"])
            .collect();
        assert_eq!(planned_notes(&story).await, expected, "{others:?}");
        let names = story.store.planned_names(&conversation_id()).await.expect("read");
        let linking = names.iter().filter(|name| name.updates_links).map(|name| &name.path);
        assert_eq!(linking.collect::<Vec<_>>(), [&path("linking.md")], "{others:?}");
    }
}

#[tokio::test]
async fn pending_changes_survive_a_restart_byte_for_byte() {
    let story = running_turn().await;
    let raw = Change::create(path("raw.md"), vec![0, 159, 13, 10, 255]);
    let changes = [edit("a.md", "a\r\n", "b"), raw];
    assert_eq!(plan(&story, "s", "c1", &changes).await, "s".into());
    let story = story.restart().await;
    let set = open(&story).await.expect("one waits");
    assert_eq!((set.id, set.request.as_str()), ("s".into(), "Rename it"));
    assert_eq!(waiting(&story).await, changes);
    let found = story.store.conversation_of_change_set(&"s".into()).await.expect("read");
    assert_eq!(found, Some(conversation_id()));
    assert_eq!(open(&story).await.expect("one waits").planned[0].problem, None);
}

#[tokio::test]
async fn a_later_plan_extends_the_set_and_keeps_the_first_bytes_of_a_path() {
    let story = running_turn().await;
    plan(&story, "s", "c1", &[edit("Über.md", "one", "two")]).await;
    let later = [edit("U\u{308}ber.md", "two", "three"), edit("b.md", "x", "y")];
    assert_eq!(plan(&story, "other", "c2", &later).await, "s".into());
    assert_eq!(waiting(&story).await, [edit("Über.md", "one", "three"), edit("b.md", "x", "y")]);
    let set = open(&story).await.expect("one waits");
    let calls: Vec<&str> = set.planned.iter().map(|row| row.call.as_str()).collect();
    assert_eq!(calls, ["c2", "c2"]);
    let changes = story.store.turn_changes(&"t1".into()).await.expect("read");
    assert_eq!(changes.changed, [path("b.md"), path("Über.md")]);
}

#[tokio::test]
async fn a_path_that_is_back_at_its_first_bytes_drops_out() {
    let story = running_turn().await;
    plan(&story, "s", "c1", &[edit("a.md", "one", "two"), edit("b.md", "x", "y")]).await;
    plan(&story, "s", "c2", &[edit("a.md", "two", "one")]).await;
    assert_eq!(waiting(&story).await, [edit("b.md", "x", "y")]);
    plan(&story, "s", "c3", &[edit("b.md", "y", "x")]).await;
    assert_eq!(open(&story).await, None);
    plan(&story, "s2", "c4", &[edit("b.md", "x", "z")]).await;
    assert_eq!(open(&story).await.map(|set| set.id), Some("s2".into()));
    assert_eq!(story.store.decisions(&conversation_id()).await.expect("read"), []);
}

#[tokio::test]
async fn a_set_closes_when_nothing_waits_in_it() {
    let story = running_turn().await;
    plan(&story, "s", "c1", &[edit("a.md", "1", "2"), edit("b.md", "1", "2")]).await;
    assert!(!decide(&story, &[path("a.md")], &[], 20).await);
    assert_eq!(waiting(&story).await, [edit("b.md", "1", "2")]);
    assert!(decide(&story, &[], &[path("b.md")], 21).await);
    assert_eq!(open(&story).await, None);
    let row = story.store.conversation(&conversation_id()).await.expect("read").expect("there");
    assert_eq!((row.waiting_notes, row.updated_at), (0, Timestamp(21)));
}

#[tokio::test]
async fn a_change_with_a_problem_keeps_waiting_until_it_is_planned_again() {
    let story = running_turn().await;
    plan(&story, "s", "c1", &[edit("a.md", "1", "2"), edit("b.md", "1", "2")]).await;
    let problems = vec![(path("a.md"), "It changed on disk.".to_owned())];
    let applied = vec![path("a.md"), path("b.md")];
    let decision = ChangeSetDecision { applied, problems, ..ChangeSetDecision::default() };
    let closed = story.store.decide(&"s".into(), &decision, Timestamp(20)).await;
    assert!(!closed.expect("decided"));
    let problem = async || open(&story).await.expect("one waits").planned[0].problem.clone();
    assert_eq!(problem().await.as_deref(), Some("It changed on disk."));
    plan(&story, "s", "c2", &[edit("a.md", "2", "3")]).await;
    assert_eq!(problem().await, None);
    assert!(decide(&story, &[path("a.md")], &[], 21).await);
}

#[tokio::test]
async fn a_decision_is_stored_reported_once_and_shown() {
    let story = running_turn().await;
    plan(&story, "s", "c1", &[edit("a.md", "1", "2"), edit("b.md", "1", "2")]).await;
    story.ends("t1", &ending(TurnStatus::Done, 15)).await;
    decide(&story, &[path("a.md")], &[path("b.md")], 20).await;
    let untold =
        story.store.unreported_decisions(&conversation_id(), TurnPlace::End).await.expect("read");
    assert_eq!(untold.len(), 1);
    assert_eq!(
        (untold[0].id.as_str(), &untold[0].change_set, untold[0].at),
        ("s@20", &"s".into(), Timestamp(20))
    );
    assert_eq!(
        (&untold[0].applied[..], &untold[0].rejected[..]),
        (&[path("a.md")][..], &[path("b.md")][..])
    );
    story.store.mark_decisions_reported(&untold, &"t2".into()).await.expect("told");
    assert_eq!(
        story.store.unreported_decisions(&conversation_id(), TurnPlace::End).await.expect("read"),
        []
    );
    assert_eq!(story.store.decisions(&conversation_id()).await.expect("read"), untold);
    let items = story.items().await;
    assert!(
        matches!(items.last(), Some(protocol::chat::conversation::ChatItem::Decision { id, .. }) if *id == untold[0].id),
        "{items:?}"
    );
}

#[tokio::test]
async fn decisions_at_two_times_are_separate_and_a_path_may_return() {
    let story = running_turn().await;
    plan(&story, "s", "c1", &[edit("a.md", "1", "2"), edit("b.md", "1", "2")]).await;
    decide(&story, &[], &[path("a.md")], 20).await;
    plan(&story, "s", "c2", &[edit("a.md", "1", "3")]).await;
    decide(&story, &[path("a.md"), path("b.md")], &[], 21).await;
    let decisions = story.store.decisions(&conversation_id()).await.expect("read");
    let shown: Vec<(&[NotePath], &[NotePath])> =
        decisions.iter().map(|decision| (&decision.applied[..], &decision.rejected[..])).collect();
    assert_eq!(
        shown,
        [(&[][..], &[path("a.md")][..]), (&[path("b.md"), path("a.md")][..], &[][..])]
    );
}

#[tokio::test]
async fn a_note_that_was_rewritten_and_moved_is_in_a_decision_once() {
    let both = [edit("a.md", "1", "2"), Change::rename(path("a.md"), path("b.md"))];
    let a = [path("a.md")];
    for (applied, rejected) in [(&a[..], &[][..]), (&[][..], &a[..])] {
        let story = running_turn().await;
        plan(&story, "s", "c1", &both).await;
        assert_eq!(waiting(&story).await, both, "two rows are pending");
        assert!(decide(&story, applied, rejected, 20).await);
        let decisions = story.store.decisions(&conversation_id()).await.expect("read");
        let [decision] = &decisions[..] else { panic!("one decision: {decisions:?}") };
        assert_eq!((&decision.applied[..], &decision.rejected[..]), (applied, rejected));
    }
}

#[tokio::test]
async fn a_change_goes_in_parts_and_what_is_left_of_it_waits_in_its_place() {
    let story = running_turn().await;
    plan(&story, "s", "c1", &[edit("a.md", "1", "4"), edit("b.md", "1", "2")]).await;
    let (set, choice) = ("s".into(), "as the user said".to_owned());
    story.store.store_hunk_choices(&set, &[(path("a.md"), choice.clone())]).await.expect("stored");
    let story = story.restart().await;
    let planned = open(&story).await.expect("both wait").planned;
    assert_eq!(planned[0].choice.as_deref(), Some("as the user said"));
    assert_eq!((planned[0].since, planned[1].choice.as_deref()), (0, None));

    let parts = PartialDecision {
        applied: Some(edit("a.md", "1", "2")),
        rejected: Some(edit("a.md", "2", "3")),
        left: Some(edit("a.md", "2", "5")),
        edited: true,
    };
    let decision =
        ChangeSetDecision { parts: vec![(path("a.md"), parts)], ..ChangeSetDecision::default() };
    assert!(!story.store.decide(&set, &decision, Timestamp(20)).await.expect("decided"));
    assert_eq!(waiting(&story).await, [edit("a.md", "2", "5"), edit("b.md", "1", "2")]);
    assert_eq!(open(&story).await.expect("both wait").planned[0].choice, None);
    let told =
        story.store.unreported_decisions(&conversation_id(), TurnPlace::End).await.expect("read");
    let [told] = &told[..] else { panic!("one decision: {told:?}") };
    let both = [path("a.md")];
    assert_eq!(
        (&told.applied[..], &told.rejected[..], &told.edited[..]),
        (&both[..], &both[..], &both[..])
    );
    assert_eq!(story.store.rejected_parts(told).await.expect("read"), [edit("a.md", "2", "3")]);

    let rest = PartialDecision { applied: None, rejected: None, left: None, edited: false };
    let decision = ChangeSetDecision {
        parts: vec![(path("a.md"), rest)],
        rejected: vec![path("b.md")],
        ..ChangeSetDecision::default()
    };
    assert!(story.store.decide(&set, &decision, Timestamp(21)).await.expect("decided"));
    let last = story.store.decisions(&conversation_id()).await.expect("read").pop().expect("two");
    assert!(
        story.store.rejected_parts(&last).await.expect("read").is_empty(),
        "nothing of b.md was applied"
    );
}

#[tokio::test]
async fn a_decision_on_an_unknown_set_is_refused_and_one_on_a_decided_set_changes_nothing() {
    let story = running_turn().await;
    let lost = story.store.decide(&"no".into(), &ChangeSetDecision::default(), Timestamp(1)).await;
    assert!(matches!(lost, Err(StoreError::NotFound { what: "This change", .. })));
    plan(&story, "s", "c1", &[edit("a.md", "1", "2")]).await;
    decide(&story, &[path("a.md")], &[], 20).await;
    let before = story.store.decisions(&conversation_id()).await.expect("read");
    assert!(decide(&story, &[], &[path("a.md")], 21).await);
    assert_eq!(story.store.decisions(&conversation_id()).await.expect("read"), before);
}
