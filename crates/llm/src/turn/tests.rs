//! The turn's rules by table, and its law over any story.

use protocol::{ErrorCode, MessagePart, Speech, TurnStatus};
use serde_json::{Value, json};

use super::*;
use crate::model::StopReason;

pub(super) fn rules() -> TurnRules {
    let kinds = [("read", ToolKind::Read), ("edit", ToolKind::Change), ("say", ToolKind::Talk)];
    TurnRules {
        limits: TurnLimits::default(),
        spending_limit: None,
        maker: AnswerAuthor { server: "provider".into(), model: "model".into() },
        kinds: kinds.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect(),
        question: "q".into(),
        spread: 0,
        resume: ResumeState::default(),
    }
}

pub(super) fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.into(), tool: tool.into(), arguments }
}

/// A turn and all it did.
struct TurnTrace {
    turn: Turn,
    last: Vec<TurnEffect>,
}

fn new_turn() -> TurnTrace {
    new_turn_with(TurnLimits::default())
}

fn new_turn_with(limits: TurnLimits) -> TurnTrace {
    let mut told = TurnTrace { turn: Turn::new(TurnRules { limits, ..rules() }), last: Vec::new() };
    told.on(TurnInput::Begun);
    told
}

impl TurnTrace {
    fn on(&mut self, input: TurnInput) -> &mut Self {
        self.last = self.turn.step(input);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.on(TurnInput::Event(ModelEvent::Text(text.into())))
    }

    fn call(&mut self, id: &str, tool: &str, argument: u32) -> &mut Self {
        let call = call(id, tool, json!({ "a": argument }));
        self.on(TurnInput::Event(ModelEvent::Call(call)))
    }

    fn stop(&mut self, reason: StopReason) -> &mut Self {
        self.on(TurnInput::Event(ModelEvent::Stopped { reason, usage: TokenUsage::default() }))
    }

    /// The step of the calls given so far is stored.
    fn tool_use(&mut self) -> &mut Self {
        self.stop(StopReason::ToolUse).on(TurnInput::Stored)
    }

    fn ok(&mut self, id: &str) -> &mut Self {
        self.on(TurnInput::Outcome(id.into(), ToolOutcome::ok("fine")))
    }

    fn bad(&mut self, id: &str) -> &mut Self {
        self.on(TurnInput::Outcome(id.into(), ToolOutcome::failed("wrong")))
    }

    fn stored(&mut self) -> &mut Self {
        self.on(TurnInput::Stored)
    }

    fn fail(&mut self, error: ModelError) -> &mut Self {
        self.on(TurnInput::Failed(error))
    }

    fn finish(&self) -> &Finish {
        match self.last.as_slice() {
            [TurnEffect::Finish(finish)] => finish,
            other => panic!("not the end: {other:?}"),
        }
    }

    fn ran(&self) -> Vec<&str> {
        match self.last.as_slice() {
            [TurnEffect::Run(calls)] => calls.iter().map(|call| call.id.as_str()).collect(),
            [TurnEffect::Plan(call)] => vec![call.id.as_str()],
            other => panic!("runs nothing: {other:?}"),
        }
    }

    fn results(&self) -> Vec<(&str, &str)> {
        let results = match self.last.as_slice() {
            [TurnEffect::StoreResults(results)] => results,
            [TurnEffect::Finish(finish)] => &finish.results,
            other => panic!("no results: {other:?}"),
        };
        results.iter().map(|result| (result.call.as_str(), result.output.as_str())).collect()
    }
}

fn lost() -> ModelError {
    ModelError::Network("lost".into())
}

fn ask() -> ToolOutcome {
    let speech = Speech::Ask { text: "Which?".into(), options: vec!["a".into()] };
    ToolOutcome { speech: Some(speech), ..ToolOutcome::ok("") }
}

#[test]
fn text_is_shown_and_ends_the_turn() {
    let mut told = new_turn();
    assert_eq!(told.last, [TurnEffect::Ask(AskMode::Plain)]);
    assert_eq!(told.text("Hello ").last, [TurnEffect::Show("Hello ".into())]);
    told.text("world").stop(StopReason::EndTurn);
    assert_eq!(told.finish(), &Finish::done().with_text(Some("Hello world".into())));
    assert_eq!(told.on(TurnInput::Cancel).last, []);
}

