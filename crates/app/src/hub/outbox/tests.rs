//! The notifications of a turn, by how the turn ended.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use llm::model::OWN_CALL_PREFIX;
use protocol::{
    CallResult, ConversationId, MessageId, Origin, Role, Timestamp, TokenUsage, TurnId,
};
use serde_json::json;

use super::*;

fn row() -> InboxRow {
    InboxRow {
        hub: "hub".into(),
        id: "m1".into(),
        text: "remember milk".into(),
        origin: Origin::HubText,
        received_at: Timestamp(1),
        conversation: Some(ConversationId::from("c")),
        turn: Some(TurnId::from("t")),
        attempts: 0,
    }
}

fn message(role: Role, parts: Vec<MessagePart>) -> Message {
    Message {
        id: MessageId::from("m"),
        conversation: ConversationId::from("c"),
        turn: TurnId::from("t"),
        role,
        parts,
        at: Timestamp(1),
    }
}

fn says(id: &str, text: &str) -> MessagePart {
    let (id, tool) = (CallId::from(id), "send_message".to_owned());
    MessagePart::Call { id, tool, arguments: json!({ "message": text }) }
}

fn said(text: &str) -> Option<Speech> {
    Some(Speech::Say { text: text.to_owned() })
}

/// The result of a call that sent this message.
fn delivered(id: &str, text: &str) -> MessagePart {
    let (call, output, speech) = (CallId::from(id), "Delivered.".to_owned(), said(text));
    MessagePart::Result { call, output, is_error: false, speech }
}

fn result(id: &str, is_error: bool) -> MessagePart {
    MessagePart::Result { call: CallId::from(id), output: String::new(), is_error, speech: None }
}

fn ending(status: TurnStatus, last: Option<&str>) -> TurnEnding {
    let text = |text: &str| message(Role::Assistant, vec![MessagePart::Text { text: text.into() }]);
    TurnEnding {
        status,
        results: Vec::new(),
        message: last.map(text),
        cut: false,
        question: None,
        ends_conversation: false,
        error: None,
        usage: TokenUsage::default(),
        at: Timestamp(2),
    }
}

fn bodies(history: &[Message], ending: &TurnEnding, waiting: &[&str]) -> Vec<String> {
    let waiting: Vec<NotePath> =
        waiting.iter().map(|path| NotePath::parse(path).expect("a path")).collect();
    let told = turn_notifications(&row(), history, ending, &waiting, HubDisclosure::Within);
    assert_eq!(told.needs_approval, [], "nothing is held within its reach");
    told.now.into_iter().map(|push| push.body).collect()
}

#[test]
fn a_message_is_sent_once_and_only_if_it_was_delivered() {
    let calls = message(
        Role::Assistant,
        vec![says("a", "It is done."), says("b", "Refused."), says("c", "Sent last.")],
    );
    let results = message(Role::User, vec![delivered("a", "It is done."), result("b", true)]);
    let history = [calls, results];
    let done = ending(TurnStatus::Done, Some("It is done."));
    assert_eq!(bodies(&history, &done, &[]), ["It is done."]);
    let result = CallResult {
        call: CallId::from("c"),
        output: String::new(),
        is_error: false,
        speech: said("Sent last."),
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    };
    let with_result = TurnEnding { results: vec![result], ..done };
    assert_eq!(bodies(&history, &with_result, &[]), ["It is done.", "Sent last."]);
}

#[test]
fn a_call_that_only_looks_like_a_message_sends_none() {
    let calls = message(Role::Assistant, vec![says("a", "Sent."), says("b", "Only spelled.")]);
    let results = message(Role::User, vec![delivered("a", "Sent."), result("b", false)]);
    let done = ending(TurnStatus::Done, Some("Well."));
    assert_eq!(bodies(&[calls, results], &done, &[]), ["Sent.", "Well."]);
}

#[test]
fn a_stopped_turn_and_pending_changes_are_told() {
    let cancelled = ending(TurnStatus::Cancelled, None);
    assert_eq!(bodies(&[], &cancelled, &[]), ["Stopped before it was done."]);
    let done = ending(TurnStatus::Done, Some("Look at it."));
    assert_eq!(
        bodies(&[], &done, &["Lists/Groceries.md", "a.md", "b.md"]),
        ["Look at it.", "Changes to 3 notes need your review in Vaultmate."]
    );
}

/// One notification when the hub will show it.
async fn throttled(pace: &mut SendThrottle, row: &InboxRow, body: &str) -> HubResponse {
    pace.throttle(notification_for(row, body, "normal")).await.expect("made plain")
}

#[tokio::test(start_paused = true)]
async fn two_in_a_row_never_have_one_title_and_keep_their_distance() {
    let mut pace = SendThrottle::new(llm::TimeScale::REAL_TIME);
    let begun = Instant::now();
    let mut titles = Vec::new();
    for _ in 0..3 {
        let sent = throttled(&mut pace, &row(), "words").await;
        let HubResponse::Notification { title, .. } = sent else {
            panic!("a notification: {sent:?}")
        };
        titles.push(title);
    }
    assert_eq!(titles, ["remember milk", "remember milk (2)", "remember milk (3)"]);
    assert_eq!(begun.elapsed(), MIN_SEND_INTERVAL * 2);
    tokio::time::advance(TITLE_MERGE_WINDOW * 2).await;
    let later = throttled(&mut pace, &row(), "words").await;
    assert!(matches!(later, HubResponse::Notification { title, .. } if title == "remember milk"));
}

/// A text as a hub shows it that drops everything that looks like a tag.
fn without_tags(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        shown.push_str(before);
        let Some((_, after)) = tag.split_once('>') else { break };
        rest = after;
    }
    shown + rest
}

