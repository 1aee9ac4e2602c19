//! The chat, for rows of every kind.

use proptest::prelude::*;
use protocol::{ErrorCode, NotePath, Origin, Timestamp, ToolEvent, TurnStatus, UserError};
use serde_json::{Value, json};

use super::*;

/// The items, where `say`, `end` and `resolve` are the tools that talk.
fn items_of(rows: ConversationRows) -> Vec<ChatItem> {
    items(rows, &["say", "end", "resolve"].map(str::to_owned).into())
}

fn turn(id: &str, status: TurnStatus, at: i64) -> TurnRow {
    let turn = OpenTurn {
        turn: id.into(),
        conversation: "c".into(),
        message: format!("{id}-asks").into(),
        origin: Origin::Window,
        status,
        at: Timestamp(at),
        resumed: 0,
    };
    TurnRow { turn, error: None, offer: None }
}

fn message(id: &str, turn: &str, role: Role, text: &str) -> MessageRow {
    let message = Message {
        id: id.into(),
        conversation: "c".into(),
        turn: turn.into(),
        role,
        parts: vec![MessagePart::Text { text: text.into() }],
        at: Timestamp(1),
    };
    MessageRow { message, cut: false }
}

fn call(message: &str, call: &str, tool: &str, arguments: Value) -> CallRow {
    CallRow {
        message: message.into(),
        turn: "t1".into(),
        call: call.into(),
        tool: tool.into(),
        arguments,
        output: Some("ok".into()),
        is_error: false,
        speech: None,
        reactions: Vec::new(),
    }
}

/// A call that said this.
fn said(call_id: &str, text: &str) -> CallRow {
    let speech = Some(Speech::Say { text: text.into() });
    CallRow { speech, ..call("a1", call_id, "say", json!({})) }
}

/// A call that asked this.
fn asked(call_id: &str, text: &str) -> CallRow {
    let speech = Some(Speech::Ask { text: text.into(), options: Vec::new() });
    CallRow { speech, ..call("a1", call_id, "say", json!({})) }
}

fn question(call: &str) -> QuestionRow {
    let question = Question {
        id: "q".into(),
        conversation: "c".into(),
        turn: "t1".into(),
        call: call.into(),
        original_message: "u1".into(),
        text: "Which one?".into(),
        options: Vec::new(),
        tool_calls_completed: 0,
        asked_at: Timestamp(2),
    };
    QuestionRow { question, answered_by: None, withdrawn: false }
}

fn user(id: &str, text: &str, queued: bool) -> ChatItem {
    let at = Timestamp(1);
    ChatItem::User { id: id.into(), text: text.into(), origin: Origin::Window, at, queued }
}

fn assistant(id: &str, text: &str) -> ChatItem {
    ChatItem::Assistant { id: id.into(), text: text.into(), streaming: false, cut: false }
}

/// One turn whose only step makes the given calls.
fn step(calls: Vec<CallRow>) -> ConversationRows {
    ConversationRows {
        turns: vec![turn("t1", TurnStatus::Running, 1)],
        messages: vec![
            message("u1", "t1", Role::User, "Please"),
            message("a1", "t1", Role::Assistant, "Looking."),
        ],
        calls,
        ..ConversationRows::default()
    }
}

#[track_caller]
fn check_step(calls: Vec<CallRow>, after_the_text: &[ChatItem]) {
    let mut expected = vec![user("u1", "Please", false), assistant("a1", "Looking.")];
    expected.extend_from_slice(after_the_text);
    assert_eq!(items_of(step(calls)), expected);
}

#[test]
fn a_call_is_a_line_after_the_text_of_its_step() {
    let reaction = ToolEvent::Read { path: NotePath::parse("a.md").expect("a path") };
    let mut read = call("a1", "c1", "read_file", json!({"path": "a.md"}));
    read.reactions.push(reaction.clone());
    let line = ChatItem::Tool {
        turn: "t1".into(),
        call: "c1".into(),
        tool: "read_file".into(),
        at: Timestamp(1),
        arguments: "{\n  \"path\": \"a.md\"\n}".into(),
        output: Some("ok".into()),
        is_error: false,
        reactions: vec![reaction],
    };
    check_step(vec![read], &[line]);
}