#[test]
fn a_call_runs_only_after_its_step_is_stored() {
    let mut told = new_turn();
    assert_eq!(told.text("Look").call("1", "read", 1).last, []);
    told.stop(StopReason::ToolUse);
    let [TurnEffect::StoreStep { parts, .. }] = told.last.as_slice() else {
        panic!("{:?}", told.last)
    };
    assert_eq!(parts.len(), 2);
    assert_eq!(told.stored().ran(), ["1"]);
    assert_eq!(told.ok("1").results(), [("1", "fine")]);
    assert_eq!(told.stored().last, [TurnEffect::Ask(AskMode::Plain)]);
}

#[test]
fn reads_run_side_by_side_and_changes_alone_in_call_order() {
    let mut told = new_turn();
    told.call("1", "read", 1).call("2", "read", 2).call("3", "edit", 3).call("4", "edit", 4);
    told.call("5", "read", 5);
    assert_eq!(told.tool_use().ran(), ["1", "2"]);
    assert_eq!(told.ok("2").last, []);
    assert_eq!(told.ok("1").results(), [("1", "fine"), ("2", "fine")]);
    assert_eq!(told.stored().ran(), ["3"]);
    let outcome = ChangeOutcome { output: "waits".into(), ..ChangeOutcome::default() };
    assert_eq!(told.on(TurnInput::Decision("3".into(), outcome)).results(), [("3", "waits")]);
    assert_eq!(told.stored().ran(), ["4"]);
    assert_eq!(told.bad("4").stored().ran(), ["5"]);
}

#[test]
fn calls_of_a_message_that_did_not_end_with_tool_use_are_dropped() {
    for reason in [StopReason::EndTurn, StopReason::Refusal, StopReason::Unknown] {
        let mut told = new_turn();
        told.text("Well").call("1", "edit", 1).stop(reason);
        assert_eq!(told.finish().text.as_deref(), Some("Well"), "{reason:?}");
        assert_eq!(told.finish().results, []);
    }
}

#[test]
fn the_output_cap_inside_a_call_runs_nothing_and_says_so() {
    let mut told = new_turn();
    told.call("1", "edit", 1).on(TurnInput::Event(ModelEvent::BrokenCall {
        id: "2".into(),
        tool: "edit".into(),
        problem: "cut".into(),
    }));
    told.stop(StopReason::MaxTokens).stored();
    assert_eq!(told.results().len(), 2);
    assert!(told.finish().results.iter().all(|result| result.is_error));
    assert_eq!((told.finish().status, told.finish().cut), (TurnStatus::Failed, true));
}

#[test]
fn the_output_cap_inside_text_keeps_it_marked_as_cut() {
    let mut told = new_turn();
    told.text("Once upon").stop(StopReason::MaxTokens);
    assert_eq!(told.finish(), &Finish::done().with_cut_text(Some("Once upon".into())));
}

#[test]
fn a_broken_call_gets_its_error_and_the_others_run() {
    let mut told = new_turn();
    told.on(TurnInput::Event(ModelEvent::BrokenCall {
        id: "1".into(),
        tool: "read".into(),
        problem: "EOF".into(),
    }));
    assert_eq!(told.call("2", "read", 2).tool_use().ran(), ["2"]);
    let results = told.ok("2").results();
    assert!(results[0].1.contains("not a JSON object (EOF)"), "{results:?}");
    assert_eq!(results[1], ("2", "fine"));
}

#[test]
fn the_first_of_two_calls_with_one_id_runs_and_the_second_is_renamed_and_refused() {
    let mut told = new_turn();
    assert_eq!(told.call("1", "read", 1).call("1", "read", 2).tool_use().ran(), ["1"]);
    assert_eq!(told.ok("1").results(), [("1", "fine"), ("1_2", model_texts::DUPLICATE_ID)]);
}

#[test]
fn an_id_used_by_an_earlier_message_is_renamed_and_runs() {
    let mut told = new_turn();
    told.call("1", "read", 1).tool_use().ok("1").stored();
    assert_eq!(told.call("1", "read", 2).tool_use().ran(), ["1_2"]);
}