#[tokio::test(start_paused = true)]
async fn a_notification_is_plain_text_that_survives_a_hub_which_drops_tags() {
    let row = InboxRow { text: "**a < b**".into(), ..row() };
    let body = "[[N|x]] <m@x.org> says *a < b* and b > c.";
    let mut pace = SendThrottle::new(llm::TimeScale::REAL_TIME);
    let sent = throttled(&mut pace, &row, body).await;
    let HubResponse::Notification { title, body: sent, .. } = sent else {
        panic!("a notification: {sent:?}")
    };
    assert_eq!((title.as_str(), sent.as_str()), ("a ‹ b", "x m@x.org says a ‹ b and b › c."));
    for text in [&title, &sent] {
        assert_eq!(&without_tags(text), text);
    }
    // The control: as the model wrote it, most of it is lost.
    assert_eq!(without_tags(body), "[[N|x]]  says *a  c.");
}

#[tokio::test]
async fn a_long_answer_is_made_plain_beside_other_tasks() {
    let (row, body) = (row(), "- **a** [[N|x]]\n".repeat(50_000));
    let mut pace = SendThrottle::new(llm::TimeScale::REAL_TIME);
    let mut sending = pin!(throttled(&mut pace, &row, &body));
    let polled = poll_fn(|context| Poll::Ready(sending.as_mut().poll(context))).await;
    assert!(polled.is_pending(), "nothing else ran meanwhile");
    let HubResponse::Notification { body, .. } = sending.await else { panic!("a notification") };
    assert_eq!(body, vec!["• a x"; 50_000].join("\n"));
}

#[tokio::test(start_paused = true)]
async fn titles_that_differ_in_their_marks_alone_are_told_apart() {
    let mut pace = SendThrottle::new(llm::TimeScale::REAL_TIME);
    let mut titles = Vec::new();
    for text in ["**Milk**", "Milk", "*Milk*", "Eggs"] {
        let row = InboxRow { text: text.into(), ..row() };
        let sent = throttled(&mut pace, &row, "words").await;
        let HubResponse::Notification { title, .. } = sent else {
            panic!("a notification: {sent:?}")
        };
        titles.push(title);
    }
    assert_eq!(titles, ["Milk", "Milk (2)", "Milk (3)", "Eggs"]);
}

#[tokio::test(start_paused = true)]
async fn no_minute_has_more_than_the_hub_shows() {
    let mut pace = SendThrottle::new(llm::TimeScale::REAL_TIME);
    let mut sent = Vec::new();
    for _ in 0..MAX_PER_MINUTE * 3 {
        throttled(&mut pace, &row(), "words").await;
        sent.push(Instant::now());
    }
    for window in sent.windows(MAX_PER_MINUTE + 1) {
        let [first, .., last] = window else { panic!("a window") };
        assert!(last.duration_since(*first) >= Duration::from_secs(60));
    }
}

#[test]
fn beyond_its_reach_the_hub_gets_neither_text_nor_names_of_the_model() {
    let end = ending(TurnStatus::Done, Some("The code is 1234."));
    let calls = message(Role::Assistant, vec![says("a", "It begins with 12.")]);
    let history = [calls, message(Role::User, vec![delivered("a", "It begins with 12.")])];
    let waiting = [NotePath::parse("The code is 1234.md").expect("a path")];
    let told = turn_notifications(&row(), &history, &end, &waiting, HubDisclosure::Beyond);
    let bodies = |pushes: Vec<OutboxPush>| -> Vec<String> {
        pushes.into_iter().map(|push| push.body).collect()
    };
    assert_eq!(bodies(told.needs_approval), ["It begins with 12.", "The code is 1234."]);
    assert_eq!(
        bodies(told.now),
        ["An answer needs your approval in Vaultmate.", "A change needs your review in Vaultmate."]
    );
}

#[test]
fn words_and_names_of_the_model_have_the_time_of_the_turns_end_and_ours_a_later_one() {
    let waiting = [NotePath::parse("a.md").expect("a path")];
    let times = |own: &[Message], status, reach| -> Vec<(String, i64)> {
        let end = ending(status, Some("Look at it."));
        let told = turn_notifications(&row(), own, &end, &waiting, reach);
        let all = told.needs_approval.into_iter().chain(told.now);
        all.map(|push| (push.body, push.at.0)).collect()
    };
    let timed = |expected: &[(&str, i64)]| -> Vec<(String, i64)> {
        expected.iter().map(|(body, at)| ((*body).to_owned(), *at)).collect()
    };
    let end = ending(TurnStatus::Done, None).at.0;
    let later = end + 1;
    assert_eq!(
        times(&[], TurnStatus::Cancelled, HubDisclosure::Within),
        timed(&[
            ("Look at it.", end),
            ("Stopped before it was done.", later),
            ("A change to a needs your review in Vaultmate.", end),
        ])
    );
    assert_eq!(
        times(&[], TurnStatus::Done, HubDisclosure::Beyond),
        timed(&[
            ("Look at it.", end),
            (NEEDS_APPROVAL, later),
            ("A change needs your review in Vaultmate.", later),
        ])
    );
    // The inbox note took the message over, and no model said anything.
    let id = CallId::from(format!("{OWN_CALL_PREFIX}1"));
    let call = MessagePart::Call { id, tool: "append_file".into(), arguments: json!({}) };
    let own = [message(Role::Assistant, vec![call])];
    let told = times(&own, TurnStatus::Done, HubDisclosure::Within);
    assert_eq!(told.first(), timed(&[("Look at it.", later)]).first());
}
