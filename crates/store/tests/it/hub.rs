//! The inbox and the outbox: nothing lost, nothing twice.

use protocol::hub::approval::ApprovalReason;
use protocol::{Origin, Timestamp, TurnId, TurnStatus};
use store::{
    ApprovalOutcome, DeliveredMessage, DeliveryOutcome, InboxRow, OutboxPush, StoreError, id_at_hub,
};

use crate::test_conversation::{TestConversation, answered, conversation_id, ending, new_turn};

fn delivered(id: &str, text: &str) -> DeliveredMessage {
    delivered_by("hub", id, text)
}

fn delivered_by(hub: &str, id: &str, text: &str) -> DeliveredMessage {
    let (hub, id, text) = (hub.into(), id.into(), text.into());
    DeliveredMessage { hub, id, text, origin: Origin::HubVoice, sent_at: None }
}

async fn deliver(
    conversation: &TestConversation,
    messages: &[DeliveredMessage],
    at: i64,
) -> Vec<DeliveryOutcome> {
    conversation.store.inbox_insert(messages, 3, Timestamp(at)).await.expect("stored")
}

async fn is_new(conversation: &TestConversation, id: &str, text: &str, at: i64) -> bool {
    deliver(conversation, &[delivered(id, text)], at).await == [DeliveryOutcome::New]
}

fn row(id: &str, text: &str, at: i64) -> InboxRow {
    InboxRow {
        hub: "hub".into(),
        id: id.into(),
        text: text.into(),
        origin: Origin::HubVoice,
        received_at: Timestamp(at),
        conversation: None,
        turn: None,
        attempts: 0,
    }
}

fn push(body: &str, at: i64) -> OutboxPush {
    OutboxPush {
        hub: "hub".into(),
        message_id: "m1".into(),
        title: Some("Saved".into()),
        body: body.into(),
        priority: "normal".into(),
        at: Timestamp(at),
    }
}

async fn next_body(conversation: &TestConversation) -> Option<String> {
    conversation.store.outbox_next("hub", None, 100).await.expect("read").map(|row| row.push.body)
}

#[tokio::test]
async fn a_message_is_new_once_and_survives_a_restart() {
    let story = TestConversation::begin().await;
    assert!(is_new(&story, "m1", "Buy milk", 1).await);
    assert!(!is_new(&story, "m1", "Buy something else", 2).await);
    assert!(is_new(&story, "m2", "Call Ada", 3).await);
    let of_another = delivered_by("attic", "m1", "Hi");
    assert_eq!(deliver(&story, &[of_another], 4).await, [DeliveryOutcome::New]);
    let story = story.restart().await;
    let found = story.store.inbox_unfinished().await.expect("read");
    assert_eq!(found[..2], [row("m1", "Buy milk", 1), row("m2", "Call Ada", 3)]);
    assert_eq!(found.len(), 3);
}

#[tokio::test]
async fn of_messages_that_come_together_those_past_the_last_place_are_not_stored() {
    let story = TestConversation::begin().await;
    assert!(is_new(&story, "m1", "Buy milk", 1).await);
    let together = ["m1", "m2", "m2", "m3", "m4", "m2"].map(|id| delivered(id, "Words"));
    let taken = deliver(&story, &together, 2).await;
    assert_eq!(
        taken,
        [
            DeliveryOutcome::Differs,
            DeliveryOutcome::New,
            DeliveryOutcome::Known,
            DeliveryOutcome::New,
            DeliveryOutcome::Full,
            DeliveryOutcome::Known
        ]
    );
    let ids: Vec<String> =
        story.store.inbox_unfinished().await.expect("read").into_iter().map(|row| row.id).collect();
    assert_eq!(ids, ["m1", "m2", "m3"]);
}

#[tokio::test]
async fn a_message_knows_its_turn_even_before_that_turn_is_stored() {
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Buy milk", 1).await;
    let (id, turn) = (conversation_id(), "t1".into());
    assert_eq!(story.store.inbox_of_turn(&turn).await.expect("read"), None);
    let waits = story.store.inbox_next().await.expect("read").expect("it has no turn");
    assert_eq!(waits.id, "m1");
    story.store.inbox_assign_turn("hub", "m1", &id, &turn).await.expect("assigned");
    assert_eq!(story.store.inbox_next().await.expect("read"), None);
    let assigned =
        InboxRow { conversation: Some(id), turn: Some(turn.clone()), ..row("m1", "Buy milk", 1) };
    assert_eq!(story.store.inbox_of_turn(&turn).await.expect("read"), Some(assigned));
    assert_eq!(story.store.turn_status(&turn).await.expect("read"), None);
}

