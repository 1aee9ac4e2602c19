//! What the hub hears of a turn, by how the turn ended.

use protocol::{CallResult, ConversationId, MessageId, Origin, Role, Timestamp, TurnId, Usage};
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

fn message(role: Role, parts: Vec<Part>) -> Message {
    Message {
        id: MessageId::from("m"),
        conversation: ConversationId::from("c"),
        turn: TurnId::from("t"),
        role,
        parts,
        at: Timestamp(1),
    }
}

fn says(id: &str, text: &str) -> Part {
    let (id, tool) = (CallId::from(id), "send_message".to_owned());
    Part::Call { id, tool, arguments: json!({ "message": text }) }
}

fn result(id: &str, is_error: bool) -> Part {
    Part::Result { call: CallId::from(id), output: String::new(), is_error }
}

fn ending(status: TurnStatus, last: Option<&str>) -> Ending {
    let text = |text: &str| message(Role::Assistant, vec![Part::Text { text: text.into() }]);
    Ending {
        status,
        results: Vec::new(),
        message: last.map(text),
        cut: false,
        question: None,
        ends_conversation: false,
        error: None,
        usage: Usage::default(),
        at: Timestamp(2),
    }
}

fn bodies(history: &[Message], ending: &Ending, waiting: &[&str]) -> Vec<String> {
    let waiting: Vec<NotePath> =
        waiting.iter().map(|path| NotePath::parse(path).expect("a path")).collect();
    let told = outcome(&row(), history, ending, &waiting, Reach::Within);
    assert_eq!(told.held, [], "nothing is held within its reach");
    told.said.into_iter().map(|push| push.body).collect()
}

#[test]
fn what_was_said_is_told_once_and_only_if_it_was_delivered() {
    let calls = message(
        Role::Assistant,
        vec![says("a", "It is done."), says("b", "Refused."), says("c", "Never ran.")],
    );
    let results = message(Role::User, vec![result("a", false), result("b", true)]);
    let history = [calls, results];
    let done = ending(TurnStatus::Done, Some("It is done."));
    assert_eq!(bodies(&history, &done, &[]), ["It is done."]);
    let result = CallResult {
        call: CallId::from("c"),
        output: String::new(),
        is_error: false,
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    };
    let with_result = Ending { results: vec![result], ..done };
    assert_eq!(bodies(&history, &with_result, &[]), ["It is done.", "Never ran."]);
}

#[test]
fn a_stopped_turn_and_changes_that_wait_are_told() {
    let cancelled = ending(TurnStatus::Cancelled, None);
    assert_eq!(bodies(&[], &cancelled, &[]), ["Stopped before it was done."]);
    let done = ending(TurnStatus::Done, Some("Look at it."));
    assert_eq!(
        bodies(&[], &done, &["Lists/Groceries.md", "a.md", "b.md"]),
        ["Look at it.", "Changes to 3 notes wait for you in Vaultmate."]
    );
}

#[tokio::test(start_paused = true)]
async fn two_in_a_row_never_have_one_title_and_keep_their_distance() {
    let mut pace = Pace::at(llm::Pace::REAL);
    let begun = Instant::now();
    let mut titles = Vec::new();
    for _ in 0..3 {
        let sent = pace.wait_for(push(&row(), "words", "normal")).await;
        let Response::Notification { title, .. } = sent else { panic!("a notification: {sent:?}") };
        titles.push(title);
    }
    assert_eq!(titles, ["remember milk", "remember milk (2)", "remember milk (3)"]);
    assert_eq!(begun.elapsed(), APART * 2);
    tokio::time::advance(MERGED * 2).await;
    let later = pace.wait_for(push(&row(), "words", "normal")).await;
    assert!(matches!(later, Response::Notification { title, .. } if title == "remember milk"));
}

#[tokio::test(start_paused = true)]
async fn no_minute_has_more_than_the_hub_shows() {
    let mut pace = Pace::at(llm::Pace::REAL);
    let mut sent = Vec::new();
    for _ in 0..A_MINUTE * 3 {
        pace.wait_for(push(&row(), "words", "normal")).await;
        sent.push(Instant::now());
    }
    for window in sent.windows(A_MINUTE + 1) {
        let [first, .., last] = window else { panic!("a window") };
        assert!(last.duration_since(*first) >= Duration::from_secs(60));
    }
}

#[test]
fn beyond_its_reach_the_hub_hears_neither_words_nor_names_of_the_model() {
    let end = ending(TurnStatus::Done, Some("The code is 1234."));
    let calls = message(Role::Assistant, vec![says("a", "It begins with 12.")]);
    let history = [calls, message(Role::User, vec![result("a", false)])];
    let waiting = [NotePath::parse("The code is 1234.md").expect("a path")];
    let told = outcome(&row(), &history, &end, &waiting, Reach::Beyond);
    let bodies = |pushes: Vec<OutboxPush>| -> Vec<String> {
        pushes.into_iter().map(|push| push.body).collect()
    };
    assert_eq!(bodies(told.held), ["It begins with 12.", "The code is 1234."]);
    assert_eq!(
        bodies(told.said),
        ["An answer waits for you in Vaultmate.", "A change waits for you in Vaultmate."]
    );
}
