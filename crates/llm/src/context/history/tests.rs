//! Any rows make a request that the providers accept.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn row(role: Role, parts: Vec<MessagePart>) -> Message {
    let (id, conversation, turn) = ("m".into(), "c".into(), "t".into());
    Message { id, conversation, turn, role, parts, at: protocol::Timestamp(0) }
}

fn user(parts: Vec<MessagePart>) -> Message {
    row(Role::User, parts)
}

fn model(parts: Vec<MessagePart>) -> Message {
    row(Role::Assistant, parts)
}

fn text(text: &str) -> MessagePart {
    MessagePart::Text { text: text.into() }
}

fn call(id: &str) -> MessagePart {
    MessagePart::Call { id: id.into(), tool: "read".into(), arguments: json!({}) }
}

fn result(call: &str, output: &str) -> MessagePart {
    let (call, output) = (call.into(), output.into());
    MessagePart::Result { call, output, is_error: false, speech: None }
}

fn ours() -> AnswerAuthor {
    AnswerAuthor { server: "provider".into(), model: "model".into() }
}

fn thought(author: Option<AnswerAuthor>) -> MessagePart {
    MessagePart::Verbatim { content: json!("hm"), maker: author }
}

/// The request in short: `U` or `A`, then `"words"`, `call`, `call=output`.
fn short(rows: &[Message]) -> Vec<String> {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => format!("{text:?}"),
        ContentBlock::Call(call) => call.id.to_string(),
        ContentBlock::Result { call, output, .. } if output == model_texts::NO_RESULT => {
            format!("{call}=?")
        }
        ContentBlock::Result { call, output, .. } => format!("{call}={output}"),
        ContentBlock::Verbatim(value) => value.to_string(),
    };
    let line = |message: &ModelMessage| {
        let role = if message.role == Role::User { "U" } else { "A" };
        let blocks: Vec<String> = message.blocks.iter().map(block).collect();
        format!("{role} {}", blocks.join(" "))
    };
    request_messages(rows, &ours()).iter().map(line).collect()
}