#[tokio::test]
async fn done_and_parked_messages_are_not_open() {
    let story = TestConversation::begin().await;
    for id in ["m1", "m2", "m3"] {
        is_new(&story, id, "Words", 1).await;
    }
    story.store.inbox_done(&push("Saved", 2)).await.expect("done");
    let parted = OutboxPush { message_id: "m2".into(), ..push("Not saved", 3) };
    story.store.inbox_park(&parted).await.expect("parked");
    let open = story.store.inbox_unfinished().await.expect("read");
    assert_eq!(open, [row("m3", "Words", 1)]);
    assert_eq!(next_body(&story).await.as_deref(), Some("Saved"), "said in the same commit");
    // A message that is done is still known.
    assert!(!is_new(&story, "m1", "Words", 9).await);
}

#[tokio::test]
async fn failures_are_counted() {
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Words", 1).await;
    for attempts in 1..=3 {
        let counted = story.store.inbox_attempt_failed("hub", "m1", "No network", 0).await;
        assert_eq!(counted.expect("counted"), attempts);
    }
    assert_eq!(story.store.inbox_unfinished().await.expect("read")[0].attempts, 3);
    let hopeless = story.store.inbox_attempt_failed("hub", "m1", "No key", 7).await;
    assert_eq!(hopeless.expect("counted"), 7);
}

#[tokio::test]
async fn what_is_not_in_the_inbox_is_said_to_be_missing() {
    let story = TestConversation::begin().await;
    let store = &story.store;
    let outcomes = [
        store.inbox_done(&push("Saved", 1)).await.err(),
        store.inbox_park(&push("Not saved", 1)).await.err(),
        store.inbox_assign_turn("hub", "m1", &conversation_id(), &"t1".into()).await.err(),
        store.inbox_attempt_failed("hub", "m1", "why", 0).await.err(),
        store.outbox_sent(1).await.err(),
    ];
    for outcome in outcomes {
        assert!(matches!(outcome, Some(StoreError::NotFound { .. })), "{outcome:?}");
    }
    assert_eq!(next_body(&story).await, None, "no message about a missing row");
}

#[tokio::test]
async fn notifications_leave_in_order_and_stay_until_they_were_sent() {
    let story = TestConversation::begin().await;
    assert_eq!(next_body(&story).await, None);
    story.store.outbox_push(&push("First", 1)).await.expect("pushed");
    story
        .store
        .outbox_push(&OutboxPush { title: None, ..push("Second", 2) })
        .await
        .expect("pushed");
    let story = story.restart().await;
    let first = story.store.outbox_next("hub", None, 100).await.expect("read").expect("one");
    assert_eq!(first.push, push("First", 1));
    assert_eq!(story.store.outbox_next("hub", None, 100).await.expect("read"), Some(first.clone()));
    story.store.outbox_sent(first.id).await.expect("sent");
    assert_eq!(next_body(&story).await.as_deref(), Some("Second"));
}

#[tokio::test]
async fn old_notifications_are_dropped_and_named() {
    let story = TestConversation::begin().await;
    for (body, at) in [("Sent", 1), ("Old", 2), ("Older", 1), ("New", 10)] {
        story.store.outbox_push(&push(body, at)).await.expect("pushed");
    }
    let sent = story.store.outbox_next("hub", None, 100).await.expect("read").expect("one");
    story.store.outbox_sent(sent.id).await.expect("sent");
    let dropped = story.store.outbox_expire(Timestamp(10)).await.expect("dropped");
    let bodies: Vec<&str> = dropped.iter().map(|row| row.push.body.as_str()).collect();
    assert_eq!(bodies, ["Old", "Older"]);
    assert_eq!(next_body(&story).await.as_deref(), Some("New"));
}