#[test]
fn message_of_a_resumed_turn_is_shown_once() {
    let mut rows = step(Vec::new());
    let mut again = message("u2", "t1", Role::User, "Please");
    again.message.parts.insert(0, MessagePart::Repeated);
    rows.messages.push(again);
    assert_eq!(items_of(rows), [user("u1", "Please", false), assistant("a1", "Looking.")]);
}

#[test]
fn the_words_of_a_call_are_a_message() {
    check_step(vec![said("c1", "Found it.")], &[assistant("t1:c1", "Found it.")]);
}

#[test]
fn a_call_that_only_looks_like_a_message_is_none() {
    let spelled = call("a1", "c1", "send_message", json!({"message": "Found it."}));
    let shown = items_of(step(vec![spelled]));
    assert!(matches!(shown.last(), Some(ChatItem::Tool { .. })), "{shown:?}");
}

#[test]
fn a_call_that_talked_to_nobody_is_not_shown() {
    check_step(vec![call("a1", "c1", "resolve", json!({}))], &[]);
}

#[test]
fn undelivered_text_is_not_shown() {
    let pending = |id: &str, tool: &str| {
        let row = call("a1", id, tool, json!({}));
        CallRow { output: None, ..row }
    };
    check_step(vec![pending("c1", "say")], &[]);
    // A later call does not run before it.
    check_step(vec![pending("c1", "say"), pending("c2", "read_file")], &[]);
    let shown = items_of(step(vec![pending("c1", "read_file"), pending("c2", "say")]));
    assert!(matches!(shown.last(), Some(ChatItem::Tool { output: None, .. })), "{shown:?}");
}

#[test]
fn refused_text_is_a_failed_line() {
    let refused = CallRow { is_error: true, ..call("a1", "c1", "say", json!({})) };
    let shown = items_of(step(vec![refused]));
    assert!(matches!(shown.last(), Some(ChatItem::Tool { is_error: true, .. })), "{shown:?}");
}

#[test]
fn ending_the_conversation_is_told_once_it_has_ended() {
    let mut end = call("a1", "c1", "end", json!({}));
    check_step(vec![CallRow { output: None, ..end.clone() }], &[]);
    end.speech = Some(Speech::End { reason: Some("done".into()) });
    let reaction = ToolEvent::ConversationEnded { reason: Some("done".into()) };
    end.reactions = vec![reaction.clone()];
    let shown = items_of(step(vec![end]));
    let told = |item: &ChatItem| match item {
        ChatItem::Tool { reactions, .. } => *reactions == [reaction.clone()],
        _ => false,
    };
    assert!(shown.last().is_some_and(told), "{shown:?}");
}

#[test]
fn a_question_is_shown_where_it_was_asked_with_its_answer() {
    let mut rows = step(vec![asked("c1", "Which one?")]);
    rows.turns = vec![turn("t1", TurnStatus::Asked, 1), turn("t2", TurnStatus::Done, 5)];
    rows.messages.push(message("u2", "t2", Role::User, "The second"));
    rows.questions = vec![QuestionRow { answered_by: Some("t2".into()), ..question("c1") }];
    let asked = ChatItem::Asked {
        id: "q".into(),
        text: "Which one?".into(),
        answer: Some("The second".into()),
        withdrawn: false,
    };
    assert_eq!(
        items_of(rows),
        [
            user("u1", "Please", false),
            assistant("a1", "Looking."),
            asked,
            user("u2", "The second", false)
        ]
    );
}

#[test]
fn a_withdrawn_question_says_so() {
    let mut rows = step(vec![asked("c1", "Which one?")]);
    rows.questions = vec![QuestionRow { withdrawn: true, ..question("c1") }];
    let shown = items_of(rows);
    assert!(
        matches!(shown.last(), Some(ChatItem::Asked { withdrawn: true, answer: None, .. })),
        "{shown:?}"
    );
}