#[test]
fn an_id_of_the_application_is_given_to_no_call_of_a_model() {
    for id in ["capture-1", "cap ture-1", "capture-", "\u{200b}capture-1"] {
        let mut told = new_turn();
        told.call(id, "edit", 1).on(TurnInput::Event(ModelEvent::BrokenCall {
            id: format!("{id}2").into(),
            tool: "edit".into(),
            problem: "cut".into(),
        }));
        told.stop(StopReason::ToolUse);
        let [TurnEffect::StoreStep { parts, .. }] = told.last.as_slice() else {
            panic!("{:?}", told.last)
        };
        let stored = parts.iter().filter_map(|part| match part {
            MessagePart::Call { id, .. } => Some(id.as_str()),
            _ => None,
        });
        assert_eq!(stored.collect::<Vec<_>>(), ["call", "call_2"], "{id:?}");
        assert_eq!(told.stored().ran(), ["call"], "{id:?}");
    }
    // The controls: the application's own call, and an id that only holds the word.
    let mut told = new_turn();
    let own = call("capture-1", "edit", json!({ "a": 1 }));
    told.on(TurnInput::Event(ModelEvent::OwnCall(own)));
    assert_eq!(told.tool_use().ran(), ["capture-1"]);
    assert_eq!(new_turn().call("a_capture-1", "edit", 1).tool_use().ran(), ["a_capture-1"]);
}

#[test]
fn at_most_sixteen_calls_of_a_message_run() {
    let mut told = new_turn();
    for n in 1..=20 {
        told.call(&n.to_string(), "read", n);
    }
    assert_eq!(told.tool_use().ran().len(), 16);
    for n in 1..=16 {
        told.ok(&n.to_string());
    }
    let results = told.results();
    assert_eq!(results.len(), 20);
    assert!(results[16..].iter().all(|(_, output)| output.contains("at most 16 calls")));
}

#[test]
fn after_the_last_round_trip_the_model_is_asked_to_close_and_the_user_may_continue() {
    let mut told = new_turn_with(TurnLimits { round_trips: 2, ..TurnLimits::default() });
    told.call("1", "read", 1).tool_use().ok("1").stored();
    assert_eq!(told.last, [TurnEffect::Ask(AskMode::Plain)]);
    told.call("2", "read", 2).tool_use().ok("2").stored();
    assert_eq!(told.last, [TurnEffect::Ask(AskMode::Closing)]);
    told.text("So far so good.").call("3", "read", 3).stop(StopReason::EndTurn);
    assert_eq!(told.finish().status, TurnStatus::Limit);
    assert_eq!(told.finish().text.as_deref(), Some("So far so good."));
}

#[test]
fn calls_beyond_the_limit_of_the_turn_are_refused_and_the_model_closes() {
    let mut told = new_turn_with(TurnLimits { calls: 1, ..TurnLimits::default() });
    assert_eq!(told.call("1", "read", 1).call("2", "read", 2).tool_use().ran(), ["1"]);
    assert_eq!(told.ok("1").results()[1], ("2", model_texts::TOO_MANY_CALLS));
    assert_eq!(told.stored().last, [TurnEffect::Ask(AskMode::Closing)]);
}

#[test]
fn a_closing_request_that_fails_still_ends_at_the_limit() {
    let mut told = new_turn_with(TurnLimits { round_trips: 1, ..TurnLimits::default() });
    told.call("1", "read", 1).tool_use().ok("1").stored().fail(ModelError::Auth("key".into()));
    assert_eq!(told.finish().status, TurnStatus::Limit);
    assert_eq!(told.finish().error.as_ref().map(|error| error.code), Some(ErrorCode::Key));
}

#[test]
fn the_same_failing_call_is_not_run_a_third_time() {
    let mut told = new_turn();
    told.call("1", "read", 7).call("2", "read", 7).call("3", "read", 7);
    assert_eq!(told.tool_use().ran(), ["1"], "likes do not run side by side");
    assert_eq!(told.bad("1").stored().ran(), ["2"]);
    assert_eq!(told.bad("2").results(), [("2", "wrong")]);
    assert_eq!(told.stored().results(), [("3", model_texts::TWICE_FAILED)]);
    told.stored();
    assert_eq!(told.call("4", "read", 8).tool_use().ran(), ["4"], "other arguments run");
}

#[test]
fn a_success_clears_the_record_of_a_call() {
    let mut told = new_turn();
    for (n, id) in (1..).zip(["1", "2", "3", "4"]) {
        assert_eq!(told.call(id, "read", 7).tool_use().ran(), [id]);
        if n == 2 {
            told.ok(id)
        } else {
            told.bad(id)
        };
        told.stored();
    }
}