#[tokio::test]
async fn undelivered_replies_and_failed_messages_need_approval() {
    let story = TestConversation::begin().await;
    for (id, words) in [("m1", "Buy milk"), ("m2", "And bread")] {
        is_new(&story, id, words, 1).await;
        story
            .store
            .inbox_assign_turn("hub", id, &conversation_id(), &id.into())
            .await
            .expect("assigned");
    }
    story.store.outbox_push(&push("On the list.", 1)).await.expect("pushed");
    let dropped = story.store.outbox_expire(Timestamp(9)).await.expect("dropped");
    assert_eq!(dropped[0].conversation, Some(conversation_id()));
    story.store.inbox_attempt_failed("hub", "m2", "The disk is full", 4).await.expect("counted");
    let said = OutboxPush { message_id: "m2".into(), ..push("Not saved", 9) };
    story.store.inbox_park(&said).await.expect("parked");

    let story = story.restart().await;
    let held = story.store.hub_approvals(&conversation_id()).await.expect("read");
    let error = "The disk is full".to_owned();
    let expected = [
        ("On the list.", ApprovalReason::Unheard),
        ("And bread", ApprovalReason::Failed { error }),
    ];
    let found: Vec<_> = held.iter().map(|one| (one.text.as_str(), one.why.clone())).collect();
    assert_eq!(found, expected);
    // The hub may be told now, and the message is worked on as if it were new.
    story
        .store
        .approve_for_hub(held[1].number, Some("attic"), Timestamp(9))
        .await
        .expect("processed again, whatever hub is linked");
    let again = story.store.inbox_next().await.expect("read").expect("it is open");
    assert_eq!((again.text.as_str(), again.attempts, again.turn), ("And bread", 0, None));
    let told = next_body(&story).await;
    assert_eq!(told.as_deref(), Some("Not saved"), "the text of a message is no answer");
    let number = held[0].number;
    let other = story.store.approve_for_hub(number, Some("attic"), Timestamp(9)).await;
    assert_eq!(other.expect("asked"), ApprovalOutcome::ForHub("hub".into()));
    assert_eq!(story.store.hub_approvals(&conversation_id()).await.expect("read").len(), 1);
    let sent = story.store.approve_for_hub(number, Some("hub"), Timestamp(9)).await;
    assert_eq!(sent.expect("sent"), ApprovalOutcome::Approved(conversation_id()));
    assert_eq!(story.store.hub_approvals(&conversation_id()).await.expect("read"), []);
}

#[tokio::test]
async fn another_text_under_a_known_id_changes_nothing_and_is_detected() {
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Buy milk", 1).await;
    for (words, expected) in
        [("Buy milk", DeliveryOutcome::Known), ("Buy beer", DeliveryOutcome::Differs)]
    {
        let came = [delivered("m1", words)];
        let taken = story.store.inbox_insert(&came, 3, Timestamp(2)).await;
        assert_eq!(taken.expect("asked"), [expected]);
    }
    assert_eq!(story.store.inbox_next().await.expect("read").expect("one").text, "Buy milk");
}

#[tokio::test]
async fn another_text_under_the_id_of_a_finished_message_is_a_message_of_its_own_after_a_minute() {
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Buy milk", 0).await;
    let late = async |text: &str, at| deliver(&story, &[delivered("m1", text)], at).await[0];
    assert_eq!(late("Buy beer", 60_000).await, DeliveryOutcome::IdInUse, "it is worked on");
    story.store.inbox_done(&push("Saved", 1)).await.expect("done");
    assert_eq!(late("Buy beer", 59_999).await, DeliveryOutcome::Differs, "too early");
    assert_eq!(late("Buy milk", 60_000).await, DeliveryOutcome::Known);
    assert_eq!(late("Buy beer", 60_000).await, DeliveryOutcome::New);
    assert_eq!(late("Buy beer", 60_001).await, DeliveryOutcome::Known);
    assert_eq!(late("Call Ada", 60_001).await, DeliveryOutcome::Differs);
    let row = story.store.inbox_next().await.expect("read").expect("the second");
    assert_eq!((row.text.as_str(), id_at_hub(&row.id)), ("Buy beer", "m1"));
    assert_ne!(row.id, "m1");
    let said = OutboxPush { message_id: row.id.clone(), ..push("Beer, too", 2) };
    story.store.inbox_done(&said).await.expect("done");
    assert_eq!(late("Call Ada", 120_000).await, DeliveryOutcome::New);
    assert_eq!(late("Call Ada", 300_000).await, DeliveryOutcome::Known);
    // An id that only begins alike is another one.
    assert!(is_new(&story, "m10", "Words", 300_000).await);
    assert_eq!(late("Words", 300_000).await, DeliveryOutcome::IdInUse);
}