#[test]
fn only_an_end_without_an_answer_is_shown() {
    use TurnStatus::{Asked, Cancelled, Done, Failed, Interrupted, Limit, Queued, Running};
    for status in [Queued, Running, Done, Asked, Limit, Cancelled, Failed, Interrupted] {
        let error = Some(UserError::new(ErrorCode::Network, "Cannot reach it"));
        let row = TurnRow { error: error.clone(), ..turn("t1", status, 1) };
        let shown = items_of(ConversationRows { turns: vec![row], ..ConversationRows::default() });
        let expected = match status {
            Queued | Running | Done | Asked => Vec::new(),
            _ => vec![ChatItem::Ended { turn: "t1".into(), status, error, offer: None }],
        };
        assert_eq!(shown, expected);
    }
}

#[test]
fn queued_messages_are_marked() {
    let rows = ConversationRows {
        turns: vec![turn("t1", TurnStatus::Running, 1), turn("t2", TurnStatus::Queued, 2)],
        messages: vec![
            message("u1", "t1", Role::User, "First"),
            message("u2", "t2", Role::User, "Second"),
        ],
        ..ConversationRows::default()
    };
    assert_eq!(items_of(rows), [user("u1", "First", false), user("u2", "Second", true)]);
}

#[test]
fn interrupted_answers_are_marked_and_empty_ones_are_not_shown() {
    let mut rows = step(Vec::new());
    rows.messages.push(message("a2", "t1", Role::Assistant, ""));
    rows.messages.push(MessageRow { cut: true, ..message("a3", "t1", Role::Assistant, "Half a") });
    let cut =
        ChatItem::Assistant { id: "a3".into(), text: "Half a".into(), streaming: false, cut: true };
    assert_eq!(items_of(rows), [user("u1", "Please", false), assistant("a1", "Looking."), cut]);
}

#[test]
fn the_context_block_is_not_shown() {
    let mut rows = step(Vec::new());
    if let Some(row) = rows.messages.first_mut() {
        row.message.parts.insert(0, MessagePart::Context { text: "It is Saturday.".into() });
    }
    assert_eq!(items_of(rows).first(), Some(&user("u1", "Please", false)));
}

#[test]
fn a_decision_is_shown_between_its_turns() {
    let decision = DecisionRow {
        id: "s@5".into(),
        change_set: "s".into(),
        applied: vec![NotePath::parse("a.md").expect("a path")],
        edited: Vec::new(),
        rejected: Vec::new(),
        at: Timestamp(5),
    };
    for (second_turn_at, place) in [(4, 2), (5, 2), (6, 1)] {
        let rows = ConversationRows {
            turns: vec![
                turn("t1", TurnStatus::Done, 1),
                turn("t2", TurnStatus::Done, second_turn_at),
            ],
            messages: vec![
                message("u1", "t1", Role::User, "First"),
                message("u2", "t2", Role::User, "Second"),
            ],
            decisions: vec![decision.clone()],
            ..ConversationRows::default()
        };
        let shown = items_of(rows);
        let found = shown.iter().position(|item| matches!(item, ChatItem::Decision { .. }));
        assert_eq!(found, Some(place), "for a second turn at {second_turn_at}");
    }
}

#[test]
fn queued_messages_stand_below_decisions_until_they_begin() {
    let decision = DecisionRow {
        id: "s@5".into(),
        change_set: "s".into(),
        applied: Vec::new(),
        edited: Vec::new(),
        rejected: vec![NotePath::parse("a.md").expect("a path")],
        at: Timestamp(5),
    };
    for (status, place) in [(TurnStatus::Queued, 1), (TurnStatus::Running, 2)] {
        let rows = ConversationRows {
            turns: vec![turn("t1", TurnStatus::Done, 1), turn("t2", status, 2)],
            messages: vec![
                message("u1", "t1", Role::User, "First"),
                message("u2", "t2", Role::User, "Second"),
            ],
            decisions: vec![decision.clone()],
            ..ConversationRows::default()
        };
        let shown = items_of(rows);
        let found = shown.iter().position(|item| matches!(item, ChatItem::Decision { .. }));
        assert_eq!(found, Some(place), "{status:?}");
    }
}

fn any_status() -> impl Strategy<Value = TurnStatus> {
    prop::sample::select(vec![
        TurnStatus::Done,
        TurnStatus::Asked,
        TurnStatus::Failed,
        TurnStatus::Cancelled,
        TurnStatus::Running,
        TurnStatus::Queued,
    ])
}