#[test]
fn a_question_ends_the_turn_and_what_follows_it_is_not_run() {
    let mut told = new_turn();
    told.call("1", "read", 1).call("2", "say", 1).call("3", "edit", 1).call("4", "say", 2);
    told.tool_use().ok("1").stored();
    assert_eq!(told.ran(), ["2"]);
    told.on(TurnInput::Outcome("2".into(), ask()));
    let delivered = model_texts::delivered(&"q".into());
    assert_eq!(
        told.results(),
        [
            ("2", delivered.as_str()),
            ("3", model_texts::WAITING_FOR_USER),
            ("4", model_texts::SECOND_QUESTION)
        ]
    );
    let finish = told.finish();
    assert_eq!(finish.status, TurnStatus::Asked);
    let asked = finish.question.as_ref().unwrap();
    assert_eq!(
        (asked.call.as_str(), asked.message.as_str(), asked.calls_before),
        ("2", "Which?", 1)
    );
}

#[test]
fn a_read_cannot_ask_or_end() {
    let mut told = new_turn();
    told.call("1", "read", 1).tool_use().on(TurnInput::Outcome("1".into(), ask()));
    assert!(matches!(told.last.as_slice(), [TurnEffect::StoreResults(_)]));
}

#[test]
fn ending_the_conversation_ends_the_turn() {
    let mut told = new_turn();
    told.call("1", "say", 1).call("2", "edit", 1).tool_use();
    let speech = Some(Speech::End { reason: None });
    told.on(TurnInput::Outcome("1".into(), ToolOutcome { speech, ..ToolOutcome::ok("Bye") }));
    assert_eq!(told.results(), [("1", "Bye"), ("2", model_texts::CONVERSATION_ENDED)]);
    assert!(told.finish().ends_conversation);
    assert_eq!(told.finish().status, TurnStatus::Done);
}

#[test]
fn a_turn_that_sent_a_message_may_end_without_text() {
    let mut told = new_turn();
    let speech = Some(Speech::Say { text: "Done!".into() });
    told.call("1", "say", 1).tool_use();
    told.on(TurnInput::Outcome("1".into(), ToolOutcome { speech, ..ToolOutcome::ok("ok") }));
    told.stored().stop(StopReason::EndTurn);
    assert_eq!(told.finish(), &Finish::done());
}

#[test]
fn stopping_keeps_the_text_and_gives_open_calls_their_result() {
    let mut told = new_turn();
    told.text("Hel").on(TurnInput::Cancel);
    assert_eq!(told.finish(), &Finish::cancelled().with_cut_text(Some("Hel".into())));

    let mut told = new_turn_with(TurnLimits::default());
    told.call("1", "read", 1).call("2", "read", 2).call("3", "edit", 3).tool_use().ok("1");
    told.on(TurnInput::Cancel);
    let cancelled = model_texts::CANCELLED;
    assert_eq!(told.results(), [("1", "fine"), ("2", cancelled), ("3", cancelled)]);
    assert_eq!(told.ok("2").last, []);
}

#[test]
fn stopping_while_a_step_is_stored_waits_for_the_store_and_runs_nothing() {
    let mut told = new_turn();
    told.call("1", "edit", 1).stop(StopReason::ToolUse).on(TurnInput::Cancel);
    assert_eq!(told.last, []);
    assert_eq!(told.stored().results(), [("1", model_texts::CANCELLED)]);
}

#[test]
fn a_step_that_is_not_stored_runs_nothing_and_leaves_no_results() {
    let mut told = new_turn();
    told.text("Let me see").call("1", "edit", 1).stop(StopReason::ToolUse);
    told.on(TurnInput::Broke(UserError::new(ErrorCode::Write, "disk full")));
    let finish = told.finish();
    assert_eq!(finish.results, []);
    assert_eq!(finish.text.as_deref(), Some("Let me see"));
    assert_eq!(finish.error.as_ref().map(|error| error.code), Some(ErrorCode::Write));
}

#[test]
fn results_that_are_not_stored_are_handed_in_with_the_end() {
    let mut told = new_turn();
    told.call("1", "read", 1).call("2", "edit", 2).tool_use().ok("1");
    told.on(TurnInput::Broke(UserError::other("disk full")));
    assert_eq!(told.results(), [("1", "fine"), ("2", model_texts::NO_RESULT)]);
}