#[tokio::test]
async fn the_same_text_under_the_id_of_a_finished_message_is_another_one_on_another_day() {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Buy milk", 0).await;
    let late = async |sent_at: Option<i64>, at| {
        let sent_at = sent_at.map(Timestamp);
        deliver(&story, &[DeliveredMessage { sent_at, ..delivered("m1", "Buy milk") }], at).await[0]
    };
    assert_eq!(late(Some(2 * DAY), 2 * DAY).await, DeliveryOutcome::Known, "it is worked on");
    story.store.inbox_done(&push("Saved", 1)).await.expect("done");
    for sent_at in [None, Some(DAY - 1), Some(3 * DAY)] {
        let repeat = late(sent_at, DAY - 1).await;
        assert_eq!(repeat, DeliveryOutcome::Known, "of the same day: {sent_at:?}");
    }
    assert_eq!(late(Some(1), 2 * DAY).await, DeliveryOutcome::Known, "sent on the first day");
    assert_eq!(late(Some(DAY), DAY).await, DeliveryOutcome::New);
    assert_eq!(late(Some(DAY), DAY + 1).await, DeliveryOutcome::Known);
    let row = story.store.inbox_next().await.expect("read").expect("the second");
    assert_eq!((row.text.as_str(), id_at_hub(&row.id)), ("Buy milk", "m1"));
    let said = OutboxPush { message_id: row.id, ..push("Milk again", DAY) };
    story.store.inbox_done(&said).await.expect("done");
    let together = ["Buy beer", "Buy milk"].map(|text| delivered("m1", text));
    let taken = deliver(&story, &together, 2 * DAY).await;
    assert_eq!(taken, [DeliveryOutcome::New, DeliveryOutcome::Differs], "one id, one moment");
    assert_eq!(late(None, 2 * DAY + 60_000).await, DeliveryOutcome::IdInUse, "beer is worked on");
}

#[tokio::test]
async fn notifications_for_one_hub_are_not_sent_to_another() {
    let story = TestConversation::begin().await;
    story.store.outbox_push(&push("First", 1)).await.expect("pushed");
    let other = OutboxPush { hub: "attic".into(), ..push("Second", 2) };
    story.store.outbox_push(&other).await.expect("pushed");
    let next = async |hub| story.store.outbox_next(hub, None, 100).await.expect("read");
    assert_eq!(next("attic").await.expect("one").push, other);
    assert_eq!(next("hub").await.expect("one").push, push("First", 1));
    assert_eq!(next("cellar").await, None);
}

#[tokio::test]
async fn messages_of_another_hub_do_not_make_an_answer_late() {
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Words", 1).await;
    story.store.inbox_done(&push("Saved", 1)).await.expect("done");
    for id in ["a1", "a2"] {
        assert_eq!(
            deliver(&story, &[delivered_by("attic", id, "Words")], 2).await,
            [DeliveryOutcome::New]
        );
    }
    assert!(is_new(&story, "m2", "Words", 3).await);
    let row = story.store.outbox_next("hub", None, 100).await.expect("read").expect("one");
    assert_eq!(row.newer, 1);
    assert_eq!(story.store.outbox_expired_replies("hub", 0, 2).await.expect("read").count, 0);
}