/// Turns with steps, each step with calls of any tool, of which the first ones have results; decisions at any
/// time.
fn any_rows() -> impl Strategy<Value = ConversationRows> {
    let tool = prop::sample::select(vec!["read_file", "say", "end"]);
    let calls = prop::collection::vec((tool, any::<bool>()), 0..3);
    let steps = prop::collection::vec((calls, 0..4_usize), 0..3);
    let turns = prop::collection::vec((any_status(), 0_i64..20, steps), 0..5);
    (turns, prop::collection::vec(0_i64..25, 0..4)).prop_map(|(turns, mut times)| {
        let mut rows = ConversationRows::default();
        for (t, (status, at, steps)) in turns.into_iter().enumerate() {
            let id = format!("t{t}");
            rows.turns.push(turn(&id, status, at));
            rows.messages.push(message(&format!("u{t}"), &id, Role::User, "words"));
            for (s, (calls, results)) in steps.into_iter().enumerate() {
                let step = format!("a{t}.{s}");
                rows.messages.push(message(&step, &id, Role::Assistant, "words"));
                for (c, (tool, is_error)) in calls.into_iter().enumerate() {
                    let has_result = c < results;
                    let says = tool == "say" && has_result && !is_error;
                    let mut row = call(&step, &format!("{s}.{c}"), tool, json!({}));
                    row.turn = id.as_str().into();
                    row.is_error = has_result && is_error;
                    row.output = has_result.then(|| "ok".into());
                    row.speech = says.then(|| Speech::Say { text: "said".into() });
                    rows.calls.push(row);
                }
            }
        }
        times.sort_unstable();
        times.dedup();
        rows.decisions = times
            .into_iter()
            .map(|at| DecisionRow {
                id: format!("s@{at}").into(),
                change_set: "s".into(),
                applied: Vec::new(),
                edited: Vec::new(),
                rejected: Vec::new(),
                at: Timestamp(at),
            })
            .collect();
        rows
    })
}

fn name(item: &ChatItem) -> String {
    match item {
        ChatItem::User { id, .. }
        | ChatItem::Assistant { id, .. }
        | ChatItem::Asked { id, .. }
        | ChatItem::Decision { id, .. } => id.to_string(),
        ChatItem::Tool { turn, call, .. } => format!("line {turn} {call}"),
        ChatItem::Ended { turn, .. } => format!("end {turn}"),
        ChatItem::Summary { text, .. } => format!("summary: {text}"),
    }
}

/// How many reads of an answer are lines: all but those that wait for a call that talks.
fn shown_reads(rows: &ConversationRows, message: &MessageId) -> usize {
    let calls = rows.calls.iter().filter(|row| row.message == *message);
    let shown = calls.take_while(|row| row.tool == "read_file" || row.output.is_some());
    shown.filter(|row| row.tool == "read_file").count()
}

proptest! {
    #[test]
    fn nothing_is_lost_doubled_or_out_of_order(rows in any_rows()) {
        let users: Vec<String> =
            rows.turns.iter().map(|row| row.turn.turn.as_str().replace('t', "u")).collect();
        let words: Vec<String> =
            rows.messages.iter().map(|row| row.message.id.to_string()).collect();
        let reads = |row: &MessageRow| shown_reads(&rows, &row.message.id);
        let lines: usize = rows.messages.iter().map(reads).sum();
        let decisions: Vec<String> = rows.decisions.iter().map(|row| row.id.to_string()).collect();

        let shown = items_of(rows);
        let names: Vec<String> = shown.iter().map(name).collect();
        let only = |wanted: &[String]| -> Vec<String> {
            names.iter().filter(|name| wanted.contains(name)).cloned().collect()
        };
        prop_assert_eq!(only(&users), users);
        prop_assert_eq!(only(&words), words);
        prop_assert_eq!(only(&decisions), decisions);
        let read = |item: &&ChatItem| matches!(item, ChatItem::Tool { tool, .. } if tool == "read_file");
        prop_assert_eq!(shown.iter().filter(read).count(), lines);
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), names.len());
    }
}