#[test]
fn a_lost_request_is_sent_three_times_with_growing_waits() {
    let mut told = new_turn();
    for seconds in [1, 2] {
        told.fail(lost());
        assert_eq!(told.last, [TurnEffect::Wait(Duration::from_secs(seconds))]);
        assert_eq!(told.on(TurnInput::Waited).last, [TurnEffect::Ask(AskMode::Plain)]);
    }
    told.fail(lost());
    assert_eq!(told.finish().error, Some(UserError::new(ErrorCode::Network, "lost")));
}

#[test]
fn attempts_are_counted_for_each_request_alone() {
    let mut told = new_turn();
    told.fail(lost()).on(TurnInput::Waited).fail(lost()).on(TurnInput::Waited);
    told.call("1", "read", 1).tool_use().ok("1").stored().fail(lost());
    assert_eq!(told.last, [TurnEffect::Wait(Duration::from_secs(1))]);
}

#[test]
fn nothing_is_sent_again_after_text_was_shown() {
    let mut told = new_turn();
    told.text("Hel").on(TurnInput::Severed);
    assert_eq!((told.finish().status, told.finish().cut), (TurnStatus::Failed, true));
    assert_eq!(told.finish().text.as_deref(), Some("Hel"));
}

#[test]
fn calls_of_an_answer_that_broke_off_are_dropped_and_the_request_is_sent_again() {
    let mut told = new_turn();
    told.call("1", "edit", 1).on(TurnInput::Severed);
    assert_eq!(told.last, [TurnEffect::Wait(Duration::from_secs(1))]);
    told.on(TurnInput::Waited).text("Hi").stop(StopReason::EndTurn);
    assert_eq!(told.finish(), &Finish::done().with_text(Some("Hi".into())));
}

#[test]
fn a_paused_answer_is_stored_and_sent_back_five_times() {
    let mut told = new_turn();
    for _ in 0..5 {
        told.text("Thinking ").stop(StopReason::PauseTurn);
        assert!(matches!(told.last.as_slice(), [TurnEffect::StoreStep { .. }]));
        assert_eq!(told.stored().last, [TurnEffect::Ask(AskMode::Plain)]);
    }
    told.text("Thinking ").stop(StopReason::PauseTurn);
    assert_eq!(told.finish().status, TurnStatus::Failed);
}

#[test]
fn an_empty_answer_is_asked_for_once_more() {
    let mut told = new_turn();
    told.text(" \n").stop(StopReason::EndTurn);
    assert_eq!(told.last, [TurnEffect::Ask(AskMode::Nudged)]);
    assert_eq!(told.stop(StopReason::ToolUse).finish().status, TurnStatus::Failed);
}

#[test]
fn a_turn_that_was_cut_goes_on_with_what_is_left_of_its_limits() {
    let message = |id: &str, role, parts| protocol::Message {
        id: id.into(),
        conversation: "c".into(),
        turn: "t".into(),
        role,
        parts,
        at: protocol::Timestamp(0),
    };
    let called = MessagePart::Call { id: "a".into(), tool: "read".into(), arguments: json!({}) };
    let (output, is_error, speech) = ("cut".into(), true, None);
    let failed = MessagePart::Result { call: "a".into(), output, is_error, speech };
    let history = [
        message("m", protocol::Role::User, vec![MessagePart::Text { text: "words".into() }]),
        message("s", protocol::Role::Assistant, vec![called]),
        message("r", protocol::Role::User, vec![failed]),
    ];
    let so_far = ResumeState::from_history(&"t".into(), &history, &rules().kinds);
    let limits = TurnLimits { round_trips: 1, ..TurnLimits::default() };
    let mut turn = Turn::new(TurnRules { limits, resume: so_far.clone(), ..rules() });
    assert_eq!(turn.step(TurnInput::Begun), [TurnEffect::Ask(AskMode::Closing)]);
    // The control: with more to go it asks as ever, and an id that was given is given no more.
    let mut turn = Turn::new(TurnRules { resume: so_far, ..rules() });
    assert_eq!(turn.step(TurnInput::Begun), [TurnEffect::Ask(AskMode::Plain)]);
    turn.step(TurnInput::Event(ModelEvent::Call(call("a", "read", json!({})))));
    let (reason, usage) = (StopReason::ToolUse, TokenUsage::default());
    let effects = turn.step(TurnInput::Event(ModelEvent::Stopped { reason, usage }));
    let [TurnEffect::StoreStep { parts, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(
        matches!(parts.as_slice(), [MessagePart::Call { id, .. }] if id.as_str() == "a_2"),
        "{parts:?}"
    );
}