#[tokio::test]
async fn what_was_stored_before_hubs_were_told_apart_gets_the_name_of_one_once() {
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Words", 1).await;
    story.store.inbox_done(&push("Saved", 1)).await.expect("done");
    let of_another = delivered_by("attic", "m1", "Hi");
    deliver(&story, &[of_another], 4).await;
    for hub in ["first:1", "second:1"] {
        story.store.name_unnamed_hub(hub).await.expect("named");
    }
    let named = story.store.outbox_next("first:1", None, 100).await.expect("read").expect("one");
    assert_eq!((named.push.body.as_str(), named.newer), ("Saved", 0));
    assert_eq!(next_body(&story).await, None);
    let known = deliver(&story, &[delivered_by("first:1", "m1", "Words")], 9).await;
    assert_eq!(known, [DeliveryOutcome::Known]);
    let open = story.store.inbox_unfinished().await.expect("read");
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0].hub, "attic");
}

/// A conversation in which turn `t1` answered hub message `m1`, ended at 3, and says this to the hub.
async fn answered_for_hub(said: &[OutboxPush]) -> TestConversation {
    let story = TestConversation::begin().await;
    is_new(&story, "m1", "Buy milk", 1).await;
    let turn = "t1".into();
    story.store.inbox_assign_turn("hub", "m1", &conversation_id(), &turn).await.expect("assigned");
    let mut new = new_turn("t1", "Buy milk", 2);
    new.origin = Origin::HubVoice;
    story.store.submit_turn(&new).await.expect("stored");
    story.begins().await;
    let end = answered("t1", "On the list.", 3);
    story.store.finish_hub_turn(&turn, &end, said, &[]).await.expect("ended");
    story
}

#[tokio::test]
async fn a_hub_turn_ends_with_its_message_done_and_its_words_in_the_outbox() {
    let (turn, said) = ("t1".into(), [push("On the list.", 3), push("Anything else?", 3)]);
    let story = answered_for_hub(&said).await;

    let story = story.restart().await;
    assert_eq!(story.store.turn_status(&turn).await.expect("read"), Some(TurnStatus::Done));
    assert_eq!(story.store.inbox_unfinished().await.expect("read"), []);
    assert_eq!(next_body(&story).await.as_deref(), Some("On the list."));

    let again =
        story.store.finish_hub_turn(&turn, &ending(TurnStatus::Failed, 4), &said, &[]).await;
    assert!(matches!(again, Err(StoreError::NotFound { what: "This answer", .. })));
    for _ in 0..2 {
        let row = story.store.outbox_next("hub", None, 100).await.expect("read").expect("one");
        story.store.outbox_sent(row.id).await.expect("sent");
    }
    assert_eq!(next_body(&story).await, None);
}

#[tokio::test]
async fn queued_words_of_a_turn_are_held_together_and_approved_ones_are_not_held_again() {
    let said = [push("On the list.", 3), push("Anything else?", 3), push("Stopped.", 4)];
    let (turn, story) = (TurnId::from("t1"), answered_for_hub(&said).await);
    let first = story.store.outbox_next("hub", None, 100).await.expect("read").expect("one");
    assert_eq!((&first.push, first.unapproved_turn.as_ref()), (&said[0], Some(&turn)));
    let hold = async || story.store.outbox_hold(&turn, &push("Look at it.", 4)).await;
    assert_eq!(hold().await.expect("held"), Some(conversation_id()));
    let held = story.store.hub_approvals(&conversation_id()).await.expect("read");
    let found: Vec<_> = held.iter().map(|one| (one.text.as_str(), one.why.clone())).collect();
    let expected = ["On the list.", "Anything else?"].map(|text| (text, ApprovalReason::Outside));
    assert_eq!(found, expected);
    let approved = story.store.approve_for_hub(held[0].number, Some("hub"), Timestamp(9)).await;
    assert_eq!(approved.expect("sent"), ApprovalOutcome::Approved(conversation_id()));
    assert_eq!(hold().await.expect("asked"), None, "nothing is left to hold");

    let story = story.restart().await;
    for body in ["Stopped.", "Look at it.", "On the list."] {
        let row = story.store.outbox_next("hub", None, 100).await.expect("read").expect("one");
        assert_eq!((row.push.body.as_str(), row.unapproved_turn), (body, None));
        story.store.outbox_sent(row.id).await.expect("sent");
    }
    assert_eq!(next_body(&story).await, None);
}