#[test]
fn the_context_comes_before_the_text() {
    let context = MessagePart::Context { text: "Sunday".into() };
    assert_eq!(short(&[user(vec![text("hi"), context])]), [r#"U "Sunday" "hi""#]);
}

#[test]
fn a_turn_with_calls_is_one_message_of_calls_and_one_of_results() {
    let rows = [
        user(vec![text("go")]),
        model(vec![text("Look"), call("1"), call("2")]),
        user(vec![result("1", "a")]),
        user(vec![result("2", "b")]),
        model(vec![text("done")]),
    ];
    assert_eq!(short(&rows), [r#"U "go""#, r#"A "Look" 1 2"#, "U 1=a 2=b", r#"A "done""#]);
}

#[test]
fn the_answer_to_a_question_joins_the_results() {
    let rows = [
        user(vec![text("go")]),
        model(vec![call("1")]),
        user(vec![result("1", "delivered")]),
        user(vec![MessagePart::Answers { question: "q".into() }, text("the blue one")]),
    ];
    assert_eq!(short(&rows), [r#"U "go""#, "A 1", r#"U 1=delivered "the blue one""#]);
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_is_dropped() {
    let rows = [
        user(vec![text("go"), result("9", "stray")]),
        model(vec![call("1"), call("2")]),
        user(vec![text("and?"), result("2", "b"), result("2", "again")]),
        model(vec![call("3")]),
    ];
    assert_eq!(short(&rows), [r#"U "go""#, "A 1 2", r#"U 1=? 2=b "and?""#, "A 3", "U 3=?"]);
}

#[test]
fn an_id_that_another_turn_used_is_renamed_with_its_result() {
    let rows = [
        user(vec![text("go")]),
        model(vec![call("1")]),
        user(vec![result("1", "a")]),
        model(vec![call("1")]),
        user(vec![result("1", "b")]),
    ];
    assert_eq!(short(&rows), [r#"U "go""#, "A 1", "U 1=a", "A 1_2", "U 1_2=b"]);
}

#[test]
fn long_ids_are_shortened_with_their_results_and_stay_apart() {
    let long = |end: &str| format!("{}{end}", "x".repeat(45));
    let kept = "y".repeat(40);
    let rows = [
        user(vec![text("go")]),
        model(vec![call(&long("a")), call(&long("b")), call(&kept)]),
        user(vec![result(&long("b"), "b"), result(&long("a"), "a"), result(&kept, "c")]),
        model(vec![call(&kept)]),
        user(vec![result(&kept, "d")]),
    ];
    let (first, second) = ("x".repeat(40), format!("{}_2", "x".repeat(38)));
    let renamed = format!("{}_2", "y".repeat(38));
    assert_eq!(
        short(&rows),
        [
            r#"U "go""#.to_owned(),
            format!("A {first} {second} {kept}"),
            format!("U {first}=a {second}=b {kept}=c"),
            format!("A {renamed}"),
            format!("U {renamed}=d"),
        ]
    );
}

#[test]
fn verbatim_content_goes_only_to_its_maker_and_while_its_turn_asks() {
    let other = |change: fn(&mut AnswerAuthor)| {
        let mut maker = ours();
        change(&mut maker);
        Some(maker)
    };
    for (maker, sent) in [
        (Some(ours()), true),
        (other(|maker| maker.model = "other".into()), false),
        (other(|maker| maker.server = "other".into()), false),
        (None, false),
    ] {
        let rows = [
            user(vec![text("go")]),
            model(vec![thought(maker), call("1")]),
            user(vec![result("1", "a")]),
        ];
        let heard = short(&rows).concat();
        assert_eq!(heard.contains("hm"), sent, "{heard}");
        let next = Message { turn: "t2".into(), ..user(vec![text("and?")]) };
        let heard = short(&[rows.to_vec(), vec![next]].concat()).concat();
        assert!(!heard.contains("hm"), "{heard}");
    }
}

#[test]
fn blank_texts_and_empty_messages_are_skipped() {
    let rows = [user(vec![text("a")]), model(vec![text(" \n")]), user(vec![text("b")])];
    assert_eq!(short(&rows), [r#"U "a" "b""#]);
}

#[test]
fn a_history_that_begins_with_the_model_is_given_a_beginning() {
    let beginning = format!("U {:?}", model_texts::BEGINNING_MISSING);
    assert_eq!(short(&[model(vec![text("hi")])]), [beginning.as_str(), r#"A "hi""#]);
}

#[test]
fn a_paused_answer_at_the_end_does_not_end_with_blanks() {
    let rows = [user(vec![text("go")]), model(vec![text("well, \n")])];
    assert_eq!(short(&rows), [r#"U "go""#, r#"A "well,""#]);
}

fn part() -> impl Strategy<Value = MessagePart> {
    let long = || (0..2_u8).prop_map(|id| format!("{}{id}", "c".repeat(41)));
    let id = || prop_oneof![(0..4_u8).prop_map(|id| format!("c{id}")), long()];
    prop_oneof![
        prop_oneof![Just("words"), Just(""), Just(" \n"), Just("end ")].prop_map(text),
        Just(MessagePart::Context { text: "context".into() }),
        Just(MessagePart::Answers { question: "q".into() }),
        Just(thought(Some(ours()))),
        Just(thought(None)),
        id().prop_map(|id| call(&id)),
        id().prop_map(|id| result(&id, "out")),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let row =
        (role, proptest::collection::vec(part(), 0..5)).prop_map(|(role, parts)| row(role, parts));
    proptest::collection::vec(row, 0..12)
}

fn call_of(block: &ContentBlock) -> Option<&CallId> {
    if let ContentBlock::Call(call) = block { Some(&call.id) } else { None }
}

fn result_of(block: &ContentBlock) -> Option<&CallId> {
    if let ContentBlock::Result { call, .. } = block { Some(call) } else { None }
}

fn calls_of(message: &ModelMessage) -> Vec<&CallId> {
    message.blocks.iter().filter_map(call_of).collect()
}

/// The results at the head of a message; `None` when one stands behind something else.
fn results_of(message: &ModelMessage) -> Option<Vec<&CallId>> {
    let head: Vec<&CallId> = message.blocks.iter().map_while(result_of).collect();
    (head.len() == message.blocks.iter().filter_map(result_of).count()).then_some(head)
}

proptest! {
    #[test]
    fn any_rows_make_a_request_that_the_api_accepts(rows in rows()) {
        let messages = request_messages(&rows, &ours());
        let mut ids = BTreeSet::new();
        let mut open: Vec<&CallId> = Vec::new();
        for (n, message) in messages.iter().enumerate() {
            let expected = if n % 2 == 0 { Role::User } else { Role::Assistant };
            prop_assert_eq!(message.role, expected);
            prop_assert!(!message.blocks.is_empty());
            prop_assert_eq!(results_of(message), Some(std::mem::take(&mut open)));
            open = calls_of(message);
            prop_assert!(open.iter().all(|id| ids.insert((*id).clone()) && id.as_str().len() <= 40));
            for block in &message.blocks {
                prop_assert!(!matches!(block, ContentBlock::Text(text) if text.trim().is_empty()));
            }
        }
        prop_assert!(open.is_empty());
    }

    #[test]
    fn later_rows_change_nothing_before_the_last_message(rows in rows(), more in rows()) {
        // Only a call without a result, or an unfinished text at the end, may change.
        let before = request_messages(&rows, &ours());
        let after = request_messages(&[rows, more].concat(), &ours());
        let kept = before.len().saturating_sub(2);
        prop_assert_eq!(before.get(..kept), after.get(..kept));
    }
}