#[tokio::test]
async fn queued_words_of_a_deleted_conversation_are_dropped_without_a_notice() {
    let (turn, story) = (TurnId::from("t1"), answered_for_hub(&[push("On the list.", 3)]).await);
    story.store.delete(&conversation_id(), Timestamp(5)).await.expect("deleted");
    let held = story.store.outbox_hold(&turn, &push("Look at it.", 4)).await;
    assert_eq!(held.expect("dropped"), None);
    assert_eq!(next_body(&story).await, None);
}

#[tokio::test]
async fn what_is_held_waits_over_a_restart_and_is_sent_or_discarded_once() {
    let story = TestConversation::begin().await;
    let push = |body: &str| OutboxPush {
        hub: "hub".into(),
        message_id: "m1".into(),
        title: Some("when".into()),
        body: body.into(),
        priority: "normal".into(),
        at: Timestamp(3),
    };
    story.says("t1", "when", 1).await;
    story.begins().await;
    let end = answered("t1", "At nine.", 3);
    let held = [push("At nine."), push("At ten.")];
    story.store.finish_hub_turn(&"t1".into(), &end, &[], &held).await.expect("ended");
    let story = story.restart().await;
    let waiting = story.store.hub_approvals(&conversation_id()).await.expect("read");
    let words: Vec<&str> = waiting.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(words, ["At nine.", "At ten."]);
    let row = story.store.conversation(&conversation_id()).await.expect("read").expect("there");
    assert_eq!(row.held, 2);
    assert_eq!(
        story.store.outbox_next("hub", None, 100).await.expect("read"),
        None,
        "nothing is sent automatically"
    );
    let (first, second) = (waiting[0].number, waiting[1].number);
    let sent = story.store.approve_for_hub(first, None, Timestamp(9)).await.expect("sent");
    assert_eq!(sent, ApprovalOutcome::Approved(conversation_id()));
    let again = story.store.approve_for_hub(first, None, Timestamp(9)).await.expect("asked");
    assert_eq!(again, ApprovalOutcome::Gone);
    story.store.discard_hub_approval(second).await.expect("discarded").expect("it waited");
    assert_eq!(story.store.hub_approvals(&conversation_id()).await.expect("read"), []);
    let next = story.store.outbox_next("hub", None, 100).await.expect("read").expect("one");
    assert_eq!(next.push, OutboxPush { at: Timestamp(9), ..push("At nine.") });
    story.store.outbox_sent(next.id).await.expect("sent");
    assert_eq!(story.store.outbox_next("hub", None, 100).await.expect("read"), None);
}

/// The notifications in the order in which they go out to a hub that remembers so many messages.
async fn sent_in_order(conversation: &TestConversation, memory: i64) -> Vec<String> {
    let mut sent = Vec::new();
    while let Some(row) = conversation.store.outbox_next("hub", None, memory).await.expect("read") {
        conversation.store.outbox_sent(row.id).await.expect("sent");
        sent.push(row.push.body);
    }
    sent
}

#[tokio::test]
async fn answers_go_out_in_order_until_the_hub_is_about_to_drop_their_messages() {
    for (memory, dropped, expected) in [
        (100, 0, ["1", "2", "3", "4", "5"]),
        // The first is four back: the newest go first, and dropped ones last.
        (4, 1, ["5", "4", "3", "2", "1"]),
        (3, 2, ["5", "4", "3", "2", "1"]),
    ] {
        let story = TestConversation::begin().await;
        for number in 1..=5 {
            let id = format!("m{number}");
            assert!(is_new(&story, &id, "words", number).await);
            let said = OutboxPush { message_id: id, ..push(&number.to_string(), number) };
            story.store.inbox_done(&said).await.expect("done");
        }
        let all = story.store.outbox_expired_replies("hub", 0, memory).await.expect("read");
        assert_eq!((all.count, all.last), (dropped, dropped), "{memory}");
        let rest = story.store.outbox_expired_replies("hub", 1, memory).await.expect("read");
        assert_eq!(rest.count, (dropped - 1).max(0), "{memory}");
        // The notification under way is sent again first, whatever it answers.
        let again =
            story.store.outbox_next("hub", Some(1), memory).await.expect("read").expect("one");
        assert_eq!((again.push.body.as_str(), again.newer), ("1", 4), "{memory}");
        assert_eq!(sent_in_order(&story, memory).await, expected, "{memory}");
    }
}
